package report

import "testing"

// TestEnd: ports of other wavelengths than the first are named by their rack and wavelength.
func TestEnd(t *testing.T) {
	for _, tc := range []struct {
		port, racks int
		want        string
	}{{3, 8, "3"}, {7, 8, "7"}, {8, 8, "0 λ2"}, {19, 8, "3 λ3"}, {5, 0, "5"}} {
		if got := end(tc.port, tc.racks); got != tc.want {
			t.Errorf("port %d of %d racks is %q, want %q", tc.port, tc.racks, got, tc.want)
		}
	}
}
