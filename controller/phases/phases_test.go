package phases

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller/topoeng"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// between is one pair's demand.
func between(racks, from, to int, bytes float64) topoeng.Demand {
	d := make(topoeng.Demand, racks)
	for i := range d {
		d[i] = make([]float64, racks)
	}
	d[from][to] = bytes
	return d
}

// drawn returns a random job on a random fabric of 4 racks, and 3 random topologies.
func drawn(rng *rand.Rand) (Fabric, []Phase, []topoeng.Topology) {
	f := Fabric{Racks: 4, Switches: 2, Circuit: 8000, Packets: pathmap.BitsPerSecond(1000 * rng.IntN(4)),
		Delta: time.Duration(rng.IntN(800)) * time.Millisecond}
	var iteration []Phase
	for range 1 + rng.IntN(5) {
		p := Phase{Compute: time.Duration(rng.IntN(1000)) * time.Millisecond, Overlap: rng.IntN(2) == 0}
		for range rng.IntN(3) {
			d := between(4, 0, 1+rng.IntN(3), float64(rng.IntN(1000)))
			d[1+rng.IntN(3)][0] = float64(rng.IntN(1000))
			p.Forms = append(p.Forms, Form{Demand: d})
		}
		iteration = append(iteration, p)
	}
	var all []topoeng.Topology
	for range 3 {
		t := topoeng.NewTopology(4, 2)
		for _, out := range t.Out {
			ring := rng.Perm(4)
			for i, at := range ring {
				out[at] = int32(ring[(i+1)%4])
			}
		}
		all = append(all, t)
	}
	return f, iteration, all
}

// lastsSlowly is how long a phase lasts, in steps of time: each step, circuits carry what they can, and packets a share
// of what is left to every pair that makes the latest end earliest, found by trying ends.
func lastsSlowly(f Fabric, p Phase, from, to topoeng.Topology) float64 {
	moving := 0.0
	if fmt.Sprint(from) != fmt.Sprint(to) {
		moving = f.Delta.Seconds()
	}
	begin := p.Compute.Seconds()
	if p.Overlap {
		begin = 0
	}
	best := math.Inf(1)
	if len(p.Forms) == 0 {
		best = 0
	}
	for _, form := range p.Forms {
		ends := func(seconds float64) bool { // sending ends so many seconds after it began
			rows, cols := map[int]float64{}, map[int]float64{}
			for i := range form.Demand {
				for j, bytes := range form.Demand[i] {
					left := bytes * 8
					for k := range to.Out {
						if int(to.Out[k][i]) != j {
							continue
						}
						lit := seconds
						if from.Out[k][i] != to.Out[k][i] {
							lit = max(0, begin+seconds-max(begin, moving))
						}
						left -= lit * float64(f.Circuit)
					}
					rows[i] += max(0, left)
					cols[j] += max(0, left)
				}
			}
			for i := range form.Demand {
				// A bit is lost to rounding here and there.
				if max(rows[i], cols[i]) > seconds*float64(f.Packets)+1e-6 {
					return false
				}
			}
			return true
		}
		low, high := 0.0, 1e4
		for range 100 {
			if mid := (low + high) / 2; ends(mid) {
				high = mid
			} else {
				low = mid
			}
		}
		if ends(high) {
			best = min(best, high)
		}
	}
	if p.Overlap {
		return max(p.Compute.Seconds(), best, moving)
	}
	return max(p.Compute.Seconds()+best, moving)
}

// TestAllSequences: Decide takes as long as the best of all sequences of circuits, each gone through phase by phase by
// other arithmetic, never longer than circuits set once, and never less than the bound.
func TestAllSequences(t *testing.T) {
	moved := 0
	for seed := range uint64(tries.Of(150, 5000)) {
		f, iteration, all := drawn(rand.New(rand.NewPCG(seed, 1)))
		best, once := math.Inf(1), math.Inf(1)
		lasts := map[[3]int]float64{} // by phase and topologies before and in it
		for i, p := range iteration {
			for before := range all {
				for k := range all {
					lasts[[3]int{i, before, k}] = lastsSlowly(f, p, all[before], all[k])
				}
			}
		}
		var sequence func(circuits []int)
		sequence = func(circuits []int) {
			if len(circuits) < len(iteration) {
				for k := range all {
					sequence(append(circuits, k))
				}
				return
			}
			sum, same := 0.0, true
			for i, k := range circuits {
				before := circuits[(i+len(circuits)-1)%len(circuits)]
				sum += lasts[[3]int{i, before, k}]
				same = same && before == k
			}
			if best = min(best, sum); same {
				once = min(once, sum)
			}
		}
		sequence(nil)
		p, err := Decide(f, iteration, all)
		if best > 5000 {
			if err == nil {
				t.Errorf("seed %d: an iteration of %v, and some is never carried", seed, p.Time)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if math.Abs(p.Time.Seconds()-best) > 1e-5*(1+best) || p.Time > p.Once || p.Time < p.Bound {
			t.Errorf("seed %d: %v, the best sequence %g s, circuits set once %v, bound %v", seed, p.Time, best, p.Once, p.Bound)
		}
		if once < 5000 && math.Abs(p.Once.Seconds()-once) > 1e-5*(1+once) {
			t.Errorf("seed %d: set once %v, the best sequence without moves %g s", seed, p.Once, once)
		}
		if p.Moves > 0 {
			moved++
		}
	}
	if moved < 20 {
		t.Errorf("circuits move in %d jobs", moved)
	}
}

// TestBreakEven: 1,000 bytes to one rack, then as many to another one, over one circuit of 8 kbit/s and packets of 1. A
// circuit that stays: 1 s and 8 s less what it does not have, so 9 s an iteration, and nothing computes. One that moves
// is dark for δ in both phases, in which packets carry: δ/8 of it, so (8 + 1)(T − δ) + δ = 8 with packets all the time.
func TestBreakEven(t *testing.T) {
	f := Fabric{Racks: 3, Switches: 1, Circuit: 8000, Packets: 1000}
	iteration := []Phase{{Kind: DP, Forms: []Form{{"a", between(3, 0, 1, 1000)}}},
		{Kind: EP, Forms: []Form{{"b", between(3, 0, 2, 1000)}}}}
	var all []topoeng.Topology
	for _, to := range []int32{1, 2} {
		one := topoeng.NewTopology(3, 1)
		one.Out[0][0] = to
		all = append(all, one)
	}
	// Set once: 8000/9000 and 8 s. Moving: 2T with 9T − 8δ = 8, so T = (8 + 8δ)/9. Equal at δ = 4.
	got, err := BreakEven(f, iteration, all, 100*time.Second)
	if want := 4 * time.Second; err != nil || got < want*999/1000 || got > want {
		t.Errorf("%v, %v; want %v", got, err, want)
	}
	for _, delta := range []time.Duration{time.Second, 3 * time.Second, 5 * time.Second, time.Hour} {
		f.Delta = delta
		p, err := Decide(f, iteration, all)
		want := min(2*(8+8*delta.Seconds())/9, 8+8.0/9)
		if err != nil || math.Abs(p.Time.Seconds()-want) > 1e-6 || (p.Moves > 0) != (delta < got) {
			t.Errorf("δ = %v: %+v, %v; want %g s", delta, p, err, want)
		}
	}
}

// TestComputingHides: a delay that is no longer than what is computed before sending costs nothing.
func TestComputingHides(t *testing.T) {
	f := Fabric{Racks: 3, Switches: 1, Circuit: 8000, Delta: time.Second}
	iteration := []Phase{{Compute: time.Second, Forms: []Form{{"a", between(3, 0, 1, 1000)}}},
		{Compute: time.Second, Forms: []Form{{"b", between(3, 0, 2, 1000)}}}}
	all, err := Candidates(f, iteration)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Decide(f, iteration, all)
	if err != nil || p.Time != 4*time.Second || p.Bound != p.Time || p.Moves != 2 || p.Once != math.MaxInt64 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestCounts: circuits go to pairs in proportion; a pair that finds no free port has none.
func TestCounts(t *testing.T) {
	d := between(3, 0, 1, 300)
	d[0][2], d[1][2], d[2][1] = 100, 1, 1
	if got, want := fmt.Sprint(Fabric{Switches: 4}.counts(d)), "[[0 3 1] [0 0 3] [0 1 0]]"; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if got, want := fmt.Sprint(Fabric{Switches: 1}.counts(d)), "[[0 1 0] [0 0 1] [0 0 0]]"; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestRefused(t *testing.T) {
	good := Fabric{Racks: 3, Switches: 1, Circuit: 8000}
	one := []Form{{"a", between(3, 0, 1, 1)}}
	for _, tt := range []struct {
		f         Fabric
		iteration []Phase
		says      string
	}{
		{Fabric{Racks: 1}, []Phase{{}}, "1 racks"}, {good, nil, "an iteration has 1 phase at least"},
		{good, []Phase{{Compute: -1}}, "phase 0 computes for -1ns"},
		{good, []Phase{{Forms: []Form{{"x", between(2, 0, 1, 1)}}}}, "phase 0, x: demand of 2 racks"},
		{good, []Phase{{Forms: []Form{{"x", between(3, 1, 1, 1)}}}}, "0 for a pod to itself"},
		{Fabric{Racks: 3, Switches: 0}, []Phase{{Forms: one}}, "no topology carries all phases"},
	} {
		all := []topoeng.Topology{topoeng.NewTopology(tt.f.Racks, tt.f.Switches)}
		if _, err := Decide(tt.f, tt.iteration, all); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%v, want %s", err, tt.says)
		}
	}
	var many []Phase
	for range 7 {
		many = append(many, Phase{Forms: []Form{{"a", between(3, 0, 1, 1)}}})
	}
	if _, err := Candidates(good, many); err == nil || !strings.Contains(err.Error(), "7 ways") {
		t.Error(err)
	}
}
