package target_test

import (
	"context"
	"testing"
	"time"

	ospb "github.com/openconfig/gnoi/os"

	resetpb "github.com/openconfig/gnoi/factory_reset"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
)

// do does something to the switch.
func (r *wired) do(f func(now time.Duration, d *device.Device)) func(context.Context) error {
	return func(context.Context) error {
		r.door.Do(f)
		return nil
	}
}

// powerCycle cuts the power of the switch, and gives it back.
func (r *wired) powerCycle() func(context.Context) error {
	return r.do(func(now time.Duration, d *device.Device) {
		d.Power(now, false, 0)
		d.Power(now, true, 20*ms)
	})
}

// lab is what stands around a switch of ours: all of it.
func (r *wired) lab(t *testing.T) conformance.Lab {
	t.Helper()
	conn, err := gnmi.Connect(r.config(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	images, reset := ospb.NewOSClient(conn), resetpb.NewFactoryResetClient(conn)
	return conformance.Lab{
		PowerCut:    r.powerCycle(),
		Save:        r.do(func(_ time.Duration, d *device.Device) { d.Save() }),
		SavesAlways: false,
		FactoryReset: func(ctx context.Context) error {
			_, err := reset.Start(ctx, &resetpb.StartRequest{})
			return err
		},
		Images: conformance.Images{Other: "2",
			Running: func(ctx context.Context) (string, error) {
				v, err := images.Verify(ctx, &ospb.VerifyRequest{})
				return v.GetVersion(), err
			},
			Activate: func(ctx context.Context, version string) error {
				_, err := images.Activate(ctx, &ospb.ActivateRequest{Version: version})
				return err
			}},
	}
}

// recovers is a switch of two images that boots soon.
func recovers(mode device.Recovery) func(*device.Config, *target.Config) {
	return func(d *device.Config, c *target.Config) {
		d.Recovery, c.Boot, c.Images = mode, 20*ms, []string{"1", "2"}
	}
}

// TestLabRules: with a lab around it our target keeps the rules about power, saved configuration, factory resets and
// images, and each fault of one is found.
func TestLabRules(t *testing.T) {
	t.Parallel()
	nothing := func(context.Context) error { return nil }
	forget := func(r *wired) {
		r.door.Do(func(now time.Duration, d *device.Device) { d.Forget(now, southbound.NoPort) })
	}
	for name, tt := range map[string]struct {
		rule  string
		mode  device.Recovery
		want  conformance.Result
		fault spoil
	}{
		"power, maintain": {"O19", device.Maintain, conformance.Held, nil},
		"power, restore":  {"O19", device.Restore, conformance.Held, nil},
		"power, remove":   {"O19", device.Remove, conformance.Held, nil},
		"power loses all": {"O19", device.Remove, conformance.Broken, func(_ *wired, f *faulty, _ *options) {
			f.see = claims("RESTORE")
		}},
		"services run": {"S4", device.Saved, conformance.Held, nil},
		"a service stays away": {"S4", device.Saved, conformance.Broken, func(_ *wired, f *faulty, o *options) {
			o.Restart = stays(f, o.Restart)
		}},
		"what was saved": {"S5", device.Saved, conformance.Held, nil},
		"each Set is saved": {"S5", device.Restore, conformance.Held, func(_ *wired, _ *faulty, o *options) {
			o.Lab.Save, o.Lab.SavesAlways = nil, true
		}},
		"it forgets": {"S5", device.Remove, conformance.Broken, nil},
		"nobody says how": {"S5", device.Saved, conformance.Skipped, func(_ *wired, _ *faulty, o *options) {
			o.Lab.Save = nil
		}},
		"what was not saved":            {"S6", device.Saved, conformance.Held, nil},
		"it is back all the same":       {"S6", device.Restore, conformance.Broken, nil},
		"a reset":                       {"S8", device.Saved, conformance.Held, nil},
		"a reset of one that maintains": {"S8", device.Maintain, conformance.Held, nil},
		"no reset": {"S8", device.Saved, conformance.Broken, func(_ *wired, _ *faulty, o *options) {
			o.Lab.FactoryReset = nothing
		}},
		"an upgrade": {"S9", device.Saved, conformance.Held, nil},
		"no upgrade": {"S9", device.Saved, conformance.Broken, func(_ *wired, _ *faulty, o *options) {
			o.Lab.Images.Activate = func(context.Context, string) error { return nil }
		}},
		"services of an image": {"S10", device.Saved, conformance.Held, nil},
		"no services": {"S10", device.Saved, conformance.Broken, func(_ *wired, f *faulty, o *options) {
			activate := o.Lab.Images.Activate
			o.Lab.Images.Activate = func(ctx context.Context, v string) error {
				f.away(ctx)
				return activate(ctx, v)
			}
		}},
		"state of an image": {"S11", device.Maintain, conformance.Held, nil},
		"state that differs": {"S11", device.Maintain, conformance.Broken, func(r *wired, _ *faulty, o *options) {
			o.Lab.Images.Activate = func(context.Context, string) error {
				forget(r)
				return nil
			}
		}},
		"light of an image": {"S12", device.Saved, conformance.Held, nil},
		"light stays":       {"S12", device.Maintain, conformance.Held, nil},
		"no light":          {"S12", device.Remove, conformance.Broken, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			profile := "ocp"
			if tt.rule[0] == 'S' {
				profile = "sonic-ocs"
			}
			r := newWired(t, profile, 8, recovers(tt.mode))
			f := &faulty{Target: r.target}
			o := conformance.Options{Only: []string{tt.rule}, Lab: r.lab(t), Restart: r.restart}
			if tt.want == conformance.Broken {
				o.Timeout = 500 * ms // what the rule waits for does not come
			}
			if tt.fault != nil {
				tt.fault(r, f, &o)
			}
			if got := checkedIn(t, f, r.profile, o)[tt.rule]; got.Result != tt.want {
				t.Errorf("%+v, want %s", got, tt.want)
			}
		})
	}
}

type (
	options = conformance.Options
	spoil   = func(*wired, *faulty, *options) // has a check find a fault
)

// away has a service not run for as long as a rule is tried.
func (f *faulty) away(ctx context.Context) {
	f.off.Store(true)
	context.AfterFunc(ctx, func() { f.off.Store(false) })
}

// stays has a service of a target stay away after a restart.
func stays(f *faulty, restart func(context.Context, bool) error) func(context.Context, bool) error {
	return func(ctx context.Context, warm bool) error {
		f.away(ctx)
		return restart(ctx, warm)
	}
}

// TestFactoryReset: a switch is as it was made, whatever it keeps over restarts, and what was saved is gone.
func TestFactoryReset(t *testing.T) {
	for _, mode := range []device.Recovery{device.Remove, device.Restore, device.Maintain, device.Saved} {
		r := newWired(t, "sonic-ocs", 8, recovers(mode))
		r.stand(t, crossed(0, 1))
		r.door.Do(func(_ time.Duration, d *device.Device) { d.Save() })
		if err := r.lab(t).FactoryReset(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.untilUp(t)
		if v := r.view(); len(v.Configured)+len(v.Seen) > 0 {
			t.Errorf("%v: %+v is left", mode, v)
		}
	}
}

// untilUp waits until the switch has booted.
func (r *wired) untilUp(t *testing.T) {
	t.Helper()
	tick, late := time.NewTicker(ms), time.After(time.Minute)
	defer tick.Stop()
	for down := true; down; {
		select {
		case <-tick.C:
			r.door.Do(func(now time.Duration, d *device.Device) { down = d.Down(now) })
		case <-late:
			t.Fatal("it does not boot")
		}
	}
}
