package report

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// svg draws one picture. Coordinates are rounded to a tenth, so that the text stays short and the same everywhere.
type svg struct{ b strings.Builder }

// newSVG begins a picture that a screen reader announces by its title.
func newSVG(width, height float64, title string) *svg {
	s := &svg{}
	fmt.Fprintf(&s.b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s" style="max-width:%spx">`,
		num(width), num(height), html.EscapeString(title), num(width))
	s.b.WriteString("<title>" + html.EscapeString(title) + "</title>\n")
	return s
}

func (s *svg) end() string { s.b.WriteString("</svg>"); return s.b.String() }

func (s *svg) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(&s.b, `<line class="%s" x1="%s" y1="%s" x2="%s" y2="%s"/>`+"\n", class, num(x1), num(y1), num(x2), num(y2))
}

// rect draws a rectangle; its title, if any, is shown under the pointer.
func (s *svg) rect(class string, x, y, w, h float64, title string) {
	fmt.Fprintf(&s.b, `<rect class="%s" x="%s" y="%s" width="%s" height="%s"`, class, num(x), num(y), num(w), num(h))
	if title == "" {
		s.b.WriteString("/>\n")
		return
	}
	s.b.WriteString("><title>" + html.EscapeString(title) + "</title></rect>\n")
}

func (s *svg) box(class string, x, y, w, h float64, title string) {
	fmt.Fprintf(&s.b, `<rect class="%s" rx="4" x="%s" y="%s" width="%s" height="%s"><title>%s</title></rect>`+"\n",
		class, num(x), num(y), num(w), num(h), html.EscapeString(title))
}

// text writes at a point; anchor is start, middle or end.
func (s *svg) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(&s.b, `<text class="%s" text-anchor="%s" x="%s" y="%s">%s</text>`+"\n", class, anchor, num(x), num(y),
		html.EscapeString(text))
}

func (s *svg) path(class, d, title string) {
	fmt.Fprintf(&s.b, `<path class="%s" d="%s"><title>%s</title></path>`+"\n", class, d, html.EscapeString(title))
}

func num(v float64) string {
	t := strconv.FormatFloat(v, 'f', 1, 64)
	t = strings.TrimSuffix(t, ".0")
	if t == "-0" {
		return "0"
	}
	return t
}
