package ksp

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// Table holds the k shortest loopless paths between the ends of a graph. Ends are numbered by rank,
// their place in the order of nodes; paths are asked for from the lower rank a to the higher b. A table
// is implicit (the graph, and the distances to every end: an answer is searched for) or packed (the
// paths' port choices).
type Table struct {
	Graph *Graph
	K     int // paths kept for each pair
	seed  uint64
	Rank  []int32 // by end
	Node  []int32 // by rank: the node
	Dist  []Row   // by rank of the target; implicit only
	Rows  []PackedRow
	Form  Form // how rows are packed

	// stale marks, by number, the pairs of a packed table whose block is of the network before its last
	// change: their answers are searched for, as in an implicit table. nil: no pair.
	Stale []uint64
}

// NewTable returns the table between ends of g, given by id, before it is measured or packed.
func NewTable(g *Graph, ends []int32, k int, seed uint64) *Table {
	byID := make([]int32, len(ends))
	for i := range byID {
		byID[i] = int32(i)
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(ends[a], ends[b]) })
	t := &Table{Graph: g, K: k, seed: seed, Rank: make([]int32, len(ends)), Node: make([]int32, len(ends))}
	for r, e := range byID {
		t.Rank[e], t.Node[r] = int32(r), g.Find(ends[e])
	}
	return t
}

// Measure fills the rows of an implicit table.
func (m *Table) Measure() {
	m.Dist = make([]Row, len(m.Node))
	all := make([]int32, len(m.Node))
	for t := range all {
		all[t], m.Dist[t] = int32(t), NewRow(m.Graph.Nodes())
	}
	m.Refill(all)
}

// Refill fills the rows of some targets, by rank.
func (m *Table) Refill(ranks []int32) {
	Each((len(ranks)+sweepTargets-1)/sweepTargets, func() func(int) {
		s := newSweep(m.Graph.Nodes())
		var nodes []int32
		var rows []Row
		return func(i int) {
			some := ranks[i*sweepTargets : min((i+1)*sweepTargets, len(ranks))]
			nodes, rows = nodes[:0], rows[:0]
			for _, t := range some {
				if len(some) < fewTargets {
					m.Dist[t].Fill(m.Graph, m.Node[t], nil)
					continue
				}
				nodes, rows = append(nodes, m.Node[t]), append(rows, m.Dist[t])
			}
			s.fill(m.Graph, nodes, rows)
		}
	})
}

// Each calls a worker's function for every i below n, from as many workers as there are processors. The
// largest i come first: in a triangle they are the longest rows.
func Each(n int, worker func() func(int)) {
	var wg sync.WaitGroup
	var next atomic.Int64
	next.Store(int64(n))
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			do := worker()
			for i := next.Add(-1); i >= 0; i = next.Add(-1) {
				do(int(i))
			}
		})
	}
	wg.Wait()
}

// Bytes is the memory that the table holds.
func (m *Table) Bytes() int64 {
	n := m.Graph.bytes() + int64(4*(cap(m.Rank)+cap(m.Node)))
	for _, r := range m.Dist {
		n += int64(cap(r)) + 24
	}
	for _, r := range m.Rows {
		n += r.bytes() + 56
	}
	return n + int64(8*cap(m.Stale))
}

// Paths returns how many paths there are between ends of ranks a ≤ b. In an implicit table this costs
// as much as looking up the last path.
func (m *Table) Paths(a, b int32) int {
	switch {
	case a == b:
		return 1
	case m.stored(a, b):
		return m.Rows[b].paths(a, m.Form)
	}
	var room [inline]frame
	w := m.walk(a, b)
	st, f := w.begin(room[:0]), path
	for n := range m.K {
		switch st, f = w.advance(st); f {
		case end:
			return n
		case spent:
			return len(m.yen(a, b, m.K))
		}
	}
	return m.K
}

// Shortest returns how many of the paths between ends of ranks a ≤ b are as short as the first.
func (m *Table) Shortest(a, b int32) int {
	switch {
	case a == b:
		return 1
	case m.stored(a, b):
		return m.storedShortest(a, b)
	}
	var room [inline]frame
	w := m.walk(a, b)
	st, f := w.begin(room[:0]), path
	first := 0
	for n := range m.K {
		switch st, f = w.advance(st); f {
		case end:
			return n
		case spent:
			return equal(m.yen(a, b, m.K))
		}
		if n == 0 {
			first = len(st)
		}
		if len(st) > first {
			return n
		}
	}
	return m.K
}

// equal counts the paths as long as the first.
func equal(paths []yenPath) int {
	n := 0
	for n < len(paths) && len(paths[n].via) == len(paths[0].via) {
		n++
	}
	return n
}

// AppendPath appends the links of path i between ends of ranks a ≤ b, and reports whether there is one.
func AppendPath[Link ~int32](m *Table, buf []Link, a, b int32, i int) ([]Link, bool) {
	switch {
	case a == b:
		return buf, i == 0
	case i < 0:
		return buf, false
	case m.stored(a, b):
		return unpack(m, buf, a, b, i)
	}
	return search(m, buf, a, b, i)
}

// PairOf numbers the pairs of ranks a < b, row by row.
func PairOf(a, b int32) uint32 { return uint32(int64(b)*int64(b-1)/2) + uint32(a) }

// stored reports whether the paths of the pair with ranks a < b stand in their row.
func (m *Table) stored(a, b int32) bool {
	if m.Stale == nil {
		return m.Rows != nil
	}
	n := PairOf(a, b)
	return m.Stale[n>>6]>>(n&63)&1 == 0
}

// walk returns the walk of the pair with ranks a < b.
func (m *Table) walk(a, b int32) Walk {
	return Walk{g: m.Graph, dist: m.Dist[b], order: m.Order(a, b), source: m.Node[a], target: m.Node[b],
		steps: budget + perPath*m.K}
}

// Order returns the order of ties of the pair with ranks a < b.
func (m *Table) Order(a, b int32) Order {
	return orderOf(m.seed, m.Graph.id[m.Node[a]], m.Graph.id[m.Node[b]])
}

// yen returns the first k paths of the pair with ranks a < b.
func (m *Table) yen(a, b int32, k int) []yenPath {
	y := yen{g: m.Graph, order: m.Order(a, b), source: m.Node[a], target: m.Node[b]}
	return y.run(k)
}

// search appends path i of the pair with ranks a < b, by walking.
func search[Link ~int32](m *Table, buf []Link, a, b int32, i int) ([]Link, bool) {
	if i >= m.K {
		return buf, false
	}
	var room [inline]frame
	w := m.walk(a, b)
	st, f := w.begin(room[:0]), path
	for range i + 1 {
		switch st, f = w.advance(st); f {
		case end:
			return buf, false
		case spent:
			return appendYen(m, buf, a, b, i)
		}
	}
	for i := range st {
		buf = append(buf, Link(m.Graph.Link[st[i].via]))
	}
	return buf, true
}

func appendYen[Link ~int32](m *Table, buf []Link, a, b int32, i int) ([]Link, bool) {
	paths := m.yen(a, b, i+1)
	if i >= len(paths) {
		return buf, false
	}
	for _, e := range paths[i].via {
		buf = append(buf, Link(m.Graph.Link[e]))
	}
	return buf, true
}
