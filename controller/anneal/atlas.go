package anneal

import (
	"sync/atomic"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Atlas remembers the paths of a path map between racks, from one decision to the next: a lookup on an implicit map
// costs microseconds, and an annealer asks hundreds of times. Its zero value is ready. Several goroutines may ask it at
// once, but about must not run beside them.
type Atlas struct {
	of   *pathmap.Map // immutable; another one empties the atlas
	ways wayTable
}

// maxAtlas bounds the pairs remembered: with six paths of four links about 20 MB.
const maxAtlas = 1 << 16

// Way is one path between two racks: its index in the path map and its links. It has no links within a rack.
type Way struct {
	Path  int
	Links []pathmap.LinkID
}

// about makes the atlas one of that map.
func (a *Atlas) about(m *pathmap.Map, racks int) {
	if a.of != m || len(a.ways.rows) != racks || a.ways.held.Load() >= maxAtlas {
		a.of = m
		a.ways.reset(racks)
	}
}

// Between returns the paths between two racks that a tag can name, shortest first. Borrowed.
func (a *Atlas) Between(s, d int32) []Way {
	if all, ok := a.ways.get(s, d); ok {
		return all
	}
	var all []Way
	for i := range min(a.of.Paths(int(s), int(d)), southbound.MaxNamedPaths) {
		all = append(all, Way{i, a.of.AppendPath(nil, int(s), int(d), i)})
	}
	a.ways.put(s, d, all)
	return all
}

// wayTable holds the ways between pairs of racks, a row a source, made when the source is first asked for. Two who find
// the same pair at once write the same.
type wayTable struct {
	rows []atomic.Pointer[wayRow]
	held atomic.Int64
}

type wayRow []atomic.Pointer[[]Way]

func (t *wayTable) reset(racks int) {
	t.rows = make([]atomic.Pointer[wayRow], racks)
	t.held.Store(0)
}

func (t *wayTable) get(s, d int32) ([]Way, bool) {
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

func (t *wayTable) put(s, d int32, w []Way) {
	row := t.rows[s].Load()
	if row == nil {
		made := make(wayRow, len(t.rows))
		if row = &made; !t.rows[s].CompareAndSwap(nil, row) {
			row = t.rows[s].Load()
		}
	}
	(*row)[d].Store(&w)
	t.held.Add(1)
}
