package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// series is one curve.
type series struct {
	name   string
	sorted []float64 // seconds
}

// drawn bounds the points of a curve; more cannot be distinguished on a screen.
const drawn = 400

// cdf draws the share of completion times at or below each time, over a logarithmic axis. Times below
// the axis are drawn at its left end.
func cdf(title string, all []series) string {
	const w, h, left, right, top, bottom = 560.0, 300.0, 44.0, 14.0, 12.0, 40.0
	low, high := axis(all)
	x := func(v float64) float64 {
		f := (math.Log10(max(v, low)) - math.Log10(low)) / (math.Log10(high) - math.Log10(low))
		return left + f*(w-left-right)
	}
	y := func(share float64) float64 { return h - bottom - share*(h-top-bottom) }
	s := newSVG(w, h, title)
	for _, share := range []float64{0, .25, .5, .75, .95, 1} {
		s.line("grid", left, y(share), w-right, y(share))
		s.text("tick", "end", left-6, y(share)+4, fmt.Sprintf("%.0f %%", 100*share))
	}
	for v := low; v <= high*1.001; v *= 10 {
		s.line("grid", x(v), top, x(v), h-bottom)
		s.text("tick", "middle", x(v), h-bottom+16, secondsTick(v))
	}
	for i, one := range all {
		s.path(fmt.Sprintf("curve s%d", 1+i%colours), steps(one.sorted, x, y),
			fmt.Sprintf("%s: p50 %s s, p95 %s s, n %d", one.name, sig(Percentile(one.sorted, .5)),
				sig(Percentile(one.sorted, .95)), len(one.sorted)))
	}
	s.text("tick", "middle", (left+w-right)/2, h-6, "completion time")
	return s.end()
}

// axis returns the whole decades around all values above zero. Values below a ten-thousandth of the
// largest are drawn at the left end, so that one local coflow does not squeeze the rest.
func axis(all []series) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, one := range all {
		for _, v := range one.sorted {
			if v > 0 {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	if high == 0 {
		return 0.001, 1
	}
	low = max(low, high/1e4)
	low, high = math.Pow(10, math.Floor(math.Log10(low)+1e-9)), math.Pow(10, math.Ceil(math.Log10(high)-1e-9))
	if high <= low {
		high = low * 10
	}
	return low, high
}

func secondsTick(v float64) string {
	switch {
	case v >= 0.999:
		return fmt.Sprintf("%.0f s", v)
	case v >= 0.000999:
		return fmt.Sprintf("%.0f ms", v*1e3)
	}
	return fmt.Sprintf("%.0f µs", v*1e6)
}

// steps returns the steps of an empirical distribution, thinned to what is visible.
func steps(sorted []float64, x, y func(float64) float64) string {
	if len(sorted) == 0 {
		return "M0 0"
	}
	var b strings.Builder
	n := len(sorted)
	fmt.Fprintf(&b, "M%s %s", num(x(sorted[0])), num(y(0)))
	for k := range min(n, drawn) {
		i := k
		if n > drawn {
			i = k * (n - 1) / (drawn - 1)
		}
		fmt.Fprintf(&b, "H%sV%s", num(x(sorted[i])), num(y(float64(i+1)/float64(n))))
	}
	return b.String()
}

// curves returns a curve for every row.
func (r *Report) curves(times func(*PolicyResult) []time.Duration) []series {
	var out []series
	for i := range r.results {
		out = append(out, series{r.results[i].Name, sortedIn(time.Second, times(&r.results[i]))})
	}
	return out
}

func ccts(p *PolicyResult) []time.Duration {
	var out []time.Duration
	for i := range p.Coflows {
		out = append(out, p.Coflows[i].CCT())
	}
	return out
}

func jcts(p *PolicyResult) []time.Duration {
	var out []time.Duration
	for i := range p.Jobs {
		if !p.Jobs[i].Cancelled {
			out = append(out, p.Jobs[i].JCT())
		}
	}
	return out
}

// sortedCircuits orders intervals by input, start and the rest, so that input order decides nothing.
func sortedCircuits(c []CircuitInterval) []CircuitInterval {
	out := slices.Clone(c)
	slices.SortFunc(out, compareCircuits)
	return out
}
