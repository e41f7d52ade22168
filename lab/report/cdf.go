package report

import (
	"fmt"
	"slices"
	"time"

	"lightloom/lab/report/plot"
)

// drawn bounds the points of a curve; more cannot be distinguished on a screen.
const drawn = 400

// distribution draws the share of completion times at or below each time.
func distribution(name, title, x, y string, lines []plot.Line) plot.Chart {
	return plot.Chart{Name: name, Title: title, X: x, Y: y, XScale: plot.Seconds, YScale: plot.Shares, Lines: lines}
}

// completionTimes draws a distribution for the page.
func completionTimes(title string, lines []plot.Line) string {
	c := distribution("", title, "completion time", "", lines)
	return c.Page()
}

// curve is the empirical distribution of sorted times in seconds, thinned to what is visible.
func curve(name string, sorted []float64) plot.Line {
	n := len(sorted)
	l := plot.Line{Name: name, StepFunction: true, Note: fmt.Sprintf("%s: p50 %s s, p95 %s s, n %d", name,
		sig(Percentile(sorted, .5)), sig(Percentile(sorted, .95)), n)}
	if n > 0 {
		l.X, l.Y = append(l.X, sorted[0]), append(l.Y, 0)
	}
	for k := range min(n, drawn) {
		i := k
		if n > drawn {
			i = k * (n - 1) / (drawn - 1)
		}
		l.X, l.Y = append(l.X, sorted[i]), append(l.Y, float64(i+1)/float64(n))
	}
	return l
}

// curves returns the distribution of every row.
func (r *Report) curves(times func(*PolicyResult) []time.Duration) (lines []plot.Line) {
	for i := range r.results {
		lines = append(lines, curve(r.results[i].Name, sortedIn(time.Second, times(&r.results[i]))))
	}
	return lines
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

// took returns how long the rows took that were not cancelled, sorted.
func took(rows []Row) []float64 {
	var out []float64
	for i := range rows {
		if !rows[i].Cancelled {
			out = append(out, rows[i].Took)
		}
	}
	slices.Sort(out)
	return out
}
