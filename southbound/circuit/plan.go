package circuit

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lightloom/southbound"
)

// Caps is what a device can do in one change, and in which order it does it.
type Caps struct {
	CreateFirst bool // it makes circuits before it removes others, so the ports of what is made must be free
	Single      bool // a change holds one circuit
}

// Step is one change, and what it takes so that no packet meets the dark.
type Step struct {
	Drain  []southbound.CrossConnect // circuits that go: first nothing is steered to them any more, and they run empty
	Change southbound.Change
	// circuits that come: they are steered to once the device says that they are connected
	Verify []southbound.CrossConnect
}

// Plan is how the circuits of a lease become those that are wanted.
type Plan struct {
	Lease  Lease
	Before []southbound.CrossConnect // of the lease, by input
	After  []southbound.CrossConnect
	Others []southbound.CrossConnect // not ours: they stay
	Steps  []Step
}

// ErrNotOurs means that the plan would touch a port that is not leased.
var ErrNotOurs = errors.New("not leased")

// Make plans the way from what a device shows to wanted, which is all the circuits of the lease that
// shall stand. What stands already is in no step. Connections that failed or are invalid count as
// standing where they hold a port: they are removed, and made again where they are wanted.
func Make(seen []southbound.Connection, wanted []southbound.CrossConnect, l Lease,
	caps Caps) (*Plan, error) {
	p := &Plan{Lease: l}
	after, err := ours(wanted, &l)
	if err != nil {
		return nil, err
	}
	p.After = after
	broken := map[southbound.CrossConnect]bool{}
	for _, c := range seen {
		if c.Status == southbound.PendingDeletion || c.Status == southbound.Disconnected {
			continue
		}
		x := southbound.CrossConnect{In: c.In, Out: c.Out}
		in, out := l.Input(c.In), l.Output(c.Out)
		switch {
		case in && out:
			p.Before = append(p.Before, x)
			broken[x] = c.Status == southbound.Failed || c.Status == southbound.Invalid
		case in && uses(after, func(w southbound.CrossConnect) bool { return w.In == c.In }):
			return nil, fmt.Errorf("plan input %d: it is held by %d→%d, whose output is another's: %w",
				c.In, c.In, c.Out,
				ErrNotOurs)
		case out && uses(after, func(w southbound.CrossConnect) bool { return w.Out == c.Out }):
			return nil, fmt.Errorf("plan output %d: it is held by %d→%d, whose input is another's: %w",
				c.Out, c.In, c.Out,
				ErrNotOurs)
		default:
			p.Others = append(p.Others, x)
		}
	}
	slices.SortFunc(p.Before, byPorts)
	slices.SortFunc(p.Others, byPorts)
	p.Steps = steps(p.Before, after, broken, caps)
	return p, p.Check()
}

// ours checks what is wanted against the lease, and sorts it.
func ours(wanted []southbound.CrossConnect, l *Lease) ([]southbound.CrossConnect, error) {
	out := slices.Clone(wanted)
	slices.SortFunc(out, byPorts)
	outs := make(map[southbound.Port]bool, len(out))
	for i, x := range out {
		switch {
		case x.Off:
			return nil, fmt.Errorf("plan circuit %d→%d: leave out what shall not stand", x.In, x.Out)
		case !l.Input(x.In) || !l.Output(x.Out):
			return nil, fmt.Errorf("plan circuit %d→%d: group %q has not both its ports: %w", x.In, x.Out,
				l.Group, ErrNotOurs)
		case i > 0 && out[i-1].In == x.In || outs[x.Out]:
			return nil, fmt.Errorf("plan circuit %d→%d: a port of it is wanted twice", x.In, x.Out)
		}
		outs[x.Out] = true
	}
	return out, nil
}

func uses(all []southbound.CrossConnect, is func(southbound.CrossConnect) bool) bool {
	return slices.ContainsFunc(all, is)
}

func byPorts(a, b southbound.CrossConnect) int {
	return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out))
}

// steps orders the difference by what the device can do.
func steps(before, after []southbound.CrossConnect, broken map[southbound.CrossConnect]bool,
	caps Caps) []Step {
	stays := make(map[southbound.CrossConnect]bool, len(before))
	for _, x := range after {
		stays[x] = true
	}
	var gone []southbound.CrossConnect
	have := make(map[southbound.CrossConnect]bool, len(before))
	for _, x := range before {
		have[x] = !broken[x]
		if !stays[x] || broken[x] {
			gone = append(gone, x)
		}
	}
	var made []southbound.CrossConnect
	for _, x := range after {
		if !have[x] {
			made = append(made, x)
		}
	}
	switch {
	case len(gone)+len(made) == 0:
		return nil
	case caps.CreateFirst:
		return createFirst(gone, made, caps.Single)
	case caps.Single:
		var out []Step
		for _, x := range gone {
			out = append(out, remove(x))
		}
		for _, x := range made {
			out = append(out, create(x))
		}
		return out
	}
	return []Step{bulk(gone, made)}
}

// bulk is everything in one change. An input that is made again displaces what it held, by the law of
// Change.
func bulk(gone, made []southbound.CrossConnect) Step {
	s := Step{Drain: gone, Verify: made}
	again := make(map[southbound.Port]bool, len(made))
	for _, x := range made {
		again[x.In] = true
		s.Change.Connect = append(s.Change.Connect, x)
	}
	for _, x := range gone {
		if !again[x.In] {
			s.Change.Connect = append(s.Change.Connect, southbound.CrossConnect{In: x.In, Out: x.Out, Off: true})
		}
	}
	slices.SortFunc(s.Change.Connect, byPorts)
	return s
}

func remove(x southbound.CrossConnect) Step {
	off := southbound.CrossConnect{In: x.In, Out: x.Out, Off: true}
	return Step{Drain: []southbound.CrossConnect{x},
		Change: southbound.Change{Connect: []southbound.CrossConnect{off}}}
}

func create(x southbound.CrossConnect) Step {
	return Step{Change: southbound.Change{Connect: []southbound.CrossConnect{x}},
		Verify: []southbound.CrossConnect{x}}
}

// createFirst creates circuits in rounds, once their ports are free, and removes before each round only
// the circuits that block it. A circuit that nothing displaces is removed last, and no circuit goes
// dark needlessly.
func createFirst(gone, made []southbound.CrossConnect, single bool) []Step {
	inBusy, outBusy := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, x := range gone {
		inBusy[x.In], outBusy[x.Out] = true, true
	}
	var out []Step
	emit := func(all []southbound.CrossConnect, off bool) {
		switch {
		case len(all) == 0:
		case single:
			for _, x := range all {
				if off {
					out = append(out, remove(x))
				} else {
					out = append(out, create(x))
				}
			}
		case off:
			out = append(out, bulk(all, nil))
		default:
			out = append(out, bulk(nil, all))
		}
	}
	free, blocked := split(made, func(x southbound.CrossConnect) bool {
		return !inBusy[x.In] &&
			!outBusy[x.Out]
	})
	emit(free, false)
	inWanted, outWanted := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, x := range blocked {
		inWanted[x.In], outWanted[x.Out] = true, true
	}
	inTheWay, rest := split(gone, func(x southbound.CrossConnect) bool {
		return inWanted[x.In] ||
			outWanted[x.Out]
	})
	emit(inTheWay, true)
	emit(blocked, false)
	emit(rest, true)
	return out
}

func split(all []southbound.CrossConnect, is func(southbound.CrossConnect) bool) (yes,
	no []southbound.CrossConnect) {
	for _, x := range all {
		if is(x) {
			yes = append(yes, x)
		} else {
			no = append(no, x)
		}
	}
	return yes, no
}
