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
)

// answers waits until the services of the switch answer after a restart: Capabilities and Get.
func (b *bench) answers(ctx context.Context) error {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		_, err := b.c.Capabilities(ctx, &gpb.CapabilityRequest{})
		if err == nil {
			_, err = probe.Read(ctx, b.c, b.profile)
		}
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("it does not come back: %w", err)
		}
	}
}

// around makes circuits, restarts the switch, waits until its services answer, and hands over. What is left of the
// circuits goes. Where there are interfaces of this machine, the first circuit is between two of them.
func (b *bench) around(ctx context.Context, n int, restart func(context.Context) error,
	look func(xs []southbound.CrossConnect) error) error {
	var xs []southbound.CrossConnect
	if b.lab.Probes != nil {
		ports, err := b.probed(ctx, 2)
		if err != nil {
			return err
		}
		xs = append(xs, southbound.CrossConnect{In: ports[0], Out: ports[1]})
	}
	for i := 0; len(xs) < n; i++ {
		do, _, err := b.sampleChange(ctx, i)
		if err != nil {
			return err
		}
		x := do.Connect[0]
		if !slices.ContainsFunc(xs, func(y southbound.CrossConnect) bool { return x.In == y.In || x.Out == y.Out }) {
			xs = append(xs, x)
		}
	}
	err := b.connect(ctx, xs[0])
	if err == nil {
		err = b.lit(ctx, xs[0])
	}
	if err == nil && b.lab.Save != nil {
		err = b.lab.Save(ctx)
	}
	for _, x := range xs[1:] { // after the configuration was saved
		if err == nil {
			err = errors.Join(b.connect(ctx, x), b.lit(ctx, x))
		}
	}
	if err == nil {
		err = restart(ctx)
		if errors.Is(err, southbound.ErrUnsupported) {
			err = fmt.Errorf("%w: %w", errSkip, err)
		}
	}
	if err == nil {
		err = b.answers(ctx)
	}
	if err == nil {
		err = look(xs)
	}
	var ins []southbound.Port
	for _, x := range xs {
		ins = append(ins, x.In)
	}
	clean, cancel := context.WithTimeout(context.WithoutCancel(ctx), defaultTimeout)
	defer cancel()
	return errors.Join(err, b.answers(clean), b.dark(ctx, ins...), b.forget(clean))
}

// forget saves a configuration without what the check has made.
func (b *bench) forget(ctx context.Context) error {
	if b.lab.Save == nil {
		return nil
	}
	return b.lab.Save(ctx)
}

// has reports whether the switch shows a circuit.
func (b *bench) has(ctx context.Context, x southbound.CrossConnect) (bool, error) {
	seen, err := probe.Read(ctx, b.c, b.profile)
	return slices.ContainsFunc(seen.Connections, func(c southbound.Connection) bool {
		return c.In == x.In && c.Out == x.Out
	}), err
}

func sonicServices(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	restart, err := b.restarting(false)
	if err != nil {
		return err
	}
	return b.around(ctx, 1, restart, func([]southbound.CrossConnect) error { return b.services(ctx) })
}

// services checks that the services of the switch still answer, and that it takes a change.
func (b *bench) services(ctx context.Context) error {
	if err := b.answers(ctx); err != nil {
		return err
	}
	do, undo, err := b.sampleChange(ctx, 0)
	if err != nil {
		return err
	}
	if err = b.connect(ctx, do.Connect...); err == nil {
		err = b.lit(ctx, do.Connect...)
	}
	return errors.Join(err, b.dark(ctx, undo.Connect[0].In))
}

// saving returns how the switch restarts, or why what it saves cannot be tried.
func (b *bench) saving() (func(context.Context) error, error) {
	if b.lab.Save == nil && !b.lab.SavesAlways {
		return nil, fmt.Errorf("%w: how it saves its configuration must be said for it", errSkip)
	}
	return b.restarting(false)
}

func sonicSaved(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	restart, err := b.saving()
	if err != nil {
		return err
	}
	return b.around(ctx, 1, restart, func(xs []southbound.CrossConnect) error { return b.lit(ctx, xs[0]) })
}

func sonicUnsaved(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	restart, err := b.saving()
	switch {
	case err != nil:
		return err
	case b.lab.SavesAlways:
		return fmt.Errorf("%w: it saves with each Set", errSkip)
	}
	return b.around(ctx, 2, restart, func(xs []southbound.CrossConnect) error {
		back, err := b.has(ctx, xs[1])
		if err == nil && back {
			err = fmt.Errorf("%d→%d was not saved, and is back", xs[1].In, xs[1].Out)
		}
		return err
	})
}

func sonicTraffic(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	restart, err := b.restarting(false)
	if err != nil {
		return err
	}
	if _, err := b.probed(ctx, 2); err != nil {
		return err
	}
	return b.around(ctx, 1, restart, func(xs []southbound.CrossConnect) error { return b.passes(ctx, xs[0]) })
}

// passes checks that packets pass a circuit if the switch shows it once it has settled, and otherwise do not.
func (b *bench) passes(ctx context.Context, x southbound.CrossConnect) error {
	back, err := b.has(ctx, x)
	if err != nil {
		return err
	}
	if back {
		if err := b.lit(ctx, x); err != nil {
			return err
		}
		return b.carries(x.In, x.Out)
	}
	w, err := b.lab.Probes.Watch(x.In, loadEvery, probeTail, func() error { return nil })
	switch {
	case err != nil:
		return err
	case len(w.Sent) == 0:
		return errBusy
	case len(w.Arrived[x.Out]) > 0:
		return fmt.Errorf("traffic: %d→%d is not back, and packets pass", x.In, x.Out)
	}
	return nil
}

func sonicReset(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	if b.lab.FactoryReset == nil {
		return fmt.Errorf("%w: it would clear those of others", errSkip)
	}
	return b.around(ctx, 1, b.lab.FactoryReset, func([]southbound.CrossConnect) error {
		config, err := b.rowKeys(ctx, p.ConnectTable())
		state, serr := b.rowKeys(ctx, p.ConnectStateTable())
		if err := errors.Join(err, serr); err != nil {
			return err
		}
		if len(config)+len(state) > 0 {
			return fmt.Errorf("%d cross-connects are configured and %d in the state after the reset", len(config), len(state))
		}
		return nil
	})
}

// upgraded has the other image run and then the earlier one again, and hands over after each.
func (b *bench) upgraded(ctx context.Context, look func(x southbound.CrossConnect, version string) error) error {
	images := b.lab.Images
	if images.Other == "" {
		return fmt.Errorf("%w: another image must be installed for it", errSkip)
	}
	before, err := images.Running(ctx)
	if err != nil {
		return err
	}
	for _, version := range []string{images.Other, before} {
		err := b.around(ctx, 1, func(ctx context.Context) error { return images.Activate(ctx, version) },
			func(xs []southbound.CrossConnect) error { return look(xs[0], version) })
		if err != nil {
			return fmt.Errorf("with image %q: %w", version, err)
		}
	}
	return nil
}

func sonicImage(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	return b.upgraded(ctx, func(_ southbound.CrossConnect, version string) error {
		now, err := b.lab.Images.Running(ctx)
		if err == nil && now != version {
			err = fmt.Errorf("image %q runs", now)
		}
		return err
	})
}

func sonicImageServices(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	return b.upgraded(ctx, func(southbound.CrossConnect, string) error { return b.services(ctx) })
}

func sonicImageState(ctx context.Context, b *bench, p gnmi.SONiCOCS) error {
	return b.upgraded(ctx, func(x southbound.CrossConnect, _ string) error {
		back, err := b.has(ctx, x)
		if err == nil && back {
			err = b.lit(ctx, x) // its row comes to the state with its light
		}
		return errors.Join(err, b.agrees(ctx, p))
	})
}

func sonicImageTraffic(ctx context.Context, b *bench, _ gnmi.SONiCOCS) error {
	if b.lab.Save == nil && !b.lab.SavesAlways {
		return fmt.Errorf("%w: how it saves its configuration must be said for it", errSkip)
	}
	return b.upgraded(ctx, func(x southbound.CrossConnect, _ string) error {
		if err := b.lit(ctx, x); err != nil || b.lab.Probes == nil {
			return err
		}
		return b.carries(x.In, x.Out)
	})
}
