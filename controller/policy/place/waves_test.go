package place

import (
	"testing"

	"lightloom/controller"
	"lightloom/pathmap/topo"
)

// TestGuidelineOfWavelengths: the guidelines use the fabric's wavelengths by default.
func TestGuidelineOfWavelengths(t *testing.T) {
	for _, tc := range []struct{ fabric, said, want int }{{0, 0, 1}, {1, 0, 1}, {4, 0, 4}, {4, 2, 2}} {
		f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: 3, Waves: tc.fabric})
		if err != nil {
			t.Fatal(err)
		}
		if got := (&CoScheduler{Waves: tc.said}).cluster(&controller.View{Fabric: f}).Waves; got != tc.want {
			t.Errorf("%d wavelengths, %d said: reckons with %d, want %d", tc.fabric, tc.said, got, tc.want)
		}
	}
}
