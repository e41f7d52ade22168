package pathmap

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// MaxK bounds the paths kept for one pair of ends.
const MaxK = 1 << 12

// Options say how a Map is built.
type Options struct {
	K     int               // paths kept for each pair of ends, 1 to MaxK
	Seed  uint64            // of the rotation that breaks ties
	Avoid func(NodeID) bool // nodes that no path enters, such as an OCS; nil: none

	// Down names the links that are down; nil: none. No path takes them, in either direction, but they keep their place
	// in the order of ties: a pair keeps the order of the paths that it does not lose.
	Down func(LinkID) bool

	// Packed stores the paths: the same answers, faster lookups, more memory and a slower Build. It suits irregular
	// graphs too: where paths are few and long, as in wide-area rings, a lookup that searches may take a hundred
	// microseconds and more.
	Packed bool
}

// Map holds the k shortest loopless paths between ends (a fabric's ToRs), by their index in the slice given to Build.
// Paths are exact, in order of length, ties as stated in order.go. Parallel links make distinct paths. Hosts forward
// nothing: they are on paths only as ends. A Map is immutable and may be used by several goroutines.
//
// A map is implicit (the graph, and the distances to every end: a lookup searches) or packed (the paths' port choices).
type Map struct {
	g    *graph
	k    int
	seed uint64
	rank []int32 // by end: its place among the ends in the order of NodeIDs
	node []int32 // by rank: the node
	dist []row   // by rank of the target; implicit only
	rows []packedRow
	form form // how rows are packed

	// stale marks, by number, the pairs of a packed map whose block is of the network before its last change: their
	// answers are searched for, as an implicit map does. nil: no pair.
	stale []uint64
}

// Build computes the map of t between ends. It is as parallel as GOMAXPROCS, and its result does not depend on it.
// Disconnected ends have no path.
func Build(t *Topology, ends []NodeID, opt Options) (*Map, error) {
	if t == nil {
		return nil, errors.New("build path map: no topology")
	}
	if opt.K < 1 || opt.K > MaxK {
		return nil, fmt.Errorf("build path map: k is %d; take 1 to %d", opt.K, MaxK)
	}
	g, err := newGraph(t, ends, opt.Avoid)
	if err != nil {
		return nil, fmt.Errorf("build path map: %w", err)
	}
	if opt.Down != nil {
		g.cut(opt.Down)
	}
	m := &Map{g: g, k: opt.K, seed: opt.Seed}
	m.rankEnds(ends)
	if opt.Packed {
		err = m.pack(len(t.links))
	} else {
		m.measure()
	}
	if err != nil {
		return nil, fmt.Errorf("build path map: %w", err)
	}
	return m, nil
}

func (m *Map) rankEnds(ends []NodeID) {
	byID := make([]int32, len(ends))
	for i := range byID {
		byID[i] = int32(i)
	}
	slices.SortFunc(byID, func(a, b int32) int { return cmp.Compare(ends[a], ends[b]) })
	m.rank, m.node = make([]int32, len(ends)), make([]int32, len(ends))
	for r, e := range byID {
		m.rank[e], m.node[r] = int32(r), m.g.find(ends[e])
	}
}

// measure fills the rows of an implicit map.
func (m *Map) measure() {
	m.dist = make([]row, len(m.node))
	each(len(m.node), func() func(int) {
		queue := make([]int32, 0, m.g.nodes())
		return func(t int) {
			m.dist[t] = newRow(m.g.nodes())
			m.dist[t].fill(m.g, m.node[t], queue)
		}
	})
}

// each calls a worker's function for every i below n, from as many workers as there are processors. The largest i come
// first: in a triangle they are the longest rows.
func each(n int, worker func() func(int)) {
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

// K returns the number of paths kept for each pair at most.
func (m *Map) K() int { return m.k }

// Ends returns the number of ends.
func (m *Map) Ends() int { return len(m.rank) }

// Bytes returns the memory that the map holds, the topology not counted.
func (m *Map) Bytes() int64 {
	n := m.g.bytes() + int64(4*(cap(m.rank)+cap(m.node)))
	for _, r := range m.dist {
		n += int64(cap(r)) + 24
	}
	for _, r := range m.rows {
		n += r.bytes() + 56
	}
	return n + int64(8*cap(m.stale))
}

// Paths returns how many paths there are from end s to end d, at most K. From an end to itself there is one: it has no
// links. On an implicit map this costs as much as looking up the last path.
func (m *Map) Paths(s, d int) int {
	a, b, _ := m.ordered(s, d)
	switch {
	case a == b:
		return 1
	case m.stored(a, b):
		return m.rows[b].paths(a, m.form)
	}
	var room [inline]frame
	w := m.walk(a, b)
	st, f := w.begin(room[:0]), path
	for n := range m.k {
		switch st, f = w.advance(st); f {
		case end:
			return n
		case spent:
			return len(m.yen(a, b, m.k))
		}
	}
	return m.k
}

// Shortest returns how many of the paths from end s to end d are as short as the first: those for equal-cost routing.
func (m *Map) Shortest(s, d int) int {
	a, b, _ := m.ordered(s, d)
	switch {
	case a == b:
		return 1
	case m.stored(a, b):
		return m.shortest(a, b)
	}
	var room [inline]frame
	w := m.walk(a, b)
	st, f := w.begin(room[:0]), path
	first := 0
	for n := range m.k {
		switch st, f = w.advance(st); f {
		case end:
			return n
		case spent:
			return equal(m.yen(a, b, m.k))
		}
		if n == 0 {
			first = len(st)
		}
		if len(st) > first {
			return n
		}
	}
	return m.k
}

// equal counts the paths as long as the first.
func equal(paths []yenPath) int {
	n := 0
	for n < len(paths) && len(paths[n].via) == len(paths[0].via) {
		n++
	}
	return n
}

// AppendPath appends the links of path i (0 the default, in order of length) from end s to end d to buf. It allocates
// nothing where buf has room, except on an implicit map for pairs whose search runs into long blind alleys or whose
// paths are longer than 16 links. It panics where there is no path i.
func (m *Map) AppendPath(buf []LinkID, s, d, i int) []LinkID {
	a, b, turned := m.ordered(s, d)
	from := len(buf)
	ok := i >= 0
	switch {
	case a == b:
		ok = i == 0
	case !ok:
	case m.stored(a, b):
		buf, ok = m.unpack(buf, a, b, i)
	default:
		buf, ok = m.search(buf, a, b, i)
	}
	if !ok {
		panic(fmt.Sprintf("pathmap: no path %d from end %d to end %d", i, s, d))
	}
	if turned {
		turn(buf[from:])
	}
	return buf
}

// stored says whether the paths of the pair with ranks a < b stand in their row.
func (m *Map) stored(a, b int32) bool {
	if m.stale == nil {
		return m.rows != nil
	}
	n := pairOf(a, b)
	return m.stale[n>>6]>>(n&63)&1 == 0
}

// ordered returns the ranks of two ends, the smaller first, and whether that turned them.
func (m *Map) ordered(s, d int) (a, b int32, turned bool) {
	a, b = m.rank[s], m.rank[d]
	return min(a, b), max(a, b), a > b
}

// turn makes a path the one of the other direction.
func turn(links []LinkID) {
	slices.Reverse(links)
	for i := range links {
		links[i] = Reverse(links[i])
	}
}

// walk returns the walk of the pair with ranks a < b.
func (m *Map) walk(a, b int32) walk {
	return walk{g: m.g, dist: m.dist[b], order: m.order(a, b), source: m.node[a], target: m.node[b],
		steps: budget + perPath*m.k}
}

func (m *Map) order(a, b int32) order { return orderOf(m.seed, m.g.id[m.node[a]], m.g.id[m.node[b]]) }

// yen returns the first k paths of the pair with ranks a < b.
func (m *Map) yen(a, b int32, k int) []yenPath {
	y := yen{g: m.g, order: m.order(a, b), source: m.node[a], target: m.node[b]}
	return y.run(k)
}

// search appends path i of the pair with ranks a < b, by walking.
func (m *Map) search(buf []LinkID, a, b int32, i int) ([]LinkID, bool) {
	if i >= m.k {
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
			return m.appendYen(buf, a, b, i)
		}
	}
	for i := range st {
		buf = append(buf, m.g.link[st[i].via])
	}
	return buf, true
}

func (m *Map) appendYen(buf []LinkID, a, b int32, i int) ([]LinkID, bool) {
	paths := m.yen(a, b, i+1)
	if i >= len(paths) {
		return buf, false
	}
	for _, e := range paths[i].via {
		buf = append(buf, m.g.link[e])
	}
	return buf, true
}
