package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
			High: []float64{2, 6}}}}, `x1="64" y1="372" x2="64" y2="260"`},
		"steps": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 6}, Y: []float64{0, 6}, StepFunction: true}}},
			`d="M64 372H624V36"`},
		"decades": {plot.Chart{XScale: plot.Seconds, Lines: []plot.Line{{X: []float64{0, 0.1, 1, 10},
			Y: []float64{0, 1, 2, 4}}}},
			`d="M64 372V288L344 204L624 36"`},
		"nothing in decades": {plot.Chart{XScale: plot.Seconds}, ">100 ms<"},
		"shares": {plot.Chart{YScale: plot.Shares, Lines: []plot.Line{{X: []float64{0, 1}, Y: []float64{0, .25}}}},
			`y="292">25 %<`},
		"a note": {plot.Chart{Lines: []plot.Line{{X: []float64{0, 1}, Y: []float64{0, 1}, Note: "a & b"}}},
			"<title>a &amp; b</title></path>"},
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

// TestSame: a page shows the ticks and the curves of the file, in the same colours.
func TestSame(t *testing.T) {
	c := plot.Chart{Title: "t", X: "x", Y: "y", XScale: plot.Seconds, YScale: plot.Shares, Lines: []plot.Line{
		{Name: "a", X: []float64{0.01, 3}, Y: []float64{0, 1}}, {Name: "b", X: []float64{1, 2}, Y: []float64{0, 1}}}}
	file, page := string(c.SVG()), c.Page()
	ticks := regexp.MustCompile(`>[0-9]+ (s|ms|%)<`)
	if a, b := ticks.FindAllString(file, -1), ticks.FindAllString(page, -1); len(a) != 6+4 || !slices.Equal(a, b) {
		t.Errorf("the file has ticks %q, the page %q", a, b)
	}
	for _, s := range []string{"s1", "s2"} {
		colour := regexp.MustCompile(`--` + s + `: (#[0-9a-f]+);`).FindStringSubmatch(plot.CSS())
		if colour == nil || !strings.Contains(file, colour[1]) || !strings.Contains(page, `class="curve `+s+`"`) {
			t.Errorf("series %s: the style sheet has %q, the file\n%s\nthe page\n%s", s, colour, file, page)
		}
	}
}

func TestWriteFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	if names, err := plot.WriteFiles(dir, nil); err != nil || len(names) != 0 {
		t.Fatal(names, err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("a folder is made for no charts")
	}
	names, err := plot.WriteFiles(dir, []plot.Chart{{Name: "figure-1"}, {Name: "figure-2"}})
	want := []string{"figure-1.svg", "figure-1.pdf", "figure-2.svg", "figure-2.pdf"}
	if err != nil || len(names) != len(want) {
		t.Fatal(names, err)
	}
	for i, n := range names {
		begin := map[string]string{".svg": "<svg", ".pdf": "%PDF-"}[filepath.Ext(want[i])]
		if b, err := os.ReadFile(n); err != nil || filepath.Base(n) != want[i] || !strings.HasPrefix(string(b), begin) {
			t.Errorf("%s: %v, want %s", n, err, want[i])
		}
	}
}
