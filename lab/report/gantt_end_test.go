package report

import (
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/lab/report/plot"
)

// TestEnd: ports of other wavelengths than the first are named by their rack and wavelength, those of parallel
// OCSes by their OCS too.
func TestEnd(t *testing.T) {
	one, two, both := Fabric{Racks: 8, Waves: 3}, Fabric{Racks: 8, OCSes: 4}, Fabric{Racks: 8, OCSes: 2, Waves: 2}
	for _, tc := range []struct {
		port int
		f    Fabric
		want string
	}{{3, one, "3"}, {7, one, "7"}, {8, one, "0 λ2"}, {19, one, "3 λ3"}, {5, Fabric{}, "5"},
		{5, two, "5 ocs0"}, {19, two, "3 ocs2"}, {5, both, "5 ocs0"}, {13, both, "5 ocs0 λ2"}, {21, both, "5 ocs1"},
		{29, both, "5 ocs1 λ2"}} {
		if got := tc.f.end(tc.port); got != tc.want {
			t.Errorf("port %d of %+v is %q, want %q", tc.port, tc.f, got, tc.want)
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
		bar(s, tc.c, &Fabric{Racks: 4}, x, 0, 1)
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
		p := &PolicyResult{Circuits: []CircuitInterval{c}}
		_, h, _ := strings.Cut(gantt(p, time.Second, &Fabric{Racks: 8}), "viewBox=")
		h, _, _ = strings.Cut(h, ">")
		return h
	}
	if to, from := height(CircuitInterval{Out: 5}), height(CircuitInterval{In: 5}); to != from ||
		to == height(CircuitInterval{}) {
		t.Errorf("a circuit to the sixth port is drawn in %s, from it in %s", to, from)
	}
}
