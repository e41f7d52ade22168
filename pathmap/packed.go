package pathmap

import (
	"fmt"
	"math"
	"math/bits"
)

// A packed map has a row for each target: the paths from every end of smaller rank, as bits. A pair's block is the
// number of paths; the length of the first in Elias' gamma code; then each path: how much longer than the one before it
// is, in ones ended by a zero, and the number of the link taken at each node but the last (at the last too where links
// may be parallel: else the only link to the target is meant).
type packedRow struct {
	at    []uint32 // where the block of every second source, by rank, begins, in bits
	bits  []byte   // eight bytes of zeros at the end, so that a word can be read anywhere
	patch *patch   // blocks that replace those of the row; nil: none
}

func (r packedRow) bytes() int64 {
	n := int64(4*cap(r.at) + cap(r.bits))
	if r.patch != nil {
		n += r.patch.bytes()
	}
	return n
}

// form is how the rows of one map are packed.
type form struct {
	count int // bits of the number of paths
	entry int // bits of a link's number
	batch int // links' numbers that are sure to be in a word
	last  int // 1 where the last link is left out, else 0
}

// pack computes the rows; links is how many the topology has.
func (m *Map) pack(links int) error {
	m.form = form{count: bits.Len(uint(m.k)), entry: m.g.entryBits(), last: 1}
	m.form.batch = wordBits / max(m.form.entry, 1)
	if m.g.multi {
		m.form.last = 0
	}
	rows := make([]packedRow, len(m.node))
	back, inverse, local := m.g.backs(links), m.g.inverses(), m.g.locals()
	each(len(rows), func() func(int) {
		p := packer{m: m, fan: newFan(m.g.nodes()), back: back, inverse: inverse, local: local, stack: make(stack, 0, inline)}
		return func(t int) { rows[t] = p.row(int32(t)) }
	})
	for t, r := range rows {
		if r.bits == nil {
			return fmt.Errorf("pack the paths to end %d: longer than %d bits; take a smaller k, or leave Packed out", t, uint32(math.MaxUint32))
		}
	}
	m.rows = rows
	return nil
}

// packer packs rows, one after the other.
type packer struct {
	m     *Map
	dist  row  // of the target
	fan   *fan // of the target; nil: rows are searched as a lookup does
	back  []int32
	stack stack
	local []int32 // of each entry: its number at its node
	out   bitWriter
	via   []int32 // of the pair's paths, one after the other
	end   []int32 // of each path in via

	finder  finder
	inverse [][]uint32
}

// row packs the paths to the end with rank t. A row too long for its offsets comes back without bits.
func (p *packer) row(t int32) packedRow {
	p.fan.fill(p.m.g, p.m.node[t], p.back)
	p.dist = p.fan.row
	p.out.reset()
	at := make([]uint32, 0, (t+1)/2)
	for s := range t {
		if s%2 == 0 {
			if p.out.at() > math.MaxUint32 {
				return packedRow{}
			}
			at = append(at, uint32(p.out.at()))
		}
		p.paths(s, t)
		p.write()
	}
	return packedRow{at: at, bits: p.out.take()}
}

// paths finds the paths of a pair.
func (p *packer) paths(s, t int32) {
	if p.fan != nil {
		p.find(s, t)
		return
	}
	p.via, p.end = p.via[:0], p.end[:0]
	w := p.walk(s, t)
	p.gather(s, t, &w, w.begin(p.stack[:0]))
}

// walk returns the walk of a pair.
func (p *packer) walk(s, t int32) walk {
	return walk{g: p.m.g, dist: p.dist, far: unknown, order: p.m.order(s, t), source: p.m.node[s], target: p.m.node[t],
		steps: budget + perPath*p.m.k}
}

// gather adds the paths of a pair's walk, which stands at st, until there are k.
func (p *packer) gather(s, t int32, w *walk, st stack) {
	for f := path; len(p.end) < p.m.k && f == path; {
		switch st, f = w.advance(st); f {
		case path:
			for i := range st {
				p.via = append(p.via, st[i].via)
			}
			p.end = append(p.end, int32(len(p.via)))
		case spent:
			p.yen(s, t)
		}
	}
	p.stack = st
}

// find does the same with a fan.
func (p *packer) find(s, t int32) {
	f := &p.finder
	if f.g == nil {
		*f = finder{g: p.m.g, inverse: p.inverse, k: p.m.k, node: make([]int32, inline), cur: make([]int32, inline)}
	}
	f.fan, f.order, f.target = p.fan, p.m.order(s, t), p.m.node[t]
	f.via, f.end = p.via, p.end
	sure := f.run(p.m.node[s])
	if p.via, p.end = f.via, f.end; !sure {
		p.yen(s, t)
	}
}

// yen finds them by Yen's algorithm.
func (p *packer) yen(s, t int32) {
	p.via, p.end = p.via[:0], p.end[:0]
	for _, y := range p.m.yen(s, t, p.m.k) {
		p.via = append(p.via, y.via...)
		p.end = append(p.end, int32(len(p.via)))
	}
}

// write writes the block of the pair's paths.
func (p *packer) write() {
	f := p.m.form
	p.out.put(uint64(len(p.end)), f.count)
	before, begin := int32(0), int32(0)
	for i, end := range p.end {
		length := end - begin
		if i == 0 {
			p.out.gamma(uint64(length))
			before = length
		}
		word, n := uint64(0), 0
		if more := int(length - before); more < putBits {
			word, n = 1<<more-1, more+1 // as unary does
		} else {
			p.out.unary(more)
		}
		for _, e := range p.via[begin : end-int32(f.last)] {
			if n > putBits-f.entry {
				p.out.put(word, n)
				word, n = 0, 0
			}
			word |= uint64(p.local[e]) << n
			n += f.entry
		}
		p.out.put(word, n)
		before, begin = length, end
	}
}

// block returns a reader at the block of the source with that rank.
func (r packedRow) block(s int32, f form) bitReader {
	if r.patch != nil {
		if in, ok := r.patch.block(s); ok {
			return in
		}
	}
	return r.own(s, f)
}

// own is block of the row as it was last written whole.
func (r packedRow) own(s int32, f form) bitReader {
	in := bitReader{bytes: r.bits, at: int(r.at[s/2])}
	if s%2 == 1 {
		in.skip(f)
	}
	return in
}

// via appends the entries of a path of so many links from a node, which come next; last is, of each neighbour of the
// target, the entry that leads there.
func (r *bitReader) via(buf []int32, g *graph, f form, node int32, last []int32, length int) []int32 {
	mask := uint64(1)<<f.entry - 1
	for told := length - f.last; told > 0; {
		some := min(told, f.batch)
		word := r.word()
		for range some {
			e := g.start[node] + int32(word&mask)
			word >>= f.entry
			buf = append(buf, e)
			node = g.to[e]
		}
		r.at += some * f.entry
		told -= some
	}
	if f.last == 1 {
		buf = append(buf, last[node])
	}
	return buf
}

// skip goes to the end of a block.
func (r *bitReader) skip(f form) {
	paths := int(r.take(f.count))
	if paths == 0 {
		return
	}
	length := r.gamma()
	for range paths {
		length += r.unary()
		r.at += (length - f.last) * f.entry
	}
}

// paths returns how many paths the block of the source with that rank has.
func (r packedRow) paths(s int32, f form) int {
	in := r.block(s, f)
	return int(in.take(f.count))
}

// shortest returns how many paths of the pair with ranks a < b are as short as the first.
func (m *Map) shortest(a, b int32) int {
	r, f := m.rows[b], m.form
	in := r.block(a, f)
	paths := int(in.take(f.count))
	if paths == 0 {
		return 0
	}
	length := in.gamma()
	for n := range paths {
		if in.unary() > 0 {
			return n
		}
		in.at += (length - f.last) * f.entry
	}
	return paths
}

// unpack appends path i of the pair with ranks a < b.
func (m *Map) unpack(buf []LinkID, a, b int32, i int) ([]LinkID, bool) {
	r, f, g := m.rows[b], m.form, m.g
	in := r.block(a, f)
	if i >= int(in.take(f.count)) {
		return buf, false
	}
	length := in.gamma()
	for range i {
		length += in.unary()
		in.at += (length - f.last) * f.entry
	}
	length += in.unary()
	node := m.node[a]
	for range length - f.last {
		e := g.start[node] + int32(in.take(f.entry))
		buf = append(buf, g.link[e])
		node = g.to[e]
	}
	if f.last == 1 {
		buf = append(buf, g.link[g.entryTo(node, m.node[b])])
	}
	return buf, true
}
