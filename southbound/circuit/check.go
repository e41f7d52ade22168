package circuit

import (
	"fmt"
	"maps"
	"slices"

	"lightloom/southbound"
)

// Check walks through every state that a plan passes: no port is used twice, what is not ours is never
// named, nothing is steered to that is not lit, and the last state is what was wanted.
func (p *Plan) Check() error {
	w := newWalk(p)
	for i, s := range p.Steps {
		if err := w.step(s); err != nil {
			return fmt.Errorf("check plan: step %d: %w", i+1, err)
		}
	}
	got := slices.SortedFunc(maps.Keys(w.lit), byPorts)
	if !slices.Equal(got, p.After) {
		return fmt.Errorf("check plan: it ends with %v, and %v is wanted", got, p.After)
	}
	for _, x := range p.After {
		if !w.steered[x] {
			return fmt.Errorf("check plan: nothing is steered to %d→%d at the end", x.In, x.Out)
		}
	}
	return nil
}

// walk is a state of the device and of the packet switches around it.
type walk struct {
	p            *Plan
	lit, steered map[southbound.CrossConnect]bool
	byIn, byOut  map[southbound.Port]southbound.CrossConnect // the leased ports' circuits
	foreignIn    map[southbound.Port]bool
	foreignOut   map[southbound.Port]bool
}

func newWalk(p *Plan) *walk {
	w := &walk{p: p, lit: map[southbound.CrossConnect]bool{}, steered: map[southbound.CrossConnect]bool{},
		byIn: map[southbound.Port]southbound.CrossConnect{}, byOut: map[southbound.Port]southbound.CrossConnect{},
		foreignIn: map[southbound.Port]bool{}, foreignOut: map[southbound.Port]bool{}}
	for _, x := range p.Before {
		w.lit[x], w.steered[x], w.byIn[x.In], w.byOut[x.Out] = true, true, x, x
	}
	for _, x := range p.Others {
		w.foreignIn[x.In], w.foreignOut[x.Out] = true, true
	}
	return w
}

func (w *walk) step(s Step) error {
	for _, x := range s.Drain {
		delete(w.steered, x)
	}
	for _, x := range s.Change.Connect {
		if !w.p.Lease.Input(x.In) || !w.p.Lease.Output(x.Out) || w.foreignIn[x.In] ||
			w.foreignOut[x.Out] && !x.Off {
			return fmt.Errorf("it names %d→%d: %w", x.In, x.Out, ErrNotOurs)
		}
	}
	if s.Change.Replace || len(s.Change.Rules)+len(s.Change.Drop) > 0 {
		return fmt.Errorf("it replaces everything: %w", ErrNotOurs)
	}
	for _, x := range s.Change.Connect { // first what goes: all at once, for one change is one transaction
		if err := w.dark(w.byIn[x.In], w.has(x.In)); err != nil {
			return err
		}
		if old, held := w.byOut[x.Out]; held && !x.Off {
			if err := w.dark(old, true); err != nil {
				return err
			}
		}
	}
	for _, x := range s.Change.Connect {
		if x.Off {
			continue
		}
		if _, busy := w.byIn[x.In]; busy {
			return fmt.Errorf("input %d is used twice", x.In)
		}
		if _, busy := w.byOut[x.Out]; busy {
			return fmt.Errorf("output %d is used twice", x.Out)
		}
		w.lit[x], w.byIn[x.In], w.byOut[x.Out] = true, x, x
	}
	for _, x := range s.Verify {
		if !w.lit[x] {
			return fmt.Errorf("it steers to %d→%d, which is dark", x.In, x.Out)
		}
		w.steered[x] = true
	}
	return nil
}

func (w *walk) has(in southbound.Port) bool { _, ok := w.byIn[in]; return ok }

// dark takes a circuit's light away.
func (w *walk) dark(x southbound.CrossConnect, stands bool) error {
	if !stands {
		return nil
	}
	if w.steered[x] {
		return fmt.Errorf("%d→%d goes dark while packets are steered to it", x.In, x.Out)
	}
	delete(w.lit, x)
	delete(w.byIn, x.In)
	delete(w.byOut, x.Out)
	return nil
}
