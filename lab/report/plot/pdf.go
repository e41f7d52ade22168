package plot

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"codeberg.org/go-pdf/fpdf"
)

// PDF returns the chart as a file of one page: lines and letters, no pixels. Equal charts give equal files.
func (c *Chart) PDF() ([]byte, error) {
	at := file()
	f := fpdf.NewCustom(&fpdf.InitType{UnitStr: "pt", Size: fpdf.SizeType{Wd: at.width, Ht: at.height}})
	f.SetCatalogSort(true)
	f.SetCreationDate(time.Unix(0, 0))
	f.SetModificationDate(time.Unix(0, 0))
	f.SetAutoPageBreak(false, 0)
	f.SetTitle(c.Title, true)
	f.AddPage()
	c.draw(&pdfPen{f, f.UnicodeTranslatorFromDescriptor("")}, at)
	var b bytes.Buffer
	if err := f.Output(&b); err != nil {
		return nil, fmt.Errorf("draw PDF: %w", err)
	}
	return b.Bytes(), nil
}

// pdfPen is a PDF under way. Its font is one that every reader has, with the letters of Western Europe: others are
// spelt out.
type pdfPen struct {
	file    *fpdf.Fpdf
	western func(string) string
}

// spelt are signs of labels that the font lacks.
var spelt = strings.NewReplacer("δ", "delta", "α", "alpha", "σ", "sigma", "≤", "<=", "≥", ">=", "→",
	"->", "−", "-")

func (p *pdfPen) Line(style string, x1, y1, x2, y2 float64) {
	p.Curve(style, []Point{{x1, y1}, {x2, y2}}, "")
}

func (p *pdfPen) Curve(style string, through []Point, _ string) {
	l := lookOf(style)
	p.file.SetDrawColor(int(l.stroke>>16), int(l.stroke>>8&0xff), int(l.stroke&0xff))
	p.file.SetLineWidth(l.width)
	p.file.SetDashPattern(l.dashes, 0)
	p.file.MoveTo(through[0].X, through[0].Y)
	for _, at := range through[1:] {
		p.file.LineTo(at.X, at.Y)
	}
	p.file.DrawPath("D")
}

func (p *pdfPen) Text(style, anchor string, x, y float64, text string) {
	text = p.fit(style, text)
	p.file.Text(x-p.file.GetStringWidth(text)*map[string]float64{"middle": 0.5, "end": 1}[anchor], y, text)
}

func (p *pdfPen) Upwards(style string, x, y float64, text string) {
	p.file.TransformBegin()
	p.file.TransformRotate(90, x, y)
	p.Text(style, "middle", x, y, text)
	p.file.TransformEnd()
}

// fit chooses the font of a style and returns the text in its letters.
func (p *pdfPen) fit(style, text string) string {
	p.file.SetFont("Helvetica", "", lookOf(style).size)
	return p.western(spelt.Replace(text))
}
