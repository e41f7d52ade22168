package schedule

import (
	"time"

	"lightloom/southbound"
)

// eclipseTries bounds how many lengths of a slot are tried, spread evenly over those that some demand has.
const eclipseTries = 24

// Eclipse takes, again and again, the matching and the length that carry most for the time they take,
// reconfiguration delay included (Bojja Venkatakrishnan, Alizadeh, Viswanath: Costly circuits,
// submodular schedules and approximate Carathéodory theorems, SIGMETRICS 2016, Algorithm 2). What a set
// of slots carries is submodular, so that within a window the greedy choice carries at least 1−1/e of
// the best, but for the slot that crosses its end. It ends with the window, or where that is zero once
// all is carried.
//
// Lengths are those of what is left somewhere: between two of them the gain grows no faster than the
// length. Where there are more than 24 such lengths an even choice of them is tried.
func Eclipse(m Matrix, lit []southbound.Port, delta, window time.Duration) Schedule {
	s := Schedule{Lit: lit}
	left, long := m.Clone(), time.Duration(0)
	for !left.Empty() && (window == 0 || long < window) {
		best, carry := densest(left, &s, delta)
		long += s.add(best, carry, delta)
		serve(left, best, carry)
	}
	if window > 0 {
		s.Cut(window, delta)
	}
	return s
}

// densest returns the matching and the length of the most bytes for the time.
func densest(left Matrix, s *Schedule, delta time.Duration) (best []southbound.Port, carry time.Duration) {
	values := left.sortedValues()
	tries := min(len(values), eclipseTries)
	density := -1.0
	for k := range tries {
		long := values[(k+1)*len(values)/tries-1]
		out, sum := heaviest(left, func(d time.Duration) time.Duration { return min(d, long) })
		if d := float64(sum) / float64(long+delta); d > density {
			best, carry, density = out, long, d
		}
	}
	return best, carry
}
