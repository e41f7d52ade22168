package pathmap

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"lightloom/pathmap/internal/ksp"
)

// MaxK bounds the paths kept for one pair of ends.
const MaxK = 1 << 12

// Options configure Build.
type Options struct {
	K     int               // paths kept for each pair of ends, 1 to MaxK
	Seed  uint64            // of the rotation that breaks ties
	Avoid func(NodeID) bool // nodes that no path enters, such as an OCS; nil: none

	// Down names the links that are down; nil: none. No path takes them, in either direction, but they
	// keep their place in the order of ties: a pair keeps the order of the paths that it does not lose.
	Down func(LinkID) bool

	// Packed stores the paths: the same results, faster lookups, more memory and a slower Build. It suits
	// irregular graphs too: if paths are few and long, as in wide-area rings, a lookup that searches can
	// take a hundred microseconds and more.
	Packed bool
}

// Map holds the k shortest loopless paths between ends (a fabric's ToRs), by their index in the slice
// given to Build. Paths are exact, in order of length, ties as package ksp states (order.go). Parallel
// links make distinct paths. Hosts forward nothing: they are on paths only as ends. A Map is immutable
// and can be used by several goroutines.
//
// A map is implicit (the graph, and the distances to every end: a lookup searches) or packed (the
// paths' port choices).
type Map struct{ t *ksp.Table }

// Pair is two ends, by their index in the slice given to Build, A < B. Paths from B to A are those from
// A to B reversed.
type Pair struct{ A, B int32 }

// ComparePairs orders pairs by A, then B.
func ComparePairs(p, q Pair) int { return cmp.Or(cmp.Compare(p.A, q.A), cmp.Compare(p.B, q.B)) }

// Build computes the map of t between ends. It is as parallel as GOMAXPROCS, and its result does not
// depend on it. Disconnected ends have no path.
func Build(t *Topology, ends []NodeID, opt Options) (*Map, error) {
	if t == nil {
		return nil, errors.New("build path map: no topology")
	}
	if opt.K < 1 || opt.K > MaxK {
		return nil, fmt.Errorf("build path map: k is %d; take 1 to %d", opt.K, MaxK)
	}
	g, err := graphOf(t, ends, opt.Avoid)
	if err != nil {
		return nil, fmt.Errorf("build path map: %w", err)
	}
	if opt.Down != nil {
		g.Cut(func(l int32) bool { return opt.Down(LinkID(l)) })
	}
	ids := make([]int32, len(ends))
	for i, e := range ends {
		ids[i] = int32(e)
	}
	m := &Map{ksp.NewTable(g, ids, opt.K, opt.Seed)}
	if !opt.Packed {
		m.t.Measure()
		return m, nil
	}
	if err := m.t.Pack(len(t.links)); err != nil {
		return nil, fmt.Errorf("build path map: %w", err)
	}
	return m, nil
}

// Table returns the table of m, for repairs.
func (m *Map) Table() *ksp.Table { return m.t }

// MapOf returns the map of t, which must not change any more.
func MapOf(t *ksp.Table) *Map { return &Map{t} }

// K returns the maximum number of paths kept for each pair.
func (m *Map) K() int { return m.t.K }

// Ends returns the number of ends.
func (m *Map) Ends() int { return len(m.t.Rank) }

// Bytes returns the memory that the map holds, the topology not counted.
func (m *Map) Bytes() int64 { return m.t.Bytes() }

// Paths returns how many paths there are from end s to end d, at most K. From an end to itself there is
// one: it has no links. On an implicit map this costs as much as looking up the last path.
func (m *Map) Paths(s, d int) int {
	a, b, _ := m.ordered(s, d)
	return m.t.Paths(a, b)
}

// Shortest returns how many of the paths from end s to end d are as short as the first, for equal-cost
// routing.
func (m *Map) Shortest(s, d int) int {
	a, b, _ := m.ordered(s, d)
	return m.t.Shortest(a, b)
}

// AppendPath appends the links of path i (0 the default, in order of length) from end s to end d to
// buf. It allocates nothing if buf has room, except on an implicit map for pairs whose search
// backtracks far or whose paths are longer than 16 links. It panics if there is no path i.
func (m *Map) AppendPath(buf []LinkID, s, d, i int) []LinkID {
	a, b, turned := m.ordered(s, d)
	from := len(buf)
	buf, ok := ksp.AppendPath(m.t, buf, a, b, i)
	if !ok {
		panic(fmt.Sprintf("pathmap: no path %d from end %d to end %d", i, s, d))
	}
	if turned {
		turn(buf[from:])
	}
	return buf
}

// ordered returns the ranks of two ends, the smaller first, and whether it swapped them.
func (m *Map) ordered(s, d int) (a, b int32, turned bool) {
	a, b = m.t.Rank[s], m.t.Rank[d]
	return min(a, b), max(a, b), a > b
}

// turn reverses the direction of a path.
func turn(links []LinkID) {
	slices.Reverse(links)
	for i := range links {
		links[i] = Reverse(links[i])
	}
}
