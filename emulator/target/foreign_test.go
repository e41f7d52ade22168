package target_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"lightloom/emulator/device"
	"lightloom/emulator/target"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/conformance"
)

// TestCheckTouchesNothingForeign: whatever stands at a target, and however many ports the check
// believes it to have, all that the check writes is gone afterwards, and all that it did not write is
// still there.
func TestCheckTouchesNothingForeign(t *testing.T) {
	t.Parallel()
	for _, own := range gnmi.All(8, 8) {
		if own.Name() == "openconfig-plain" { // no target of ours speaks it
			continue
		}
		kind := device.Packet
		for _, name := range target.Profiles(device.Optical) {
			if name == own.Name() {
				kind = device.Optical
			}
		}
		for _, ports := range []int32{1, 3, 8} {
			t.Run(fmt.Sprintf("%s, %d ports", own.Name(), ports), func(t *testing.T) {
				t.Parallel()
				r := newRig(t, kind, speaks(own.Name()))
				seed := uint64(ports)
				rnd := rand.New(rand.NewPCG(seed, 18))
				foreign := &southbound.Change{}
				ins, outs := rnd.Perm(8), rnd.Perm(8)
				for i := range 5 {
					if kind == device.Optical {
						foreign.Connect = append(foreign.Connect, southbound.CrossConnect{In: southbound.Port(ins[i]),
							Out: southbound.Port(outs[i])})
						continue
					}
					foreign.Rules = append(foreign.Rules,
						southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(ins[i]),
							Tag: southbound.AnyTag, Src: southbound.AnyRack}, Primary: 0, Backup: southbound.NoPort})
				}
				cfg := r.config(t)
				cfg.Profile = own
				if err := r.dial(t, cfg).Set(t.Context(), foreign); err != nil {
					t.Fatal(err)
				}
				stands := func() (c *southbound.Change) {
					r.door.Do(func(_ time.Duration, d *device.Device) { c = d.Accepted() })
					return c
				}
				before := stands()
				conn, err := gnmi.Connect(cfg)
				if err != nil {
					t.Fatal(err)
				}
				defer conn.Close()
				p, err := gnmi.Named(own.Name(), ports, 8)
				if err != nil {
					t.Fatal(err)
				}
				conformance.Run(t.Context(), conn, p, ports,
					conformance.Options{Write: true, Timeout: 5 * time.Second, Sample: 20 * time.Millisecond})
				if after := stands(); !reflect.DeepEqual(before, after) {
					t.Errorf("seed %d: before %+v, after %+v", seed, before, after)
				}
			})
		}
	}
}
