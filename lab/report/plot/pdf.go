package plot

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// PDF returns the picture as a file of one page: lines and letters, no pixels. Equal charts give equal
// files.
func (c *Chart) PDF() ([]byte, error) {
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: width, Ht: height}})
	f.SetCatalogSort(true)
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetAutoPageBreak(false, 0)
	f.AddPage()
	f.SetFont("Helvetica", "", 12)
	c.draw(&pdfPen{f, f.UnicodeTranslatorFromDescriptor("")})
	var b bytes.Buffer
	if err := f.Output(&b); err != nil {
		return nil, fmt.Errorf("draw PDF: %w", err)
	}
	return b.Bytes(), nil
}

// pdfPen is a PDF under way. Its font is one that every reader has, with the letters of Western Europe:
// others are spelt out.
type pdfPen struct {
	file    *fpdf.Fpdf
	western func(string) string
}

// spelt are signs of labels that the font lacks.
var spelt = strings.NewReplacer("δ", "delta", "α", "alpha", "σ", "sigma", "≤", "<=", "≥", ">=", "→",
	"->", "−", "-")

func (p *pdfPen) encode(s string) string { return p.western(spelt.Replace(s)) }

func (p *pdfPen) title(s string) { p.file.SetTitle(s, true) }

func (p *pdfPen) line(i int, through []point) {
	if len(through) == 0 {
		return
	}
	red, green, blue, dashes, wide := 221, 221, 221, []float64(nil), 1.0
	if i != grid {
		red, green, blue, dashes = style(i)
		wide = 1.5
	}
	p.file.SetDrawColor(red, green, blue)
	p.file.SetLineWidth(wide)
	p.file.SetDashPattern(dashes, 0)
	p.file.MoveTo(through[0].x, through[0].y)
	for _, at := range through[1:] {
		p.file.LineTo(at.x, at.y)
	}
	p.file.DrawPath("D")
}

func (p *pdfPen) text(at point, anchor, s string, upwards bool) {
	s = p.encode(s)
	before := p.file.GetStringWidth(s) * map[string]float64{"middle": 0.5, "end": 1}[anchor]
	p.file.TransformBegin()
	if upwards {
		p.file.TransformRotate(90, at.x, at.y)
	}
	p.file.Text(at.x-before, at.y, s)
	p.file.TransformEnd()
}
