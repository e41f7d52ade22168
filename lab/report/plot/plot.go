// Package plot draws line charts as SVG and PDF: curves over two axes, with intervals. The pages of
// reports draw their own pictures, whose colours are the page's.
package plot

import (
	"math"
	"os"
	"strconv"
)

// Chart is one picture.
type Chart struct {
	Title string
	X, Y  string // labels with units
	LogX  bool   // the X axis has decades; what is not above zero lies at its left end
	Lines []Line
}

// Line is one curve.
type Line struct {
	Name         string
	X, Y         []float64
	Low, High    []float64 // by point; nil: no interval
	StepFunction bool      // a distribution
}

// The picture's size and margins, in pixels.
const (
	width, height = 640.0, 420.0
	left, right   = 64.0, 16.0
	top, bottom   = 36.0, 48.0
	row           = 16.0 // of the legend
)

// WriteFiles writes the picture as SVG and as PDF to files of that name and an ending, and returns those
// that it has written.
func (c *Chart) WriteFiles(name string) (files []string, err error) {
	pdf, err := c.PDF()
	if err != nil {
		return nil, err
	}
	for _, one := range []struct {
		ending string
		data   []byte
	}{{".svg", c.SVG()}, {".pdf", pdf}} {
		if err := os.WriteFile(name+one.ending, one.data, 0o644); err != nil {
			return files, err
		}
		files = append(files, name+one.ending)
	}
	return files, nil
}

// pen draws on a page of width × height pixels, whose origin is the upper left corner.
type pen interface {
	// title names the picture for programs that read it out.
	title(s string)
	// line draws through the points, in the i-th line's style; grid for the grid's.
	line(style int, through []point)
	// text writes s at a point: anchor is start, middle or end; upwards turns it by 90 degrees.
	text(at point, anchor, s string, upwards bool)
}

type point struct{ x, y float64 }

// grid is the style of lines of the grid.
const grid = -1

// draw draws the chart.
func (c *Chart) draw(to pen) {
	p := &picture{pen: to, x: c.axis(true), y: c.axis(false)}
	p.title(c.Title)
	p.text(point{width / 2, 22}, "middle", c.Title, false)
	p.grid(c)
	for i, l := range c.Lines {
		p.curve(i, l)
	}
	for i, l := range c.Lines {
		y := top + row*float64(i+1)
		p.line(i, []point{{left + 8, y - 4}, {left + 32, y - 4}})
		p.text(point{left + 38, y}, "start", l.Name, false)
	}
}

// axis is the range of values that an axis shows; from is less than to.
type axis struct {
	from, to, step float64
	log            bool // from and to are powers of ten, step is not used
}

// part is where a value lies between the ends of the axis.
func (a axis) part(v float64) float64 {
	if a.log {
		return (math.Log10(max(v, a.from)) - math.Log10(a.from)) / (math.Log10(a.to) - math.Log10(a.from))
	}
	return (v - a.from) / (a.to - a.from)
}

// ticks are the values that are written at the axis.
func (a axis) ticks() (all []float64) {
	if a.log {
		for v := a.from; v <= a.to*1.001; v *= 10 {
			all = append(all, v)
		}
		return all
	}
	for i := 0.0; a.from+i*a.step <= a.to+a.step/2; i++ {
		all = append(all, a.from+i*a.step)
	}
	return all
}

func (c *Chart) axis(horizontal bool) axis {
	low, high := math.Inf(1), math.Inf(-1)
	logarithmic := horizontal && c.LogX
	see := func(all []float64) {
		for _, v := range all {
			if finite(v) && (v > 0 || !logarithmic) {
				low, high = min(low, v), max(high, v)
			}
		}
	}
	for _, l := range c.Lines {
		if horizontal {
			see(l.X)
			continue
		}
		see(l.Y)
		see(l.Low)
		see(l.High)
	}
	if logarithmic {
		return decades(low, high)
	}
	switch {
	case low > high:
		low, high = 0, 1
	case low == high:
		low, high = low-max(math.Abs(low), 1)/2, high+max(math.Abs(high), 1)/2
	}
	step := round((high - low) / 6)
	return axis{from: math.Floor(low/step) * step, to: math.Ceil(high/step) * step, step: step}
}

// decades is the axis of whole decades around values above zero: at most four, since a few tiny values
// would else squeeze the rest.
func decades(low, high float64) axis {
	if low > high {
		return axis{from: 0.1, to: 1, log: true}
	}
	low = max(low, high/1e4)
	from, to := math.Floor(math.Log10(low)+1e-9), math.Ceil(math.Log10(high)-1e-9)
	return axis{from: math.Pow(10, from), to: math.Pow(10, max(to, from+1)), log: true}
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

// picture is a chart under way.
type picture struct {
	pen
	x, y axis
}

func (p *picture) at(x, y float64) point {
	return point{left + p.x.part(x)*(width-left-right), height - bottom - p.y.part(y)*(height-top-bottom)}
}

func (p *picture) grid(c *Chart) {
	for _, v := range p.x.ticks() {
		x := p.at(v, p.y.from).x
		p.line(grid, []point{{x, top}, {x, height - bottom}})
		p.text(point{x, height - bottom + 16}, "middle", tick(v), false)
	}
	for _, v := range p.y.ticks() {
		y := p.at(p.x.from, v).y
		p.line(grid, []point{{left, y}, {width - right, y}})
		p.text(point{left - 6, y + 4}, "end", tick(v), false)
	}
	p.text(point{(left + width - right) / 2, height - 10}, "middle", c.X, false)
	p.text(point{14, (top + height - bottom) / 2}, "middle", c.Y, true)
}

// curve draws a line; values that are not finite are gaps.
func (p *picture) curve(i int, l Line) {
	var part []point
	for k := range l.X {
		if !finite(l.Y[k]) {
			p.line(i, part)
			part = nil
			continue
		}
		at := p.at(l.X[k], l.Y[k])
		if len(part) > 0 && l.StepFunction {
			part = append(part, point{at.x, part[len(part)-1].y})
		}
		part = append(part, at)
	}
	p.line(i, part)
	for k := range l.Low {
		low, high := p.at(l.X[k], l.Low[k]), p.at(l.X[k], l.High[k])
		p.line(i, []point{{low.x - 4, low.y}, {low.x + 4, low.y}})
		p.line(i, []point{low, high})
		p.line(i, []point{{high.x - 4, high.y}, {high.x + 4, high.y}})
	}
}

// style is the i-th line's colour (of Okabe and Ito, which the colour-blind can tell apart) and dashes.
func style(i int) (red, green, blue int, dashes []float64) {
	colours := [][3]int{{0, 114, 178}, {213, 94, 0}, {0, 158, 115}, {204, 121, 167}, {230, 159, 0},
		{86, 180, 233}, {0, 0, 0}}
	c := colours[i%len(colours)]
	return c[0], c[1], c[2], [][]float64{nil, {6, 3}, {2, 2}, {8, 3, 2, 3}}[i%4]
}

func tick(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
