package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lightloom/controller"
	"lightloom/lab/report/plot"
)

// drawnCircuits bounds the bars of one picture.
const drawnCircuits = 4000

func compareCircuits(a, b CircuitInterval) int {
	return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.Moving, b.Moving),
		cmp.Compare(a.InService, b.InService),
		cmp.Compare(a.End, b.End), cmp.Compare(a.Out, b.Out), cmp.Compare(a.Coflow, b.Coflow))
}

// thinned returns the circuits that one picture has room for, evenly among all inputs and times: those
// of the least keys, which follow from the circuits alone.
func thinned(all []CircuitInterval) []CircuitInterval {
	if len(all) <= drawnCircuits {
		return all
	}
	slices.SortFunc(all, compareDrawn)
	return all[:drawnCircuits]
}

func compareDrawn(a, b CircuitInterval) int {
	return cmp.Or(cmp.Compare(drawKey(a), drawKey(b)), compareCircuits(a, b))
}

// drawKey mixes what tells circuits apart (the finaliser of SplitMix64), so that its order has nothing
// to do with theirs.
func drawKey(c CircuitInterval) uint64 {
	k := uint64(c.Moving)*0x9e3779b97f4a7c15 ^ uint64(c.In)<<32 ^ uint64(c.Out)
	k = (k ^ k>>30) * 0xbf58476d1ce4e5b9
	k = (k ^ k>>27) * 0x94d049bb133111eb
	return k ^ k>>31
}

// gantt draws the circuits of one row: a lane an input, a bar a circuit, its colour the output, its
// first, hatched part the reconfiguration delay. span is the time of the whole axis, the same for all
// rows, so that pictures can be compared.
func gantt(p *PolicyResult, span time.Duration, f *Fabric) string {
	circuits := sortedCircuits(p.Circuits)
	const w, left, right, top, lane = 1120.0, 64.0, 16.0, 8.0, 18.0
	ports, all := max(1, p.moved().Ports), max(len(circuits), p.moved().Circuits)
	for _, c := range circuits {
		ports = max(ports, int(c.In)+1, int(c.Out)+1)
	}
	h := top + lane*float64(ports) + 40
	axis := timeAxis(span)
	x := func(d time.Duration) float64 { return left + (w-left-right)*axis.Part(float64(d)) }
	s := plot.NewSVG(w, h, fmt.Sprintf("Circuits under %s: %d, by input port over time", p.Name, all))
	timeGrid(s, &axis, left, w-right, top, h-32)
	for in := range ports {
		y := top + lane*float64(in)
		s.Line("grid", left, y+lane, w-right, y+lane)
		s.Text("tick", "end", left-6, y+13, "rack "+f.end(in))
	}
	if all > drawnCircuits {
		circuits = thinned(circuits)
	}
	for _, c := range circuits {
		bar(s, c, f, x, top+lane*float64(c.In)+2, lane-4)
	}
	if all > drawnCircuits {
		s.Text("tick", "end", w-right, h-4, fmt.Sprintf("%s of %s circuits are drawn, evenly among all",
			thousands(drawnCircuits), thousands(int64(all))))
	}
	s.Text("tick", "start", left, h-4, "time since the run began, as long as the slowest row's; a bar's "+
		"colour and number: the rack it leads to; "+
		"hatched: being set up")
	return s.End()
}

// end names an OCS port: its rack, its OCS where there are several, and its wavelength if that is not
// the first.
func (f *Fabric) end(port int) string {
	if f.Racks == 0 {
		return strconv.Itoa(port)
	}
	wave, name := port/f.Racks, strconv.Itoa(port%f.Racks)
	if f.OCSes > 1 {
		each := max(1, f.Waves)
		name += fmt.Sprintf(" ocs%d", wave/each)
		wave %= each
	}
	if wave > 0 {
		name += fmt.Sprintf(" λ%d", wave+1)
	}
	return name
}

func bar(s *plot.SVG, c CircuitInterval, f *Fabric, x func(time.Duration) float64, y, h float64) {
	inService := min(max(c.InService, c.Moving), c.End)
	served := fmt.Sprintf("coflow %d", c.Coflow)
	if c.Coflow == controller.AnyCoflow {
		served = "every coflow"
	}
	from, to := f.end(int(c.In)), f.end(int(c.Out))
	title := fmt.Sprintf("rack %s → rack %s for %s: asked at %v, in service at %v, ended at %v",
		from, to, served,
		c.Moving.Round(time.Microsecond), inService.Round(time.Microsecond), c.End.Round(time.Microsecond))
	if inService == c.End {
		title = fmt.Sprintf("rack %s → rack %s for %s: asked at %v, never used, ended at %v", from, to, served,
			c.Moving.Round(time.Microsecond), c.End.Round(time.Microsecond))
	}
	class := "bar " + plot.Series(int(c.Out))
	if inService > c.Moving {
		s.Rect("moving", x(c.Moving), y, max(x(inService)-x(c.Moving), 0.5), h, title)
	}
	if wide := x(c.End) - x(inService); inService < c.End {
		s.Rect(class, x(inService), y, max(wide, 0.5), h, title)
		if wide > 16 {
			s.Text("on", "middle", x(inService)+wide/2, y+h-3, to)
		}
	}
}

// timeAxis is the axis of a run.
func timeAxis(span time.Duration) plot.Axis {
	return plot.Upto(float64(max(span, time.Microsecond)), func(v float64) string { return time.Duration(v).String() })
}

// timeGrid draws the ticks of an axis of time from left to right, and what they say below.
func timeGrid(s *plot.SVG, axis *plot.Axis, left, right, top, bottom float64) {
	for _, t := range axis.Ticks {
		x := left + (right-left)*axis.Part(t.At)
		s.Line("grid", x, top, x, bottom)
		anchor := "middle"
		if x > right-16 { // it would leave the picture
			anchor = "end"
		}
		s.Text("tick", anchor, x, bottom+14, t.Text)
	}
}

// sortedCircuits orders intervals by input, start and the rest, so that input order decides nothing.
func sortedCircuits(c []CircuitInterval) []CircuitInterval {
	out := slices.Clone(c)
	slices.SortFunc(out, compareCircuits)
	return out
}

// span is the longest run of all rows.
func (r *Report) span() time.Duration {
	var d time.Duration
	for i := range r.results {
		d = max(d, r.results[i].moved().Last)
		for _, c := range r.results[i].Circuits {
			d = max(d, c.End)
		}
		for _, f := range r.results[i].Faults {
			d = max(d, f.To)
		}
		for _, j := range r.results[i].Jobs {
			d = max(d, j.End)
		}
	}
	return d
}
