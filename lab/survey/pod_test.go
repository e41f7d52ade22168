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
	"lightloom/emulator/dataplane/mem"
	"lightloom/emulator/device"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/lldp"
)

// pod is emulated optical switches in virtual time whose fibres can be plugged in anywhere: by port of the switches,
// those of the first before those of the next, where the fibre in it and the fibre out of it belong.
type pod struct {
	fabric  *topo.Fabric
	now     time.Duration
	planes  []*mem.Plane
	doors   []*device.Door
	in, out []int // -1: none
	each    int   // ports of a switch
	site    Site
}

func newPod(t *testing.T, text string) *pod {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	b := &pod{}
	if b.fabric, err = topo.New(spec); err != nil {
		t.Fatal(err)
	}
	b.each = int(b.fabric.Topology.Ports(b.fabric.OCSNode))
	b.site = Site{Expected: Expected(b.fabric), Say: EndNames(b.fabric), Settle: 2 * time.Second, Wait: b.wait}
	clock := func() time.Duration { return b.now }
	for i := range b.fabric.OCSes() {
		name := fmt.Sprintf("ocs%d", i)
		b.planes = append(b.planes, mem.New(int32(b.each), clock))
		b.doors = append(b.doors, device.NewDoor(device.New(device.Config{Name: name, Kind: device.Optical,
			Ports: int32(b.each), Plane: b.planes[i], Seed: 1, Delays: device.Delays{Dark: device.Fixed(time.Millisecond)}}),
			clock, nil))
		b.site.OCSes = append(b.site.OCSes, OCS{name, b.doors[i], b.each})
		for range b.each {
			b.in, b.out = append(b.in, len(b.in)), append(b.out, len(b.out))
		}
	}
	var names []string
	var ask []Neighbors
	for _, n := range b.fabric.ToRNode {
		name := b.fabric.Topology.Node(n).Name
		names = append(names, name)
		ask = append(ask, func(context.Context) ([]lldp.Heard, error) { return b.hears(name), nil })
	}
	b.site.Hear = Ears(names, ask)
	return b
}

func (b *pod) wait(_ context.Context, d time.Duration) error {
	b.now += d
	for _, door := range b.doors {
		door.Advance(b.now)
	}
	return nil
}

// hears returns what the switch of a cube hears: what comes from itself it ignores, as many do.
func (b *pod) hears(name string) (all []lldp.Heard) {
	for p, fibre := range b.in {
		out, lit := b.planes[p/b.each].Cross(b.now, southbound.Port(p%b.each))
		if !lit || fibre < 0 || b.out[p-p%b.each+int(out)] < 0 {
			continue
		}
		from, at := b.site.Expected.In[fibre], b.site.Expected.Out[b.out[p-p%b.each+int(out)]]
		if at.Chassis == name && from.Chassis != name {
			var port int
			_, _ = fmt.Sscanf(at.Port, "Ethernet%d", &port)
			all = append(all, lldp.Heard{Port: port, ID: port,
				Said: lldp.Announcement{Chassis: from.Chassis, Port: from.Port}})
		}
	}
	return all
}

func (b *pod) swap(p, q int) {
	b.in[p], b.in[q] = b.in[q], b.in[p]
	b.out[p], b.out[q] = b.out[q], b.out[p]
}

// port is the number of a switch's port among those of all.
func (b *pod) port(ocs, port int) int { return ocs*b.each + port }

// TestWrongFaces: cubes that are cabled to wrong faces, at one switch and at others, are found in one survey of all
// switches, with the names of faces and where each fibre belongs.
func TestWrongFaces(t *testing.T) {
	for _, tt := range []struct {
		name  string
		plant func(*pod)
		says  []string
	}{
		{"as it should be", func(*pod) {}, nil},
		{"upper and lower face", func(b *pod) { b.swap(b.port(2, 6), b.port(2, 7)) }, []string{
			"swapped: both fibres of ocs2:6 and ocs2:7 are in each other's place (cube3:13 (the lower x face of cube3 at " +
				"1,0) is found at ocs2:7)"}},
		{"places of two switches", func(b *pod) { b.swap(b.port(0, 3), b.port(4, 3)) }, []string{
			"swapped: both fibres of ocs0:3 and ocs4:3 are in each other's place (cube1:10 (the upper x face of cube1 at " +
				"0,0) is found at ocs4:3)"}},
		{"three places in a ring", func(b *pod) { b.swap(b.port(0, 3), b.port(4, 3)); b.swap(b.port(4, 3), b.port(8, 2)) },
			[]string{
				"misplaced: both fibres of ocs0:3 lead to cube1:18 (the upper y face of cube1 at 0,0), which belongs to ocs4:3, " +
					"expected is cube1:10 (the upper x face of cube1 at 0,0)",
				"misplaced: both fibres of ocs4:3 lead to cube1:25 (the lower z face of cube1 at 0,0), which belongs to ocs8:2",
				"misplaced: both fibres of ocs8:2 lead to cube1:10 (the upper x face of cube1 at 0,0), which belongs to ocs0:3"}},
		{"pulled", func(b *pod) { b.in[b.port(11, 0)] = -1 }, []string{
			"dead: nothing comes through the fibre into ocs11:0, expected is cube0:"}},
	} {
		b := newPod(t, "pod:cubes=4,side=2,spines=1")
		tt.plant(b)
		got, err := Run(t.Context(), b.site)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		ok := len(got.Findings) == len(tt.says) && len(got.Ports) == 12*8
		for i, f := range got.Findings {
			ok = ok && strings.HasPrefix(f.String(), tt.says[i])
		}
		if !ok || got.Rounds > 15 {
			t.Errorf("%s: %d rounds, found %q, want %q", tt.name, got.Rounds, got.Findings, tt.says)
		}
	}
}

// TestPodCablings: in random cablings of all switches of a pod every fibre is found where it is, and as many are named
// as are wrong.
func TestPodCablings(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 48))
		b := newPod(t, "pod:cubes=5,side=2,spines=1")
		for range 1 + r.IntN(12) {
			p, q := r.IntN(len(b.in)), r.IntN(len(b.in))
			if b.swap(p, q); r.IntN(4) == 0 {
				b.out[p] = -1
			}
		}
		got, err := Run(t.Context(), b.site)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for p := range b.in {
			if want := endAt(b, b.in[p]); got.Found.In[p] != want {
				t.Errorf("seed %d: behind input %d is %v, found %v", seed, p, want, got.Found.In[p])
			}
			if want := endAt(b, b.out[p]); got.Found.Out[p] != want {
				t.Errorf("seed %d: behind output %d is %v, found %v", seed, p, want, got.Found.Out[p])
			}
			for _, fibre := range []int{b.in[p], b.out[p]} {
				if fibre != p {
					wrong++
				}
			}
		}
		named := 0
		for _, f := range got.Findings {
			k := 1
			if f.Fibre == audit.Both {
				k *= 2
			}
			if f.Kind == audit.Swapped {
				k *= 2
			}
			named += k
		}
		if named != wrong {
			t.Errorf("seed %d: %d fibres are wrong, %d are named: %q", seed, wrong, named, got.Findings)
		}
	}
}

func endAt(b *pod, fibre int) audit.End {
	if fibre < 0 {
		return audit.End{}
	}
	return b.site.Expected.In[fibre]
}

// unreachable is a switch that answers no more after some Sets.
type unreachable struct {
	southbound.Device
	after *int
}

var errUnreachable = errors.New("no route")

func (u unreachable) Set(ctx context.Context, c *southbound.Change) error {
	if *u.after--; *u.after < 0 {
		return errUnreachable
	}
	return u.Device.Set(ctx, c)
}

// TestSwitchAwayDuring: where one switch fails in mid-survey, it is named, and the others get their circuits back.
func TestSwitchAwayDuring(t *testing.T) {
	b := newPod(t, "pod:cubes=4,side=2,spines=1")
	was := []southbound.CrossConnect{{In: 1, Out: 2}, {In: 2, Out: 1}}
	for _, d := range b.doors {
		if err := d.SetNow(&southbound.Change{Connect: was}); err != nil {
			t.Fatal(err)
		}
	}
	b.site.Interrupt = true
	left := 3
	b.site.OCSes[5].Device = unreachable{b.doors[5], &left}
	_, err := Run(t.Context(), b.site)
	if !errors.Is(err, errUnreachable) || !strings.Contains(err.Error(), "at ocs5: ") {
		t.Errorf("%v", err)
	}
	_ = b.wait(t.Context(), time.Second)
	for i, d := range b.doors {
		seen, err := d.Read(t.Context())
		if back := slices.Equal(restorable(seen), was); err != nil || back != (i != 5) {
			t.Errorf("ocs%d has %v, %v", i, seen.Connections, err)
		}
	}
}
