package wiring

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lightloom/southbound"
	"lightloom/southbound/circuit"
)

// View is what a switch says of its circuits: those that it is configured with, and those that it shows.
type View struct {
	Configured []southbound.CrossConnect
	Seen       []southbound.Connection
}

// status returns what is shown of each circuit. Where the same pair is shown twice, the one that does not leave counts.
func (v View) status() map[southbound.CrossConnect]southbound.Status {
	out := make(map[southbound.CrossConnect]southbound.Status, len(v.Seen))
	for _, c := range v.Seen {
		x := southbound.CrossConnect{In: c.In, Out: c.Out}
		if old, twice := out[x]; c.Status != southbound.Disconnected && (!twice || old == southbound.PendingDeletion) {
			out[x] = c.Status
		}
	}
	return out
}

func (v View) configured() map[southbound.CrossConnect]bool {
	out := make(map[southbound.CrossConnect]bool, len(v.Configured))
	for _, x := range v.Configured {
		out[southbound.CrossConnect{In: x.In, Out: x.Out}] = true
	}
	return out
}

// Stray is a circuit that is not wanted and holds a wanted port, or one that the testbed has left.
type Stray struct {
	southbound.CrossConnect
	Configured bool // false: it is in the state of the switch only
	Own        bool // both its ports are of the lease
}

// Action says what a step is for.
type Action string

// The actions, in the order in which a plan has them.
const (
	Remove Action = "remove"              // circuits that go, and those that are made again
	Adopt  Action = "add, to delete then" // circuits of the state only: a switch deletes what it is configured with
	Drop   Action = "delete"              // adopted circuits
	Wire   Action = "wire"                // removes what is in the way, and makes what is missing
)

// Step is one Set.
type Step struct {
	Action Action
	Change southbound.Change
	Again  bool // it begins to make circuits again that are configured and came to nothing
}

// Plan is the way from a view to what is wanted.
type Plan struct {
	Steps  []Step
	Kept   int     // wanted circuits that stand already
	Strays []Stray // sorted; all of them go, unless Make returns an error
}

// ErrForeign means that a circuit of others is in the way. Make returns the plan with its Strays, and without steps.
var ErrForeign = errors.New("circuits of others hold wanted ports")

// Make plans the changes that make wanted stand, from a view that has settled: what is configured and not connected is
// made again. Circuits with both ports in the lease that are not wanted go. One that
// holds a wanted port and has another's port at its other end goes with takeOver alone. Nothing else is touched.
func Make(v View, wanted []southbound.CrossConnect, l circuit.Lease, takeOver bool) (*Plan, error) {
	m := &maker{conf: v.configured(), status: v.status(), wanted: map[southbound.CrossConnect]bool{},
		ins: map[southbound.Port]bool{}, outs: map[southbound.Port]bool{}}
	for _, x := range wanted {
		m.wanted[x], m.ins[x.In], m.outs[x.Out] = true, true, true
	}
	p := &Plan{Strays: m.strays(l)}
	for _, s := range p.Strays {
		if !s.Own && !takeOver {
			return p, fmt.Errorf("plan wiring: %w", ErrForeign)
		}
	}
	if err := m.sort(p); err != nil {
		return p, err
	}
	p.Steps = m.steps()
	return p, nil
}

// maker sorts circuits by what becomes of them.
type maker struct {
	conf, wanted map[southbound.CrossConnect]bool
	status       map[southbound.CrossConnect]southbound.Status
	ins, outs    map[southbound.Port]bool // that are wanted

	gone   []southbound.CrossConnect // configured, and not wanted
	adopt  []southbound.CrossConnect // in the state only, and not wanted
	again  []southbound.CrossConnect // wanted and configured, and to be made once more
	create []southbound.CrossConnect // wanted, and not configured
}

// strays returns the circuits that have to go.
func (m *maker) strays(l circuit.Lease) []Stray {
	all := maps.Clone(m.conf)
	for x := range m.status {
		all[x] = true
	}
	var out []Stray
	for _, x := range slices.SortedFunc(maps.Keys(all), byPorts) {
		own := l.Input(x.In) && l.Output(x.Out)
		if !m.wanted[x] && (own || m.ins[x.In] || m.outs[x.Out]) {
			out = append(out, Stray{CrossConnect: x, Configured: m.conf[x], Own: own})
		}
	}
	return out
}

// sort fills the four lists.
func (m *maker) sort(p *Plan) error {
	heldIn, heldOut := map[southbound.Port]bool{}, map[southbound.Port]bool{} // by what is in the state only
	leaves := map[southbound.CrossConnect]bool{}
	for _, s := range p.Strays {
		leaves[s.CrossConnect] = true
		if s.Configured {
			m.gone = append(m.gone, s.CrossConnect)
			continue
		}
		m.adopt = append(m.adopt, s.CrossConnect)
		heldIn[s.In], heldOut[s.Out] = true, true
	}
	for _, x := range slices.SortedFunc(maps.Keys(m.conf), byPorts) { // adding a circuit of the state would displace it
		if !m.wanted[x] && !leaves[x] && (heldIn[x.In] || heldOut[x.Out]) {
			return fmt.Errorf("plan wiring: circuit %d→%d of others shares a port with one that is in the state only, which "+
				"cannot go without it: %w", x.In, x.Out, ErrForeign)
		}
	}
	for _, x := range slices.SortedFunc(maps.Keys(m.wanted), byPorts) {
		s, shown := m.status[x]
		switch {
		case !m.conf[x]:
			m.create = append(m.create, x)
		case heldIn[x.In] || heldOut[x.Out] || !shown || s != southbound.Connected:
			m.again = append(m.again, x)
		default:
			p.Kept++
		}
	}
	return nil
}

// steps orders the lists. What is made again is removed first and made in a step of its own: a switch that has a
// circuit takes the same one for no change. What is in the state only is added once its ports are free, then deleted.
func (m *maker) steps() []Step {
	made := slices.SortedFunc(slices.Values(slices.Concat(m.create, m.again)), byPorts)
	if len(m.again)+len(m.adopt) == 0 {
		return all(nil, Step{Action: Wire, Change: change(m.gone, made)})
	}
	off := slices.SortedFunc(slices.Values(slices.Concat(m.gone, m.again)), byPorts)
	out := all(nil, Step{Action: Remove, Change: change(off, nil), Again: len(m.again) > 0})
	for _, round := range apart(m.adopt) {
		out = all(out, Step{Action: Adopt, Change: change(nil, round)})
		out = all(out, Step{Action: Drop, Change: change(round, nil)})
	}
	return all(out, Step{Action: Wire, Change: change(nil, made)})
}

// all appends a step that changes something.
func all(steps []Step, s Step) []Step {
	if s.Change.Empty() {
		return steps
	}
	return append(steps, s)
}

// change removes and makes circuits at once. An input that is made again needs no removal, by the law of Change.
func change(off, on []southbound.CrossConnect) southbound.Change {
	c := southbound.Change{Connect: slices.Clone(on)}
	ins := make(map[southbound.Port]bool, len(on))
	for _, x := range on {
		ins[x.In] = true
	}
	for _, x := range off {
		if !ins[x.In] {
			ins[x.In] = true // two circuits of an input go by one removal
			c.Connect = append(c.Connect, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
	}
	slices.SortFunc(c.Connect, byPorts)
	return c
}

// apart splits circuits into rounds in which no port occurs twice.
func apart(xs []southbound.CrossConnect) (rounds [][]southbound.CrossConnect) {
	for len(xs) > 0 {
		ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
		var round, rest []southbound.CrossConnect
		for _, x := range xs {
			if ins[x.In] || outs[x.Out] {
				rest = append(rest, x)
				continue
			}
			ins[x.In], outs[x.Out] = true, true
			round = append(round, x)
		}
		rounds, xs = append(rounds, round), rest
	}
	return rounds
}

// Describe says what a stray is, with the names of its ends.
func (w *Wiring) Describe(s Stray) string {
	what := []string{w.CircuitName(s.CrossConnect)}
	if !s.Configured {
		what = append(what, "in the state of the switch only")
	}
	if s.Own {
		what = append(what, "left by this testbed")
	}
	return strings.Join(what, ", ")
}
