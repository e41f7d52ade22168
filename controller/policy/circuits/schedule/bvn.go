package schedule

import (
	"math"
	"time"

	"lightloom/southbound"
)

// BvN clears a matrix with matchings that together carry for just its largest row or column sum:
// Birkhoff and von Neumann's decomposition in the form of Inukai's optimal clearance (An efficient
// SS/TDMA time slot assignment algorithm, IEEE Trans. Commun. 27(10), 1979). The matrix is stuffed to
// equal sums; each matching then covers every port that has no time to lose and holds until one of its
// pairs is done. At most n²−2n+2 slots.
//
// It is optimal where resuming a circuit is free. Each slot costs a reconfiguration delay here, and
// there are many.
func BvN(m Matrix, lit []southbound.Port, delta time.Duration) Schedule {
	s := Schedule{Lit: lit}
	left, full := m.Clone(), stuff(m)
	match := fill(len(m), -1)
	for !left.Empty() {
		if !Perfect(len(m), func(i, j int) bool { return full[i][j] > 0 }, match) {
			panic("schedule: a matrix of equal sums without perfect matching")
		}
		carry := time.Duration(math.MaxInt64)
		for i, j := range match {
			carry = min(carry, full[i][j])
		}
		for i, j := range match {
			full[i][j] -= carry
		}
		out := real(match, left)
		s.add(out, carry, delta)
		serve(left, out, carry)
	}
	return s
}
