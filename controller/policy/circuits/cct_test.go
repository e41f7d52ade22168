package circuits

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// uniform is a matrix with one transfer time everywhere but on the diagonal.
func uniform(racks int, each time.Duration) [][]time.Duration {
	m := make([][]time.Duration, racks)
	for i := range m {
		m[i] = make([]time.Duration, racks)
		for j := range m[i] {
			if i != j {
				m[i][j] = each
			}
		}
	}
	return m
}

func random(rng *rand.Rand, racks int, fill float64, most time.Duration) [][]time.Duration {
	m := uniform(racks, 0)
	n := 0
	for i := range m {
		for j := range m[i] {
			if i != j && rng.Float64() < fill {
				m[i][j] = time.Millisecond + time.Duration(rng.Int64N(int64(most)))
				n++
			}
		}
	}
	if n == 0 {
		m[0][1] = most
	}
	return m
}

func boundOf(m [][]time.Duration, delta time.Duration) time.Duration {
	var t time.Duration
	for i := range m {
		var in, out time.Duration
		for j := range m {
			if m[i][j] > 0 {
				out += delta + m[i][j]
			}
			if m[j][i] > 0 {
				in += delta + m[j][i]
			}
		}
		t = max(t, in, out)
	}
	return t
}

// TestCoSchedulerCase2 is Figure 2(b) of co-scheduler: one unit a second, jobs of (3,3,3)→(1,1,1) and
// (5,5,5)→(1,1,1) maps and reduces by rack end after 6+2δ and 16+3δ: the second job's first circuits
// are the first one's last.
func TestCoSchedulerCase2(t *testing.T) {
	const delta = 10 * time.Millisecond
	r := newReplay(t, 3, delta)
	r.add(0, 1, uniform(3, 3*time.Second))
	r.add(0, 2, uniform(3, 5*time.Second))
	r.part.Horizon = time.Hour
	r.run()
	for id, want := range map[southbound.CoflowID]time.Duration{1: 6*time.Second + 2*delta,
		2: 16*time.Second + 3*delta} {
		// Sizes are whole bytes: a transfer may end up to two bytes' time early.
		if got := r.ended[id]; got > want || got < want-10*32*time.Nanosecond {
			t.Errorf("coflow %d ends at %v, want %v", id, got, want)
		}
	}
}

// TestWithinTwiceBound: alone on the switch, a coflow takes at most twice T(C), whatever its matrix,
// with and without a horizon that cuts its plan.
func TestWithinTwiceBound(t *testing.T) {
	sum, n := 0.0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		racks := 2 + rng.IntN(7)
		r := newReplay(t, racks, time.Duration(1+rng.IntN(20))*time.Millisecond)
		if seed%3 == 0 {
			r.part.Horizon = time.Duration(1+rng.IntN(2000)) * time.Millisecond
		}
		m := random(rng, racks, rng.Float64(), time.Second)
		r.add(0, 0, m)
		r.run()
		bound := boundOf(m, r.v.Delta)
		if r.ended[0] > 2*bound {
			t.Errorf("seed %d: ended at %v, 2·T(C) is %v", seed, r.ended[0], 2*bound)
		}
		sum += float64(r.ended[0]) / float64(bound)
		n++
	}
	t.Logf("CCT ÷ T(C): mean of %d is %.3f", n, sum/float64(n))
}

// TestManyCoflows plays arrivals over time. The replay itself checks that no port is reserved or held
// twice and that every coflow ends; here, that the shortest does not wait for longer ones.
func TestManyCoflows(t *testing.T) {
	t.Parallel()
	for seed := range tries.Of[uint64](40, 150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			racks := 3 + rng.IntN(4)
			r := newReplay(t, racks, 10*time.Millisecond)
			r.part = Sunflow{Preempt: seed%2 == 0, Horizon: time.Duration(rng.IntN(3)) * time.Second}
			r.v.ElephantThreshold = pathmap.Bytes(rng.IntN(2)) * 1e5
			r.eps = pathmap.BitsPerSecond(rng.IntN(3)) * 50 * pathmap.Mbps
			matrices := map[southbound.CoflowID][][]time.Duration{}
			for id := range southbound.CoflowID(12) {
				matrices[id] = random(rng, racks, 0.3, 500*time.Millisecond)
				r.add(time.Duration(rng.IntN(2000))*time.Millisecond, id, matrices[id])
			}
			small := uniform(racks, 0)
			small[0][1] = 2 * time.Millisecond // the shortest: it waits for begun circuits at most
			at := time.Second
			r.add(at, 99, small)
			r.run()
			wait := r.ended[99] - at
			if most := 500*time.Millisecond + 2*10*time.Millisecond + 5*time.Millisecond; r.part.Preempt &&
				wait > 15*time.Millisecond || wait > 2*most {
				t.Errorf("the shortest coflow took %v", wait)
			}
		})
	}
}
