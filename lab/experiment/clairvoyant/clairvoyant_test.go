package clairvoyant

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/experiment"
	"lightloom/pathmap/tries"
)

func tinyArena(t testing.TB, ground string, n int, seed uint64) (*arena, experiment.Contest) {
	t.Helper()
	c := experiment.Contested(ground, n)
	jobs, err := c.Jobs(new(experiment.Bench), seed)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newArena(c.Fabric, jobs, seed)
	if err != nil {
		t.Fatal(err)
	}
	return a, c
}

// TestFollow: a plan of joint's places that changes nothing is carried out as joint's own run was, and
// the search is never worse than what it began with, keeps to slots and no bound is above it.
func TestFollow(t *testing.T) {
	for _, ground := range grounds() {
		a, c := tinyArena(t, ground, 12, 3)
		own, err := a.run(t.Context(), a.spec, someCircuits, c.Joint)
		if err != nil {
			t.Fatal(err)
		}
		again, err := a.follow(t.Context(), own.plan)
		if err != nil {
			t.Fatal(err)
		}
		if again.CCT != own.CCT || again.JCT != own.JCT {
			t.Errorf("%s: %v and %v s under joint, %v and %v s as a plan", ground, own.CCT, own.JCT,
				again.CCT, again.JCT)
		}
		f, err := look(t.Context(), new(experiment.Bench), experiment.Contested(ground, 12), 3, 12)
		if err != nil {
			t.Fatal(err)
		}
		if f.best.CCT > min(f.joint.CCT, f.rival.CCT) {
			t.Errorf("%s: the search ends at %v s, joint at %v, the rival at %v", ground, f.best.CCT,
				f.joint.CCT, f.rival.CCT)
		}
		t.Logf("%s: rival %.3f %.3f, joint %.3f %.3f, best %.3f %.3f, packets %.3f; bounds: JCT %.3f, CCT %.3f, here %.3f",
			ground, f.rival.CCT, f.rival.JCT, f.joint.CCT, f.joint.JCT, f.best.CCT, f.best.JCT, f.packets.CCT, f.anywhere,
			f.alone, f.here)
	}
}

// TestShares: no dealing of tasks to groups of slots sends less out of them, or has a busiest group
// with less.
func TestShares(t *testing.T) {
	for seed := range uint64(tries.Of(3000, 100_000)) {
		r := rand.New(rand.NewPCG(seed, 0x73686172))
		maps, reduces, slots := 1+r.IntN(6), 1+r.IntN(6), 1+r.IntN(8)
		a, b := make([]int, maps+reduces), make([]int, maps+reduces)
		put := func(n int, in []int) {
			for range n {
				g := r.IntN(1 + r.IntN(len(in)))
				for a[g]+b[g] >= slots {
					g = (g + 1) % len(in)
				}
				in[g]++
			}
		}
		put(maps, a)
		put(reduces, b)
		out, most := 1.0, 0.0
		for g := range a {
			x, y := float64(a[g])/float64(maps), float64(b[g])/float64(reduces)
			out -= x * y
			most = max(most, x*(1-y), y*(1-x))
		}
		if l, m := leaving(maps, reduces, slots), busiest(maps, reduces, slots); l > out+1e-9 || m > most+1e-9 {
			t.Fatalf("seed %d: %d × %d tasks, %d slots: %v and %v are to be least, %v and %v are possible", seed, maps, reduces,
				slots, l, m, out, most)
		}
	}
}

// TestPortAlone works a port's time out by hand: circuits of 10 Gb/s beside packets of 1 Gb/s.
func TestPortAlone(t *testing.T) {
	a, _ := tinyArena(t, "busier", 2, 1)
	s := a.fabric.Spec
	s.Dark = 100 * time.Millisecond
	wire := 8.0 * controller.FrameBytes / controller.FramePayload
	for _, tc := range []struct {
		peers map[int32]float64
		want  float64
	}{
		{map[int32]float64{1: 11e9 / wire}, 1},                           // one circuit, lit already
		{map[int32]float64{1: 5e9 / wire, 2: 6e9 / wire}, 1 + 0.1*10/11}, // a second one after the dark
		{map[int32]float64{1: 10.99e9 / wire, 2: 0.01e9 / wire}, 1},      // packets carry the small pair meanwhile
		{map[int32]float64{1: 0.001e9 / wire, 2: 0.001e9 / wire}, 0.001}, // packets alone do, but for one
		{map[int32]float64{}, 0},
	} {
		if got := portAlone(s, tc.peers); math.Abs(got-tc.want) > 1e-6 {
			t.Errorf("%v: %v s, want %v", tc.peers, got, tc.want)
		}
	}
}

// TestClosed: the share is that of the means, and its interval holds it.
func TestClosed(t *testing.T) {
	r := closed("", "mean CCT", []float64{1, 2, 3, 4}, []float64{2, 5, 5, 8}, 1)
	if *r.Measured != 50 || *r.Low > 50 || *r.High < 50 || *r.Low < 40 || *r.High > 60 || r.N != 4 {
		t.Errorf("%v (%v to %v) of %d", *r.Measured, *r.Low, *r.High, r.N)
	}
	if r := closed("", "mean CCT", []float64{0}, []float64{0}, 1); r.Measured != nil {
		t.Errorf("%v %% of no gap", *r.Measured)
	}
}

// TestSearchable: jobs that a plan cannot place are refused.
func TestSearchable(t *testing.T) {
	a, _ := tinyArena(t, "busier", 2, 1)
	a.jobs[1].Incremental = true
	if _, err := newArena(a.spec, a.jobs, 1); err == nil {
		t.Error("an incremental job is taken")
	}
}
