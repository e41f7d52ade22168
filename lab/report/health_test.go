package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestHealth: the expected error grows with what coflows are in each other's way and with late timers,
// falls with the number of coflows, and stolen cores count where circuits do.
func TestHealth(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    Health
		want string
	}{
		{"packets at 30 %", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.6, TimerP99: 0.0012}, "±1.8 %"},
		{"packets at 70 %", Health{Coflows: 60, MeanCCT: 1, Slowdown: 2.5, TimerP99: 0.0013}, "±1.5 %"},
		{"circuits at 70 %", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70,
			TimerP99: 0.0013}, "±1.9 %"},
		{"late timers", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70, TimerP99: 0.0053}, "±4.1 %"},
		{"short coflows", Health{Coflows: 30, MeanCCT: 0.07, Slowdown: 1.9, Moves: 70,
			TimerP99: 0.0013}, "±11 % (!)"},
		{"four times as many", Health{Coflows: 120, MeanCCT: 1, Slowdown: 1.9, Moves: 280,
			TimerP99: 0.0013}, "±1.3 %"},
		{"a core stolen", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70, TimerP99: 0.0013,
			StolenCores: 1},
			"±6.9 %"},
		{"a core stolen from packets", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.6,
			TimerP99: 0.0012, StolenCores: 1},
			"±1.8 %"},
		{"a slow probe", Health{Coflows: 24, MeanCCT: 0.73, Slowdown: 1.2, Probe: 0.3}, "±30 % (!)"},
		{"no coflow", Health{}, "±0.0 %"},
		{"circuits on a busy machine", Health{Coflows: 120, MeanCCT: 1, Slowdown: 1.9, Moves: 280,
			Waiting: 0.35},
			"not known (!)"},
		{"circuits on a calmer one", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70,
			Waiting: 0.28}, "±1.2 %"},
		{"before other programs", Health{Coflows: 30, MeanCCT: 1, Slowdown: 1.9, Moves: 70, TimerP99: 0.0013,
			StolenCores: 1.6, Waiting: 0.9, Realtime: true}, "±1.9 %"},
		{"packets on a busy one", Health{Coflows: 240, MeanCCT: 1.2, Slowdown: 2.5, Waiting: 0.5,
			TimerP99: 0.003},
			"±2.6 %"},
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
