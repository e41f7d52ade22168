package plot_test

import (
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
		"intervals": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 6}, Y: []float64{1, 2}, Low: []float64{0, 1},
			High: []float64{2, 6}}}}, `d="M60 372 h8 m-4 0 V260 m-4 0 h8"`},
		"steps": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 6}, Y: []float64{0, 6}, StepFunction: true}}},
			`d="M64 372 H624 L624 36"`},
		"a gap":    {plot.Chart{Lines: []plot.Line{{X: []float64{0, 1}, Y: []float64{math.NaN(), 2}}}}, "<path"},
		"infinity": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 1}, Y: []float64{math.Inf(1), 2}}}}, "<path"},
	} {
		text := string(c.chart.SVG())
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, text)
		}
		d := xml.NewDecoder(strings.NewReader(text))
		var err error
		for err == nil {
			_, err = d.Token()
		}
		if !errors.Is(err, io.EOF) || strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}
