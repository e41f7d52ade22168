package gribi

import (
	"context"
	"errors"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// Device is a switch whose rules are programmed by gRIBI and whose ports are watched by gNMI.
type Device struct {
	*Session
	ports *gnmi.Session
}

var (
	_ gnmi.Line           = (*Device)(nil)
	_ southbound.Claiming = (*Device)(nil)
	_ southbound.Counting = (*Device)(nil)
)

// Join makes a device of both sessions with it, and owns them from now on.
func Join(rules *Session, ports *gnmi.Session) *Device { return &Device{rules, ports} }

// Read implements southbound.Device.
func (d *Device) Read(ctx context.Context) (southbound.Seen, error) {
	seen, err := d.ports.Read(ctx)
	if err != nil {
		return southbound.Seen{}, err
	}
	if seen.Rules, err = d.Rules(ctx); err != nil {
		return southbound.Seen{}, err
	}
	return seen, nil
}

// Watch implements southbound.Device.
func (d *Device) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	err := d.ports.Watch(ctx, sink)
	if err != nil {
		d.learn(nil) // it may have restarted
	}
	return err
}

// Counters implements southbound.Counting.
func (d *Device) Counters(ctx context.Context, every time.Duration,
	tell func([]southbound.PortCounters)) error {
	return d.ports.Counters(ctx, every, tell)
}

// Profile is that of the gNMI session.
func (d *Device) Profile() gnmi.Profile { return d.ports.Profile() }

// Close ends both sessions.
func (d *Device) Close() error { return errors.Join(d.Session.Close(), d.ports.Close()) }
