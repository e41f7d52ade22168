package conformance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lightloom/southbound"
)

// restarting returns how the switch is restarted; a skip where it must not be.
func (b *bench) restarting(warm bool) (func(context.Context) error, error) {
	if b.restart == nil {
		return nil, fmt.Errorf("%w: the switch must restart for it", errSkip)
	}
	return func(ctx context.Context) error { return b.restart(ctx, warm) }, nil
}

// restarted makes a connection, restarts the switch and hands over what it shows once it answers again.
func (b *bench) restarted(ctx context.Context, restart func(context.Context) error,
	look func(t *ocsTree, name string) error) error {
	const name = checkName + "restart"
	return b.withNamed(ctx, name, func(southbound.CrossConnect) error {
		err := restart(ctx)
		if errors.Is(err, southbound.ErrUnsupported) {
			return fmt.Errorf("%w: %w", errSkip, err)
		}
		if err != nil {
			return err
		}
		t, err := b.back(ctx)
		if err != nil {
			return err
		}
		return look(t, name)
	})
}

// back waits until the switch answers.
func (b *bench) back(ctx context.Context) (*ocsTree, error) {
	tick := time.NewTicker(settleEvery)
	defer tick.Stop()
	for {
		t, err := b.tree(ctx)
		if err == nil {
			return t, nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("it does not come back: %w", err)
		}
	}
}

// kept checks that a connection is configured as before.
func (t *ocsTree) kept(name string) error {
	if c := t.connections[name]; c["config/name"] != name || c["config/input-port-name"] == nil {
		return fmt.Errorf("after the restart connection %q is configured as %v", name, c)
	}
	return nil
}

func ocpWarm(ctx context.Context, b *bench) error {
	restart, err := b.restarting(true)
	if err != nil {
		return err
	}
	return b.restarted(ctx, restart, func(t *ocsTree, name string) error {
		if err := t.kept(name); err != nil {
			return err
		}
		if got := t.connections[name]["state/status"]; got != "CONNECTED" {
			return fmt.Errorf("after the restart connection %q is %v", name, got)
		}
		return nil
	})
}

func ocpCold(ctx context.Context, b *bench) error {
	restart, err := b.restarting(false)
	if err != nil {
		return err
	}
	return b.asSet(ctx, restart)
}

func ocpPowerCut(ctx context.Context, b *bench) error {
	if b.lab.PowerCut == nil {
		return fmt.Errorf("%w: the power must be cut for it", errSkip)
	}
	return b.asSet(ctx, b.lab.PowerCut)
}

// asSet checks that a cold restart leaves what the mode says that was set before it.
func (b *bench) asSet(ctx context.Context, restart func(context.Context) error) error {
	before, err := b.tree(ctx)
	if err != nil {
		return err
	}
	mode := before.global["state/cold-boot-recovery"]
	return b.restarted(ctx, restart, func(t *ocsTree, name string) error {
		if mode == "REMOVE" {
			if len(t.connections) > 0 {
				return fmt.Errorf("after the restart there are %d connections, and the mode is %v", len(t.connections), mode)
			}
			return nil
		}
		if err := t.kept(name); err != nil {
			return err
		}
		if got := t.connections[name]["state/status"]; mode == "MAINTAIN" && got != "CONNECTED" {
			return fmt.Errorf("after the restart connection %q is %v, and the mode is %v", name, got, mode)
		}
		return b.becomes(ctx, name, "CONNECTED")
	})
}
