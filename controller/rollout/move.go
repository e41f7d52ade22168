package rollout

import (
	"errors"
	"slices"
	"time"

	"lightloom/controller/state"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Set is one transaction to send. Its result goes to Done with the same token.
type Set struct {
	Device southbound.DeviceID
	Token  uint64
	Change southbound.Change
}

// Settled is the outcome of a move.
type Settled struct {
	In, Out southbound.Port
	OK      bool
	Stages  state.Stages
}

// Options of a Mover.
type Options struct {
	Drain   time.Duration // from the last rule gone to the ports empty
	Timeout time.Duration // from the OCS's Set to giving up; 0: never
	Retry   time.Duration // between tries of a Set that did not get through
}

// Mover takes circuits from where they are to where they should be: stop steering to the ports, let
// them drain, move the mirrors, wait until the device reports the circuit, steer. Only the ports named
// are touched, and packets that carry the circuit's tag meanwhile take the default way.
type Mover struct {
	fabric    *topo.Fabric
	base      *Base
	opt       Options
	token     uint64
	lit       []southbound.Port // by OCS input: the circuit last reported as connected, and not asked to change since
	into      []southbound.Port // by OCS output: the input that was last reported to lead there
	inputsLit []int32           // by OCS output: how many inputs are lit to it
	moves     []*move           // in order of intent
	busy      [2][]int32        // by OCS input, and output: how many of moves want it
	drops     []int32           // by OCS input: how many rules of its circuits are to be dropped by moves
	sets      []Set
	out       []Settled
	unsure    []southbound.DeviceID // OCSes of which a Set failed in transit
	ready     []*move               // memory of Next, as are spare and told
	spare     []Set
	told      []Settled
	free      []*move                   // finished moves, for reuse
	room      []southbound.CrossConnect // not handed out yet
	// Sets of OCSes that are not answered yet, also those whose moves have been given up
	asks    []ask
	paths   []uint64      // tokens of Sets about paths over circuits alone
	stirred bool          // something was reported since Next
	due     time.Duration // if not stirred: when Next has something to do; unknown: not computed
}

// ask is a Set to an OCS.
type ask struct {
	token uint64
	ocs   southbound.DeviceID
}

// NeedsReread returns, once, the OCSes of which a Set failed in transit, so that their circuits are unknown:
// the caller reads these and passes what it finds as events.
func (m *Mover) NeedsReread() []southbound.DeviceID {
	d := m.unsure
	m.unsure = nil
	return d
}

type phase uint8

const (
	clearing phase = iota // ToRs remove the rules of the circuits that go
	draining
	waiting   // for the OCS to take the Set
	moving    // dark
	steering  // the ToR gets the rules of the circuit
	abandoned // failed: the ToR and the OCS are being cleared of it
)

type move struct {
	// What is looked at of every move comes first.
	in, out southbound.Port
	phase   phase
	connect bool          // reported before the Set's answer came
	told    bool          // the ToR possibly holds the new circuit's rule
	missed  bool          // one of the Sets awaited did not get through
	off     bool          // the circuit is to go, and none comes
	until   time.Duration // end of draining, next try, or when to give up
	retry   time.Duration // next try to update the ToR
	open    []uint64      // tokens awaited
	drop    []southbound.CrossConnect
	stages  state.Stages

	tokens [2]uint64                  // memory of open
	drops  [2]southbound.CrossConnect // memory of drop
}

// start adds a move, and has it drop what it displaces.
func (m *Mover) start(in, out southbound.Port, displaced []southbound.CrossConnect) *move {
	var o *move
	if n := len(m.free); n > 0 {
		o, m.free = m.free[n-1], m.free[:n-1]
		*o = move{in: in, out: out}
	} else {
		o = &move{in: in, out: out}
	}
	o.open, o.drop = o.tokens[:0], append(o.drops[:0], displaced...)
	m.moves = append(m.moves, o)
	m.count(o, 1)
	return o
}

// NewMover returns a Mover with nothing to do.
func NewMover(f *topo.Fabric, base *Base, opt Options) *Mover {
	m := &Mover{fabric: f, base: base, opt: opt, stirred: true}
	if f.HasOCS() {
		m.lit = slices.Repeat([]southbound.Port{southbound.NoPort}, f.OCSPorts())
		m.into, m.inputsLit = slices.Clone(m.lit), make([]int32, f.OCSPorts())
		m.busy, m.drops = [2][]int32{make([]int32, f.OCSPorts()),
			make([]int32, f.OCSPorts())}, make([]int32, f.OCSPorts())
	}
	return m
}

// Begin starts a move to in→out. displaced are the circuits that can be steered to and that hold one of
// the ports, borrowed for the call. A move in progress that holds one of the ports is given up.
func (m *Mover) Begin(now time.Duration, in, out southbound.Port, displaced []southbound.CrossConnect) {
	m.stirred = true
	if m.busy[0][in]+m.busy[1][out]+m.drops[in] > 0 {
		displaced = m.giveUp(in, out, displaced)
	}
	for _, s := range m.out { // settled, but not reported yet
		if s.OK && (s.In == in || s.Out == out) {
			displaced = append(displaced, southbound.CrossConnect{In: s.In, Out: s.Out})
		}
	}
	m.out = slices.DeleteFunc(m.out, func(s Settled) bool { return s.In == in || s.Out == out })
	m.start(in, out, displaced)
}

// giveUp drops the moves in progress that want one of two ports, and appends to displaced what they
// leave to do.
func (m *Mover) giveUp(in, out southbound.Port,
	displaced []southbound.CrossConnect) []southbound.CrossConnect {
	wanted, left := m.busy[0][in]+m.busy[1][out] > 0, m.drops[in]
	for _, old := range m.moves {
		if !wanted && left == 0 {
			return displaced // as for each of the moves that take their ports from each other at one instant
		}
		wants := old.in == in || old.out == out
		if wants && old.told {
			displaced = append(displaced, southbound.CrossConnect{In: old.in, Out: old.out})
		}
		for _, d := range old.drop { // rules that another move has not yet seen gone
			if wants || d.In == in {
				displaced = append(displaced, d)
			}
			if d.In == in {
				left--
			}
		}
		if wants {
			m.count(old, -1)
		}
	}
	if wanted {
		m.moves = slices.DeleteFunc(m.moves, func(o *move) bool { return o.in == in || o.out == out })
	}
	return displaced
}

// Remove starts to take away a circuit that nothing is to go over any more: its ToR forgets it, the
// port drains, and the OCS lets go of it. Nothing settles. A move that wants one of the ports meanwhile
// takes over what is left to do.
func (m *Mover) Remove(in, out southbound.Port) {
	m.stirred = true
	m.start(in, out, []southbound.CrossConnect{{In: in, Out: out}}).off = true
}

// Moving reports whether in→out is being moved to, or removed.
func (m *Mover) Moving(in, out southbound.Port) bool {
	return slices.ContainsFunc(m.moves, func(o *move) bool {
		return o.in == in && o.out == out && o.phase != abandoned
	})
}

// Announced reports whether a switch can hold a rule of that match because a move has sent it its
// circuit, which is not known to be in service yet.
func (m *Mover) Announced(d southbound.DeviceID, match southbound.Match) bool {
	is := func(in, out southbound.Port) bool {
		return m.base.tor(in) == d && slices.Contains(m.base.CircuitMatches(in, out), match)
	}
	return slices.ContainsFunc(m.moves, func(o *move) bool {
		return o.told && o.phase != abandoned &&
			is(o.in, o.out)
	}) ||
		slices.ContainsFunc(m.out, func(s Settled) bool { return s.OK && is(s.In, s.Out) })
}

// Token returns a token for a Set of the caller's own.
func (m *Mover) Token() uint64 {
	m.token++
	return m.token
}

// Done handles the result of a Set; a token that is not awaited is ignored.
func (m *Mover) Done(now time.Duration, token uint64, err error) {
	if i := slices.Index(m.paths, token); i >= 0 {
		m.paths = slices.Delete(m.paths, i, i+1)
		if errors.Is(err, southbound.ErrRefused) { // it takes no such rules, and holds none
			err = nil
		}
	}
	if i := slices.IndexFunc(m.asks, func(a ask) bool { return a.token == token }); i >= 0 {
		// the old circuit possibly remains, and would not be reported as new
		if d := m.asks[i].ocs; err != nil && !errors.Is(err, southbound.ErrRefused) && !slices.Contains(m.unsure, d) {
			m.unsure = append(m.unsure, d)
		}
		m.asks = slices.Delete(m.asks, i, i+1)
	}
	for k := 0; k < len(m.moves); k++ {
		o := m.moves[k]
		i := slices.Index(o.open, token)
		if i < 0 {
			continue
		}
		m.stirred = true
		o.open = slices.Delete(o.open, i, i+1)
		switch {
		case errors.Is(err, southbound.ErrRefused) && o.phase != abandoned:
			m.abandon(now, o)
		case err != nil && o.phase != abandoned: // a device that is gone is read back when it returns
			m.again(now, o)
		case len(o.open) == 0 && o.missed:
			o.missed = false // clear sends all of them again
		case len(o.open) == 0:
			m.advance(now, o)
		}
		if k < len(m.moves) && m.moves[k] != o || k == len(m.moves) {
			k-- // it was the last step of this one, which is gone
		}
	}
}

// again has the step that did not get through tried once more, later.
func (m *Mover) again(now time.Duration, o *move) {
	switch o.phase {
	case clearing:
		o.until, o.missed = now+m.opt.Retry, len(o.open) > 0
	case waiting:
		o.phase, o.until = draining, now+m.opt.Retry
	case steering:
		o.phase, o.retry, o.connect = moving, now+m.opt.Retry, true
	}
}

func (m *Mover) advance(now time.Duration, o *move) {
	switch o.phase {
	case clearing:
		m.countDrops(o, -1)
		o.phase, o.until, o.drop = draining, now+m.opt.Drain, nil
		o.stages.Cleared = now
	case waiting:
		o.stages.Accepted = now
		o.phase, o.until = moving, southbound.Never
		if m.opt.Timeout > 0 {
			o.until = now + m.opt.Timeout
		}
		if m.lit[o.in] == o.out && !o.connect { // it stood already, so the device has nothing to report
			o.connect, o.stages.Connected = true, now
		}
	case steering:
		m.out = append(m.out, Settled{In: o.in, Out: o.out, OK: true, Stages: o.stages})
		m.remove(o)
	case abandoned:
		m.remove(o)
	}
}

func (m *Mover) remove(o *move) {
	if i := slices.Index(m.moves, o); i >= 0 {
		m.moves = slices.Delete(m.moves, i, i+1)
		m.count(o, -1)
		m.free = append(m.free, o)
	}
}

// abandon gives a move up: its circuit is removed from the ToR and the OCS, and the failure is reported
// at once.
func (m *Mover) abandon(now time.Duration, o *move) {
	m.out = append(m.out, Settled{In: o.in, Out: o.out, Stages: o.stages})
	o.phase, o.open = abandoned, nil
	if gone := m.base.CircuitMatches(o.in, o.out); len(gone) > 0 {
		m.send(o, m.base.tor(o.in), southbound.Change{Drop: gone})
	}
	m.connect(o, true)
}

// Event handles what a device reported, by its own numbers of ports. The result of a read-back arrives
// as events, too.
func (m *Mover) Event(now time.Duration, e southbound.DeviceEvent) {
	if !m.fabric.IsOCS(e.Device) || e.Kind != southbound.ConnectionStatus {
		return
	}
	e.In = southbound.Port(m.fabric.OCSPort(e.Device, int32(e.In)))
	e.Out = southbound.Port(m.fabric.OCSPort(e.Device, int32(e.Out)))
	if e.In < 0 || int(e.In) >= len(m.lit) {
		return
	}
	if e.Status == southbound.Connected {
		m.noteCircuit(e.In, e.Out)
	} else if m.lit[e.In] == e.Out {
		m.noteCircuit(e.In, southbound.NoPort)
	}
	if e.Status != southbound.Connected && e.Status != southbound.Failed && e.Status != southbound.Invalid {
		return // of interest only as long as it is lit
	}
	left := m.busy[0][e.In]
	for i := 0; left > 0; i++ {
		o := m.moves[i]
		if o.in != e.In {
			continue
		}
		if left--; o.out != e.Out {
			continue
		}
		m.stirred = true
		switch e.Status {
		case southbound.Connected:
			if o.phase == waiting || o.phase == moving {
				o.connect = true
				o.stages.Connected = now
			}
		case southbound.Failed, southbound.Invalid:
			if o.phase == waiting || o.phase == moving {
				m.abandon(now, o)
			}
		}
	}
}

// Next returns the Sets to send now, at most one a device and one for the paths over each of its circuits, and what has
// settled. The slices are valid until the next call.
func (m *Mover) Next(now time.Duration) ([]Set, []Settled) {
	if !m.stirred && now < m.Wake() {
		return nil, nil
	}
	ready := m.ready[:0]
	for k := 0; k < len(m.moves); k++ {
		o := m.moves[k]
		switch {
		case o.phase == clearing && len(o.open) == 0 && now >= o.until:
			m.clear(now, o)
		case o.phase == moving && o.connect && now >= o.retry && !m.contested(o):
			o.phase, o.connect, o.told = steering, false, true
			rules := m.base.CircuitRules(o.in, o.out)
			if len(rules) == 0 { // its ToR knows what to do
				m.advance(now, o)
				k--
				continue
			}
			m.send(o, m.base.tor(o.in), southbound.Change{Rules: rules})
		case o.phase == moving && now >= o.until:
			m.abandon(now, o)
		}
		switch {
		case o.phase != draining || now < o.until:
		case o.off:
			m.darken(o)
		default:
			ready = append(ready, o)
		}
	}
	m.ready = ready
	m.askAll(now, ready)
	sets, out := m.sets, m.out
	m.sets, m.spare = m.spare[:0], m.sets
	m.out, m.told, m.stirred, m.due = m.told[:0], m.out, false, unknown
	return sets, out
}

// contested reports whether the ToR of a move has still to forget a circuit to the same rack by another OCS or
// wavelength. Both have one rule: the move would lose its own if it came first.
func (m *Mover) contested(o *move) bool {
	if m.fabric.OCSPorts() == m.fabric.Racks || m.fabric.Spec.Pod() {
		return false
	}
	racks := func(in, out southbound.Port) [2]int32 {
		return [2]int32{m.fabric.OCSRack(int32(in)), m.fabric.OCSRack(int32(out))}
	}
	return slices.ContainsFunc(m.moves, func(x *move) bool {
		return x != o && slices.ContainsFunc(x.drop, func(d southbound.CrossConnect) bool {
			return racks(d.In, d.Out) == racks(o.in, o.out)
		})
	})
}

// darken has the OCS remove a drained circuit. A Set that fails in transit is not repeated: the device
// is then read, and unwanted circuits are removed.
func (m *Mover) darken(o *move) {
	o.phase = abandoned
	if m.lit[o.in] == o.out {
		m.noteCircuit(o.in, southbound.NoPort)
	}
	m.connect(o, true)
}

// clear has every ToR forget the circuits that the move displaces; with none, draining is over at once.
func (m *Mover) clear(now time.Duration, o *move) {
	for _, d := range o.drop {
		if gone := m.base.CircuitMatches(d.In, d.Out); len(gone) > 0 {
			m.send(o, m.base.tor(d.In), southbound.Change{Drop: gone})
		}
		m.forget(o, d.In)
	}
	// Of a circuit that has been lost, nothing is displaced, and paths over it are possibly being taken away still.
	displaced := slices.ContainsFunc(o.drop, func(d southbound.CrossConnect) bool { return d.In == o.in })
	if !displaced {
		m.forget(o, o.in)
	}
	switch {
	case len(o.drop) == 0 && len(o.open) == 0:
		o.phase, o.until = draining, now
		o.stages.Cleared = now
	case len(o.open) == 0: // nothing to forget: hosts send nothing to the circuits any more
		m.advance(now, o)
	}
}

// forget has the ToR of an input drop what paths send into it, and the move wait for that. It is a Set by itself: a
// switch that takes no rules by source refuses it whole.
func (m *Mover) forget(o *move, in southbound.Port) {
	if gone := m.base.Through(in); len(gone) > 0 {
		m.sets = append(m.sets, Set{Device: m.base.tor(in), Token: m.Token(), Change: southbound.Change{Drop: gone}})
		m.paths = append(m.paths, m.token)
		o.await(m.token)
	}
}

// Wake returns when Next has something to do without new input, southbound.Never if not.
func (m *Mover) Wake() time.Duration {
	if m.stirred || m.due == unknown {
		m.due = m.wake()
	}
	return m.due
}

// unknown is no instant.
const unknown = time.Duration(-1)

func (m *Mover) wake() time.Duration {
	at := southbound.Never
	for _, o := range m.moves {
		switch o.phase {
		case clearing:
			if len(o.open) == 0 {
				at = min(at, o.until)
			}
		case draining:
			at = min(at, o.until)
		case moving:
			if at = min(at, o.until); o.connect && !m.contested(o) {
				at = min(at, o.retry)
			}
		}
	}
	if len(m.sets) > 0 || len(m.out) > 0 {
		return 0
	}
	return at
}
