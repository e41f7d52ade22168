package pathmap

// tally knows, of one pair, which cables its paths used before a repair, and how many of those that it has now use each.
type tally struct {
	cables []int32 // that are of either, each once
	use    []use   // by cable
	now    uint32
	via    []int32 // memory of decode
}

type use struct {
	met    uint32 // the tally that met it last; of an earlier one all else is nought
	before bool
	paths  int32
}

func newTally(cables int) *tally { return &tally{use: make([]use, cables)} }

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
		t.cables = append(t.cables, int32(l/2))
	}
	return u
}

// decode begins with the paths that the pair of ranks a < b of a packed map has, as those before. It returns the pair's
// entries in users.last and users.first.
func (t *tally) decode(m *Map, a, b int32) (last, first uint16) {
	t.begin()
	f, g := m.form, m.g
	in := m.rows[b].block(a, f)
	paths := int(in.take(f.count))
	if paths == 0 {
		return open, open
	}
	length := in.gamma()
	for range paths {
		length += in.unary()
		t.via = in.via(t.via[:0], g, f, m.node[a], m.node[b], length)
		for _, e := range t.via {
			t.of(g.link[e]).before = true
		}
	}
	return lastOf(paths, length, m.k, t.via[0]-g.start[m.node[a]])
}
