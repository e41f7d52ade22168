package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestHealth: the expected error grows with what coflows are in each other's way, falls with their number, and stolen
// cores count where circuits do.
func TestHealth(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    Health
		want string
	}{
		{"packets at 30 %", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.2}, "±0.9 %"},
		{"packets at 70 %", Health{Coflows: 60, MeanCCT: 1, Slowdown: 1.8}, "±1.4 %"},
		{"circuits at 70 %", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70}, "±4.0 %"},
		{"four times as many", Health{Coflows: 120, MeanCCT: 1, Slowdown: 1.9, Moves: 280}, "±2.2 %"},
		{"a core stolen", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70, StolenCores: 1}, "±12 % (!)"},
		{"a core stolen from packets", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.2, StolenCores: 1}, "±0.9 %"},
		{"a slow probe", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.2, Probe: 0.3}, "±30 % (!)"},
		{"no coflow", Health{}, "±0.0 %"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.h.Expect(); tc.h.String() != tc.want {
				t.Errorf("%v, want %s", &tc.h, tc.want)
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
