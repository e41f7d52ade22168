package flowsim

import (
	"time"

	"lightloom/southbound"
)

// apart is what the rows of a coflow that have rates of their own have left together, so that nobody need add up
// thousands of rows.
type apart struct {
	rows int32
	bits float64 // a second, of all: whole numbers mostly, so that sums are exact
	left float64 // bytes, at instant at
	at   time.Duration
}

func (a *apart) leftAt(perBit float64, now time.Duration) float64 {
	return a.left - a.bits*perBit*float64(now-a.at)
}

// settle makes now the instant that is told of, and leaves out what a row has sent beyond its last byte.
func (a *apart) settle(r *individualRate, perBit float64, now time.Duration) {
	if now != a.at {
		a.left, a.at = a.leftAt(perBit, now), now
	}
	if raw := r.left - r.rate*float64(now-r.at); raw < 0 {
		a.left -= raw
	}
}

// change gives a row another rate.
func (a *apart) change(r *individualRate, bits, perBit float64, now time.Duration) {
	a.settle(r, perBit, now)
	a.bits += bits - r.bits
}

// lose takes a row out.
func (a *apart) lose(r *individualRate, perBit float64, now time.Duration) {
	a.settle(r, perBit, now)
	a.bits -= r.bits
	a.left -= r.leftAt(now)
	if a.rows--; a.rows == 0 {
		*a = apart{at: now}
	}
}

// Total returns how many bytes a coflow has left, all rows together; false where it is not known.
func (s *Sim) Total(c southbound.CoflowID) (float64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.fluid.byID[c]
	if !ok {
		return 0, false
	}
	return s.fluid.total(&s.fluid.coflows[i]), true
}

// total adds up what is left of a coflow.
func (f *fluid) total(co *coflow) float64 {
	if co.apart.rows == co.live && len(co.legs) == 0 {
		return max(co.apart.leftAt(f.perBit, f.clock.Now()), 0)
	}
	sum := 0.0
	for b := co.first; b < co.end; b++ {
		sum += f.leftOf(b)
	}
	return sum
}
