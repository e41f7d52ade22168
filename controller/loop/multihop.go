package loop

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/controller/rollout"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// multihops is the paths over several circuits that this leadership has switches hold. The log knows nothing of them: a
// new leader takes them away, as switches are read, and its policy decides anew.
type multihops struct {
	all     []*laid // by multihop.Compare
	base    *rollout.Base
	awaited map[uint64]pathSet            // by token: the Sets that are not answered yet
	stand   map[[2]southbound.RackID]bool // pairs whose packets take their path
	derived int                           // of the base's tables, when paths were last looked at
	due     bool                          // something is to be done in another pass at this instant
	counts  MultihopCounts
	sets    []pathSet // memory of a pass
	// switches that have refused rules of a path, until their streams break: another can be in their place then
	refusing map[southbound.DeviceID]bool
}

// MultihopCounts is how often pairs of racks were given a path over several circuits, and how often one was left as a
// circuit moved or failed.
type MultihopCounts struct{ Stood, Lost int64 }

// Add adds another count.
func (m *MultihopCounts) Add(o MultihopCounts) { m.Stood, m.Lost = m.Stood+o.Stood, m.Lost+o.Lost }

// laid is a path of two racks, and how far it has come.
type laid struct {
	path    multihop.Path
	rules   []rollout.Placed
	stage   pathStage
	known   int                   // the first of its parts that switches possibly know
	asked   int                   // the first of its parts that switches have not been sent to forget
	refused []southbound.DeviceID // switches that have not taken their rule
	life    int                   // how often answers awaited were given up
	open    int                   // answers to Sets awaited
	missed  bool                  // one of them did not get through
	tries   int                   // how often that happened as it was being forgotten
	retry   time.Duration         // when to try again
	next    *multihop.Path
}

// parts are the rules by when switches are told of them.
func (x *laid) parts() [][]rollout.Placed { return rollout.Parts(&x.path, x.rules) }

func (x *laid) pair() [2]southbound.RackID { return [2]southbound.RackID{x.path.Src, x.path.Dst} }

type pathStage uint8

const (
	pathWanted   pathStage = iota // no switch has heard of it
	pathLaying                    // switches are being told
	pathStanding                  // all know, and hosts send over it
	pathLeaving                   // hosts send over packets, and switches are being told to forget it
	pathGone
)

// pathSet is the Set of one switch in a pass, and whose rules it is about.
type pathSet struct {
	set   rollout.Set
	waits []pathWait
}

// pathWait is a path that waits for an answer, unless it has given that up.
type pathWait struct {
	path *laid
	life int
}

func newMultihops(base *rollout.Base) multihops {
	return multihops{base: base, awaited: map[uint64]pathSet{}, stand: map[[2]southbound.RackID]bool{},
		refusing: map[southbound.DeviceID]bool{}}
}

// tag returns what a row between two racks is sent with that has a tag without such paths.
func (m *multihops) tag(t southbound.Tag, from, to southbound.RackID) southbound.Tag {
	if _, packets := t.Path(); packets && len(m.stand) > 0 && m.stand[[2]southbound.RackID{from, to}] {
		return southbound.TagCircuit
	}
	return t
}

// shown appends the paths that pairs of racks have or are to have.
func (m *multihops) shown(buf multihop.Paths) multihop.Paths {
	for _, x := range m.all {
		switch {
		case x.stage != pathLeaving:
			buf = append(buf, x.path)
		case x.next != nil:
			buf = append(buf, *x.next)
		}
	}
	return buf
}

// next is when a Set is to be tried again.
func (m *multihops) next(now time.Duration) time.Duration {
	at := southbound.Never
	for _, x := range m.all {
		if x.stage == pathLeaving && x.open == 0 && x.retry > now {
			at = min(at, x.retry)
		}
	}
	return at
}

// commitMultihop takes over what a plan has for pairs of racks. A pair that is given another path goes over packets
// until no switch knows the old one any more.
func (l *Loop) commitMultihop(s *state.State, paths multihop.Paths) error {
	if paths == nil {
		return nil
	}
	m := &l.multihops
	for i := range paths {
		if err := paths[i].Check(l.fabric); err != nil {
			return err
		}
		if i > 0 && multihop.Compare(paths[i-1], paths[i]) >= 0 {
			return fmt.Errorf("path from rack %d to rack %d: it comes twice, or after a later one", paths[i].Src, paths[i].Dst)
		}
	}
	for _, x := range m.all {
		i, wants := slices.BinarySearchFunc(paths, x.path, multihop.Compare)
		if x.next = nil; wants && (x.stage == pathLeaving || !paths[i].Equal(&x.path)) {
			x.next = own(&paths[i])
		}
		if !wants || x.next != nil {
			l.leavePath(s, x)
		}
	}
	m.purge()
	for i := range paths {
		at, known := slices.BinarySearchFunc(m.all, paths[i], func(x *laid, p multihop.Path) int {
			return multihop.Compare(x.path, p)
		})
		if !known {
			m.all = slices.Insert(m.all, at, &laid{path: *own(&paths[i])})
		}
	}
	m.due = len(m.all) > 0
	return nil
}

// own returns a copy of a path of a borrowed plan.
func own(p *multihop.Path) *multihop.Path {
	c := *p
	c.Circuits = slices.Clone(p.Circuits)
	return &c
}

// done notes the answer to a Set. A switch that refuses to be told of a path holds nothing of it, and one that refuses
// to forget paths has none; where a Set was about both, it is asked again.
func (m *multihops) done(token uint64, err error) {
	p, known := m.awaited[token]
	if !known {
		return
	}
	delete(m.awaited, token)
	refused, told := errors.Is(err, southbound.ErrRefused), len(p.set.Change.Rules) > 0
	if refused && told {
		m.refusing[p.set.Device] = true
	}
	for _, w := range p.waits {
		x := w.path
		if w.life != x.life {
			continue
		}
		x.open--
		x.missed = x.missed || err != nil && (told || !refused)
		if refused && x.stage == pathLaying {
			x.refuse(m.base, p.set.Device)
		}
	}
}

// refuse notes that a switch has not taken its rule.
func (x *laid) refuse(base *rollout.Base, d southbound.DeviceID) {
	x.refused = append(x.refused, d)
	for _, r := range x.rules {
		if r.Device == d {
			base.Refused(&x.path, r)
		}
	}
}

// layPaths takes paths over several circuits as far as they get in this pass: those whose circuits stand come into use,
// the others are left. Each switch is sent one Set.
func (l *Loop) layPaths(s *state.State, now time.Duration) {
	m := &l.multihops
	maps.DeleteFunc(m.refusing, func(d southbound.DeviceID, _ bool) bool { return l.devices.away[d] })
	if m.due = false; len(m.all) == 0 {
		return
	}
	// What this pass begins is not in the state yet.
	quiet, known := len(l.pass.entries) == 0, l.switchesKnown(s)
	anew := m.derived != l.base.Derived()
	m.derived = l.base.Derived()
	for _, x := range m.all {
		if x.stage < pathLeaving && !l.leads(s, x, anew) {
			l.leavePath(s, x)
		}
		switch x.stage {
		case pathWanted:
			if m.due = m.due || !quiet; quiet && known {
				l.lay(x)
			}
		case pathLaying:
			l.use(s, x)
		case pathLeaving:
			l.takeAway(s, now, x)
		}
	}
	told := len(m.sets) > 0
	l.sendPaths()
	m.purge()
	if l.cfg.Verify && told {
		l.verify(s)
	}
}

// purge drops the paths that are gone.
func (m *multihops) purge() {
	m.all = slices.DeleteFunc(m.all, func(x *laid) bool { return x.stage == pathGone })
}

// switchesKnown reports whether every packet switch holds what it should, but those that were removed: what an earlier
// leader had it hold is gone.
func (l *Loop) switchesKnown(s *state.State) bool {
	removed := s.Change().Removed
	counts := func(d southbound.DeviceID) bool { return !l.fabric.IsOCS(d) && !slices.Contains(removed, d) }
	for d := range l.devices.unread {
		if counts(d) {
			return false
		}
	}
	for d, away := range l.devices.away {
		if away && counts(d) {
			return false
		}
	}
	return true
}

// lit reports whether all circuits of a path are in service and of no slice.
func (l *Loop) lit(s *state.State, x *laid) bool {
	return !slices.ContainsFunc(x.path.Circuits, func(c multihop.Circuit) bool {
		at := s.Circuit(c.In)
		return at.Phase != controller.InService || at.Out != c.Out || !l.circuits.steered[c.In] || l.ofSlice(s, c.In, c.Out)
	})
}

// leads reports whether all circuits of a path are in service and of no slice, and none joins its racks or is to; with
// anew also whether its rules are what they would be by the tables as they are now.
func (l *Loop) leads(s *state.State, x *laid, anew bool) bool {
	if !l.lit(s, x) {
		return false
	}
	for in := int(x.path.Src); in < l.fabric.OCSPorts(); in += l.fabric.Racks {
		if out := s.Circuit(southbound.Port(in)).Out; out != southbound.NoPort &&
			southbound.RackID(l.fabric.OCSRack(int32(out))) == x.path.Dst {
			return false
		}
	}
	if !anew || x.stage == pathWanted {
		return true
	}
	rules, err := l.base.PathRules(&x.path)
	return err == nil && slices.Equal(rules, x.rules)
}

// lay has switches told of a path.
func (l *Loop) lay(x *laid) {
	rules, err := l.base.PathRules(&x.path)
	if err != nil || slices.ContainsFunc(rules, func(r rollout.Placed) bool { return l.multihops.refusing[r.Device] }) {
		x.stage = pathGone // a cable has gone since it was decided, or a switch takes no such rules
		return
	}
	x.rules, x.stage, x.missed = rules, pathLaying, false
	x.known = len(x.parts())
	l.tell(x)
}

// tell has switches told of the next part of a path.
func (l *Loop) tell(x *laid) {
	x.known--
	part := x.parts()[x.known]
	l.base.Lead(&x.path, part)
	for _, r := range part {
		set := l.multihops.set(x, r.Device)
		set.Change.Rules = append(set.Change.Rules, r.Rule)
	}
}

// use has hosts send over a path once all switches know it.
func (l *Loop) use(s *state.State, x *laid) {
	switch {
	case x.open > 0:
	case x.missed:
		l.leavePath(s, x)
		l.multihops.due = true // to take it away
	case x.known > 0:
		l.tell(x)
	default:
		x.stage = pathStanding
		l.multihops.stand[x.pair()] = true
		l.multihops.counts.Stood++
		l.steerPaths()
	}
}

// steerPaths has the next pass steer what racks send that have got a path or lost one. This one may start coflows that
// it cannot see.
func (l *Loop) steerPaths() {
	l.multihops.due = true
	l.steering.all()
}

// leavePath has hosts send over packets again, and has a path taken away. One that no switch knows is gone at once.
func (l *Loop) leavePath(s *state.State, x *laid) {
	m := &l.multihops
	switch x.stage {
	case pathWanted:
		m.renew(x)
		return
	case pathLaying, pathStanding:
	default:
		return
	}
	if m.stand[x.pair()] {
		delete(m.stand, x.pair())
		l.steerPaths()
		if !l.leads(s, x, false) {
			m.counts.Lost++
		}
	}
	x.stage, x.open, x.missed, x.asked, x.tries, x.retry = pathLeaving, 0, false, x.known, 0, 0
	x.life++
}

// takeAway has switches forget a path, again and again until all have: another of the same racks could lead back to
// where this one is known. A switch that is away is asked once it is back, and one that was removed never.
func (l *Loop) takeAway(s *state.State, now time.Duration, x *laid) {
	parts, to := x.parts(), x.known+1
	if !l.lit(s, x) { // what leads into a circuit that goes may be wanted no longer, and could wait for long
		to = len(parts)
	}
	to = max(x.asked, min(to, len(parts)))
	if now >= x.retry && x.asked < to {
		from := x.asked
		x.asked = to
		for _, part := range parts[from:to] {
			l.drop(s, x, part)
		}
		l.multihops.due = l.multihops.due || x.open == 0 // no Set was sent, so no answer will come
		return
	}
	for _, part := range parts[x.asked:to] { // switches that are read before they are asked again get nothing of it
		l.base.Unlead(part)
	}
	switch {
	case x.open > 0 || now < x.retry:
	case x.missed:
		x.retry = now + max(l.cfg.Rollout.Retry, time.Millisecond)<<min(x.tries, 6)
		x.asked, x.missed, x.tries = x.known, false, x.tries+1
	case x.asked < len(parts):
		x.known = x.asked
		l.takeAway(s, now, x)
	default: // all have answered
		l.base.Forget(&x.path, x.rules)
		l.multihops.renew(x)
	}
}

// drop has switches forget a part of a path.
func (l *Loop) drop(s *state.State, x *laid, part []rollout.Placed) {
	l.base.Unlead(part)
	removed := s.Change().Removed
	for _, r := range part {
		switch {
		case slices.Contains(removed, r.Device) || slices.Contains(x.refused, r.Device):
		case l.devices.away[r.Device]:
			x.missed = true
		default:
			set := l.multihops.set(x, r.Device)
			set.Change.Drop = append(set.Change.Drop, r.Rule.Match)
		}
	}
}

// renew has a path that no switch knows any more give way to the next one of its racks.
func (m *multihops) renew(x *laid) {
	if x.next == nil {
		x.stage = pathGone
		return
	}
	*x = laid{path: *x.next, life: x.life + 1}
	m.due = true
}

// set returns the Set of a switch in this pass, whose answer a path waits for.
func (m *multihops) set(x *laid, d southbound.DeviceID) *rollout.Set {
	x.open++
	for i := range m.sets {
		if m.sets[i].set.Device == d {
			m.sets[i].waits = append(m.sets[i].waits, pathWait{x, x.life})
			return &m.sets[i].set
		}
	}
	m.sets = append(m.sets, pathSet{rollout.Set{Device: d}, []pathWait{{x, x.life}}})
	return &m.sets[len(m.sets)-1].set
}

// sendPaths sends the Sets of this pass.
func (l *Loop) sendPaths() {
	m := &l.multihops
	for i := range m.sets {
		p := &m.sets[i]
		p.set.Token = l.circuits.mover.Token()
		m.awaited[p.set.Token] = *p
		l.pass.act.Sets = append(l.pass.act.Sets, p.set)
	}
	m.sets = m.sets[:0]
}
