package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/frameprobe"
)

// packetRules are what only packets can tell, through interfaces of this machine at ports of the switch.
func packetRules() []rule {
	return []rule{
		{"light-through", "what enters a port leaves the right one, by packets", true, lightThrough},
		{"switching-time", "a circuit is dark as long as it is said to be, by packets, and not CONNECTED before", true,
			switchingTime},
		{"change-under-load", "a change of others loses no packet of a circuit", true, changeUnderLoad},
	}
}

// How circuits are probed by packets.
const (
	probeTail   = 4 * time.Millisecond // of frames after the last that is of interest
	probeMoves  = 12                   // of a circuit that say something, whose median counts
	probeLeast  = 4                    // of these, on a machine that is busy
	probeTries  = 100                  // moves at most
	probeSpare  = 2 * time.Second      // of the time limit, for the rest
	darkWithin  = 20 * time.Microsecond
	loadEvery   = 100 * time.Microsecond
	loadChanges = 10
)

// errBusy is a skip: the machine does so much else that its frames say nothing.
var errBusy = fmt.Errorf("%w: this machine is too busy to probe by packets", errSkip)

// probed returns n free ports that have an interface of this machine; the first is to be the input.
func (b *bench) probed(ctx context.Context, n int) ([]southbound.Port, error) {
	if !b.optical() {
		return nil, fmt.Errorf("%w: a packet switch has no circuits", errSkip)
	}
	if b.lab.Probes == nil {
		return nil, fmt.Errorf("%w: interfaces of this machine at ports of the switch are needed for it", errSkip)
	}
	seen, err := b.foreign(ctx)
	if err != nil {
		return nil, err
	}
	var out []southbound.Port
	for _, p := range b.lab.Probes.Ports() {
		taken := slices.ContainsFunc(seen.Connections, func(c southbound.Connection) bool { return c.In == p || c.Out == p })
		if !taken && int32(p) < b.ports {
			out = append(out, p)
		}
	}
	if len(out) < n {
		return nil, fmt.Errorf("%w: %d free ports with an interface of this machine are needed for it, and there are %d",
			errSkip, n, len(out))
	}
	return out[:n], nil
}

// dark takes the circuits of inputs away, also where ctx has ended.
func (b *bench) dark(ctx context.Context, ins ...southbound.Port) error {
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultTimeout)
	defer cancel()
	undo := &southbound.Change{}
	for _, in := range ins {
		undo.Connect = append(undo.Connect, southbound.CrossConnect{In: in, Off: true})
	}
	if err := b.change(clean, undo); err != nil {
		return fmt.Errorf("take circuits away again: %w", err)
	}
	return b.until(clean, "the circuits' end", func(s southbound.Seen) bool {
		return !slices.ContainsFunc(s.Connections, func(c southbound.Connection) bool { return slices.Contains(ins, c.In) })
	})
}

// carries checks that what enters a port arrives at another one, and nowhere else.
func (b *bench) carries(in, out southbound.Port) error {
	w, err := b.lab.Probes.Watch(in, loadEvery, probeTail, func() error { return nil })
	if err != nil {
		return err
	}
	return carried(w, in, out, b.lab.Probes.Ports())
}

// carried is what frames say that entered a port and should have left another.
func carried(w *frameprobe.Watched, in, out southbound.Port, ports []southbound.Port) error {
	switch lost := w.Lost(out); {
	case len(w.Sent) == 0: // the machine kept the sender from its processor for all of the time
		return errBusy
	case lost == len(w.Sent):
		return fmt.Errorf("traffic: nothing of what enters port %d leaves port %d", in, out)
	}
	for _, p := range ports {
		if n := len(w.Arrived[p]); p != out && n > 0 {
			return fmt.Errorf("traffic: %d of %d frames that enter port %d leave port %d", n, len(w.Sent), in, p)
		}
	}
	return nil
}

func lightThrough(ctx context.Context, b *bench) error {
	ports, err := b.probed(ctx, 2)
	if err != nil {
		return err
	}
	x := southbound.CrossConnect{In: ports[0], Out: ports[1]}
	if err := b.connect(ctx, x); err != nil {
		return err
	}
	if err = b.lit(ctx, x); err == nil {
		err = b.carries(x.In, x.Out)
	}
	return errors.Join(err, b.dark(ctx, x.In))
}

// switched moves a circuit from one output to another, and returns what frames and the state say of it.
func (b *bench) switched(ctx context.Context, w *watcher, in, from, to southbound.Port) (frameprobe.Switched, bool,
	error) {
	var told time.Time
	seen, err := b.lab.Probes.Watch(in, frameprobe.Every, probeTail, func() error {
		x := southbound.CrossConnect{In: in, Out: to}
		if err := b.connect(ctx, x); err != nil {
			return err
		}
		_, _, err := w.until(x, southbound.Connected)
		told = time.Now()
		return err
	})
	if err != nil {
		return frameprobe.Switched{}, false, err
	}
	s, ok := seen.Switched(from, to)
	if !s.Lost.IsZero() && told.Before(s.Lost) {
		err = fmt.Errorf("circuit %d→%d is CONNECTED %v before the first packet passes", in, to, s.Lost.Sub(told))
	}
	return s, ok, err
}

func switchingTime(ctx context.Context, b *bench) (err error) {
	ports, err := b.probed(ctx, 3)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.watch(inner)
	if err != nil {
		return err
	}
	in, outs := ports[0], ports[1:]
	defer func() { err = errors.Join(err, b.dark(ctx, in)) }()
	if err := b.connect(ctx, southbound.CrossConnect{In: in, Out: outs[0]}); err != nil {
		return err
	}
	if _, _, err := w.until(southbound.CrossConnect{In: in, Out: outs[0]}, southbound.Connected); err != nil {
		return err
	}
	var all, gaps []time.Duration
	late, bounded := ctx.Deadline()
	for i := 0; len(all) < probeMoves && i < probeTries && (!bounded || time.Until(late) > probeSpare); i++ {
		s, ok, err := b.switched(ctx, w, in, outs[i%2], outs[1-i%2])
		if err != nil {
			return err
		}
		if ok {
			all, gaps = append(all, s.Dark), append(gaps, s.Gap)
		}
	}
	if len(all) < probeLeast {
		return errBusy
	}
	slices.Sort(all)
	slices.Sort(gaps)
	median, gap := all[len(all)/2], gaps[len(gaps)/2]
	text := fmt.Sprintf("dark for %v, %v to %v over %d moves, a frame every %v", median, all[0], all[len(all)-1], len(all),
		gap)
	if off := (median - b.lab.Dark).Abs(); b.lab.Dark > 0 && off > darkWithin+gap {
		return fmt.Errorf("%s: %v from the %v that it should be", text, off, b.lab.Dark)
	}
	b.note = text
	return nil
}

func changeUnderLoad(ctx context.Context, b *bench) (err error) {
	ports, err := b.probed(ctx, 2)
	if err != nil {
		return err
	}
	x := southbound.CrossConnect{In: ports[0], Out: ports[1]}
	defer func() { err = errors.Join(err, b.dark(ctx, x.In)) }()
	if err := b.connect(ctx, x); err != nil {
		return err
	}
	if err := b.lit(ctx, x); err != nil {
		return err
	}
	changes := 0
	w, err := b.lab.Probes.Watch(x.In, loadEvery, probeTail, func() error {
		for range loadChanges {
			do, undo, err := b.sampleChange(ctx, 0)
			if err != nil {
				return err
			}
			if err := b.change(ctx, do); err != nil {
				return err
			}
			if err := b.lit(ctx, do.Connect...); err != nil {
				return errors.Join(err, b.dark(ctx, undo.Connect[0].In))
			}
			if err := b.dark(ctx, undo.Connect[0].In); err != nil {
				return err
			}
			changes += 2
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case w.Overrun:
		return errBusy
	}
	if lost := w.Lost(x.Out); lost > 0 {
		return fmt.Errorf("traffic: %d of %d packets of circuit %d→%d were lost in %d changes of others", lost, len(w.Sent),
			x.In, x.Out, changes)
	}
	b.note = fmt.Sprintf("%d packets in %d changes of others, none lost", len(w.Sent), changes)
	return nil
}
