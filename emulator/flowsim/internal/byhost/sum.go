package byhost

import "time"

// Sum is the total left of rows with individual rates, kept so that readers need not add up thousands of rows.
type Sum struct {
	Rows int32
	bits float64 // a second, of all: whole numbers mostly, so that sums are exact
	left float64 // bytes, at instant at
	at   time.Duration
}

// Row is one of them: what it had left at an instant, and its rate in bits a second and in bytes a nanosecond.
type Row struct {
	Left, Bits, Rate float64
	At               time.Duration
}

// Left returns the bytes that all have left; perBit is the bytes a nanosecond that one bit a second carries.
func (s *Sum) Left(perBit float64, now time.Duration) float64 {
	return max(s.leftAt(perBit, now), 0)
}

func (s *Sum) leftAt(perBit float64, now time.Duration) float64 {
	return s.left - s.bits*perBit*float64(now-s.at)
}

// Add takes a row in, without a rate.
func (s *Sum) Add(left float64) {
	s.Rows++
	s.left += left
}

// Change gives a row another rate.
func (s *Sum) Change(r Row, bits, perBit float64, now time.Duration) {
	s.settle(&r, perBit, now)
	s.bits += bits - r.Bits
}

// Lose takes a row out.
func (s *Sum) Lose(r Row, perBit float64, now time.Duration) {
	s.settle(&r, perBit, now)
	s.bits -= r.Bits
	s.left -= max(r.Left-r.Rate*float64(now-r.At), 0)
	if s.Rows--; s.Rows == 0 {
		*s = Sum{at: now}
	}
}

// settle makes now the instant of the sum, and leaves out what a row has sent beyond its last byte.
func (s *Sum) settle(r *Row, perBit float64, now time.Duration) {
	if now != s.at {
		s.left, s.at = s.leftAt(perBit, now), now
	}
	if raw := r.Left - r.Rate*float64(now-r.At); raw < 0 {
		s.left -= raw
	}
}
