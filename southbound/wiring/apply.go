package wiring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/circuit"
)

// Options say how wiring is applied.
type Options struct {
	TakeOver bool          // remove circuits of others that hold wanted ports
	Settle   time.Duration // how long a switch may take for one Set; 0 means 10 s
	Every    time.Duration // between two looks; 0 means 20 ms
	Tell     func(Step)    // before each Set; nil: nobody
}

func (o Options) defaults() Options {
	if o.Settle == 0 {
		o.Settle = 10 * time.Second
	}
	if o.Every == 0 {
		o.Every = 20 * time.Millisecond
	}
	if o.Tell == nil {
		o.Tell = func(Step) {}
	}
	return o
}

// maxSteps and maxAgain bound how often a switch is asked, and how often for what came to nothing before.
const (
	maxSteps = 12
	maxAgain = 1
)

// Result is what Apply has done.
type Result struct {
	Steps    []Step  // that were sent, in their order
	Removed  []Stray // that were in the way
	Findings []Finding
}

// Look reads a view, and the ports where the switch shows them.
func Look(ctx context.Context, d southbound.Device) (View, []southbound.Side, error) {
	v, err := look(ctx, d)
	if err != nil {
		return View{}, nil, err
	}
	sides, err := lookAtSides(ctx, d)
	return v, sides, err
}

// lookAtSides reads the ports of a switch; nil where it shows none.
func lookAtSides(ctx context.Context, d southbound.Device) ([]southbound.Side, error) {
	s, ok := d.(southbound.Sided)
	if !ok {
		return nil, nil
	}
	sides, err := s.Sides(ctx)
	if errors.Is(err, southbound.ErrUnsupported) {
		return nil, nil
	}
	return sides, err
}

// look reads a view. A switch whose configuration is not read apart is configured with what it shows.
func look(ctx context.Context, d southbound.Device) (View, error) {
	var v View
	c, ok := d.(southbound.Configured)
	err := southbound.ErrUnsupported
	if ok {
		v.Configured, err = c.Configured(ctx)
	}
	if err != nil && !errors.Is(err, southbound.ErrUnsupported) {
		return View{}, err
	}
	seen, serr := d.Read(ctx)
	if serr != nil {
		return View{}, serr
	}
	v.Seen = seen.Connections
	if err != nil {
		for _, c := range v.Seen {
			if c.Status != southbound.PendingDeletion && c.Status != southbound.Disconnected {
				v.Configured = append(v.Configured, southbound.CrossConnect{In: c.In, Out: c.Out})
			}
		}
	}
	return v, nil
}

// Apply makes the links of a wiring stand: it looks, plans, sends the first step and looks again, until nothing is left
// to do, so that it carries on wherever an earlier run or a restart of the switch has left off. What a switch accepts
// and does not make is asked for once more, and then left as it is: Findings name it.
func (w *Wiring) Apply(ctx context.Context, d southbound.Device, l circuit.Lease, o Options) (*Result, error) {
	o = o.defaults()
	r := &Result{}
	var v View
	for again := 0; ; {
		var err error
		if v, err = w.settled(ctx, d, l, o); err != nil {
			return r, fmt.Errorf("apply wiring: %w", err)
		}
		p, err := Make(v, w.Circuits(), l, o.TakeOver)
		if len(r.Steps) == 0 {
			r.Removed = p.Strays
		}
		if err != nil {
			return r, err
		}
		if len(p.Steps) > 0 && (p.Steps[0].Again || r.repeats(p.Steps[0])) {
			again++
		}
		if len(p.Steps) == 0 || again > maxAgain || len(r.Steps) == maxSteps {
			break
		}
		if err := r.send(ctx, d, p.Steps[0], o); err != nil {
			return r, fmt.Errorf("apply wiring: %w", err)
		}
	}
	sides, err := lookAtSides(ctx, d)
	if err != nil {
		return r, fmt.Errorf("apply wiring: %w", err)
	}
	r.Findings = w.Verify(v, sides)
	return r, nil
}

// send does a step. An error that leaves open whether the switch has taken it is none: what it shows decides.
func (r *Result) send(ctx context.Context, d southbound.Device, s Step, o Options) error {
	o.Tell(s)
	r.Steps = append(r.Steps, s)
	within, cancel := context.WithTimeout(ctx, southbound.SetWithin(d, o.Settle))
	defer cancel()
	err := d.Set(within, &s.Change)
	if errors.Is(err, southbound.ErrRefused) || errors.Is(err, southbound.ErrNotLeader) {
		return err
	}
	return ctx.Err()
}

// repeats reports whether a step is the one that was sent last.
func (r *Result) repeats(s Step) bool {
	return len(r.Steps) > 0 && slices.Equal(r.Steps[len(r.Steps)-1].Change.Connect, s.Change.Connect)
}

// Plan returns what Apply would do.
func (w *Wiring) Plan(ctx context.Context, d southbound.Device, l circuit.Lease, o Options) (*Plan, error) {
	v, err := w.settled(ctx, d, l, o.defaults())
	if err != nil {
		return nil, fmt.Errorf("plan wiring: %w", err)
	}
	return Make(v, w.Circuits(), l, o.TakeOver)
}

// settled looks until nothing of the wiring is in between, or the switch has had its time for it.
func (w *Wiring) settled(ctx context.Context, d southbound.Device, l circuit.Lease, o Options) (View, error) {
	late := time.NewTimer(o.Settle)
	defer late.Stop()
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	wanted := w.Circuits()
	for {
		v, err := look(ctx, d)
		if err == nil && settled(v, wanted, l) || errors.Is(err, southbound.ErrRefused) {
			return v, err
		}
		select {
		case <-tick.C:
		case <-late.C:
			return v, err
		case <-ctx.Done():
			return v, errors.Join(err, ctx.Err())
		}
	}
}

// settled reports whether each wanted circuit that is configured is shown, and no circuit at their ports, nor one of
// the lease, is about to come or go.
func settled(v View, wanted []southbound.CrossConnect, l circuit.Lease) bool {
	status, conf := v.status(), v.configured()
	ins, outs := map[southbound.Port]bool{}, map[southbound.Port]bool{}
	for _, x := range wanted {
		ins[x.In], outs[x.Out] = true, true
		if _, shown := status[x]; conf[x] && !shown {
			return false
		}
	}
	for x, s := range status {
		ours := ins[x.In] || outs[x.Out] || l.Input(x.In) && l.Output(x.Out)
		if ours && (s == southbound.PendingConnection || s == southbound.PendingDeletion) {
			return false
		}
	}
	return true
}
