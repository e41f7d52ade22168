package loop

import (
	"slices"

	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// avoid makes the tables keep clear of the ports that are down. A switch that is known to hold what it should gets what
// changes for it at once, and is read back afterwards: asking it first would cost a round trip with packets lost in it.
// Any other is read, and brought to it. It says whether a switch is to be changed: that comes before any decision.
func (l *Loop) avoid(s *state.State) bool {
	if slices.Equal(l.avoided, s.Live().Down) {
		return false
	}
	l.avoided = slices.Clone(s.Live().Down)
	cut := make([]bool, len(l.fabric.Topology.Links()))
	for _, p := range l.avoided {
		if id := l.fabric.Topology.OutPort(p.Device, int32(p.Port)); id != pathmap.None {
			cut[id], cut[pathmap.Reverse(id)] = true, true
		}
	}
	if slices.Equal(cut, l.cut) {
		return false // the other end of a cable that is known to be dark
	}
	if l.changed == nil {
		l.changed = make([]bool, len(cut))
	}
	for id := range cut {
		if was := l.cut != nil && l.cut[id]; was != cut[id] {
			l.changed[id] = true
		}
	}
	l.cut = cut
	steered := l.wantedCircuits(s)
	before := make(map[southbound.DeviceID][]southbound.Rule)
	for _, d := range l.base.Devices() {
		if _, unsure := l.unread[d]; !unsure && !l.away[d] && d != l.fabric.OCSNode {
			before[d] = l.base.Rules(d, steered)
		}
	}
	l.base.Avoid(func(id pathmap.LinkID) bool { return cut[id] })
	for _, d := range l.base.Devices() {
		rules, sure := before[d]
		switch {
		case d == l.fabric.OCSNode || l.away[d]:
		case !sure:
			l.act.Reads = append(l.act.Reads, d)
		default:
			l.bring(d, rollout.Diff(l.base.Rules(d, steered), rules))
		}
	}
	l.act.First = l.act.Sets // nothing else has been asked for in this pass yet
	l.act.Sets = nil
	return len(l.act.First) > 0
}

// bring sends a change that is to bring a device into its state; what came of it is read back.
func (l *Loop) bring(d southbound.DeviceID, c southbound.Change) {
	if c.Empty() {
		return
	}
	token := l.mover.Token()
	l.unread[d] = repair{token, l.unread[d].tries + 1}
	l.act.Sets = append(l.act.Sets, rollout.Set{Device: d, Token: token, Change: c})
}
