package plot

import (
	"fmt"
	"strings"
)

// colour is what a series is drawn in: on paper and bright pages, on dark pages, and with which dashes.
type colour struct {
	light, dark uint32 // RGB
	width       float64
	dashes      []float64
}

// palette has a colour for each series; further ones take them again. All stand out from their background by at least
// 3 to 1; dashes tell the first of them apart in grey, and show what lies below.
func palette() []colour {
	return []colour{
		{0x5f6b7a, 0xa9b4c1, 2, []float64{2, 2}},
		{0x0072b2, 0x56b4e9, 2, nil},
		{0xc04a00, 0xff8f52, 2, []float64{6, 3}},
		{0x00805f, 0x3fcb9f, 2.6, []float64{12, 3}},
		{0xa0408a, 0xe08bcb, 2, []float64{7, 3}},
		{0x8a6d00, 0xe3c64a, 2, []float64{10, 3, 2, 3}},
		{0x2f9ad0, 0x8fd2f5, 2, []float64{4, 2}},
		{0x6b4fc2, 0xb09df5, 2, nil},
	}
}

// Series is the class of what belongs to the i-th series.
func Series(i int) string { return fmt.Sprintf("s%d", 1+i%len(palette())) }

// CurveStyle is the style of the i-th series' curve.
func CurveStyle(i int) string { return "curve " + Series(i) }

// CSS returns the rules of a page for the classes of all series: curve, and what is filled (bar, key).
func CSS() string {
	var light, dark, rules strings.Builder
	for i, c := range palette() {
		s := Series(i)
		fmt.Fprintf(&light, " --%s: #%06x;", s, c.light)
		fmt.Fprintf(&dark, " --%s: #%06x;", s, c.dark)
		fmt.Fprintf(&rules, ".curve.%s { stroke: var(--%s); stroke-width: %s;", s, s, num(c.width))
		if len(c.dashes) > 0 {
			fmt.Fprintf(&rules, " stroke-dasharray: %s;", dashed(c.dashes))
		}
		fmt.Fprintf(&rules, " }\n.bar.%s { fill: var(--%s); } .key.%s { color: var(--%s); }\n", s, s, s, s)
	}
	return fmt.Sprintf(":root {%s }\n@media (prefers-color-scheme: dark) { :root {%s } }\n%s", light.String(),
		dark.String(), rules.String())
}

func dashed(all []float64) string {
	text := make([]string, len(all))
	for i, v := range all {
		text[i] = num(v)
	}
	return strings.Join(text, " ")
}

// look is what a style is in a file, which has no style sheet.
type look struct {
	size   float64 // of letters; 0: this is a line
	stroke uint32
	width  float64
	dashes []float64
}

// lookOf returns the look of a style of charts.
func lookOf(style string) look {
	switch style {
	case "tick":
		return look{size: 11}
	case "label":
		return look{size: 12}
	}
	for i, c := range palette() {
		if style == CurveStyle(i) {
			return look{0, c.light, c.width, c.dashes}
		}
	}
	return look{0, 0xdddddd, 1, nil} // the grid
}

// attributes are those of an element of SVG.
func (l look) attributes() string {
	if l.size > 0 {
		return fmt.Sprintf(`font-size="%s"`, num(l.size))
	}
	text := fmt.Sprintf(`fill="none" stroke="#%06x" stroke-width="%s"`, l.stroke, num(l.width))
	if len(l.dashes) > 0 {
		text += fmt.Sprintf(` stroke-dasharray="%s"`, dashed(l.dashes))
	}
	return text
}
