package anneal

import (
	"sync"
	"sync/atomic"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// PathCache remembers the links of a fabric, and the paths of a path map between racks, from one decision to
// the next: a lookup on an implicit map costs microseconds, and an annealing run needs hundreds. Its zero
// value is ready.
// Several goroutines can read it at once, but about must not run beside them.
type PathCache struct {
	of         *pathmap.Map // immutable; another one empties the path cache
	candidates candidateTable

	fabric   *topo.Fabric // likewise
	capacity []int64      // by link
	hosts    hostLinks

	mutex sync.Mutex
	spare []*network // whose memory can be used again
}

// takeSpare returns a network that is not in use any more, nil if there is none.
func (a *PathCache) takeSpare() *network {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	last := len(a.spare) - 1
	if last < 0 {
		return nil
	}
	n := a.spare[last]
	a.spare[last] = nil
	a.spare = a.spare[:last]
	return n
}

// maxSpare bounds the networks that are kept.
const maxSpare = 7

// putSpare keeps the memory of a network that is not in use any more.
func (a *PathCache) putSpare(n *network) {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	if len(a.spare) < maxSpare {
		a.spare = append(a.spare, n)
	}
}

// maxCachedPairs bounds the pairs remembered: with six paths of four links about 20 MB.
const maxCachedPairs = 1 << 16

// Candidate is one path between two racks: its index in the path map and its links. It has no links
// within a rack.
type Candidate struct {
	Path  int
	Links []pathmap.LinkID
}

// about makes the path cache one of that map and fabric.
func (a *PathCache) about(m *pathmap.Map, f *topo.Fabric) {
	if a.of != m || len(a.candidates.rows) != f.Racks || a.candidates.held.Load() >= maxCachedPairs {
		a.of = m
		a.candidates.reset(f.Racks)
	}
	if a.fabric == f {
		return
	}
	a.fabric, a.capacity, a.hosts, a.spare = f, nil, hostLinks{}, nil // the memory fitted the fabric before
	for _, l := range f.Topology.Links() {
		a.capacity = append(a.capacity, int64(l.Capacity))
	}
	for i, h := range f.HostNode {
		up, at := f.Topology.Out(h)[0], &a.hosts
		at.up, at.dn = append(at.up, up), append(at.dn, pathmap.Reverse(up))
		at.rack = append(at.rack, f.RackOf(int32(i)))
	}
}

// Between returns the paths between two racks that a tag can name, shortest first. Borrowed.
func (a *PathCache) Between(s, d int32) []Candidate {
	if all, ok := a.candidates.get(s, d); ok {
		return all
	}
	var all []Candidate
	for i := range min(a.of.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
		all = append(all, Candidate{i, a.of.AppendPath(nil, int(s), int(d), i)})
	}
	a.candidates.put(s, d, all)
	return all
}

// candidateTable holds the candidate paths between pairs of racks, a row a source, made when the source
// is first asked for. Two who find the same pair at once write the same.
type candidateTable struct {
	rows []atomic.Pointer[candidateRow]
	held atomic.Int64
}

type candidateRow []atomic.Pointer[[]Candidate]

func (t *candidateTable) reset(racks int) {
	t.rows = make([]atomic.Pointer[candidateRow], racks)
	t.held.Store(0)
}

func (t *candidateTable) get(s, d int32) ([]Candidate, bool) {
	row := t.rows[s].Load()
	if row == nil {
		return nil, false
	}
	w := (*row)[d].Load()
	if w == nil {
		return nil, false
	}
	return *w, true
}

func (t *candidateTable) put(s, d int32, w []Candidate) {
	row := t.rows[s].Load()
	if row == nil {
		made := make(candidateRow, len(t.rows))
		if row = &made; !t.rows[s].CompareAndSwap(nil, row) {
			row = t.rows[s].Load()
		}
	}
	(*row)[d].Store(&w)
	t.held.Add(1)
}
