package pathmap

// tally knows, of one pair, which cables its paths used before a repair, and how many of those that it has now use each.
type tally struct {
	cables []int32 // that may have come into use, or out of it; several times perhaps
	use    []use   // by cable
	now    uint32
	target int32
	into   []int32 // by neighbour of the target: its entry there
	via    []int32 // memory of decode
}

type use struct {
	met    uint32 // the tally that met it last; of an earlier one all else is nought
	before bool
	paths  int32
}

func newTally(cables, nodes int) *tally {
	return &tally{use: make([]use, cables), into: make([]int32, nodes)}
}

func (t *tally) bytes() int64 { return int64(4*(cap(t.cables)+cap(t.into)+cap(t.via)) + 12*cap(t.use)) }

// aim has the next pairs' paths end at the end of rank b of a packed map; back is graph.backs.
func (t *tally) aim(m *Map, b int32, back []int32) {
	g, n := m.g, m.node[b]
	t.target = b
	for e := g.start[n]; e < g.start[n+1]; e++ {
		t.into[g.to[e]] = back[e]
	}
}

// begin forgets the last pair.
func (t *tally) begin() {
	t.cables = t.cables[:0]
	if t.now++; t.now == 0 {
		clear(t.use)
		t.now = 1
	}
}

// of returns what is known of the cable of a link.
func (t *tally) of(l LinkID) *use {
	u := &t.use[l/2]
	if u.met != t.now {
		*u = use{met: t.now}
	}
	return u
}

// add counts paths that come, 1, or go, -1, given by their links' entries.
func (t *tally) add(g *graph, via []int32, paths int32) {
	for _, e := range via {
		t.of(g.link[e]).paths += paths
		t.cables = append(t.cables, int32(g.link[e]/2))
	}
}

// decode begins with the paths from the end of rank a that a packed map has, as those before; cables has all that they
// use, each once. It returns the pair's entries in users.last and users.first.
func (t *tally) decode(m *Map, a int32) (last, first uint16) {
	t.begin()
	f, g := m.form, m.g
	in := m.rows[t.target].block(a, f)
	paths := int(in.take(f.count))
	if paths == 0 {
		return open, open
	}
	length := in.gamma()
	for range paths {
		length += in.unary()
		t.via = in.via(t.via[:0], g, f, m.node[a], t.into, length)
		for _, e := range t.via {
			if u := t.of(g.link[e]); !u.before {
				u.before = true
				t.cables = append(t.cables, int32(g.link[e]/2))
			}
		}
	}
	return lastOf(paths, length, m.k, t.via[0]-g.start[m.node[a]])
}
