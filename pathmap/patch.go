package pathmap

import (
	"math"
	"slices"
)

// A patch holds the blocks of a row that a repair has written anew. The row itself is never written: maps made before
// the repair share it.
type patch struct {
	source []int32 // by rank, ascending
	at     []int   // where each source's block begins in bits, and where the last one ends
	bits   []byte
}

func (p *patch) bytes() int64 { return int64(4*cap(p.source)+8*cap(p.at)+cap(p.bits)) + 72 }

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
	w := bitWriter{bytes: make([]byte, 0, len(p.bits)+len(fresh.bits))}
	most := len(p.source) + len(fresh.source)
	m := &patch{source: make([]int32, 0, most), at: make([]int, 0, most+1)}
	i, j := 0, 0
	for i < len(p.source) || j < len(fresh.source) {
		from, k := fresh, j
		if j == len(fresh.source) || i < len(p.source) && p.source[i] < fresh.source[j] {
			from, k = p, i
			i++
		} else {
			if i < len(p.source) && p.source[i] == fresh.source[j] {
				i++
			}
			j++
		}
		m.source, m.at = append(m.source, from.source[k]), append(m.at, w.at())
		w.copy(bitReader{bytes: from.bits, at: from.at[k]}, from.at[k+1]-from.at[k])
	}
	m.at = append(m.at, w.at())
	m.bits = w.take()
	return m
}

// whole returns the row without patch, unless it has become too long for that.
func (r packedRow) whole(sources int, f form) (packedRow, bool) {
	w := bitWriter{bytes: make([]byte, 0, len(r.bits)+len(r.patch.bits))}
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
