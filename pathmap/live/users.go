package live

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"lightloom/pathmap/internal/ksp"
)

// maxPairs bounds the pairs of an indexed map: they have 32-bit numbers.
const maxPairs = math.MaxUint32

// users is the index of the cross-layer document: for each cable, the pairs that have it on at least
// one of their paths. Beside it stands what cables that come back are measured by: the length of each
// pair's last path, and how it begins.
type users struct {
	of   [][]uint32 // by cable: its pairs, ascending; nil where they are set
	set  [][]uint64 // by cable: a bit for each pair, nil for none; nil where they are listed
	last []uint16   // by pair: links of the k-th path; open where there is none, or it is longer
	// by pair that is not open: the number of the link that the k-th path takes first; open where it is larger
	first []uint16
}

// open stands for a pair that any new path can be one of, and for a number that is not known.
const open = math.MaxUint16

// setWorth is how many times the memory of lists sets may take: they are changed far sooner. Tests have
// lists by 0.
var setWorth = int64(2)

func (u *users) bytes() int64 {
	n := int64(2*cap(u.last) + 2*cap(u.first))
	for _, pairs := range u.of {
		n += int64(4*cap(pairs)) + 24
	}
	for _, set := range u.set {
		n += int64(8*cap(set)) + 24
	}
	return n
}

// newUsers indexes a packed map of a topology with the given number of cables; back is Graph.Backs.
func newUsers(m *ksp.Table, cables int, back []int32) (*users, error) {
	ends := int64(len(m.Node))
	all := ends * (ends - 1) / 2
	if all > maxPairs {
		return nil, fmt.Errorf("%d ends make more than %d pairs; take fewer, or leave Packed out", ends,
			uint32(maxPairs))
	}
	u := &users{last: make([]uint16, all), first: make([]uint16, all)}
	count := make([]uint32, cables)
	listed, used := int64(0), int64(0)
	t := newCableUse(cables, m.Graph.Nodes())
	for b := range m.Node {
		t.aim(m, int32(b), back)
		for a := range int32(b) {
			n := ksp.PairOf(a, int32(b))
			u.last[n], u.first[n] = t.decode(m, a)
			for _, c := range t.cables {
				if count[c]++; count[c] == 1 {
					used++
				}
			}
			listed += int64(len(t.cables))
		}
	}
	if words := (all + 63) / 64; 8*words*used <= setWorth*4*listed {
		u.set = make([][]uint64, cables)
		for c, n := range count {
			if n > 0 {
				u.set[c] = make([]uint64, words)
			}
		}
	} else {
		u.of = make([][]uint32, cables)
		for c, n := range count {
			u.of[c] = make([]uint32, 0, n)
		}
	}
	for b := range m.Node {
		t.aim(m, int32(b), back)
		for a := range int32(b) {
			t.decode(m, a)
			for _, c := range t.cables {
				if n := ksp.PairOf(a, int32(b)); u.set != nil {
					u.set[c][n>>6] |= 1 << (n & 63)
				} else {
					u.of[c] = append(u.of[c], n)
				}
			}
		}
	}
	return u, nil
}

// append appends the pairs of a cable, ascending.
func (u *users) append(buf []uint32, cable int32) []uint32 {
	if u.set == nil {
		return append(buf, u.of[cable]...)
	}
	for w, word := range u.set[cable] {
		for ; word != 0; word &= word - 1 {
			buf = append(buf, uint32(64*w+bits.TrailingZeros64(word)))
		}
	}
	return buf
}

// clear forgets the pairs of a cable.
func (u *users) clear(cable int32) {
	if u.set == nil {
		u.of[cable] = u.of[cable][:0]
	} else {
		clear(u.set[cable])
	}
}

// mark notes at once that a pair uses a cable, or does not any more, where that is a bit; several may
// do so. It reports whether it is.
func (u *users) mark(cable int32, pair uint32, uses bool) bool {
	if u.set == nil || u.set[cable] == nil {
		return false
	}
	word, bit := &u.set[cable][pair>>6], uint64(1)<<(pair&63)
	if uses {
		atomic.OrUint64(word, bit)
	} else {
		atomic.AndUint64(word, ^bit)
	}
	return true
}

// change records the same in either form; callers must not change the same cable concurrently.
func (u *users) change(use usePair) {
	if u.set != nil && u.set[use.cable] == nil {
		u.set[use.cable] = make([]uint64, (len(u.last)+63)/64)
	}
	if u.mark(use.cable, use.pair, use.uses) {
		return
	}
	of := u.of[use.cable]
	at := seek(of, use.pair)
	switch found := at < len(of) && of[at] == use.pair; {
	case use.uses && !found:
		u.of[use.cable] = slices.Insert(of, at, use.pair)
	case !use.uses && found:
		u.of[use.cable] = slices.Delete(of, at, at+1)
	}
}

// usePair says that a pair uses a cable now, or does not any more.
type usePair struct {
	cable int32
	pair  uint32
	uses  bool
}

// seek returns where a pair is among ascending ones, or would be. Its loop has no branch that depends
// on what it finds, which half of the time would be foretold wrongly.
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

// lastOf returns a pair's entries in users.last and users.first, first being the number of the link
// that its last path takes first.
func lastOf(paths, length, k int, first int32) (last, number uint16) {
	if paths < k || length >= open {
		return open, open
	}
	return uint16(length), uint16(min(first, open))
}
