package report

import (
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/report/plot"
)

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

// TestTitles: what a bar says of a circuit and of a fault.
func TestTitles(t *testing.T) {
	const ms = time.Millisecond
	x := func(d time.Duration) float64 { return d.Seconds() }
	for _, tc := range []struct {
		c    CircuitInterval
		want string
	}{
		{CircuitInterval{In: 1, Out: 2, Coflow: 7, Moving: ms, InService: 2 * ms, End: 3 * ms},
			"rack 1 → rack 2 for coflow 7: asked at 1ms, in service at 2ms, ended at 3ms"},
		{CircuitInterval{In: 1, Out: 2, Coflow: controller.AnyCoflow, Moving: ms,
			InService: 3 * ms, End: 3 * ms},
			"rack 1 → rack 2 for every coflow: asked at 1ms, never used, ended at 3ms"},
	} {
		s := plot.NewSVG(10, 10, "t")
		bar(s, tc.c, 4, x, 0, 1)
		if got := s.End(); !strings.Contains(got, tc.want) {
			t.Errorf("%s does not say %q", got, tc.want)
		}
	}
	for _, tc := range []struct {
		f    FaultInterval
		want string
	}{
		{FaultInterval{Kind: "link", Name: "a-b", From: ms, Lasts: true},
			"link a-b failed at 1ms, never healed"},
		{FaultInterval{Kind: "link", Name: "a-b", From: ms, To: 4 * ms, WasRerouted: true, Rerouted: 2 * ms},
			"link a-b failed at 1ms, tables changed within 2ms, healed at 4ms"},
	} {
		if got := tc.f.title(); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// TestLanes: there is a lane for each port that a circuit begins or ends at.
func TestLanes(t *testing.T) {
	height := func(c CircuitInterval) string {
		c.End = time.Second
		_, h, _ := strings.Cut(gantt(&PolicyResult{Circuits: []CircuitInterval{c}}, time.Second, 8), "viewBox=")
		h, _, _ = strings.Cut(h, ">")
		return h
	}
	if to, from := height(CircuitInterval{Out: 5}), height(CircuitInterval{In: 5}); to != from ||
		to == height(CircuitInterval{}) {
		t.Errorf("a circuit to the sixth port is drawn in %s, from it in %s", to, from)
	}
}
