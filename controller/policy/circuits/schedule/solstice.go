package schedule

import (
	"math"
	"math/bits"
	"time"

	"lightloom/southbound"
)

// Solstice makes few and long slots (Liu, Mukerjee, Li, Feltman, Papen, Savage, Seshan, Voelker,
// Andersen, Kaminsky, Porter, Snoeren: Scheduling techniques for hybrid circuit/packet networks, CoNEXT
// 2015). The matrix is stuffed to equal sums (QuickStuff). Then matchings of all ports are taken from
// it, of pairs above a threshold (BigSlice): that is the largest power of two, in nanoseconds, that is
// at most the largest entry, and is halved where there is no such matching. It only selects: as in its
// authors' code, a slot lasts the smallest entry of its matching.
//
// packets is the packet network's fraction of a circuit's rate: as in the paper the schedule ends as
// soon as no port has more left than packets carry meanwhile. With 0 circuits carry all, the last short
// slices too.
func Solstice(m Matrix, lit []southbound.Port, delta time.Duration, packets float64) Schedule {
	s := Schedule{Lit: lit}
	if m.Empty() {
		return s
	}
	left, full := m.Clone(), stuff(m)
	match := fill(len(m), -1)
	threshold := time.Duration(1) << (bits.Len64(uint64(full.most())) - 1)
	long := time.Duration(0)
	for left.Largest() > time.Duration(packets*float64(long)) {
		if !Perfect(len(m), func(i, j int) bool { return full[i][j] > threshold }, match) {
			threshold >>= 1
			continue
		}
		slice := time.Duration(math.MaxInt64)
		for i, j := range match {
			slice = min(slice, full[i][j])
		}
		for i, j := range match {
			full[i][j] -= slice
		}
		out := real(match, left)
		long += s.add(out, slice, delta)
		serve(left, out, slice)
	}
	return s
}

// most is the largest demand.
func (m Matrix) most() time.Duration {
	most := time.Duration(0)
	for i := range m {
		for _, d := range m[i] {
			most = max(most, d)
		}
	}
	return most
}
