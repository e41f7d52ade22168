package schedule

import (
	"math/bits"
	"time"

	"lightloom/southbound"
)

// Solstice makes few and long slots (Liu, Mukerjee, Li, Feltman, Papen, Savage, Seshan, Voelker, Andersen, Kaminsky,
// Porter, Snoeren: Scheduling techniques for hybrid circuit/packet networks, CoNEXT 2015). The matrix is stuffed to
// equal sums (QuickStuff); then the largest power of two, in units that divide all demands, is sought at which some
// matching has every pair at least that long (BigSlice), which holds for that time, and so on down.
//
// packets says what part of a circuit's rate the packet network has: as in the paper it ends as soon as no port has
// more left than packets carry during the schedule. With 0 circuits carry all, the last short slices too.
func Solstice(m Matrix, lit []southbound.Port, delta time.Duration, packets float64) Schedule {
	s := Schedule{Lit: lit}
	if m.Empty() {
		return s
	}
	left, full := m.Clone(), stuff(m)
	match := fill(len(m), -1)
	unit := left.unit()
	slice := unit << (bits.Len64(uint64(full.most()/unit)) - 1)
	long := time.Duration(0)
	for slice >= unit && left.Largest() > time.Duration(packets*float64(long)) {
		if !Perfect(len(m), func(i, j int) bool { return full[i][j] >= slice }, match) {
			slice >>= 1
			continue
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

// unit is the largest time of which all demands are multiples, 0 where there is none.
func (m Matrix) unit() time.Duration {
	g := time.Duration(0)
	for i := range m {
		for _, d := range m[i] {
			for d > 0 {
				g, d = d, g%d
			}
		}
	}
	return g
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
