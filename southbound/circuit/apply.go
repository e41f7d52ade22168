package circuit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
)

// Steering has the packet switches at the ends of circuits send packets to them, or no longer.
type Steering interface {
	// Off returns once no packet is steered to these circuits any more, nor on its way to them.
	Off(ctx context.Context, circuits []southbound.CrossConnect) error
	On(ctx context.Context, circuits []southbound.CrossConnect) error
}

// Unsteered is the Steering of circuits to which no traffic is steered.
type Unsteered struct{}

// Off implements Steering.
func (Unsteered) Off(context.Context, []southbound.CrossConnect) error { return nil }

// On implements Steering.
func (Unsteered) On(context.Context, []southbound.CrossConnect) error { return nil }

// Options say how long things may take.
type Options struct {
	Settle time.Duration // from a change to its circuits being connected; 0 means 10 s
	Every  time.Duration // between two looks; 0 means 20 ms
	Tell   func(step int, what string)
}

func (o Options) defaults() Options {
	if o.Settle == 0 {
		o.Settle = 10 * time.Second
	}
	if o.Every == 0 {
		o.Every = 20 * time.Millisecond
	}
	if o.Tell == nil {
		o.Tell = func(int, string) {}
	}
	return o
}

// Apply carries out a plan: for each step it drains, moves, verifies and steers. If a step fails, it
// restores the circuits from before the plan, and the error reports whether that succeeded. A plan for
// circuits that exist already has no steps.
func Apply(ctx context.Context, d southbound.Device, st Steering, p *Plan, caps Caps, o Options) error {
	o = o.defaults()
	err := run(ctx, d, st, p, o)
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // asked to end: the way back needs time of its own
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), 2*o.Settle)
		defer cancel()
	}
	o.Tell(0, "roll back")
	if back := rollBack(ctx, d, st, p, caps, o); back != nil {
		return fmt.Errorf("apply plan: %w; and what stood before could not be made again: %w", err, back)
	}
	return fmt.Errorf("apply plan: %w; what stood before stands again", err)
}

func run(ctx context.Context, d southbound.Device, st Steering, p *Plan, o Options) error {
	for i, s := range p.Steps {
		fail := func(what string, err error) error { return fmt.Errorf("step %d: %s: %w", i+1, what, err) }
		if len(s.Drain) > 0 {
			o.Tell(i+1, "drain")
			if err := st.Off(ctx, s.Drain); err != nil {
				return fail("drain", err)
			}
		}
		o.Tell(i+1, "move")
		serr := d.Set(ctx, &s.Change)
		if errors.Is(serr, southbound.ErrRefused) {
			return fail("move", serr)
		}
		// Any other error leaves it open whether the change was taken: what the device shows decides.
		o.Tell(i+1, "verify")
		if err := verify(ctx, d, s, o); err != nil {
			return fail("verify", errors.Join(err, serr))
		}
		if len(s.Verify) > 0 {
			o.Tell(i+1, "steer")
			if err := st.On(ctx, s.Verify); err != nil {
				return fail("steer", err)
			}
		}
	}
	return nil
}

// verify waits until the device shows a step as done.
func verify(ctx context.Context, d southbound.Device, s Step, o Options) error {
	ctx, cancel := context.WithTimeout(ctx, o.Settle)
	defer cancel()
	tick := time.NewTicker(o.Every)
	defer tick.Stop()
	for {
		seen, err := d.Read(ctx)
		var wrong error
		if err == nil {
			if wrong = undone(seen.Connections, s); wrong == nil {
				return nil
			}
			if errors.Is(wrong, errFailed) {
				return wrong
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(wrong, err, ctx.Err())
		}
	}
}

var errFailed = errors.New("the device gave it up")

// undone returns an error if the device does not show the whole step yet.
func undone(seen []southbound.Connection, s Step) error {
	status := make(map[southbound.CrossConnect]southbound.Status, len(seen))
	for _, c := range seen {
		status[southbound.CrossConnect{In: c.In, Out: c.Out}] = c.Status
	}
	for _, x := range s.Verify {
		switch got := status[x]; got {
		case southbound.Connected:
		case southbound.Failed, southbound.Invalid:
			return fmt.Errorf("circuit %d→%d is %v: %w", x.In, x.Out, got, errFailed)
		default:
			return fmt.Errorf("circuit %d→%d is %v", x.In, x.Out, got)
		}
	}
	for _, x := range s.Drain {
		if got, stands := status[x]; stands && !slices.Contains(s.Verify, x) {
			return fmt.Errorf("circuit %d→%d is still there, %v", x.In, x.Out, got)
		}
	}
	return nil
}

// rollBack makes what stood before the plan stand again, whatever the device holds now.
func rollBack(ctx context.Context, d southbound.Device, st Steering, p *Plan, caps Caps, o Options) error {
	seen, err := d.Read(ctx)
	if err != nil {
		return err
	}
	back, err := Make(seen.Connections, p.Before, p.Lease, caps)
	if err != nil {
		return err
	}
	if err := run(ctx, d, st, back, o); err != nil {
		return err
	}
	return st.On(ctx, p.Before) // also those that were drained and never moved
}
