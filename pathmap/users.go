package pathmap

import (
	"fmt"
	"math"
	"slices"
)

// maxPairs bounds the pairs of an indexed map: they have 32-bit numbers.
const maxPairs = math.MaxUint32

// pairOf numbers the pairs of ranks a < b, row by row.
func pairOf(a, b int32) uint32 { return uint32(int64(b)*int64(b-1)/2) + uint32(a) }

// users is the index of the cross-layer document: for each cable, the pairs that have it on at least one of their
// paths, ascending. Beside it stands the length of each pair's last path, for cables that come back.
type users struct {
	of   [][]uint32 // by cable
	last []uint16   // by pair: links of the k-th path; open where there is none, or it is longer
}

// open stands for a pair that any new path may be one of.
const open = math.MaxUint16

func (u *users) bytes() int64 {
	n := int64(2 * cap(u.last))
	for _, pairs := range u.of {
		n += int64(4*cap(pairs)) + 24
	}
	return n
}

// newUsers indexes a packed map of a topology with so many cables.
func newUsers(m *Map, cables int) (*users, error) {
	ends := int64(len(m.node))
	if ends*(ends-1)/2 > maxPairs {
		return nil, fmt.Errorf("%d ends make more than %d pairs; take fewer, or leave Packed out", ends, uint32(maxPairs))
	}
	u := &users{of: make([][]uint32, cables), last: make([]uint16, ends*(ends-1)/2)}
	count := make([]uint32, cables)
	d := newDecoder(cables)
	for b := range m.node {
		for a := range int32(b) {
			u.last[pairOf(a, int32(b))] = d.decode(m, a, int32(b))
			for _, c := range d.cables {
				count[c]++
			}
		}
	}
	for c, n := range count {
		u.of[c] = make([]uint32, 0, n)
	}
	for b := range m.node {
		for a := range int32(b) {
			d.decode(m, a, int32(b))
			for _, c := range d.cables {
				u.of[c] = append(u.of[c], pairOf(a, int32(b)))
			}
		}
	}
	return u, nil
}

// add notes that a pair uses a cable now.
func (u *users) add(cable int32, pair uint32) {
	of := u.of[cable]
	if at := seek(of, pair); at == len(of) || of[at] != pair {
		u.of[cable] = slices.Insert(of, at, pair)
	}
}

// drop notes that a pair does not use a cable any more.
func (u *users) drop(cable int32, pair uint32) {
	of := u.of[cable]
	if at := seek(of, pair); at < len(of) && of[at] == pair {
		u.of[cable] = slices.Delete(of, at, at+1)
	}
}

// seek returns where a pair is among ascending ones, or would be. Its loop has no branch that depends on what it finds,
// which half of the time would be foretold wrongly.
func seek(pairs []uint32, pair uint32) int {
	at := 0
	for n := uint(len(pairs)); n > 0; {
		half := (n + 1) / 2
		less := (int(pairs[uint(at)+half-1]) - int(pair)) >> 63 // all ones where it is
		at += int(half) & less
		n -= half
	}
	return at
}

// decoder reads the cables of packed pairs.
type decoder struct {
	cables []int32  // of the last pair read, each once
	seen   []uint32 // by cable: the reading that met it last
	now    uint32
}

func newDecoder(cables int) decoder { return decoder{seen: make([]uint32, cables)} }

// decode reads the pair of ranks a < b of a packed map, and returns its entry in users.last.
func (d *decoder) decode(m *Map, a, b int32) uint16 {
	d.begin()
	f, g := m.form, m.g
	in := m.rows[b].block(a, f)
	paths := int(in.take(f.count))
	if paths == 0 {
		return open
	}
	length := in.gamma()
	for range paths {
		length += in.unary()
		node := m.node[a]
		for range length - f.last {
			e := g.start[node] + int32(in.take(f.entry))
			d.note(g.link[e])
			node = g.to[e]
		}
		if f.last == 1 {
			d.note(g.link[g.entryTo(node, m.node[b])])
		}
	}
	return lastOf(paths, length, m.k)
}

// lastOf returns a pair's entry in users.last.
func lastOf(paths, length, k int) uint16 {
	if paths < k || length >= open {
		return open
	}
	return uint16(length)
}

// begin forgets the last reading.
func (d *decoder) begin() {
	d.cables = d.cables[:0]
	if d.now++; d.now == 0 {
		clear(d.seen)
		d.now = 1
	}
}

// note adds the cable of a link, once.
func (d *decoder) note(l LinkID) {
	if c := int32(l / 2); d.seen[c] != d.now {
		d.seen[c] = d.now
		d.cables = append(d.cables, c)
	}
}

// has says whether the last reading met a cable.
func (d *decoder) has(cable int32) bool { return d.seen[cable] == d.now }
