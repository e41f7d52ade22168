package target_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestRowDeletion: a target that sends the deletion of a row as that of its table, as SONiC's does,
// never makes the driver report another circuit; and a switch without any circuit, whose tables do not
// exist, is watched all the same.
func TestRowDeletion(t *testing.T) {
	for _, profile := range []string{"sonic-ocs", "sonic-ocs-hld"} {
		t.Run(profile, func(t *testing.T) {
			r := newRig(t, device.Optical, likeSONiC(profile))
			cfg := r.config(t)
			cfg.Poll, cfg.Profile, cfg.Choose = 5*ms, nil, []gnmi.Profile{gnmi.SONiCOCS{Ports: 8},
				gnmi.SONiCOCS{Ports: 8, Tables: schema.HLDOCSTables()}}
			s := r.dial(t, cfg)
			if got := s.Profile().Name(); got != profile {
				t.Fatalf("it was taken for %s", got)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			events := make(chan southbound.DeviceEvent, 256)
			done := make(chan error, 1)
			go func() { done <- s.Watch(ctx, func(e southbound.DeviceEvent) { events <- e }) }()
			until := func(in southbound.Port, want southbound.Status) (others []southbound.DeviceEvent) {
				t.Helper()
				for {
					select {
					case e := <-events:
						switch {
						case e.Kind == southbound.ConnectionStatus && e.In == in && e.Status == want,
							e.Kind == southbound.Synced && in == southbound.NoPort:
							return others
						case e.Kind == southbound.ConnectionStatus && e.In != in:
							others = append(others, e)
						}
					case <-ctx.Done():
						t.Fatalf("input %d was never %v", in, want)
					}
				}
			}
			until(southbound.NoPort, 0)
			for in := range southbound.Port(4) {
				x := southbound.CrossConnect{In: in, Out: in}
				if err := s.Set(ctx, &southbound.Change{Connect: []southbound.CrossConnect{x}}); err != nil {
					t.Fatal(err)
				}
				if others := until(in, southbound.Connected); len(others) > 0 {
					t.Errorf("making circuit %d: others reported: %+v", in, others)
				}
			}
			off := southbound.CrossConnect{In: 1, Off: true}
			if err := s.Set(ctx, &southbound.Change{Connect: []southbound.CrossConnect{off}}); err != nil {
				t.Fatal(err)
			}
			if others := until(1, southbound.Disconnected); len(others) > 0 {
				t.Errorf("deleting circuit 1: others reported: %+v", others)
			}
			seen, err := s.Read(ctx)
			if err != nil || len(seen.Connections) != 3 || slices.ContainsFunc(seen.Connections,
				func(c southbound.Connection) bool { return c.In == 1 || c.Status != southbound.Connected }) {
				t.Errorf("%+v, %v", seen, err)
			}
			cancel()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

// TestValidatedSet: a Set that is validated for longer than others take is waited for as long as its
// caller does.
func TestValidatedSet(t *testing.T) {
	r := newRig(t, device.Packet, func(_ *device.Config, c *target.Config) {
		c.Profile, c.Like, c.Validate = "sonic", target.LikeSONiC, func() time.Duration { return 50 * ms }
	})
	cfg := r.config(t)
	cfg.Profile = gnmi.SONiC{Ports: 8, Racks: 8}
	s := r.dial(t, cfg)
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: southbound.AnyTag, Src: southbound.AnyRack},
		Primary: 1, Backup: southbound.NoPort}
	change := &southbound.Change{Rules: []southbound.Rule{rule}}
	short, cancel := context.WithTimeout(t.Context(), 10*ms)
	defer cancel()
	if err := s.Set(short, change); err == nil {
		t.Error("the Set was answered before it was validated")
	}
	began := time.Now()
	if err := s.Set(t.Context(), change); err != nil || time.Since(began) < 50*ms {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if seen, err := s.Read(t.Context()); err != nil || !slices.Equal(seen.Rules, change.Rules) {
		t.Errorf("%+v, %v", seen.Rules, err)
	}
}
