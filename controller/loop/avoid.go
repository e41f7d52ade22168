package loop

import (
	"slices"
	"time"

	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// avoid makes the tables keep clear of the ports that are down. A switch that is known to hold what it should gets what
// changes for it at once, and is read back afterwards: asking it first would cost a round trip with packets lost in it.
// Any other is read, and brought to it.
//
// It goes by what this pass has heard, before that is committed: which ports have light is no decision, and a leader
// that dies before the entry is committed leaves tables that its successor makes anew of what the switches then tell.
func (l *Loop) avoid(s *state.State, now time.Duration) {
	down := l.downPorts(s)
	if slices.Equal(l.avoided, down) {
		return
	}
	l.avoided = slices.Clone(down)
	cut := make([]bool, len(l.fabric.Topology.Links()))
	for _, p := range l.avoided {
		if id := l.fabric.Topology.OutPort(p.Device, int32(p.Port)); id != pathmap.None {
			cut[id], cut[pathmap.Reverse(id)] = true, true
		}
	}
	if slices.Equal(cut, l.cut) {
		return // the other end of a cable that is known to be dark
	}
	if l.changed == nil {
		l.changed = make([]bool, len(cut))
	}
	for id := range cut {
		if was := l.cut != nil && l.cut[id]; was != cut[id] {
			l.changed[id] = true
		}
	}
	l.pairs = l.touchedPairs()
	l.cut = cut
	steered := l.wantedCircuits(s)
	before := make(map[southbound.DeviceID][]southbound.Rule)
	for _, d := range l.base.Devices() {
		if r, unsure := l.unread[d]; (!unsure || r.told) && !l.away[d] && d != l.fabric.OCSNode {
			before[d] = l.base.Rules(d, steered)
		}
	}
	l.base.Avoid(func(id pathmap.LinkID) bool { return cut[id] })
	others := l.act.Sets
	l.act.Sets = nil
	for _, d := range l.base.Devices() {
		rules, sure := before[d]
		switch {
		case d == l.fabric.OCSNode || l.away[d]:
		case !sure:
			l.act.Reads = append(l.act.Reads, d)
		default:
			l.tell(d, l.base.Rules(d, steered), rules)
		}
	}
	l.act.First, l.act.Sets = l.act.Sets, others
	l.haste.begin(now, l.act.First)
}

// downPorts are the ports that are down once the entries of this pass have been applied. The result is the state's own
// where the pass has heard of none.
func (l *Loop) downPorts(s *state.State) []state.PortRef {
	down, own := s.Live().Down, false
	for i := range l.entries {
		e := &l.entries[i]
		if e.Kind != state.PortSeen {
			continue
		}
		if !own {
			down, own = slices.Clone(down), true
		}
		p := state.PortRef{Device: e.Device, Port: e.Port}
		at := slices.Index(down, p)
		switch {
		case e.OK && at >= 0:
			down = slices.Delete(down, at, at+1)
		case !e.OK && at < 0:
			down = append(down, p)
		}
	}
	return down
}

// tell sends a device that holds what it should, or will, what changes. One that has still to answer is told afterwards, in
// one Set for all that has failed meanwhile; but not where circuits have rules of their own, which moves change.
func (l *Loop) tell(d southbound.DeviceID, wanted, held []southbound.Rule) {
	if r := l.unread[d]; r.told && r.token != 0 && !l.fabric.HasOCS() {
		if r.behind == nil {
			r.behind = held
			l.unread[d] = r
		}
		return
	}
	if c := rollout.Diff(wanted, held); !c.Empty() {
		l.bring(d, c)
		l.unread[d] = repair{token: l.unread[d].token, tries: 1, told: true}
	}
}

// catchUp tells a device that has answered what has changed meanwhile, and says whether anything has.
func (l *Loop) catchUp(now time.Duration, d southbound.DeviceID, held []southbound.Rule) bool {
	l.unread[d] = repair{tries: l.unread[d].tries, told: true}
	at := len(l.act.Sets)
	l.tell(d, l.base.Rules(d, nil), held)
	sets := l.act.Sets[at:]
	l.act.First = append(l.act.First, sets...)
	l.act.Sets = l.act.Sets[:at]
	l.haste.begin(now, sets)
	return len(sets) > 0
}

// bring sends a change that is to bring a device into its state; what came of it is read back.
func (l *Loop) bring(d southbound.DeviceID, c southbound.Change) {
	if c.Empty() {
		return
	}
	token := l.mover.Token()
	l.unread[d] = repair{token: token, tries: l.unread[d].tries + 1}
	l.act.Sets = append(l.act.Sets, rollout.Set{Device: d, Token: token, Change: c})
}

// touchedPairs looks up in the index which racks have a path over a link that has changed.
func (l *Loop) touchedPairs() []pathmap.Pair {
	if l.cfg.Index == nil {
		return nil
	}
	pairs := []pathmap.Pair{}
	for id := 0; id < len(l.changed); id += 2 { // both directions of a cable change together
		if l.changed[id] || l.changed[id+1] {
			pairs = append(pairs, l.cfg.Index.Users(pathmap.LinkID(id))...)
		}
	}
	slices.SortFunc(pairs, pathmap.ComparePairs)
	return slices.Compact(pairs)
}
