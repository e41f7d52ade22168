package ksp

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSweep compares the distances to many targets at once with those to one after the other, on random
// graphs, whole and with links that are down, and on chains.
func TestSweep(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 6))
		n := 2 + r.IntN(200)
		g := randomGraph(r, n, r.IntN(3*n), true)
		switch {
		case seed%10 == 9:
			g = chain(n)
		case seed%2 == 0:
			g.Cut(func(l int32) bool { return (uint64(l/2)*7+seed)%5 == 0 })
		}
		targets := make([]int32, min(n, 1+r.IntN(3*sweepTargets)))
		for i, at := range r.Perm(n)[:len(targets)] {
			targets[i] = int32(at)
		}
		m := NewTable(g, targets, 1, seed)
		m.Measure()
		for rank, at := range m.Node {
			want := NewRow(n)
			if want.Fill(g, at, nil); !slices.Equal(m.Dist[rank], want) {
				t.Fatalf("seed %d: target %d of %d: %x, one by one %x", seed, at, n, m.Dist[rank], want)
			}
		}
	}
}

// chain returns a graph of n switches in a row.
func chain(n int) *Graph {
	var cables [][2]int32
	for i := range int32(n - 1) {
		cables = append(cables, [2]int32{i, i + 1})
	}
	return newCables(make([]bool, n), cables)
}
