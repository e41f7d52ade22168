package live

import (
	"lightloom/pathmap/internal/ksp"
)

// cableUse knows, of one pair, which cables its paths used before a repair, and how many of those that it
// has now use each.
type cableUse struct {
	cables []int32 // that may have come into use, or out of it; several times perhaps
	use    []use   // by cable
	now    uint32
	target int32
	into   []int32 // by neighbour of the target: its entry there
	via    []int32 // memory of decode
}

type use struct {
	met    uint32 // the cableUse that met it last; of an earlier one all else is nought
	before bool
	paths  int32
}

func newCableUse(cables, nodes int) *cableUse {
	return &cableUse{use: make([]use, cables), into: make([]int32, nodes)}
}

func (t *cableUse) bytes() int64 {
	return int64(4*(cap(t.cables)+cap(t.into)+cap(t.via)) + 12*cap(t.use))
}

// aim has the next pairs' paths end at the end of rank b of a packed map; back is Graph.Backs.
func (t *cableUse) aim(m *ksp.Table, b int32, back []int32) {
	g, n := m.Graph, m.Node[b]
	t.target = b
	for e := g.Start[n]; e < g.Start[n+1]; e++ {
		t.into[g.To[e]] = back[e]
	}
}

// begin forgets the last pair.
func (t *cableUse) begin() {
	t.cables = t.cables[:0]
	if t.now++; t.now == 0 {
		clear(t.use)
		t.now = 1
	}
}

// of returns what is known of the cable of a link.
func (t *cableUse) of(l int32) *use {
	u := &t.use[l/2]
	if u.met != t.now {
		*u = use{met: t.now}
	}
	return u
}

// add counts paths that come, 1, or go, -1, given by their links' entries.
func (t *cableUse) add(g *ksp.Graph, via []int32, paths int32) {
	for _, e := range via {
		t.of(g.Link[e]).paths += paths
		t.cables = append(t.cables, g.Link[e]/2)
	}
}

// decode begins with the paths from the end of rank a that a packed table has, as those before; cables
// has all that they use, each once. It returns the pair's entries in users.last and users.first.
func (t *cableUse) decode(m *ksp.Table, a int32) (last, first uint16) {
	t.begin()
	f, g := m.Form, m.Graph
	in := m.Rows[t.target].Block(a, f)
	paths := int(in.Take(f.Count))
	if paths == 0 {
		return open, open
	}
	length := in.Gamma()
	for range paths {
		length += in.Unary()
		t.via = in.Via(t.via[:0], g, f, m.Node[a], t.into, length)
		for _, e := range t.via {
			if u := t.of(g.Link[e]); !u.before {
				u.before = true
				t.cables = append(t.cables, g.Link[e]/2)
			}
		}
	}
	return lastOf(paths, length, m.K, t.via[0]-g.Start[m.Node[a]])
}
