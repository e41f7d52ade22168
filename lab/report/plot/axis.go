package plot

import (
	"fmt"
	"math"
	"strconv"
)

// Scale is how an axis lays out values, and how it writes its ticks.
type Scale int

// The scales. Linear is an axis of numbers with round steps; Seconds has decades of a completion time, at most four,
// and what is less lies at its left end; Shares goes from nothing to all.
const (
	Linear Scale = iota
	Seconds
	Shares
)

// Axis is the range of values along one side of a picture, and what is written there.
type Axis struct {
	From, To float64 // From is less
	Log      bool    // both are above zero
	Ticks    []Tick
}

// Tick is a value that is written at an axis.
type Tick struct {
	At   float64
	Text string
}

// Part is where a value lies between the ends of the axis: 0 to 1. Values beyond an end lie there.
func (a *Axis) Part(v float64) float64 {
	v = min(max(v, a.From), a.To)
	if a.Log {
		return (math.Log10(v) - math.Log10(a.From)) / (math.Log10(a.To) - math.Log10(a.From))
	}
	return (v - a.From) / (a.To - a.From)
}

// Upto is an axis from 0 to a value above zero, with at most eleven ticks.
func Upto(to float64, text func(float64) string) Axis {
	return Axis{To: to, Ticks: steps(0, to, round(to/10), text)}
}

// steps are the ticks from one multiple of a step up to another value.
func steps(from, to, step float64, text func(float64) string) (all []Tick) {
	for i := math.Round(from / step); i*step <= to+step*1e-6; i++ {
		all = append(all, Tick{i * step, text(i * step)})
	}
	return all
}

// axis is the axis of a scale around values.
func (s Scale) axis(values ...[]float64) Axis {
	switch s {
	case Seconds:
		return decades(extent(math.SmallestNonzeroFloat64, values))
	case Shares:
		a := Axis{To: 1}
		for _, share := range []float64{0, .25, .5, .75, .95, 1} {
			a.Ticks = append(a.Ticks, Tick{share, fmt.Sprintf("%.0f %%", 100*share)})
		}
		return a
	}
	low, high := extent(math.Inf(-1), values)
	switch {
	case low > high:
		low, high = 0, 1
	case low == high:
		low, high = low-max(math.Abs(low), 1)/2, high+max(math.Abs(high), 1)/2
	}
	step := round((high - low) / 6)
	a := Axis{From: math.Floor(low/step) * step, To: math.Ceil(high/step) * step}
	a.Ticks = steps(a.From, a.To, step, func(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) })
	return a
}

// decades is the axis of whole decades around times above zero: at most four, since a few tiny values would else
// squeeze the rest.
func decades(low, high float64) Axis {
	if low > high {
		low, high = 0.1, 1
	}
	low = max(low, high/1e4)
	from, to := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	a := Axis{From: math.Pow(10, from), To: math.Pow(10, max(to, from+1)), Log: true}
	for v := a.From; v <= a.To*1.001; v *= 10 {
		a.Ticks = append(a.Ticks, Tick{v, inSeconds(v)})
	}
	return a
}

func inSeconds(v float64) string {
	switch {
	case v >= 0.999:
		return fmt.Sprintf("%.0f s", v)
	case v >= 0.000999:
		return fmt.Sprintf("%.0f ms", v*1e3)
	}
	return fmt.Sprintf("%.0f µs", v*1e6)
}

// extent is the least and the largest of the finite values that are not below a bound; low is above high where there
// are none.
func extent(above float64, values [][]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, all := range values {
		for _, v := range all {
			if finite(v) && v >= above {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	return low, high
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// round returns the least of 1, 2 and 5 times a power of ten that is at least v.
func round(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, n := range []float64{1, 2, 5} {
		if n*power >= v {
			return n * power
		}
	}
	return 10 * power
}
