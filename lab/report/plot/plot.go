// Package plot draws line charts as SVG: curves over two linear axes, with intervals. The pages of reports draw their
// own pictures, whose colours are the page's.
package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// Chart is one picture.
type Chart struct {
	Title string
	X, Y  string // labels with units
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

// SVG returns the picture as a file.
func (c *Chart) SVG() []byte {
	p := &picture{x: c.axis(true), y: c.axis(false)}
	p.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%v" height="%v" role="img" `+
		`font-family="sans-serif" font-size="12">`, width, height, width, height)
	p.put(`<title>%s</title><rect width="100%%" height="100%%" fill="white"/>`, html.EscapeString(c.Title))
	p.text(width/2, 22, "middle", c.Title)
	p.grid(c)
	for i, l := range c.Lines {
		p.line(i, l)
	}
	for i, l := range c.Lines {
		y := top + row*float64(i+1)
		p.put(`<path d="M%v %s h24" %s/>`, left+8, num(y-4), stroke(i))
		p.text(left+38, y, "start", l.Name)
	}
	p.put("</svg>")
	return []byte(p.b.String())
}

// axis is the range of values that an axis shows; from is less than to.
type axis struct{ from, to, step float64 }

func (c *Chart) axis(horizontal bool) axis {
	low, high := math.Inf(1), math.Inf(-1)
	see := func(all []float64) {
		for _, v := range all {
			if finite(v) {
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
	switch {
	case low > high:
		low, high = 0, 1
	case low == high:
		low, high = low-max(math.Abs(low), 1)/2, high+max(math.Abs(high), 1)/2
	}
	step := round((high - low) / 6)
	return axis{math.Floor(low/step) * step, math.Ceil(high/step) * step, step}
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

// picture is an SVG under way.
type picture struct {
	b    strings.Builder
	x, y axis
}

func (p *picture) put(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *picture) text(x, y float64, anchor, s string) {
	p.put(`<text x="%s" y="%s" text-anchor="%s">%s</text>`, num(x), num(y), anchor, html.EscapeString(s))
}

func (p *picture) atX(v float64) float64 {
	return left + (v-p.x.from)/(p.x.to-p.x.from)*(width-left-right)
}

func (p *picture) atY(v float64) float64 {
	return height - bottom - (v-p.y.from)/(p.y.to-p.y.from)*(height-top-bottom)
}

func (p *picture) grid(c *Chart) {
	const line = `<path d="M%s %s L%s %s" stroke="#ddd"/>`
	for i := 0.0; p.x.from+i*p.x.step <= p.x.to+p.x.step/2; i++ {
		v := p.x.from + i*p.x.step
		x := p.atX(v)
		p.put(line, num(x), num(top), num(x), num(height-bottom))
		p.text(x, height-bottom+16, "middle", tick(v))
	}
	for i := 0.0; p.y.from+i*p.y.step <= p.y.to+p.y.step/2; i++ {
		v := p.y.from + i*p.y.step
		y := p.atY(v)
		p.put(line, num(left), num(y), num(width-right), num(y))
		p.text(left-6, y+4, "end", tick(v))
	}
	p.text((left+width-right)/2, height-10, "middle", c.X)
	p.put(`<text transform="translate(14 %s) rotate(-90)" text-anchor="middle">%s</text>`, num((top+height-bottom)/2),
		html.EscapeString(c.Y))
}

func (p *picture) line(i int, l Line) {
	var d strings.Builder
	for k := range l.X {
		switch {
		case !finite(l.Y[k]): // a gap
			continue
		case d.Len() == 0 || !finite(l.Y[k-1]):
			d.WriteString("M")
		case l.StepFunction:
			fmt.Fprintf(&d, "H%s L", num(p.atX(l.X[k])))
		default:
			d.WriteString("L")
		}
		fmt.Fprintf(&d, "%s %s ", num(p.atX(l.X[k])), num(p.atY(l.Y[k])))
	}
	p.put(`<path d="%s" %s/>`, strings.TrimSpace(d.String()), stroke(i))
	for k := range l.Low {
		x, low, high := p.atX(l.X[k]), p.atY(l.Low[k]), p.atY(l.High[k])
		p.put(`<path d="M%s %s h8 m-4 0 V%s m-4 0 h8" %s/>`, num(x-4), num(low), num(high), stroke(i))
	}
}

// stroke is the i-th line's colour (of Okabe and Ito, which the colour-blind can tell apart) and dashes.
func stroke(i int) string {
	colours := []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}
	dashes := []string{"", "6 3", "2 2", "8 3 2 3"}
	s := fmt.Sprintf(`fill="none" stroke-width="1.5" stroke="%s"`, colours[i%len(colours)])
	if d := dashes[i%len(dashes)]; d != "" {
		s += ` stroke-dasharray="` + d + `"`
	}
	return s
}

func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }

func tick(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }
