package replay

import (
	"testing"
)

// TestDisturbed: a run is made again above 0.3 stolen cores, and above an expected error of 25 %.
func TestDisturbed(t *testing.T) {
	for _, tc := range []struct {
		name             string
		stolen, expected float64
		want             bool
	}{
		{"idle", 0.02, 0.01, false},
		{"marked, and counts", 0.1, 0.25, false},
		{"past 25 %", 0.1, 0.26, true},
		{"a busy machine", 0.31, 0.01, true},
		{"just not", 0.3, 0.02, false},
	} {
		if got := disturbed(tc.stolen, tc.expected); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}
