package plot

import (
	"fmt"
	"html"
	"math"
	"strconv"
	"strings"
)

// SVG returns the picture as a file.
func (c *Chart) SVG() []byte {
	p := &svgPen{}
	p.put(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %v %v" width="%v" height="%v" role="img" `+
		`font-family="sans-serif" font-size="12">`, width, height, width, height)
	c.draw(p)
	p.put("</svg>")
	return []byte(p.b.String())
}

// svgPen is an SVG under way. Coordinates are rounded to a tenth.
type svgPen struct{ b strings.Builder }

func (p *svgPen) put(format string, args ...any) { fmt.Fprintf(&p.b, format+"\n", args...) }

func (p *svgPen) title(s string) {
	p.put(`<title>%s</title><rect width="100%%" height="100%%" fill="white"/>`, html.EscapeString(s))
}

func (p *svgPen) line(i int, through []point) {
	if len(through) == 0 {
		return
	}
	var d strings.Builder
	for k, at := range through {
		fmt.Fprintf(&d, "%s%s %s", map[bool]string{true: "M", false: " L"}[k == 0], num(at.x), num(at.y))
	}
	if i == grid {
		p.put(`<path d="%s" fill="none" stroke="#ddd"/>`, d.String())
		return
	}
	red, green, blue, dashes := style(i)
	dash := ""
	for _, n := range dashes {
		dash += " " + num(n)
	}
	if dash != "" {
		dash = ` stroke-dasharray="` + dash[1:] + `"`
	}
	p.put(`<path d="%s" fill="none" stroke-width="1.5" stroke="#%02x%02x%02x"%s/>`, d.String(), red, green, blue, dash)
}

func (p *svgPen) text(at point, anchor, s string, upwards bool) {
	where := fmt.Sprintf(`x="%s" y="%s"`, num(at.x), num(at.y))
	if upwards {
		where = fmt.Sprintf(`transform="translate(%s %s) rotate(-90)"`, num(at.x), num(at.y))
	}
	p.put(`<text %s text-anchor="%s">%s</text>`, where, anchor, html.EscapeString(s))
}

func num(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
