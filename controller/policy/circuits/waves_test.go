package circuits

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// fan is a coflow from host 0 (rack 0) to the first hosts of others, 20 MB each, on racks of that many
// wavelengths.
func fan(t *testing.T, waves, to int) *controller.View {
	var src, dst []southbound.HostID
	var size []pathmap.Bytes
	for r := range to {
		src, dst, size = append(src, 0), append(dst, southbound.HostID(2*r+2)), append(size, 20e6)
	}
	return view(t, src, dst, size, func(s *topo.Spec) { s.Racks, s.Waves, s.NIC = 9, waves, 8*pathmap.Gbps })
}

// TestFanOfWavelengths: eight equal pairs out of one rack take the wavelengths in equal parts, so that
// what is reserved ends at T(C)/W: 8/W reconfiguration delays and transfers one after the other.
func TestFanOfWavelengths(t *testing.T) {
	each := 10*time.Millisecond + controller.Wire(20e6).Over(pathmap.Gbps)
	for _, waves := range []int{1, 2, 4, 8} {
		v := fan(t, waves, 8)
		p := reserve(v)
		end := time.Duration(0)
		for _, r := range p.Reserve {
			end = max(end, r.NotAfter-v.Now)
		}
		if want := each * time.Duration(8/waves); len(p.Reserve) != 8 || end != want {
			t.Errorf("%d wavelengths: %d reservations until %v, want 8 until %v", waves, len(p.Reserve), end, want)
		}
		d := demands(v, p, ports(v))
		if want := 8 * each / time.Duration(waves); len(d) != 1 || d[0].bound != want {
			t.Errorf("%d wavelengths: T(C) %v, want %v (Equation 15)", waves, d[0].bound, want)
		}
	}
}

// TestStandingWavelengths: pairs keep the wavelength in which they have a circuit or a reservation, and
// those whose wavelength is dark at one rack stay on packets.
func TestStandingWavelengths(t *testing.T) {
	v := fan(t, 2, 2) // to racks 1 and 2
	v.Circuits = slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, 18)
	v.Circuits[9] = controller.CircuitView{Out: 10, Phase: controller.InService} // 0→1 by the second
	v.Reserved = []controller.CircuitReservation{{NotBefore: 5 * time.Second,
		NotAfter: 6 * time.Second, In: 9, Out: 11,
		Coflow: 3}}
	p := reserve(v)
	for _, r := range p.Reserve {
		if r.In != 9 || r.Out != 10 && r.Out != 11 {
			t.Errorf("reserved %+v", r)
		}
	}
	if len(p.Reserve) == 0 {
		t.Error("nothing is reserved for what is lit")
	}
	v = fan(t, 2, 2)
	v.Down = make([]bool, len(v.Fabric.Topology.Links()))
	v.Down[v.Fabric.Topology.OutPort(v.Fabric.ToRNode[1], v.Fabric.OCSUplink[1])] = true // rack 1's first
	for _, r := range reserve(v).Reserve {
		if r.Out == 1 {
			t.Errorf("%+v: that port is dark", r)
		}
	}
	v.Circuits = slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, 18)
	v.Circuits[0] = controller.CircuitView{Out: 1, Phase: controller.Reconfiguring}
	if p := reserve(v); len(p.Reserve) != 1 || p.Reserve[0].Out%9 != 2 {
		t.Errorf("reserved %+v, want rack 2 alone: the circuit to rack 1 stands on a dark port", p.Reserve)
	}
}

// TestDarkWavelength: a pair whose first wavelength is dark at one of its racks takes the second.
func TestDarkWavelength(t *testing.T) {
	for _, rack := range []int{0, 1} {
		v := fan(t, 2, 1) // from rack 0 to rack 1
		v.Down = make([]bool, len(v.Fabric.Topology.Links()))
		v.Down[v.Fabric.Topology.OutPort(v.Fabric.ToRNode[rack], v.Fabric.OCSUplink[rack])] = true
		if p := reserve(v); len(p.Reserve) != 1 || p.Reserve[0].In != 9 || p.Reserve[0].Out != 10 {
			t.Errorf("rack %d's first is dark: %+v", rack, p.Reserve)
		}
	}
}

// TestWavelengthLaws plans random coflows twice on random fabrics: all reservations obey the laws, a
// fresh part plans the same, and existing reservations are not planned again.
func TestWavelengthLaws(t *testing.T) {
	many := 0
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 15))
		racks, waves := 2+rng.IntN(6), 2+rng.IntN(3)
		f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: racks, Hosts: 1, OCS: pathmap.Gbps,
			EPS:   pathmap.Mbps,
			Waves: waves, Ports: 2 + rng.IntN(racks-1)})
		if err != nil {
			t.Fatal(err)
		}
		v := &controller.View{Fabric: f, Now: time.Second, Delta: time.Duration(rng.IntN(20)) * time.Millisecond,
			ElephantThreshold: 1e6,
			Circuits:          slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, f.OCSPorts())}
		for id := range 1 + rng.IntN(4) {
			c := controller.CoflowView{ID: southbound.CoflowID(id), Generation: 1, Started: true, Routed: true,
				Remaining: southbound.Remaining{F: 1}}
			for dst := range racks {
				for src := range racks {
					if src != dst && rng.IntN(2) == 0 {
						c.Src, c.Dst = append(c.Src, southbound.HostID(src)), append(c.Dst, southbound.HostID(dst))
						c.Size = append(c.Size, pathmap.Bytes(rng.IntN(9e6)))
						c.Remaining.Base = append(c.Remaining.Base, float64(c.Size[len(c.Size)-1]))
						c.Ended, c.Tag = append(c.Ended, false), append(c.Tag, 0)
					}
				}
			}
			v.Coflows = append(v.Coflows, c)
		}
		var p, again controller.Plan
		s := Sunflow{}.Remembering()
		p.Reset()
		s.Fill(v, nil, &p)
		if err := policytest.Check(v, &p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		again.Reset()
		Sunflow{}.Fill(v, nil, &again)
		if a, b := fmt.Sprintf("%+v", p.Reserve), fmt.Sprintf("%+v", again.Reserve); a != b {
			t.Fatalf("seed %d: a fresh part plans %s, not %s", seed, b, a)
		}
		v.Reserved = slices.Clone(p.Reserve)
		again.Reset()
		s.Fill(v, nil, &again)
		if len(again.Withdraw) > 0 || len(again.Reserve) > 0 {
			t.Fatalf("seed %d: planned anew though nothing has happened: %+v", seed, again)
		}
		for _, r := range p.Reserve {
			if int(r.In) >= racks {
				many++
			}
		}
	}
	if many == 0 {
		t.Error("no other wavelength than the first was used")
	}
}

// TestScratchUndoesPlanes: what is laid and taken out again leaves planes as they were, so that it is laid alike again.
func TestScratchUndoesPlanes(t *testing.T) {
	for seed := range uint64(tries.Of(30, 300)) {
		v := policytest.Parallel(seed)
		if !v.Fabric.HasOCS() {
			continue
		}
		x, rng := NewScratch(v), rand.New(rand.NewPCG(seed, 38))
		draw := func() []Pair {
			var src, dst []southbound.HostID
			var left []pathmap.Bytes
			for d := range v.Fabric.Hosts() {
				if s := rng.IntN(v.Fabric.Hosts()); s != d {
					src, dst, left = append(src, southbound.HostID(s)), append(dst, southbound.HostID(d)), append(left, 1e7)
				}
			}
			pairs, _ := x.Pairs(src, dst, left)
			return pairs
		}
		x.Lay(draw(), v.Now)
		mark, pairs := x.Mark(), draw()
		first := slices.Clone(pairs)
		x.Lay(first, v.Now)
		x.Lay(draw(), v.Now)
		x.Undo(mark)
		if again := slices.Clone(pairs); len(pairs) > 0 {
			x.Lay(again, v.Now)
			if !slices.Equal(first, again) {
				t.Fatalf("view %d: laid %+v, and after an undo %+v", seed, first, again)
			}
		}
	}
}
