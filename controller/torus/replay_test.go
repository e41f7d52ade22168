package torus_test

import (
	"math/rand/v2"
	"testing"

	"lightloom/controller/torus"
	"lightloom/controller/torus/torustest"
	"lightloom/pathmap/tries"
)

// shapes are those of the mix and of sheets, and some whose sides are no whole cubes.
func shapes() []torus.Shape {
	var all []torus.Shape
	for _, text := range []string{"1x1x1", "1x1x2", "1x2x2", "2x2x2", "2x2x4", "2x4x4", "4x4x4", "4x4x8_twisted",
		"8x4x4_twisted", "4x8x4_twisted", "4x4x8", "2x2x4_twisted",
		"4x4x12", "4x8x8_twisted", "8x8x4_twisted", "4x8x8", "8x8x8",
		"8x8x16_twisted", "1x4x8", "1x4x16", "1x8x8", "8x1x16", "2x4x8", "2x8x8", "1x16x16", "3x5x6", "6x6x6", "4x6x9",
		"1x1x7", "1x6x10", "2x3x8", "2x6x5"} {
		s, err := torus.ParseShape(text)
		if err != nil {
			panic(err)
		}
		all = append(all, s)
	}
	return all
}

// TestCircuitsMakeTheTorus fills pods at random and replays what the circuits of each slice make.
func TestCircuitsMakeTheTorus(t *testing.T) {
	folded := 0
	for seed := range uint64(tries.Of(4, 300)) {
		rng := rand.New(rand.NewPCG(seed, 1))
		side := 4 - 2*int(seed%2)
		pod, err := torus.New(side, 4, 4, 4)
		if err != nil {
			t.Fatal(err)
		}
		all := shapes()
		for _, n := range rng.Perm(len(all)) {
			if all[n].Check(side) != nil {
				continue
			}
			p := torus.BestFit(pod, all[n])
			if p == nil {
				continue
			}
			circuits, err := p.Circuits()
			if err == nil {
				err = torustest.Check(p, circuits)
			}
			if err != nil {
				t.Fatalf("seed %d, %s in %v: %v", seed, p.Shape, p.Box, err)
			}
			if p.Shape.Sides[0]*p.Shape.Sides[1]*p.Shape.Sides[2] != p.Box[0]*p.Box[1]*p.Box[2] {
				t.Fatalf("%s became %v", p.Shape, p.Box)
			}
			if max(p.Box[0], p.Box[1], p.Box[2]) < max(p.Shape.Sides[0], p.Shape.Sides[1], p.Shape.Sides[2]) {
				folded++
			}
			pod.Take(p.Parts)
		}
	}
	if folded == 0 {
		t.Error("nothing was folded: the test lacks what it is for")
	}
}

// TestReplayFinds: a circuit less, one to another cube or one that twists where none is asked for are found.
func TestReplayFinds(t *testing.T) {
	pod, err := torus.New(4, 4, 4, 4)
	if err != nil {
		t.Fatal(err)
	}
	p := torus.BestFit(pod, torus.Box(4, 4, 8))
	circuits, err := p.Circuits()
	if err != nil || torustest.Check(p, circuits) != nil {
		t.Fatal(err, torustest.Check(p, circuits))
	}
	if torustest.Check(p, circuits[1:]) == nil {
		t.Error("a circuit less is not found")
	}
	q := *p
	q.Shape.Twisted = true
	if torustest.Check(&q, circuits) == nil {
		t.Error("a torus passes for a twisted one")
	}
	twisted, err := q.Circuits()
	if err != nil || torustest.Check(&q, twisted) != nil {
		t.Error(err, torustest.Check(&q, twisted))
	}
	if torustest.Check(p, twisted) == nil {
		t.Error("a twisted torus passes for one that is not")
	}
	circuits[3].Lower = 9
	if torustest.Check(p, circuits) == nil {
		t.Error("a circuit to another cube is not found")
	}
}

// TestReconfigureJoins: where faces of its pieces meet, its circuits make the torus; else Circuits says so.
func TestReconfigureJoins(t *testing.T) {
	for seed := range uint64(tries.Of(4, 300)) {
		rng := rand.New(rand.NewPCG(seed, 2))
		side := 4 - 2*int(seed%2)
		pod, err := torus.New(side, 3, 3, 3)
		if err != nil {
			t.Fatal(err)
		}
		all := shapes()
		for _, rule := range []func(*torus.Pod, torus.Shape) *torus.Placement{torus.Reconfigure, torus.RFold} {
			s := all[rng.IntN(len(all))]
			if s.Check(side) != nil {
				continue
			}
			p := rule(pod, s)
			if p == nil {
				continue
			}
			pod.Take(p.Parts)
			circuits, err := p.Circuits()
			if err != nil {
				continue
			}
			if err := torustest.Check(p, circuits); err != nil {
				t.Fatalf("seed %d, %s in %v: %v", seed, p.Shape, p.Box, err)
			}
		}
	}
}
