package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestCheckerAgrees: over random changes of circuits, tables and cables, whole and faulty ones, a
// checker that remembers says what one that remembers nothing says.
func TestCheckerAgrees(t *testing.T) {
	faults := 0
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 31))
		spec, steps := "hybrid:racks=6,hosts=1,spines=2", 60
		if seed == 0 { // more devices than a set holds apart
			spec, steps = "hybrid:racks=66,hosts=1,spines=2", 10
		}
		f, b := fabric(t, spec, 4)
		var c rollout.Checker
		circuits := dark(f.Racks)
		for step := range steps {
			circuits = slices.Clone(circuits)
			in, out := r.IntN(f.Racks), southbound.Port(r.IntN(f.Racks))
			switch {
			case int(out) == in:
				circuits[in] = southbound.NoPort
			case !slices.Contains(circuits, out) || r.IntN(8) == 0:
				circuits[in] = out
			}
			x := tables(f, b, circuits)
			switch d := r.IntN(len(x.Rules)); r.IntN(6) {
			case 0: // a switch has lost a rule
				if n := len(x.Rules[d]); n > 0 {
					k := r.IntN(n)
					x.Rules[d] = slices.Delete(x.Rules[d], k, k+1)
				}
			case 1: // a rule leads elsewhere
				if n := len(x.Rules[d]); n > 0 {
					x.Rules[d][r.IntN(n)].Primary = southbound.Port(r.IntN(3))
				}
			case 2: // a circuit has changed before the tables
				x.Circuits = slices.Clone(circuits)
				x.Circuits[r.IntN(f.Racks)] = southbound.Port(r.IntN(f.Racks+1) - 1)
			case 3:
				x.Dark = make([]bool, len(f.Topology.Links()))
				l := pathmap.LinkID(r.IntN(len(x.Dark)))
				x.Dark[l], x.Dark[pathmap.Reverse(l)] = true, true
			}
			got, want := fmt.Sprint(c.Check(x)), fmt.Sprint(rollout.Check(x))
			if got != want {
				t.Fatalf("seed %d, step %d: %s, without memory: %s", seed, step, got, want)
			}
			if want != "<nil>" {
				faults++
			}
		}
	}
	if faults < 200 || faults > 1000 {
		t.Errorf("%d of 1,150 fabrics were faulty", faults)
	}
}

// TestCheckerAfterFault: what a walk has met in a faulty fabric does not count in the next one, which
// has the ways of the one before the fault.
func TestCheckerAfterFault(t *testing.T) {
	f, b := fabric(t, "leafspine:racks=3,hosts=1,spines=2", 2)
	whole := tables(f, b, dark(f.Racks))
	way, err := whole.Walk(0, 1, southbound.TagDefault)
	if err != nil || len(way) != 2 {
		t.Fatalf("rack 0 to 1: %v, %v", way, err)
	}
	spine := f.Topology.Link(way[0]).To
	other, broken := tables(f, b, dark(f.Racks)), tables(f, b, dark(f.Racks))
	for i := range other.Rules[f.ToRNode[0]] { // by the other spine, and the last rack has no rules
		r := &other.Rules[f.ToRNode[0]][i]
		if f.Topology.Link(f.Topology.OutPort(f.ToRNode[0], int32(r.Primary))).To == spine {
			r.Primary = r.Backup
		}
	}
	other.Rules[f.ToRNode[2]] = nil
	broken.Rules[spine] = slices.DeleteFunc(broken.Rules[spine],
		func(r southbound.Rule) bool { return r.Dst == 1 })
	var c rollout.Checker
	for i, x := range []*rollout.Fabric{whole, other, broken, whole} {
		if got, want := fmt.Sprint(c.Check(x)), fmt.Sprint(rollout.Check(x)); got != want ||
			(want == "<nil>") != (i%3 == 0) {
			t.Errorf("fabric %d: %s, without memory: %s", i, got, want)
		}
	}
}

// TestCheckWanted: over random moves of circuits and cables that fail, the tables that are kept from one check
// to the next are those that are derived anew.
func TestCheckWanted(t *testing.T) {
	for _, spec := range []string{"hybrid:racks=6,hosts=1,spines=2", "hybrid:racks=5,hosts=1,spines=2,ocses=2",
		"pod:cubes=4,side=2"} {
		f, b := fabric(t, spec, 2)
		r := rand.New(rand.NewPCG(7, 32))
		var c rollout.Checker
		circuits := dark(f.OCSPorts())
		for step := range 20 {
			circuits = slices.Clone(circuits)
			in, out := r.IntN(f.OCSPorts()), southbound.Port(r.IntN(f.OCSPorts()))
			switch l := pathmap.LinkID(r.IntN(len(f.Topology.Links()))); {
			case step%10 == 9:
				b.Avoid(func(other pathmap.LinkID) bool { return other == l || other == pathmap.Reverse(l) })
			case f.SamePlane(int32(in), int32(out)) && !slices.Contains(circuits, out):
				circuits[in] = out
			default:
				circuits[in] = southbound.NoPort
			}
			whole := tables(f, b, circuits)
			if err, want := c.CheckWanted(b, circuits), rollout.Check(whole); fmt.Sprint(err) != fmt.Sprint(want) {
				t.Fatalf("%s, step %d: %v, anew: %v", spec, step, err, want)
			}
			if !reflect.DeepEqual(c.Wanted().Rules, whole.Rules) {
				t.Fatalf("%s, step %d: other tables than anew", spec, step)
			}
		}
	}
}

// BenchmarkChecker checks 32 racks after each move of a circuit.
func BenchmarkChecker(b *testing.B) {
	f, base := fabric(b, "hybrid:racks=32,hosts=4,spines=2", 2)
	var all [2]*rollout.Fabric
	for i := range all {
		circuits := dark(f.Racks)
		circuits[3] = southbound.Port(10 + i)
		all[i] = tables(f, base, circuits)
	}
	for name, check := range map[string]func(*rollout.Fabric) error{"anew": rollout.Check,
		"remembered": new(rollout.Checker).Check} {
		b.Run(name, func(b *testing.B) {
			for i := range b.N {
				if err := check(all[i%2]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
