package ksp

import (
	"fmt"
	"math"
	"math/bits"
)

// PackedRow is, of a packed table, the paths to one target from every end of smaller rank, as bits. A
// pair's block is the number of paths; the length of the first in Elias' gamma code; then each path:
// how much longer than the one before it is, in ones ended by a zero, and the number of the link taken
// at each node but the last (at the last too where links may be parallel: else the only link to the
// target is meant).
type PackedRow struct {
	at    []uint32 // where the block of every second source, by rank, begins, in bits
	bits  []byte   // eight bytes of zeros at the end, so that a word can be read anywhere
	patch *patch   // blocks that replace those of the row; nil: none
}

func (r PackedRow) bytes() int64 {
	n := int64(4*cap(r.at) + cap(r.bits))
	if r.patch != nil {
		n += r.patch.bytes()
	}
	return n
}

// Form is how the rows of one map are packed.
type Form struct {
	Count int // bits of the number of paths
	Entry int // bits of a link's number
	batch int // links' numbers that are sure to be in a word
	Last  int // 1 where the last link is left out, else 0
}

// Pack computes the rows; links is how many the topology has.
func (m *Table) Pack(links int) error {
	m.Form = Form{Count: bits.Len(uint(m.K)), Entry: m.Graph.entryBits(), Last: 1}
	m.Form.batch = wordBits / max(m.Form.Entry, 1)
	if m.Graph.multi {
		m.Form.Last = 0
	}
	rows := make([]PackedRow, len(m.Node))
	back, inverse, local := m.Graph.Backs(links), m.Graph.Inverses(), m.Graph.Locals()
	Each(len(rows), func() func(int) {
		p := NewPacker(m, back, local, inverse)
		p.Fan = NewDescents(m.Graph.Nodes())
		return func(t int) { rows[t] = p.row(int32(t)) }
	})
	for t, r := range rows {
		if r.bits == nil {
			return fmt.Errorf("pack the paths to end %d: longer than %d bits; take a smaller k, or leave Packed out", t,
				uint32(math.MaxUint32))
		}
	}
	m.Rows = rows
	return nil
}

// Packer packs rows, one after the other.
type Packer struct {
	Table *Table
	Dist  Row       // of the target
	Fan   *Descents // of the target; nil: rows are searched as a lookup does
	Back  []int32
	Stack Stack
	Local []int32 // of each entry: its number at its node
	Out   BitWriter
	Via   []int32 // of the pair's paths, one after the other
	End   []int32 // of each path in via

	finder  finder
	Inverse [][]uint32
}

// NewPacker returns a packer of m's rows without fan; the arrays are those of Graph.Backs, Locals and
// Inverses.
func NewPacker(m *Table, back, local []int32, inverse [][]uint32) Packer {
	return Packer{Table: m, Back: back, Local: local, Inverse: inverse, Stack: make(Stack, 0, inline)}
}

// row packs the paths to the end with rank t. A row too long for its offsets comes back without bits.
func (p *Packer) row(t int32) PackedRow {
	p.Fan.Fill(p.Table.Graph, p.Table.Node[t], p.Back)
	p.Dist = p.Fan.row
	p.Out.Reset()
	at := make([]uint32, 0, (t+1)/2)
	for s := range t {
		if s%2 == 0 {
			if p.Out.At() > math.MaxUint32 {
				return PackedRow{}
			}
			at = append(at, uint32(p.Out.At()))
		}
		p.Paths(s, t)
		p.Write()
	}
	return PackedRow{at: at, bits: p.Out.take()}
}

// Paths finds the paths of a pair.
func (p *Packer) Paths(s, t int32) {
	if p.Fan != nil {
		p.find(s, t)
		return
	}
	p.Via, p.End = p.Via[:0], p.End[:0]
	w := p.Walk(s, t)
	p.Gather(s, t, &w, w.begin(p.Stack[:0]))
}

// Walk returns the walk of a pair.
func (p *Packer) Walk(s, t int32) Walk {
	m := p.Table
	return Walk{g: m.Graph, dist: p.Dist, Far: unknown, order: m.Order(s, t), source: m.Node[s],
		target: m.Node[t],
		steps:  budget + perPath*m.K}
}

// Gather adds the paths of a pair's walk, which stands at st, until there are k.
func (p *Packer) Gather(s, t int32, w *Walk, st Stack) {
	for f := path; len(p.End) < p.Table.K && f == path; {
		switch st, f = w.advance(st); f {
		case path:
			for i := range st {
				p.Via = append(p.Via, st[i].via)
			}
			p.End = append(p.End, int32(len(p.Via)))
		case spent:
			p.yen(s, t)
		}
	}
	p.Stack = st
}

// find does the same with a fan.
func (p *Packer) find(s, t int32) {
	f := &p.finder
	if f.g == nil {
		*f = finder{g: p.Table.Graph, inverse: p.Inverse, k: p.Table.K, node: make([]int32, inline),
			cur: make([]int32, inline)}
	}
	f.fan, f.order, f.target = p.Fan, p.Table.Order(s, t), p.Table.Node[t]
	f.via, f.end = p.Via, p.End
	sure := f.run(p.Table.Node[s])
	if p.Via, p.End = f.via, f.end; !sure {
		p.yen(s, t)
	}
}

// yen finds them by Yen's algorithm.
func (p *Packer) yen(s, t int32) {
	p.Via, p.End = p.Via[:0], p.End[:0]
	for _, y := range p.Table.yen(s, t, p.Table.K) {
		p.Via = append(p.Via, y.via...)
		p.End = append(p.End, int32(len(p.Via)))
	}
}

// Write writes the block of the pair's paths.
func (p *Packer) Write() {
	f := p.Table.Form
	p.Out.put(uint64(len(p.End)), f.Count)
	before, begin := int32(0), int32(0)
	for i, end := range p.End {
		length := end - begin
		if i == 0 {
			p.Out.gamma(uint64(length))
			before = length
		}
		word, n := uint64(0), 0
		if more := int(length - before); more < putBits {
			word, n = 1<<more-1, more+1 // as unary does
		} else {
			p.Out.unary(more)
		}
		for _, e := range p.Via[begin : end-int32(f.Last)] {
			if n > putBits-f.Entry {
				p.Out.put(word, n)
				word, n = 0, 0
			}
			word |= uint64(p.Local[e]) << n
			n += f.Entry
		}
		p.Out.put(word, n)
		before, begin = length, end
	}
}

// Block returns a reader at the block of the source with that rank.
func (r PackedRow) Block(s int32, f Form) BitReader {
	if r.patch != nil {
		if in, ok := r.patch.block(s); ok {
			return in
		}
	}
	return r.own(s, f)
}

// own is block of the row as it was last written whole.
func (r PackedRow) own(s int32, f Form) BitReader {
	in := BitReader{bytes: r.bits, At: int(r.at[s/2])}
	if s%2 == 1 {
		in.skip(f)
	}
	return in
}

// Via reads the next path from a node and appends its entries; length is its number of links. last is,
// for each neighbour of the target, the entry that leads there.
func (r *BitReader) Via(buf []int32, g *Graph, f Form, node int32, last []int32, length int) []int32 {
	mask := uint64(1)<<f.Entry - 1
	for told := length - f.Last; told > 0; {
		some := min(told, f.batch)
		word := r.word()
		for range some {
			e := g.Start[node] + int32(word&mask)
			word >>= f.Entry
			buf = append(buf, e)
			node = g.To[e]
		}
		r.At += some * f.Entry
		told -= some
	}
	if f.Last == 1 {
		buf = append(buf, last[node])
	}
	return buf
}

// skip goes to the end of a block.
func (r *BitReader) skip(f Form) {
	paths := int(r.Take(f.Count))
	if paths == 0 {
		return
	}
	length := r.Gamma()
	for range paths {
		length += r.Unary()
		r.At += (length - f.Last) * f.Entry
	}
}

// paths returns how many paths the block of the source with that rank has.
func (r PackedRow) paths(s int32, f Form) int {
	in := r.Block(s, f)
	return int(in.Take(f.Count))
}

// storedShortest returns how many paths of the pair with ranks a < b are as short as the first.
func (m *Table) storedShortest(a, b int32) int {
	r, f := m.Rows[b], m.Form
	in := r.Block(a, f)
	paths := int(in.Take(f.Count))
	if paths == 0 {
		return 0
	}
	length := in.Gamma()
	for n := range paths {
		if in.Unary() > 0 {
			return n
		}
		in.At += (length - f.Last) * f.Entry
	}
	return paths
}

// unpack appends path i of the pair with ranks a < b.
func unpack[Link ~int32](m *Table, buf []Link, a, b int32, i int) ([]Link, bool) {
	r, f, g := m.Rows[b], m.Form, m.Graph
	in := r.Block(a, f)
	if i >= int(in.Take(f.Count)) {
		return buf, false
	}
	length := in.Gamma()
	for range i {
		length += in.Unary()
		in.At += (length - f.Last) * f.Entry
	}
	length += in.Unary()
	node := m.Node[a]
	for range length - f.Last {
		e := g.Start[node] + int32(in.Take(f.Entry))
		buf = append(buf, Link(g.Link[e]))
		node = g.To[e]
	}
	if f.Last == 1 {
		buf = append(buf, Link(g.Link[g.entryTo(node, m.Node[b])]))
	}
	return buf, true
}
