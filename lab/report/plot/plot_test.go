package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"lightloom/lab/report/plot"
)

func TestSVG(t *testing.T) {
	for name, c := range map[string]struct {
		chart plot.Chart
		want  string
	}{
		"nothing":   {plot.Chart{}, "<svg"},
		"one point": {plot.Chart{Lines: []plot.Line{{Name: "a", X: []float64{3}, Y: []float64{0}}}}, `d="M344 204"`},
		"names":     {plot.Chart{Title: "<b>", X: "&", Y: `"`, Lines: []plot.Line{{Name: "<c>"}}}, "&lt;c&gt;"},
		"intervals": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 6}, Y: []float64{1, 2},
			Low:  []float64{0, 1},
			High: []float64{2, 6}}}}, `d="M64 372 L64 260"`},
		"steps": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 6}, Y: []float64{0, 6}, StepFunction: true}}},
			`d="M64 372 L624 372 L624 36"`},
		"decades": {plot.Chart{LogX: true, Lines: []plot.Line{{X: []float64{0, 0.1, 1, 10},
			Y: []float64{0, 1, 2, 4}}}},
			`d="M64 372 L64 288 L344 204 L624 36"`},
		"nothing in decades": {plot.Chart{LogX: true}, ">0.1<"},
		"a gap": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 1},
			Y: []float64{math.NaN(), 2}}}}, "<path"},
		"infinity": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 1},
			Y: []float64{math.Inf(1), 2}}}}, "<path"},
	} {
		text := string(c.chart.SVG())
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, text)
		}
		pdf, err := c.chart.PDF()
		if again, _ := c.chart.PDF(); err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) ||
			!bytes.Equal(pdf, again) {
			t.Errorf("%s: PDF of %d bytes, %v", name, len(pdf), err)
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
