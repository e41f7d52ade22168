package ksp

import (
	"math"
	"slices"
)

// A patch holds the blocks of a row that repairs have written anew. The row itself is never written:
// maps made before the repair share it. Each repair's bits stand behind those of the ones before it,
// and where there is room in the same memory: a map knows only of its own part, and just the newest is
// repaired.
type patch struct {
	source []int32 // by rank, ascending
	at     []Span  // each source's block
	bits   []byte  // with eight bytes of zeros behind each repair's
}

// Span is where a block begins, and how long it is, in bits.
type Span struct{ At, Size int }

func (p *patch) bytes() int64 {
	return int64(4*cap(p.source)+16*cap(p.at)+cap(p.bits)) + 72
}

// patchShare bounds patches: a row is written whole once more than 1/patchShare of its blocks are
// patched, or patches take more than 1/patchShare of its bits, counting patches that later ones have
// replaced.
const patchShare = 3

// Patched returns r with some blocks replaced: those of the sources, ascending, are at the given spans
// of out. blocks is the number of blocks of the row.
func (r PackedRow) Patched(source []int32, at []Span, out *BitWriter, blocks int, f Form) PackedRow {
	p := &patch{}
	if r.patch != nil {
		*p = *r.patch
	}
	begin := 8 * len(p.bits)
	p.replace(source, at, begin)
	p.bits = append(append(p.bits, out.whole()...), make([]byte, wordBytes)...)
	patched := PackedRow{at: r.at, bits: r.bits, patch: p}
	if len(p.source) <= blocks/patchShare+1 && len(p.bits) <= len(r.bits)/patchShare+patchRoom {
		return patched
	}
	if whole, ok := patched.whole(blocks, f); ok {
		return whole
	}
	return patched
}

// patchRoom is what the patches of any row can take, in bytes, however short it is.
const patchRoom = 1 << 10

// replace notes where the blocks of sources, ascending, begin, counted from a place.
func (p *patch) replace(source []int32, at []Span, from int) {
	most := len(p.source) + len(source)
	sources, places := make([]int32, 0, most), make([]Span, 0, most)
	i := 0
	for j, s := range source {
		first := i
		for i < len(p.source) && p.source[i] < s {
			i++
		}
		sources, places = append(sources, p.source[first:i]...), append(places, p.at[first:i]...)
		if i < len(p.source) && p.source[i] == s {
			i++
		}
		sources, places = append(sources, s), append(places, Span{from + at[j].At, at[j].Size})
	}
	p.source, p.at = append(sources, p.source[i:]...), append(places, p.at[i:]...)
}

// block returns a reader at the patched block of the source with that rank, if there is one.
func (p *patch) block(s int32) (BitReader, bool) {
	i, ok := slices.BinarySearch(p.source, s)
	if !ok {
		return BitReader{}, false
	}
	return BitReader{bytes: p.bits, At: p.at[i].At}, true
}

// whole returns the row without patch, unless it has become too long for that.
func (r PackedRow) whole(blocks int, f Form) (PackedRow, bool) {
	w := BitWriter{bytes: make([]byte, 0, len(r.bits)+len(r.patch.bits))}
	at := make([]uint32, 0, len(r.at))
	next := int32(0) // patched block
	patched := func(s int32) bool { return next < int32(len(r.patch.source)) && r.patch.source[next] == s }
	for s := int32(0); s < int32(blocks); s++ {
		if s%2 == 0 {
			if w.At() > math.MaxUint32 {
				return PackedRow{}, false
			}
			at = append(at, uint32(w.At()))
			if k := s / 2; int(k)+1 < len(r.at) && !patched(s) && !patched(s+1) { // both as they were
				w.copy(BitReader{bytes: r.bits, At: int(r.at[k])}, int(r.at[k+1]-r.at[k]))
				s++
				continue
			}
		}
		if patched(s) {
			b := r.patch.at[next]
			w.copy(BitReader{bytes: r.patch.bits, At: b.At}, b.Size)
			next++
			continue
		}
		from := r.own(s, f)
		to := from
		to.skip(f)
		w.copy(from, to.At-from.At)
	}
	return PackedRow{at: at, bits: w.take()}, true
}
