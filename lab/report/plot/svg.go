package plot

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// SVG is a picture in the making. Coordinates are rounded to a tenth, so that the text stays short and the same
// everywhere.
type SVG struct {
	b     strings.Builder
	style func(string) string // the attributes of an element of a style
}

// NewSVG begins a picture for a page whose style sheet has the styles as classes. A screen reader announces the title.
func NewSVG(width, height float64, title string) *SVG {
	s := &SVG{style: func(style string) string { return `class="` + style + `"` }}
	fmt.Fprintf(&s.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s" style="max-width:%spx">`,
		num(width), num(height), html.EscapeString(title), num(width))
	s.b.WriteString("<title>" + html.EscapeString(title) + "</title>\n")
	return s
}

// SVG returns the chart as a file.
func (c *Chart) SVG() []byte {
	f := file()
	s := &SVG{style: func(style string) string { return lookOf(style).attributes() }}
	fmt.Fprintf(&s.b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %s %s" width="%s" height="%s" role="img" `+
		`font-family="sans-serif">`+"\n", num(f.width), num(f.height), num(f.width), num(f.height))
	fmt.Fprintf(&s.b, `<title>%s</title><rect width="100%%" height="100%%" fill="white"/>`+"\n",
		html.EscapeString(c.Title))
	c.draw(s, f)
	return []byte(s.End())
}

// Page returns the chart as SVG for a report's page: without the title and the legend, which are in the page.
func (c *Chart) Page() string {
	f := onPage()
	s := NewSVG(f.width, f.height, c.Title)
	c.draw(s, f)
	return s.End()
}

// End returns the picture.
func (s *SVG) End() string { s.b.WriteString("</svg>"); return s.b.String() }

// Line draws from one point to another.
func (s *SVG) Line(style string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.b, `<line %s x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", s.style(style), num(x1), num(y1), num(x2),
		num(y2))
}

// Rect draws a rectangle; its note, if any, is shown under the pointer.
func (s *SVG) Rect(style string, x, y, w, h float64, note string) {
	fmt.Fprintf(&s.b, `<rect %s x="%s" y="%s" width="%s" height="%s"`, s.style(style), num(x), num(y), num(w), num(h))
	s.close("rect", note)
}

// Box draws a rectangle with round corners.
func (s *SVG) Box(style string, x, y, w, h float64, note string) {
	fmt.Fprintf(&s.b, `<rect %s rx="4" x="%s" y="%s" width="%s" height="%s"`, s.style(style), num(x), num(y), num(w),
		num(h))
	s.close("rect", note)
}

// Text writes at a point: anchor is start, middle or end.
func (s *SVG) Text(style, anchor string, x, y float64, text string) {
	fmt.Fprintf(&s.b, `<text %s text-anchor="%s" x="%s" y="%s">%s</text>`+"\n", s.style(style), anchor, num(x), num(y),
		html.EscapeString(text))
}

// Upwards writes around a point, turned by 90 degrees.
func (s *SVG) Upwards(style string, x, y float64, text string) {
	fmt.Fprintf(&s.b, `<text %s text-anchor="middle" transform="translate(%s %s) rotate(-90)">%s</text>`+"\n",
		s.style(style), num(x), num(y), html.EscapeString(text))
}

// Curve draws through points.
func (s *SVG) Curve(style string, through []Point, note string) {
	fmt.Fprintf(&s.b, `<path %s d="`, s.style(style))
	for i, at := range through {
		switch {
		case i == 0:
			fmt.Fprintf(&s.b, "M%s %s", num(at.X), num(at.Y))
		case at.Y == through[i-1].Y:
			s.b.WriteString("H" + num(at.X))
		case at.X == through[i-1].X:
			s.b.WriteString("V" + num(at.Y))
		default:
			fmt.Fprintf(&s.b, "L%s %s", num(at.X), num(at.Y))
		}
	}
	s.b.WriteString(`"`)
	s.close("path", note)
}

// close ends an element.
func (s *SVG) close(element, note string) {
	if note == "" {
		s.b.WriteString("/>\n")
		return
	}
	s.b.WriteString("><title>" + html.EscapeString(note) + "</title></" + element + ">\n")
}

func num(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	t = strings.TrimSuffix(t, ".0")
	if t == "-0" {
		return "0"
	}
	return t
}
