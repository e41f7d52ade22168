package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestHealth: the larger of the probe's error and what undisturbed runs are off by, and more for stolen cores.
func TestHealth(t *testing.T) {
	for _, tc := range []struct {
		name          string
		probe, stolen float64
		circuits      bool
		want          string
	}{
		{"idle, packets", 0.01, 0, false, "±2 %"},
		{"idle, circuits", 0.01, 0, true, "±4 %"},
		{"a slow probe", 0.08, 0, true, "±8 %"},
		{"a core stolen", 0.01, 1, true, "±15 % (!)"},
		{"a core stolen, packets", 0.01, 1, false, "±6 %"},
		{"both", 0.2, 1.5, true, "±35 % (!)"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := &Health{Probe: tc.probe, StolenCores: tc.stolen, Moves: map[bool]int{true: 20}[tc.circuits]}
			if h.Expect(); h.String() != tc.want {
				t.Errorf("%v, want %s", h, tc.want)
			}
		})
	}
	for _, tc := range []struct {
		name string
		h    *Health
		want bool
	}{{"on packets", &Health{Expected: 0.03}, true}, {"on the simulator", nil, false}} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			r := &Report{Policies: []Policy{{Name: "tcp", Health: tc.h}}}
			if err := r.Table(&b); err != nil || strings.Contains(b.String(), "expected error") != tc.want {
				t.Errorf("%v\n%s", err, b.String())
			}
		})
	}
}
