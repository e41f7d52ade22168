package circuits

import (
	"math/bits"
	"slices"
	"time"

	"lightloom/southbound"
)

// index is where the pairs of a coflow are, found without looking for them: sets of ports beside the
// sorted pairs.
type index struct {
	words int      // of a set of ports
	has   []uint64 // by input: the outputs of its pairs
	from  []int32  // by input: the position of its first pair
	live  []uint64 // as scheduler.pending: the other sides of a port's pairs that need a circuit still
	alive int      // how many those are
	// by position: what the pairs need, close together for a schedule that looks at some here and there
	needs []time.Duration
}

// build makes the index of pairs, which are sorted by (input, output).
func (x *index) build(pairs []pair, ports int) {
	x.words = wordsOf(ports)
	if len(x.from) != ports {
		x.has, x.live, x.from = make([]uint64, ports*x.words), make([]uint64,
			2*ports*x.words), make([]int32, ports)
	}
	clear(x.has)
	clear(x.live)
	x.alive, x.needs = 0, slices.Grow(x.needs[:0], len(pairs))[:len(pairs)]
	k := 0
	for in := range x.from {
		x.from[in] = int32(k)
		for ; k < len(pairs) && int(pairs[k].in) == in; k++ {
			out := int(pairs[k].out)
			x.has[in*x.words+out/64] |= 1 << (out % 64)
			x.note(k, &pairs[k])
		}
	}
}

// at returns the position of a pair, -1 where it is none.
func (x *index) at(input, output int) int {
	row := x.has[input*x.words : (input+1)*x.words]
	k := int(x.from[input])
	for _, word := range row[:output/64] {
		k += bits.OnesCount64(word)
	}
	word, bit := row[output/64], uint64(1)<<(output%64)
	if word&bit == 0 {
		return -1
	}
	return k + bits.OnesCount64(word&(bit-1))
}

// note keeps what a pair at a position needs.
func (x *index) note(k int, p *pair) {
	in, out := int(p.in), int(p.out)
	if x.live[2*in*x.words+out/64]>>(out%64)&1 == 1 {
		x.alive--
	}
	if p.need > 0 {
		x.alive++
	}
	x.needs[k] = p.need
	mark(x.live, x.words, in, out, p.need > 0)
}

// wanted reports whether a reservation is for a pair of the coflow with bytes left: one that needs time.
func (b *coflowPairs) wanted(in, out southbound.Port) bool {
	return b.live[2*int(in)*b.words+int(out)/64]>>(out%64)&1 == 1
}
