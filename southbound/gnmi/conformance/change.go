package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/probe"
	"lightloom/southbound/gnmi/schema"
)

// settleEvery is how often a state that must come is read.
const settleEvery = 20 * time.Millisecond

// until reads the state until it is as wanted, or ctx ends.
func (b *bench) until(ctx context.Context, what string, want func(southbound.Seen) bool) error {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		seen, err := probe.Read(ctx, b.c, b.profile)
		if err == nil && want(seen) {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("%s never came: %+v", what, seen), err)
		case <-tick.C:
		}
	}
}

func ruleMade(ctx context.Context, b *bench) (err error) {
	if b.optical() {
		return fmt.Errorf("%w: an optical switch has no rules", errSkip)
	}
	do, undo, err := b.sampleChange(ctx, 0)
	if err != nil {
		return err
	}
	if err := b.change(ctx, do); err != nil {
		return err
	}
	err = b.until(ctx, "the rule", func(s southbound.Seen) bool {
		return slices.Contains(s.Rules,
			do.Rules[0])
	})
	if uerr := b.change(ctx, undo); err != nil || uerr != nil {
		return errors.Join(err, uerr)
	}
	return b.until(ctx, "the rule's end", func(s southbound.Seen) bool { return !slices.Contains(s.Rules, do.Rules[0]) })
}

// watcher collects the updates of an ON_CHANGE stream.
type watcher struct {
	b      *bench
	stream gpb.GNMI_SubscribeClient
	dec    gnmi.Decoder
}

func (b *bench) watch(ctx context.Context) (*watcher, error) {
	if !b.optical() {
		return nil, fmt.Errorf("%w: a packet switch has no circuits", errSkip)
	}
	s, err := b.subscribe(ctx, b.subscription(gpb.SubscriptionList_STREAM, gpb.SubscriptionMode_ON_CHANGE, 0))
	if err != nil {
		return nil, err
	}
	w := &watcher{b: b, stream: s, dec: b.profile.NewDecoder()}
	for {
		if _, synced, err := w.next(); err != nil || synced {
			return w, err
		}
	}
}

// next returns the events of one message.
func (w *watcher) next() (events []southbound.DeviceEvent, synced bool, err error) {
	m, err := w.stream.Recv()
	if err != nil || m.GetSyncResponse() {
		return nil, err == nil, err
	}
	n := m.GetUpdate()
	leaves, err := probe.Leaves(w.b.model, []*gpb.Notification{n})
	if err != nil {
		return nil, false, err
	}
	var gone []schema.Path
	for _, d := range n.GetDelete() {
		p, err := w.b.model.FromProto(n.GetPrefix(), d)
		if err != nil {
			return nil, false, err
		}
		gone = append(gone, p)
	}
	events, err = w.dec.Decode(gone, leaves)
	return events, false, err
}

// until takes events up to the first that is this status of this circuit, and returns the statuses of
// the circuit before it and every event of other circuits.
func (w *watcher) until(x southbound.CrossConnect, s southbound.Status) (before []southbound.Status,
	others []southbound.DeviceEvent, err error) {
	for {
		events, _, err := w.next()
		if err != nil {
			return before, others, fmt.Errorf("circuit %d→%d: %v never came: %w", x.In, x.Out, s, err)
		}
		for i, e := range events {
			switch {
			case e.In != x.In || e.Out != x.Out:
				others = append(others, e)
			case e.Status == s:
				return before, append(others, events[i+1:]...), nil
			case e.Status == southbound.Failed || e.Status == southbound.Invalid:
				return before, others, fmt.Errorf("circuit %d→%d is %v", x.In, x.Out, e.Status)
			default:
				before = append(before, e.Status)
			}
		}
	}
}

// withCircuits makes n circuits of free ports, hands them over with a watch that has synced before, and
// takes them away.
func (b *bench) withCircuits(ctx context.Context, n int,
	run func(w *watcher, xs []southbound.CrossConnect) error) (err error) {
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := b.watch(inner)
	if err != nil {
		return err
	}
	var xs []southbound.CrossConnect
	undo := &southbound.Change{}
	for i := range n {
		do, u, err := b.sampleChange(ctx, i)
		if err != nil {
			return err
		}
		xs = append(xs, do.Connect...)
		undo.Connect = append(undo.Connect, u.Connect...)
	}
	defer func() {
		// ctx may have ended: what was made is taken away all the same.
		clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultTimeout)
		defer cancel()
		if uerr := b.change(clean, undo); uerr != nil {
			err = errors.Join(err, fmt.Errorf("take circuits away again: %w", uerr))
			return
		}
		err = errors.Join(err, b.until(clean, "the circuits' end", func(s southbound.Seen) bool {
			return !slices.ContainsFunc(s.Connections, func(c southbound.Connection) bool {
				return slices.ContainsFunc(xs, func(x southbound.CrossConnect) bool { return x.In == c.In })
			})
		}))
	}()
	return run(w, xs)
}

func (b *bench) connect(ctx context.Context, xs ...southbound.CrossConnect) error {
	return b.change(ctx, &southbound.Change{Connect: xs})
}

func circuitMade(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 1, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		before, _, err := w.until(xs[0], southbound.Connected)
		if err == nil && b.profile.Name() != "polatis" &&
			!slices.Contains(before, southbound.PendingConnection) {
			err = fmt.Errorf("it was connected without having been pending: %v", before)
		}
		return err
	})
}

func circuitAgain(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 2, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		for range 2 {
			if err := b.connect(ctx, xs[0]); err != nil {
				return err
			}
		}
		return w.only(ctx, xs[1])
	})
}

// only makes a circuit and wants no event of another one until it is connected.
func (w *watcher) only(ctx context.Context, x southbound.CrossConnect) error {
	if err := w.b.connect(ctx, x); err != nil {
		return err
	}
	_, others, err := w.until(x, southbound.Connected)
	if err == nil && len(others) > 0 {
		err = fmt.Errorf("other circuits told: %+v", others)
	}
	return err
}

func circuitUndisturbed(ctx context.Context, b *bench) error {
	return b.withCircuits(ctx, 2, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		return w.only(ctx, xs[1])
	})
}

func circuitBusy(ctx context.Context, b *bench) error {
	if b.profile.Name() != "ocp" {
		return fmt.Errorf("%w: the profile's requests say what goes", errSkip)
	}
	return b.withCircuits(ctx, 2, func(w *watcher, xs []southbound.CrossConnect) error {
		if err := b.connect(ctx, xs[0]); err != nil {
			return err
		}
		if _, _, err := w.until(xs[0], southbound.Connected); err != nil {
			return err
		}
		name := gnmi.ConnectionName(xs[1].In, xs[0].Out)
		at := gnmi.ConnectionPath(name)
		v, err := b.model.Nest(at, gnmi.ConnectionLeaves(name, xs[1].In, xs[0].Out))
		if err != nil {
			return err
		}
		tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
		if err != nil {
			return err
		}
		if _, err := b.c.Set(ctx, &gpb.SetRequest{Update: []*gpb.Update{{Path: at.Proto(),
			Val: tv}}}); err == nil {
			return fmt.Errorf("output %s was given away", gnmi.OutputName(xs[0].Out))
		}
		return nil
	})
}
