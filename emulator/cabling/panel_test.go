package cabling_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/southbound"
)

// TestPanel: whatever is set, exchanged, pulled and mended, light goes from fibre to fibre as the
// circuits and the plugs say, and senders know whether theirs arrives. The reference implementation
// derives both anew at each step.
func TestPanel(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		n := int32(2 + r.IntN(7))
		now := time.Duration(0)
		clock := func() time.Duration { return now }
		inner := mem.New(n, clock)
		told := make([]bool, n)
		p := cabling.New(inner, n, func(f southbound.Port, lit bool) { told[f] = lit })
		d := device.New(device.Config{Name: "ocs", Kind: device.Optical, Ports: n, Plane: p,
			OnLight: func(_ time.Duration, in southbound.Port, lit bool) { p.Light(in, lit) }})
		for range 40 {
			now += time.Second
			which := cabling.Fibre(1 + r.IntN(3))
			a, b := southbound.Port(r.IntN(int(n))), southbound.Port(r.IntN(int(n)))
			var err error
			switch r.IntN(8) {
			case 0:
				err = p.Swap(a, b, which)
			case 1:
				err = p.Pull(a, which)
			case 2:
				err = p.Mend()
			case 3:
				err = d.Set(now, &southbound.Change{Connect: []southbound.CrossConnect{{In: a, Off: true,
					Out: southbound.NoPort}}})
			default:
				err = d.Set(now, &southbound.Change{Connect: []southbound.CrossConnect{{In: a, Out: b}}})
			}
			if err != nil {
				t.Fatal(err)
			}
			now += time.Second
			d.Advance(now, func(southbound.DeviceEvent) {})
			in, out := p.Plugged()
			want := map[southbound.Port]southbound.Port{}
			for _, c := range d.Seen(now).Connections {
				if f, to := in[c.In], out[c.Out]; c.Status == southbound.Connected && f != southbound.NoPort &&
					to != southbound.NoPort {
					want[f] = to
				}
			}
			got := map[southbound.Port]southbound.Port{}
			for f := range southbound.Port(n) {
				if to, lit := inner.Cross(now, f); lit {
					got[f] = to
				}
				if _, lit := want[f]; lit != told[f] {
					t.Fatalf("seed %d: fibre %d: told %v", seed, f, told[f])
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("seed %d: light goes %v, want %v; plugged %v %v", seed, got, want, in, out)
			}
		}
	}
}

func TestBad(t *testing.T) {
	p := cabling.New(mem.New(4, func() time.Duration { return 0 }), 4, nil)
	for _, err := range []error{p.Swap(0, 4, cabling.Both), p.Swap(-1, 0, cabling.In),
		p.Pull(9, cabling.Out)} {
		if err == nil || !strings.Contains(err.Error(), "ports 0 to 3") {
			t.Errorf("%v", err)
		}
	}
}
