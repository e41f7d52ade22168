package replay

import (
	"testing"

	"lightloom/lab/report"
)

// TestDisturbed: a run is made again above 0.3 stolen cores, unless it goes before what takes them, and above
// an expected error of 25 %.
func TestDisturbed(t *testing.T) {
	for _, tc := range []struct {
		name   string
		stolen float64
		h      *report.Health
		want   bool
	}{
		{"idle", 0.02, &report.Health{Expected: 0.01}, false},
		{"marked, and counts", 0.1, &report.Health{Expected: 0.25}, false},
		{"past 25 %", 0.1, &report.Health{Expected: 0.26}, true},
		{"a busy machine", 0.31, &report.Health{Expected: 0.01}, true},
		{"just not", 0.3, &report.Health{Expected: 0.02}, false},
		{"before a busy machine's programs", 1.6, &report.Health{Expected: 0.02, Realtime: true}, false},
		{"and past 25 %", 1.6, &report.Health{Expected: 0.3, Realtime: true}, true},
		{"no probe", 0.31, nil, true},
	} {
		if got := disturbed(tc.h, tc.stolen); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
