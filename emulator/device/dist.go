package device

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// Shape is the family of a distribution.
type Shape uint8

// The shapes.
const (
	Constant    Shape = iota // always A
	Uniform                  // between A and B
	Normal                   // mean A, standard deviation B, drawn again while below Min or above Max
	Exponential              // A and above, with mean A+B, drawn again while above Max
)

// Dist is a distribution of delays. The zero value is always zero. Draws are whole nanoseconds, never
// below zero.
//
// Its text form is a duration ("10ms"), "uniform(A,B)", "normal(MEAN,SD)", "normal(MEAN,SD,MIN,MAX)",
// "exp(A,MEAN)" or "exp(A,MEAN,MAX)", where exp's MEAN is what comes on top of A.
type Dist struct {
	Shape    Shape
	A, B     time.Duration
	Min, Max time.Duration // Normal and Exponential; Max 0 means none
}

// Fixed returns the distribution that is always d.
func Fixed(d time.Duration) Dist { return Dist{A: d} }

// IsZero reports whether every draw is zero.
func (d Dist) IsZero() bool { return d.Shape == Constant && d.A == 0 }

// maxDraws bounds the redraws of a truncated distribution; Check refuses those that would need more
// than a few.
const maxDraws = 64

// Draw returns a delay. A constant takes nothing from r, which may then be nil.
func (d Dist) Draw(r *rand.Rand) time.Duration {
	switch d.Shape {
	case Constant:
		return max(d.A, 0)
	case Uniform:
		return d.A + time.Duration(r.Int64N(int64(d.B-d.A)+1))
	}
	for range maxDraws {
		v := d.A
		if d.Shape == Normal {
			v += time.Duration(math.Round(r.NormFloat64() * float64(d.B)))
		} else {
			v += time.Duration(math.Round(r.ExpFloat64() * float64(d.B)))
		}
		if v >= d.Min && v >= 0 && v <= d.upper() {
			return v
		}
	}
	return min(max(d.A, d.Min, 0), d.upper())
}

func (d Dist) upper() time.Duration {
	if d.Max > 0 {
		return d.Max
	}
	return math.MaxInt64
}

// Check returns an error if d is invalid.
func (d Dist) Check() error {
	switch {
	case d.A < 0 || d.B < 0 || d.Min < 0 || d.Max < 0:
		return fmt.Errorf("delay %v: durations below zero", d)
	case d.A > maxDelay || d.B > maxDelay || d.Min > maxDelay || d.Max > maxDelay:
		return fmt.Errorf("delay %v: durations above %v", d, maxDelay)
	case d.Shape > Exponential:
		return fmt.Errorf("delay: shape %d is unknown", d.Shape)
	case d.Shape == Uniform && d.B < d.A:
		return fmt.Errorf("delay %v: the second bound is below the first: write uniform(%v,%v)", d, d.B, d.A)
	case d.Max > 0 && d.Max < d.Min:
		return fmt.Errorf("delay %v: the highest is below the lowest", d)
	case d.Shape >= Normal && (d.A < d.Min || d.A > d.upper()):
		return fmt.Errorf("delay %v: the mean is outside its bounds", d)
	}
	return nil
}

// maxDelay keeps sums of delays far from overflow.
const maxDelay = 24 * time.Hour

func (d Dist) String() string {
	switch d.Shape {
	case Uniform:
		return fmt.Sprintf("uniform(%v,%v)", d.A, d.B)
	case Normal:
		if d.Min == 0 && d.Max == 0 {
			return fmt.Sprintf("normal(%v,%v)", d.A, d.B)
		}
		return fmt.Sprintf("normal(%v,%v,%v,%v)", d.A, d.B, d.Min, d.Max)
	case Exponential:
		if d.Max == 0 {
			return fmt.Sprintf("exp(%v,%v)", d.A, d.B)
		}
		return fmt.Sprintf("exp(%v,%v,%v)", d.A, d.B, d.Max)
	}
	return d.A.String()
}

// ParseDist reads the text form.
func ParseDist(s string) (Dist, error) {
	name, args, call := strings.Cut(s, "(")
	if !call {
		v, err := time.ParseDuration(s)
		if err != nil {
			return Dist{}, fmt.Errorf("parse delay %q: write a duration such as 10ms, uniform(A,B), normal(MEAN,SD) or "+
				"exp(A,MEAN)", s)
		}
		return checked(s, Fixed(v))
	}
	args, ok := strings.CutSuffix(args, ")")
	if !ok {
		return Dist{}, fmt.Errorf("parse delay %q: the closing ')' is missing", s)
	}
	var v []time.Duration
	for i, a := range strings.Split(args, ",") {
		x, err := time.ParseDuration(strings.TrimSpace(a))
		if err != nil {
			return Dist{}, fmt.Errorf("parse delay %q: argument %d, %q, is no duration such as 10ms", s, i+1, a)
		}
		v = append(v, x)
	}
	switch {
	case name == "uniform" && len(v) == 2:
		return checked(s, Dist{Shape: Uniform, A: v[0], B: v[1]})
	case name == "normal" && len(v) == 2:
		return checked(s, Dist{Shape: Normal, A: v[0], B: v[1]})
	case name == "normal" && len(v) == 4:
		return checked(s, Dist{Shape: Normal, A: v[0], B: v[1], Min: v[2], Max: v[3]})
	case name == "exp" && len(v) == 2:
		return checked(s, Dist{Shape: Exponential, A: v[0], B: v[1]})
	case name == "exp" && len(v) == 3:
		return checked(s, Dist{Shape: Exponential, A: v[0], B: v[1], Max: v[2]})
	}
	return Dist{}, fmt.Errorf("parse delay %q: want uniform(A,B), normal(MEAN,SD), normal(MEAN,SD,MIN,MAX), exp(A,MEAN) "+
		"or exp(A,MEAN,MAX)", s)
}

func checked(s string, d Dist) (Dist, error) {
	if err := d.Check(); err != nil {
		return Dist{}, fmt.Errorf("parse delay %q: %w", s, err)
	}
	return d, nil
}
