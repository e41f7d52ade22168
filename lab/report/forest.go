package report

import (
	"fmt"
	"math"

	"lightloom/lab/report/plot"
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
	axis := plot.Axis{From: 1 / reach, To: reach, Log: true, Ticks: powers(reach)}
	x := func(v float64) float64 { return left + (w-left-right)*axis.Part(v) }
	s := plot.NewSVG(w, h, "Comparisons over seeds: ratio and 95 % interval")
	for _, t := range axis.Ticks {
		class := "grid"
		if t.At == 1 {
			class = "one"
		}
		s.Line(class, x(t.At), top-4, x(t.At), h-8)
		s.Text("tick", "middle", x(t.At), top-10, t.Text)
	}
	for i, p := range pairs {
		y := top + lane*(float64(i)+.5)
		s.Text("label", "end", left-12, y+4, fmt.Sprintf("%s, against %s", p.Figure, p.Against))
		s.Line("ci "+p.Sign, x(p.Ratio.Low), y, x(p.Ratio.High), y)
		s.Box("dot "+p.Sign, x(p.Ratio.Mean)-4, y-4, 8, 8,
			fmt.Sprintf("%s ÷ %s, %s: %s, %s", p.Policy, p.Against, p.Figure,
				sig(p.Ratio.Mean), p.Ratio.interval()))
		s.Text("tick", "start", w-right+12, y+4,
			fmt.Sprintf("%s (%s), %s", sig(p.Ratio.Mean), p.Ratio.interval(), p.Sign))
	}
	return s.End()
}

// powers are the powers of a round step that an axis around 1 has room for.
func powers(reach float64) []plot.Tick {
	step := 10.0
	switch {
	case reach <= 4:
		step = 1.5
	case reach <= 20:
		step = 2
	case reach <= 100:
		step = 4
	}
	tick := func(v float64) plot.Tick { return plot.Tick{At: v, Text: plain(v)} }
	out := []plot.Tick{tick(1)}
	for v := step; v <= reach*1.0001; v *= step {
		out = append([]plot.Tick{tick(math.Round(1e4/v) / 1e4)}, append(out, tick(math.Round(1e4*v)/1e4))...)
	}
	return out
}
