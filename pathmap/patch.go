package pathmap

import (
	"math"
	"slices"
)

// A patch holds the blocks of a row that repairs have written anew. The row itself is never written: maps made before
// the repair share it; and patches share the bits of each repair.
type patch struct {
	source []int32     // by rank, ascending
	block  []bitReader // at the beginning of each source's block
}

func (p *patch) bytes() int64 {
	n := int64(4*cap(p.source)+32*cap(p.block)) + 48
	seen := map[*byte]bool{}
	for i := range p.block {
		if bits := p.block[i].bytes; !seen[&bits[0]] {
			seen[&bits[0]] = true
			n += int64(cap(bits))
		}
	}
	return n
}

// patchShare is the part of a row's blocks, one in so many, that may be patched before the row is written whole.
const patchShare = 3

// patched returns r with the blocks of fresh in place of its own; sources is how many blocks it has.
func (r packedRow) patched(fresh *patch, sources int, f form) packedRow {
	merged := fresh
	if r.patch != nil {
		merged = r.patch.merge(fresh)
	}
	out := packedRow{at: r.at, bits: r.bits, patch: merged}
	if len(merged.source) <= sources/patchShare+1 {
		return out
	}
	if whole, ok := out.whole(sources, f); ok {
		return whole
	}
	return out
}

// merge returns the blocks of p and fresh, fresh ones where both have them.
func (p *patch) merge(fresh *patch) *patch {
	most := len(p.source) + len(fresh.source)
	m := &patch{source: make([]int32, 0, most), block: make([]bitReader, 0, most)}
	i := 0
	for j, s := range fresh.source {
		first := i
		for i < len(p.source) && p.source[i] < s {
			i++
		}
		m.source, m.block = append(m.source, p.source[first:i]...), append(m.block, p.block[first:i]...)
		if i < len(p.source) && p.source[i] == s {
			i++
		}
		m.source, m.block = append(m.source, s), append(m.block, fresh.block[j])
	}
	m.source, m.block = append(m.source, p.source[i:]...), append(m.block, p.block[i:]...)
	return m
}

// whole returns the row without patch, unless it has become too long for that.
func (r packedRow) whole(sources int, f form) (packedRow, bool) {
	w := bitWriter{bytes: make([]byte, 0, len(r.bits)+len(r.bits)/8)}
	at := make([]uint32, 0, len(r.at))
	for s := range int32(sources) {
		if s%2 == 0 {
			if w.at() > math.MaxUint32 {
				return packedRow{}, false
			}
			at = append(at, uint32(w.at()))
		}
		from := r.block(s, f)
		to := from
		to.skip(f)
		w.copy(from, to.at-from.at)
	}
	return packedRow{at: at, bits: slices.Clip(w.take())}, true
}
