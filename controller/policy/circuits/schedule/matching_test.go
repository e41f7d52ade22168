package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/southbound"
)

// every calls f with each permutation of n.
func every(n int, f func(p []int)) {
	p := make([]int, n)
	for i := range p {
		p[i] = i
	}
	var rec func(k int)
	rec = func(k int) {
		if k == n {
			f(p)
			return
		}
		for i := k; i < n; i++ {
			p[k], p[i] = p[i], p[k]
			rec(k + 1)
			p[k], p[i] = p[i], p[k]
		}
	}
	rec(0)
}

// TestAssignReference compares with the best of all permutations.
func TestAssignReference(t *testing.T) {
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 1 + rng.IntN(6)
		w := make([]int64, n*n)
		spread := []int64{3, 100, 1 << 50}[rng.IntN(3)]
		for i := range w {
			w[i] = rng.Int64N(2*spread) - spread
		}
		got, seen := int64(0), map[int32]bool{}
		for i, j := range Assign(w, n) {
			got += w[i*n+int(j)]
			seen[j] = true
		}
		best := int64(-1 << 62)
		every(n, func(p []int) {
			sum := int64(0)
			for i, j := range p {
				sum += w[i*n+j]
			}
			best = max(best, sum)
		})
		if got != best || len(seen) != n {
			t.Fatalf("seed %d: %d of %d columns, sum %d, best %d", seed, len(seen), n, got, best)
		}
	}
}

// TestAssignLarge: on larger matrices no exchange of two rows, and no cycle of three, makes it better.
func TestAssignLarge(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 2))
		n := 20 + rng.IntN(80)
		w := make([]int64, n*n)
		for i := range w {
			if rng.IntN(4) == 0 || seed%2 == 0 {
				w[i] = rng.Int64N(1 + 1<<(rng.IntN(40)))
			}
		}
		a := Assign(w, n)
		at := func(i int, j int32) int64 { return w[i*n+int(j)] }
		for i := range n {
			for k := range i {
				if at(i, a[k])+at(k, a[i]) > at(i, a[i])+at(k, a[k]) {
					t.Fatalf("seed %d: rows %d and %d should change places", seed, i, k)
				}
				for l := range k {
					if at(i, a[k])+at(k, a[l])+at(l, a[i]) > at(i, a[i])+at(k, a[k])+at(l, a[l]) {
						t.Fatalf("seed %d: rows %d, %d and %d should turn", seed, i, k, l)
					}
				}
			}
		}
	}
}

// TestPerfectReference compares with the permutations, from an arbitrary start.
func TestPerfectReference(t *testing.T) {
	for seed := range uint64(5000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		n := 1 + rng.IntN(6)
		may, fill := make([]bool, n*n), rng.Float64()
		for i := range may {
			may[i] = rng.Float64() < fill
		}
		match := make([]int32, n)
		for i := range match {
			match[i] = int32(rng.IntN(n+1)) - 1
		}
		got, want := Perfect(n, func(i, j int) bool { return may[i*n+j] }, match), false
		every(n, func(p []int) {
			ok := true
			for i, j := range p {
				ok = ok && may[i*n+j]
			}
			want = want || ok
		})
		if got != want {
			t.Fatalf("seed %d: perfect %v, want %v", seed, got, want)
		}
		seen := map[int32]bool{}
		for i, j := range match {
			if got && (j < 0 || !may[i*n+int(j)] || seen[j]) {
				t.Fatalf("seed %d: %v is no matching", seed, match)
			}
			seen[j] = true
		}
	}
}

// TestDensestReference: Eclipse's first slot is the best of all matchings and lengths.
func TestDensestReference(t *testing.T) {
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 4))
		n := 2 + rng.IntN(3)
		m, delta := random(rng, n), time.Duration(1+rng.IntN(1e7))
		if m.Empty() {
			continue
		}
		out, carry := densest(m, &Schedule{}, delta)
		got := density(m, out, carry, delta)
		best := 0.0
		for _, long := range m.sortedValues() {
			every(n, func(p []int) {
				out := make([]southbound.Port, n)
				for i, j := range p {
					out[i] = southbound.Port(j)
				}
				best = max(best, density(m, out, long, delta))
			})
		}
		if got < best*(1-1e-12) {
			t.Fatalf("seed %d: carries %v of the time, the best %v", seed, got, best)
		}
	}
}

func density(m Matrix, out []southbound.Port, long, delta time.Duration) float64 {
	sum := time.Duration(0)
	for i, j := range out {
		if j != southbound.NoPort {
			sum += min(m[i][j], long)
		}
	}
	return float64(sum) / float64(long+delta)
}

// BenchmarkAssign has the port counts of ALGORITHMS: random weights, as dense as they get.
func BenchmarkAssign(b *testing.B) {
	for _, n := range []int{60, 128, 512} {
		rng := rand.New(rand.NewPCG(1, 5))
		w := make([]int64, n*n)
		for i := range w {
			w[i] = rng.Int64N(1e9)
		}
		b.Run(fmt.Sprintf("ports_%d", n), func(b *testing.B) {
			for b.Loop() {
				Assign(w, n)
			}
		})
	}
}

// BenchmarkSchedule makes schedules of a matrix with a tenth of its pairs in demand.
func BenchmarkSchedule(b *testing.B) {
	for _, n := range []int{60, 150} {
		rng := rand.New(rand.NewPCG(1, 6))
		m, delta := New(n), 10*time.Millisecond
		for i := range m {
			for j := range m[i] {
				if i != j && rng.IntN(10) == 0 {
					m[i][j] = time.Millisecond * time.Duration(1+rng.ExpFloat64()*100)
				}
			}
		}
		for _, a := range []struct {
			name string
			make func() Schedule
		}{
			{"bvn", func() Schedule { return BvN(m, nil, delta) }},
			{"solstice", func() Schedule { return Solstice(m, nil, delta, 0) }},
			{"eclipse", func() Schedule { return Eclipse(m, nil, delta, 0) }},
			{"edmonds", func() Schedule { return Edmonds(m, nil, delta, 10*delta, 0) }},
		} {
			b.Run(fmt.Sprintf("%s_ports_%d", a.name, n), func(b *testing.B) {
				var s Schedule
				for b.Loop() {
					s = a.make()
				}
				b.ReportMetric(float64(len(s.Slots)), "slots")
				b.ReportMetric(float64(s.Long())/float64(m.Bound(delta)), "length/T(C)")
			})
		}
	}
}
