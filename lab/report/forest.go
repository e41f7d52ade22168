package report

import (
	"fmt"
	"math"
)

// forest draws comparisons over seeds, a line each: the ratio and its interval on a logarithmic axis
// around 1.
func forest(pairs []Paired) string {
	const w, left, right, top, lane = 1120.0, 400.0, 250.0, 26.0, 22.0
	h := top + lane*float64(len(pairs)) + 12
	reach := 2.0 // the axis goes from 1/reach to reach
	for _, p := range pairs {
		for _, v := range []float64{p.Ratio.Low, p.Ratio.High} {
			if v > 0 && !math.IsInf(v, 0) {
				reach = max(reach, v, 1/v)
			}
		}
	}
	reach = min(reach, 1000)
	x := func(v float64) float64 {
		f := math.Log(min(max(v, 1/reach), reach)) / math.Log(reach) // −1 to 1
		return left + (w-left-right)*(1+f)/2
	}
	s := newSVG(w, h, "Comparisons over seeds: ratio and 95 % interval")
	for _, v := range forestTicks(reach) {
		class := "grid"
		if v == 1 {
			class = "one"
		}
		s.line(class, x(v), top-4, x(v), h-8)
		s.text("tick", "middle", x(v), top-10, plain(v))
	}
	for i, p := range pairs {
		y := top + lane*(float64(i)+.5)
		s.text("label", "end", left-12, y+4, fmt.Sprintf("%s, against %s", p.Figure, p.Against))
		s.line("ci "+p.Sign, x(p.Ratio.Low), y, x(p.Ratio.High), y)
		s.box("dot "+p.Sign, x(p.Ratio.Mean)-4, y-4, 8, 8,
			fmt.Sprintf("%s ÷ %s, %s: %s, %s", p.Policy, p.Against, p.Figure,
				sig(p.Ratio.Mean), p.Ratio.interval()))
		s.text("tick", "start", w-right+12, y+4,
			fmt.Sprintf("%s (%s), %s", sig(p.Ratio.Mean), p.Ratio.interval(), p.Sign))
	}
	return s.end()
}

// forestTicks are the powers of a round step within the axis.
func forestTicks(reach float64) []float64 {
	step := 10.0
	switch {
	case reach <= 4:
		step = 1.5
	case reach <= 20:
		step = 2
	case reach <= 100:
		step = 4
	}
	out := []float64{1}
	for v := step; v <= reach*1.0001; v *= step {
		out = append([]float64{math.Round(1e4/v) / 1e4}, append(out, math.Round(1e4*v)/1e4)...)
	}
	return out
}
