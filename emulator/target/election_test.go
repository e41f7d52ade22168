package target_test

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"

	"lightloom/emulator/device"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

// TestSmallerIsRefused: of two controllers the one with the smaller election id is refused, always: in
// any order of their Sets, in every model, and also while both write at once.
func TestSmallerIsRefused(t *testing.T) {
	for _, tt := range []struct {
		kind    device.Kind
		profile gnmi.Profile
	}{
		{device.Packet, gnmi.OpenConfig{Ports: 8, Racks: 8}}, {device.Packet, gnmi.SRLinux{Ports: 8, Racks: 8}},
		{device.Packet, gnmi.SONiC{Ports: 8, Racks: 8}},
		{device.Optical, gnmi.OCP{Ports: 8}}, {device.Optical, gnmi.SONiCOCS{Ports: 8}},
		{device.Optical, gnmi.Polatis{Ports: 8}},
	} {
		t.Run(tt.profile.Name(), func(t *testing.T) {
			r := newRig(t, tt.kind, speaks(tt.profile.Name()))
			var ids [2]gnmi.Election
			var all [2]*gnmi.Session
			for i := range all {
				cfg := r.config(t)
				cfg.Profile, cfg.Election = tt.profile, func() gnmi.Election { return ids[i] }
				all[i] = r.dial(t, cfg)
			}
			random := rand.New(rand.NewPCG(uint64(len(tt.profile.Name())), 7))
			largest := gnmi.Election{}
			for step := range 200 {
				i := random.IntN(2)
				ids[i] = gnmi.Election{High: uint64(step/20) + random.Uint64N(3), Low: random.Uint64N(4)}
				err := all[i].Set(t.Context(), &southbound.Change{})
				switch smaller := ids[i].Less(largest); {
				case smaller && !errors.Is(err, southbound.ErrNotLeader):
					t.Fatalf("step %d: %v after %v: %v", step, ids[i], largest, err)
				case !smaller && err != nil:
					t.Fatalf("step %d: %v after %v: %v", step, ids[i], largest, err)
				case !smaller:
					largest = ids[i]
				}
			}
			ids = [2]gnmi.Election{{High: 1000}, {High: 1001}}
			if err := all[1].Set(t.Context(), &southbound.Change{}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for i, s := range all {
				wg.Go(func() {
					for range 50 {
						if err := s.Set(t.Context(), &southbound.Change{}); (i == 0) != errors.Is(err,
							southbound.ErrNotLeader) {
							t.Errorf("controller %d: %v", i, err)
						}
					}
				})
			}
			wg.Wait()
		})
	}
}
