package flowsim

import "time"

// leftSum is the total left of rows with individual rates, kept so that readers need not add up
// thousands of rows.
type leftSum struct {
	Rows int32
	bits float64 // a second, of all: whole numbers mostly, so that sums are exact
	left float64 // bytes, at instant at
	at   time.Duration
}

// rateRow is one of them: what it had left at an instant, and its rate in bits a second and in bytes a
// nanosecond.
type rateRow struct {
	Left, Bits, Rate float64
	At               time.Duration
}

// Left returns the bytes that all have left; perBit is the bytes a nanosecond that one bit a second carries.
func (s *leftSum) Left(perBit float64, now time.Duration) float64 {
	return max(s.leftAt(perBit, now), 0)
}

func (s *leftSum) leftAt(perBit float64, now time.Duration) float64 {
	return s.left - s.bits*perBit*float64(now-s.at)
}

// Add takes a row in, without a rate.
func (s *leftSum) Add(left float64) {
	s.Rows++
	s.left += left
}

// Change gives a row another rate.
func (s *leftSum) Change(r rateRow, bits, perBit float64, now time.Duration) {
	s.settle(&r, perBit, now)
	s.bits += bits - r.Bits
}

// ChangeMany gives rows other rates, more bits a second together. None has sent beyond its last byte.
func (s *leftSum) ChangeMany(more, perBit float64, now time.Duration) {
	s.settle(&rateRow{At: now}, perBit, now)
	s.bits += more
}

// Lose takes a row out.
func (s *leftSum) Lose(r rateRow, perBit float64, now time.Duration) {
	s.settle(&r, perBit, now)
	s.bits -= r.Bits
	s.left -= max(r.Left-r.Rate*float64(now-r.At), 0)
	if s.Rows--; s.Rows == 0 {
		*s = leftSum{at: now}
	}
}

// settle makes now the instant of the sum, and leaves out what a row has sent beyond its last byte.
func (s *leftSum) settle(r *rateRow, perBit float64, now time.Duration) {
	if now != s.at {
		s.left, s.at = s.leftAt(perBit, now), now
	}
	if raw := r.Left - r.Rate*float64(now-r.At); raw < 0 {
		s.left -= raw
	}
}
