package report

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/lab/report/plot"
)

// TestCDF draws two times, 10 ms and 1 s, on axes of which the lower ends at 44 and 546 and the upright
// one at 260 (no time) and 12 (all): the decades of a logarithmic axis are 251 apart.
func TestCDF(t *testing.T) {
	svg := completionTimes("completion", []plot.Line{curve("a", []float64{0.01, 1}), curve("b", nil)})
	all := func(pattern string) (out []string) {
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(svg, -1) {
			out = append(out, strings.Join(m[1:], " "))
		}
		return out
	}
	curves := []string{"M44 260H44V136H546V12"}
	if got := all(`class="curve[^"]*" d="([^"]*)"`); !slices.Equal(got, curves) {
		t.Errorf("curves %q, want %q in\n%s", got, curves, svg)
	}
	heights := []string{"260 260", "198 198", "136 136", "74 74", "24.4 24.4", "12 12"} // 0, 25, 50, 75, 95, 100 %
	if got := all(`<line class="grid" x1="44" y1="([^"]*)" x2="546" y2="([^"]*)"`); !slices.Equal(got, heights) {
		t.Errorf("shares are drawn at %q, want %q", got, heights)
	}
	decades := []string{"44 12 44 260", "295 12 295 260", "546 12 546 260"} // 10 ms, 100 ms, 1 s
	if got := all(`<line class="grid" x1="([^"]*)" y1="(12)" x2="([^"]*)" y2="(260)"`); !slices.Equal(got, decades) {
		t.Errorf("times are drawn at %q, want %q", got, decades)
	}
}
