package target_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// keeper brings one device to what is wanted with nothing but the driver's words: read, compare, delete
// what cannot be mended, replace the rest.
type keeper struct {
	s      *gnmi.Session
	wanted []southbound.CrossConnect
	said   []error // what Set answered when it was no nil
}

// step returns what is still wrong, having asked for its mending.
func (k *keeper) step(ctx context.Context) error {
	seen, err := k.s.Read(ctx)
	if err != nil {
		return err
	}
	var have []southbound.CrossConnect
	bad := &southbound.Change{}
	for _, c := range seen.Connections {
		switch c.Status {
		case southbound.Failed, southbound.Invalid:
			bad.Connect = append(bad.Connect, southbound.CrossConnect{In: c.In, Off: true})
		case southbound.Connected:
			have = append(have, southbound.CrossConnect{In: c.In, Out: c.Out})
		}
	}
	if slices.Equal(have, k.wanted) && len(seen.Connections) == len(have) {
		return nil
	}
	for _, c := range []*southbound.Change{bad, {Replace: true, Connect: k.wanted}} {
		if err := k.s.Set(ctx, c); err != nil {
			k.said = append(k.said, err)
		}
	}
	return fmt.Errorf("seen %+v", seen.Connections)
}

// await reads until a circuit is seen.
func (k *keeper) await(t *testing.T, in, out southbound.Port) {
	t.Helper()
	tick, late := time.NewTicker(5*ms), time.After(time.Minute)
	defer tick.Stop()
	for {
		seen, err := k.s.Read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(seen.Connections,
			func(c southbound.Connection) bool { return c.In == in && c.Out == out }) {
			return
		}
		select {
		case <-late:
			t.Fatalf("circuit %d to %d was never seen: %+v", in, out, seen.Connections)
		case <-tick.C:
		}
	}
}

func (k *keeper) converge(t *testing.T) {
	t.Helper()
	tick, late := time.NewTicker(5*ms), time.After(time.Minute)
	defer tick.Stop()
	for {
		err := k.step(t.Context())
		if err == nil {
			return
		}
		select {
		case <-late:
			t.Fatalf("it never became %+v: %v (Set said %v)", k.wanted, err, k.said)
		case <-tick.C:
		}
	}
}

// TestReconciliation: whatever befalls a device, what is seen becomes what is wanted, through driver
// and target, in both models; and the device's own log shows no port lit twice.
func TestReconciliation(t *testing.T) {
	t.Parallel()
	cold := func(r device.Recovery) func(*device.Config, *target.Config) {
		return func(d *device.Config, c *target.Config) { d.Recovery, c.SONiC = r, true }
	}
	restart := func(t *testing.T, r *rig, k *keeper) {
		k.converge(t)
		r.door.Do(func(now time.Duration, d *device.Device) { d.Restart(now, 20*ms) })
	}
	fault := func(f device.Fault) func(*testing.T, *rig, *keeper) {
		return func(t *testing.T, r *rig, k *keeper) {
			r.door.Do(func(_ time.Duration, d *device.Device) { d.Fault(f) })
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*device.Config, *target.Config)
		befall func(*testing.T, *rig, *keeper)
		says   bool // a Set must have been answered with an error
	}{
		{"cold boot, remove", cold(device.Remove), restart, false},
		{"cold boot, restore", cold(device.Restore), restart, false},
		{"cold boot, maintain", cold(device.Maintain), restart, false},
		{"lost session", withSONiC, func(t *testing.T, r *rig, k *keeper) {
			k.converge(t)
			r.stop()
			r.door.Do(func(now time.Duration, d *device.Device) { // meanwhile another client changes it
				if err := d.Set(now, &southbound.Change{Replace: true,
					Connect: []southbound.CrossConnect{{In: 5, Out: 1}}}); err != nil {
					t.Error(err)
				}
			})
			r.serve(t)
		}, false},
		{"stale connection", withSONiC, func(t *testing.T, r *rig, k *keeper) {
			if _, err := r.raw(t).Set(t.Context(), &gpb.SetRequest{Update: []*gpb.Update{
				upd(t, connAt("in7", "out7"), conn("in7", "out7")),
				upd(t, connAt("in0", "out3"), conn("in0", "out3"))}}); err != nil {
				t.Fatal(err)
			}
		}, false},
		// the device has it, no configuration names it
		{"hidden connection", withSONiC, func(t *testing.T, r *rig, k *keeper) {
			k.converge(t)
			r.door.Do(func(now time.Duration, d *device.Device) {
				if err := d.Set(now, &southbound.Change{Connect: []southbound.CrossConnect{{In: 6,
					Out: 6}}}); err != nil {
					t.Error(err)
				}
			})
			k.await(t, 6, 6) // a Polatis switch lists it once it is lit
		}, false},
		{"invalid entry", withSONiC, fault(device.Fault{Kind: device.Spoil, Port: 0, Times: 1}), false},
		{"failed", withSONiC, fault(device.Fault{Kind: device.Fail, Port: southbound.NoPort, Times: 2}), false},
		{"applied and denied", withSONiC, fault(device.Fault{Kind: device.Deny, Times: 2}), true},
		{"accepted and not applied", withSONiC, fault(device.Fault{Kind: device.Lie, Times: 2}), false},
		{"slow", withSONiC, fault(device.Fault{Kind: device.Slow, Delay: 30 * ms, Times: 1}), false},
	} {
		for _, p := range []gnmi.Profile{gnmi.OCP{Ports: 8}, gnmi.SONiCOCS{Ports: 8}, gnmi.Polatis{Ports: 8}} {
			t.Run(tt.name+", "+p.Name(), func(t *testing.T) {
				if _, sonic := p.(gnmi.SONiCOCS); sonic && tt.name == "invalid entry" {
					t.Skip("SONiC has no word for INVALID")
				}
				_, pairs := p.(gnmi.Polatis)
				if pairs && (tt.name == "stale connection" || tt.name == "invalid entry") {
					t.Skip("Polatis' model has no words for it")
				}
				r := newRig(t, device.Optical, func(d *device.Config, c *target.Config) {
					tt.change(d, c)
					if pairs {
						c.SONiC, c.Profile, c.Settle = false, "polatis", 100*ms
					}
				})
				cfg := r.config(t)
				cfg.Profile = p
				k := &keeper{s: r.dial(t, cfg), wanted: []southbound.CrossConnect{{In: 0, Out: 1}, {In: 2, Out: 3}}}
				tt.befall(t, r, k)
				k.converge(t)
				if tt.says && len(k.said) == 0 {
					t.Error("no Set was answered with an error")
				}
				r.door.Do(func(_ time.Duration, d *device.Device) {
					if err := device.CheckLit(d.Log()); err != nil {
						t.Error(err)
					}
				})
			})
		}
	}
}
