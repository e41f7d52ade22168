package torus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap/tries"
)

// racksOf returns racks with a port on all of so many planes.
func racksOf(racks, planes int) *Racks {
	return NewRacks(planes, slices.Repeat([]uint32{1<<planes - 1}, racks))
}

func TestRackShapes(t *testing.T) {
	k := racksOf(8, 4)
	for text, want := range map[string]string{
		"racks=4,circuits=2": "",
		"racks=8,circuits=4": "",
		"racks=1,circuits=0": "",
		"racks=9,circuits=2": "no 9 racks have ports on the same 2 optical switches or wavelengths; nearest: " +
			"racks=8,circuits=2",
		"racks=8,circuits=5": "nearest: racks=8,circuits=4",
		"racks=2,circuits=2": "a rack has one circuit to each other at most, and it has 1 others; nearest: " +
			"racks=3,circuits=2, or racks=2,circuits=1",
		"racks=4,circuits=0":    "its racks have no circuits; nearest: racks=4,circuits=1",
		"racks=1500,circuits=1": "it has more than 1024 racks; nearest: racks=8,circuits=1",
		"4x4x4":                 "has racks instead of cubes; nearest: racks=2,circuits=1",
	} {
		s, err := ParseShape(text)
		if err != nil || s.String() != text {
			t.Errorf("%s is read as %s, %v", text, s, err)
			continue
		}
		err = k.Check(s)
		var e *ShapeError
		if want == "" && err != nil || want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	for _, bad := range []string{"racks=0,circuits=1", "racks=4", "circuits=2", "circuits=2,racks=4", "racks=4,circuits=x",
		"racks=4,circuits=2,racks=4", "racks=4,circuits=02", "hosts=4", "racks=99999,circuits=1"} {
		var e *ShapeError
		if s, err := ParseShape(bad); !errors.As(err, &e) {
			t.Errorf("%s is read as %s, %v", bad, s, err)
		}
	}
	pod, err := Joined(2, 8)
	if err != nil {
		t.Fatal(err)
	}
	if err := pod.Check(RackShape(4, 2)); err == nil || !strings.Contains(err.Error(), "is a pod") {
		t.Errorf("on a pod: %v", err)
	}
}

// TestLargeRing: a slice has as many racks as the log takes of one, and a larger one is told that as the nearest.
func TestLargeRing(t *testing.T) {
	k := racksOf(1600, 1)
	if x := k.Asked("a", RackShape(MaxRing, 1), nil); x.State != Pending {
		t.Errorf("%+v", x)
	}
	x := k.Asked("a", RackShape(1500, 1), nil)
	if x.Reason != ShapeImpossible || !strings.Contains(x.Why, "nearest: racks=1024,circuits=1") {
		t.Errorf("%+v", x)
	}
}

// TestAllPlanes: the last of all choices of planes is found, though many others look good almost to the end.
func TestAllPlanes(t *testing.T) {
	const n, w = 10, 9
	var cables []uint32
	for i := range uint32(MostPlanes - w + 1) { // racks that have one plane too few
		cables = append(cables, slices.Repeat([]uint32{(1<<(w-1) - 1) << i}, n)...)
	}
	cables = append(cables, slices.Repeat([]uint32{(1<<w - 1) << (MostPlanes - w)}, n)...)
	if x := NewRacks(MostPlanes, cables).Asked("a", RackShape(n, w), nil); x.State != Pending {
		t.Errorf("%+v", x)
	}
	defer func() {
		if recover() == nil {
			t.Error("more planes than can be tried are taken")
		}
	}()
	NewRacks(MostPlanes+1, cables)
}

// TestRails: racks of different rails meet on no switch.
func TestRails(t *testing.T) {
	k := NewRacks(2, []uint32{1, 2, 1, 2, 1, 2})
	ring, planes := k.Place(RackRules()[1], RackShape(3, 1), nil)
	if !reflect.DeepEqual(ring, []int32{0, 2, 4}) || !reflect.DeepEqual(planes, [][]int32{{0, 0, 0}}) {
		t.Errorf("%v at %v", ring, planes)
	}
	if err := k.Check(RackShape(4, 1)); err == nil || !strings.Contains(err.Error(), "nearest: racks=3,circuits=1") {
		t.Error(err)
	}
	if x := k.Asked("a", RackShape(2, 1), []int{0, 1}); x.Reason != RacksImpossible {
		t.Errorf("racks of two rails: %+v", x)
	}
	if x := k.Asked("a", RackShape(2, 1), []int{0, 0}); !strings.Contains(x.Why, "named twice") {
		t.Errorf("a rack twice: %+v", x)
	}
	if x := k.Asked("a", RackShape(3, 1), []int{0, 2}); !strings.Contains(x.Why, "names 2 racks") {
		t.Errorf("two racks of three: %+v", x)
	}
}

// TestBestFitOfRacks leaves racks with many ports to those that need them.
func TestBestFitOfRacks(t *testing.T) {
	cables := []uint32{15, 15, 15, 15, 3, 3, 3, 3}
	for i, wide := range []bool{false, true} {
		k := NewRacks(4, cables)
		all := []Slice{k.Asked("a", RackShape(4, 2), nil), k.Asked("b", RackShape(4, 3), nil)}
		all = settleAll(k, RackRules()[i], all)
		if all[0].State != Ready || (all[1].State == Ready) != wide {
			t.Errorf("%s: %+v", RackRules()[i].Name, all)
		}
	}
}

// settleAll settles slices until nothing changes, with every circuit lit that can be.
func settleAll(k *Racks, rule RackRule, all []Slice) []Slice {
	for range 10 {
		lacks := make([]Lack, len(all))
		lit := k.Clone()
		lit.leads = nil
		for range k.leads {
			lit.leads = append(lit.leads, slices.Repeat([]int32{none}, len(k.cables)))
		}
		for i := range all {
			for _, c := range all[i].RackCircuits() {
				if (k.dark[c.From]|k.dark[c.To])>>c.Plane&1 == 1 || k.away[c.From] || k.away[c.To] {
					lacks[i].Dark++
				} else {
					lit.SetLit(c)
				}
			}
		}
		changed := SettleRacks(lit, rule, all, lacks)
		if len(changed) == 0 {
			return all
		}
		all = slices.Clone(all)
		for _, x := range changed {
			all[slices.IndexFunc(all, func(o Slice) bool { return o.Name == x.Name })] = x
		}
	}
	return all
}

// TestSwapOfRacks: a dead rack, port or switch is replaced by circuits of what died alone.
func TestSwapOfRacks(t *testing.T) {
	rule := RackRules()[1]
	fresh := func() (*Racks, []Slice) {
		k := racksOf(9, 4)
		all := []Slice{k.Asked("a", RackShape(4, 2), nil), k.Asked("b", RackShape(4, 2), nil)}
		return k, settleAll(k, rule, all)
	}
	for _, tt := range []struct {
		name    string
		fail    func(k *Racks)
		changed int // circuits of a
		state   State
		reason  Reason
	}{
		{"a rack", func(k *Racks) { k.SetAway(1) }, 4, Ready, CircuitsLit},
		{"a port", func(k *Racks) { k.SetDark(1, 0) }, 2, Ready, CircuitsLit},
		{"a switch", func(k *Racks) {
			for r := range int32(9) {
				k.SetDark(r, 0)
			}
		}, 4, Ready, CircuitsLit},
		{"a switch to be drained", func(k *Racks) {
			for r := range int32(9) {
				k.SetDrained(r, 1)
			}
		}, 4, Ready, CircuitsLit},
		{"three switches", func(k *Racks) {
			for r := range int32(9) {
				k.dark[r] |= 7
			}
		}, 4, Incomplete, CircuitDark},
		{"two racks, with one spare", func(k *Racks) { k.SetAway(1); k.SetAway(2) }, 4, Incomplete, RackAway},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k, all := fresh()
			before := all[0].RackCircuits()
			if all[0].State != Ready || all[1].State != Ready || len(before) != 8 {
				t.Fatalf("%+v", all)
			}
			other := all[1].RackCircuits()
			tt.fail(k)
			after := settleAll(k, rule, all)
			if a := after[0]; a.State != tt.state || a.Reason != tt.reason {
				t.Errorf("%+v", a)
			}
			n := 0
			for _, c := range before {
				if !slices.Contains(after[0].RackCircuits(), c) {
					n++
				}
			}
			if n != tt.changed {
				t.Errorf("%d circuits change, want %d: %v to %v", n, tt.changed, before, after[0].RackCircuits())
			}
			if strings.HasPrefix(tt.name, "a rack") && !reflect.DeepEqual(other, after[1].RackCircuits()) {
				t.Errorf("another's circuits change")
			}
		})
	}
	// Two racks that die together take their ports with them, and each gets a spare.
	dead := racksOf(8, 4)
	both := settleAll(dead, rule, []Slice{dead.Asked("a", RackShape(3, 2), nil)})
	for _, r := range both[0].Ring[:2] {
		dead.SetAway(r)
		for plane := range 4 {
			dead.SetDark(r, plane)
		}
	}
	if got := settleAll(dead, rule, both)[0]; got.State != Ready || got.Swaps != 2 {
		t.Errorf("two racks and their ports: %+v", got)
	}
	k, all := fresh()
	k.SetAway(0)
	named := all[0]
	named.Cubes = []int{0, 1, 2, 3}
	if got := settleAll(k, rule, []Slice{named}); got[0].Reason != RackAway || got[0].Ring[0] != 0 {
		t.Errorf("racks that were named stay: %+v", got[0])
	}
}

// TestExplainRacks: a slice that waits is told what has to end, and it fits then.
func TestExplainRacks(t *testing.T) {
	k, rule := racksOf(8, 2), RackRules()[1]
	all := []Slice{k.Asked("a", RackShape(3, 1), nil), k.Asked("b", RackShape(3, 2), nil),
		k.Asked("c", RackShape(4, 2), nil), k.Asked("d", RackShape(2, 1), nil)}
	all = settleAll(k, rule, all)
	if all[2].Reason != NoRoom || all[3].Reason != BehindOthers {
		t.Errorf("%+v", all)
	}
	if why := ExplainRacks(k, rule, all, &all[2]); why != "it fits once these have ended: a" {
		t.Error(why)
	}
	if left := settleAll(k, rule, all[1:]); left[1].State != Ready || left[2].State != Pending {
		t.Errorf("%+v", left)
	}
	for r := range int32(8) {
		k.SetAway(r)
	}
	if why := ExplainRacks(k, rule, all, &all[2]); !strings.Contains(why, "whatever ends") {
		t.Error(why)
	}
}

// TestRandomRacks: whatever comes, goes and fails, no port has two circuits, each slice has what its shape says, and a
// rack that is a slice's own has no other.
func TestRandomRacks(t *testing.T) {
	for seed := range uint64(tries.Of(60, 2000)) {
		rng := rand.New(rand.NewPCG(seed, 3))
		planes := 1 + rng.IntN(5)
		cables := make([]uint32, 3+rng.IntN(10))
		for r := range cables {
			cables[r] = uint32(rng.IntN(1 << planes))
		}
		rule := RackRules()[rng.IntN(2)]
		var all []Slice
		for step := range 30 {
			k := NewRacks(planes, cables)
			for r := range cables {
				if rng.IntN(8) == 0 {
					k.SetAway(int32(r))
				}
				mostly := uint32(rng.IntN(1 << planes))
				k.dark[r] = mostly & uint32(rng.IntN(1<<planes))
			}
			if rng.IntN(4) == 0 && len(all) > 0 {
				i := rng.IntN(len(all))
				all = slices.Delete(slices.Clone(all), i, i+1)
			}
			n := 2 + rng.IntN(4)
			var named []int
			if rng.IntN(2) == 0 {
				named = rng.Perm(len(cables))[:min(n, len(cables))]
			}
			x := k.Asked(fmt.Sprint("s", step), RackShape(n, 1+rng.IntN(3)), named)
			all = settleAll(k, rule, append(slices.Clone(all), x))
			checkRacks(t, seed, cables, planes, all)
		}
	}
}

func checkRacks(t *testing.T, seed uint64, cables []uint32, planes int, all []Slice) {
	t.Helper()
	ports, own := map[[3]int32]string{}, map[int32]string{}
	for i := range all {
		s := &all[i]
		if !s.Holds() {
			continue
		}
		if err := NewRacks(planes, cables).CheckRing(s); err != nil {
			t.Fatalf("seed %d: %s: %v", seed, s.Name, err)
		}
		for _, r := range s.Ring {
			if s.Own() && own[r] != "" {
				t.Fatalf("seed %d: rack %d is of %s and of %s", seed, r, own[r], s.Name)
			}
			if s.Own() {
				own[r] = s.Name
			}
		}
		for _, c := range s.RackCircuits() {
			for _, p := range [][3]int32{{0, c.From, c.Plane}, {1, c.To, c.Plane}} {
				if ports[p] != "" {
					t.Fatalf("seed %d: port %v is of %s and of %s", seed, p, ports[p], s.Name)
				}
				ports[p] = s.Name
			}
		}
	}
}
