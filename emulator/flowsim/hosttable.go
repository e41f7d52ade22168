package flowsim

import (
	"math/bits"
	"slices"

	"lightloom/southbound"
)

// hostTable finds the rows of a coflow by their hosts.
type hostTable struct {
	words   int // of a set of hosts
	dsts    []southbound.HostID
	has     []uint64 // by destination, a set: the sources of rows
	live    []uint64 // likewise, without rows reported as ended
	firsts  []int32  // by destination and word: the row of the first of those sources, or where it would be
	changed []uint64 // sources with another rate; nothing in it outlives a call
}

// newHostTable returns the table of the given number of rows, sorted by destination, then source,
// without duplicates. ends returns the source and destination of a row.
func newHostTable(hosts, rows int, ends func(row int) (src, dst southbound.HostID)) *hostTable {
	t := &hostTable{words: (hosts + 63) / 64}
	t.changed = make([]uint64, t.words)
	for r := range rows {
		src, dst := ends(r)
		if n := len(t.dsts); n == 0 || t.dsts[n-1] != dst {
			t.dsts, t.has = append(t.dsts, dst), append(t.has, make([]uint64, t.words)...)
		}
		t.has[len(t.has)-t.words+int(src/64)] |= 1 << (src % 64)
	}
	row := int32(0)
	for _, set := range t.has {
		t.firsts = append(t.firsts, row)
		row += int32(bits.OnesCount64(set))
	}
	t.live = slices.Clone(t.has)
	return t
}

// rowAt returns the row of a source, given by the place and the bit that it has in the sets.
func (t *hostTable) rowAt(at int, bit uint64) int32 {
	return t.firsts[at] + int32(bits.OnesCount64(t.has[at]&(bit-1)))
}

// Changed calls f with each row whose rate is another: the smaller of its source's and its
// destination's, which were wasFrom and wasTo and are from and to, by host. A row for which f says that
// it has ended is not met again.
func (t *hostTable) Changed(wasFrom, from, wasTo, to []float64, f func(row int32) (live bool)) {
	clear(t.changed)
	for h, rate := range from {
		if rate != wasFrom[h] {
			t.changed[h/64] |= 1 << (h % 64)
		}
	}
	for i, dst := range t.dsts {
		was, now, all := wasTo[dst], to[dst], uint64(0)
		if was != now {
			all = ^uint64(0)
		}
		for w, changed := range t.changed {
			at := i*t.words + w
			for word := t.live[at] & (changed | all); word != 0; word &= word - 1 {
				src := w*64 + bits.TrailingZeros64(word)
				if min(wasFrom[src], was) == min(from[src], now) {
					continue
				}
				low := word & -word
				if !f(t.rowAt(at, low)) {
					t.live[at] &^= low
				}
			}
		}
	}
}
