package survey

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/audit"
	"lightloom/emulator/cabling"
	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/lldp"
)

// bench is an emulated optical switch with a patch panel in virtual time, and ToRs that hear the sender
// of the light on their fibre.
type bench struct {
	now   time.Duration
	plane *mem.Plane
	panel *cabling.Panel
	door  *device.Door
	site  Site
}

func newBench(t *testing.T, racks int, delays device.Delays) *bench {
	t.Helper()
	spec, err := topo.ParseSpec(fmt.Sprintf("hybrid:racks=%d,hosts=1,spines=1", racks))
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{}
	clock := func() time.Duration { return b.now }
	b.plane = mem.New(int32(racks), clock)
	b.panel = cabling.New(b.plane, int32(racks), nil)
	b.door = device.NewDoor(device.New(device.Config{Name: "ocs", Kind: device.Optical, Ports: int32(racks),
		Plane: b.panel, Delays: delays, Seed: 1,
		OnLight: func(_ time.Duration, in southbound.Port, lit bool) { b.panel.Light(in, lit) }}), clock, nil)
	expected := Expected(f)
	var names []string
	var ask []Neighbors
	for r := range racks {
		names = append(names, f.Topology.Node(f.ToRNode[r]).Name)
		ask = append(ask, func(context.Context) ([]lldp.Heard, error) { return b.hears(r, expected), nil })
	}
	b.site = Site{OCSes: []OCS{{"ocs", b.door, racks}}, Expected: expected, Hear: Ears(names, ask),
		Settle: 2 * time.Second,
		Wait: func(_ context.Context, d time.Duration) error {
			b.now += d
			b.door.Advance(b.now)
			return nil
		}}
	return b
}

// hears returns what a rack's ToR hears: its spine, and the sender of the light on its fibre.
func (b *bench) hears(rack int, expected audit.Map) []lldp.Heard {
	heard := []lldp.Heard{{Port: 1, ID: 1, Said: lldp.Announcement{Chassis: "spine0",
		Port: fmt.Sprintf("Ethernet%d", rack)}}}
	for in := range expected.In {
		if out, lit := b.plane.Cross(b.now, southbound.Port(in)); lit && int(out) == rack {
			heard = append(heard, lldp.Heard{Port: 2, ID: 2,
				Said: lldp.Announcement{Chassis: expected.In[in].Chassis,
					Port: expected.In[in].Port}})
		}
	}
	return heard
}

// TestCablings: on the emulated optical switch every planted fault is found in 100 random cablings of
// 64 ports.
func TestCablings(t *testing.T) {
	const n = 64
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 64))
		b := newBench(t, n, device.Delays{Apply: device.Fixed(time.Millisecond),
			Dark: device.Fixed(10 * time.Millisecond),
			Lock: device.Fixed(time.Millisecond)})
		for range 1 + r.IntN(10) {
			which := cabling.Fibre(1 + r.IntN(3))
			a, c := southbound.Port(r.IntN(n)), southbound.Port(r.IntN(n))
			err := b.panel.Swap(a, c, which)
			if r.IntN(3) == 0 {
				err = b.panel.Pull(a, which)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		res, err := Run(t.Context(), b.site)
		if err != nil {
			t.Fatal(err)
		}
		in, out := b.panel.Plugged()
		wrong := 0
		for p := range n {
			if got, want := res.Found.In[p], at(b.site.Expected.In, in[p]); got != want {
				t.Errorf("seed %d: behind input %d is %v, found %v", seed, p, want, got)
			}
			if got, want := res.Found.Out[p], at(b.site.Expected.Out, out[p]); got != want {
				t.Errorf("seed %d: behind output %d is %v, found %v", seed, p, want, got)
			}
			for _, f := range []southbound.Port{in[p], out[p]} {
				if f != southbound.Port(p) {
					wrong++
				}
			}
		}
		named := 0
		for _, f := range res.Findings {
			k := 1
			if f.Fibre == audit.Both {
				k *= 2
			}
			if f.Kind == audit.Swapped {
				k *= 2
			}
			named += k
		}
		if named != wrong || res.Rounds > 14 {
			t.Errorf("seed %d: %d fibres are wrong, %d are named, in %d rounds: %v", seed, wrong,
				named, res.Rounds,
				res.Findings)
		}
		if seen, err := b.door.Read(t.Context()); err != nil || len(restorable(seen)) != 0 {
			t.Errorf("seed %d: %v is left", seed, seen.Connections)
		}
	}
}

func at(ends []audit.End, fibre southbound.Port) audit.End {
	if fibre == southbound.NoPort {
		return audit.End{}
	}
	return ends[fibre]
}

// TestRefuses: existing circuits are neither touched nor lost, a switch that does not answer is
// reported, one that never forgets neighbours is refused, and a stuck mirror is reported as a doubt.
func TestRefuses(t *testing.T) {
	b := newBench(t, 4, device.Delays{})
	stand := []southbound.CrossConnect{{In: 0, Out: 3}, {In: 2, Out: 2}}
	if err := b.door.SetNow(&southbound.Change{Connect: stand}); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), b.site); !errors.Is(err, ErrCircuits) ||
		!strings.Contains(err.Error(), "2 circuits stand") {
		t.Errorf("%v", err)
	}
	b.site.Interrupt = true
	if res, err := Run(t.Context(), b.site); err != nil || len(res.Findings) != 0 {
		t.Errorf("%+v, %v", res, err)
	}
	b.now += time.Second
	b.door.Advance(b.now)
	if seen, err := b.door.Read(t.Context()); err != nil || !slices.Equal(restorable(seen), stand) {
		t.Errorf("%v stand afterwards, %v", seen.Connections, err)
	}
	b.door.Do(func(_ time.Duration, d *device.Device) {
		d.Fault(device.Fault{Kind: device.Fail, Port: 1})
	})
	if res, err := Run(t.Context(), b.site); err != nil ||
		!slices.ContainsFunc(res.Findings, func(f audit.Finding) bool {
			return f.Kind == audit.Doubtful && strings.Contains(f.Why, "could not be made")
		}) {
		t.Errorf("%+v, %v", res, err)
	}
	b.door.Do(func(_ time.Duration, d *device.Device) { d.ClearFaults() })

	dead := errors.New("no route")
	b.site.Hear = Ears([]string{"tor0"}, []Neighbors{func(context.Context) ([]lldp.Heard,
		error) {
		return nil, dead
	}})
	if res, err := Run(t.Context(), b.site); err != nil || len(res.Notes) != 1 ||
		!strings.Contains(res.Notes[0], "tor0 cannot be asked") || len(res.Findings) != 4 {
		t.Errorf("%+v, %v", res, err)
	}
	b.site.Hear = Ears([]string{"tor0"}, []Neighbors{func(context.Context) ([]lldp.Heard, error) {
		return []lldp.Heard{{Said: lldp.Announcement{Chassis: "x", TTL: 120 * time.Second}, Silent: -1}}, nil
	}})
	if _, err := Run(t.Context(), b.site); err == nil ||
		!strings.Contains(err.Error(), "wait longer with --settle") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, b.site); err == nil {
		t.Error("an audit that was cancelled went on")
	}
}
