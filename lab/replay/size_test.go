package replay

import (
	"context"
	"errors"
	"testing"
	"time"

	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// TestChoose: the first size that is exact enough and short enough is taken; a machine on which none is gets
// the most exact one of those that end in time.
func TestChoose(t *testing.T) {
	const ms = time.Millisecond
	all := []size{{5, 1, 40}, {5, .5, 28}, {5, .25, 12}, {5, .2, 10}}
	// A row whose coflows take so long, without any that are in each other's way.
	simulated := func(z size) (trial, error) {
		row := report.Health{MeanCCT: .03 / z.speedup, Slowdown: 1, Coflows: z.jobs, Moves: 3}
		took := 40 * time.Second
		if z.jobs == 10 {
			took = 70 * time.Second
		}
		return trial{z, []report.Health{row, {MeanCCT: 1, Slowdown: 1, Coflows: z.jobs}}, took}, nil
	}
	for _, tt := range []struct {
		name  string
		m     machine
		jobs  int
		named bool // the error that follows is at most what marks a row
	}{
		{"idle", machine{cores: 2, late: 50 * time.Microsecond}, 12, true},
		{"before others", machine{cores: 2, busy: 2, late: 60 * time.Microsecond, realtime: true}, 12, true},
		{"beside a busy core", machine{cores: 2, busy: 1, late: 4 * ms}, 12, false},
		{"the most exact would take too long", machine{cores: 2, late: ms}, 12, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, expected, err := choose(tt.m, all, simulated)
			if err != nil || got.jobs != tt.jobs || expected <= report.MarkedError != tt.named {
				t.Errorf("%+v, expects %.3f, error %v", got.size, expected, err)
			}
		})
	}
	if _, _, err := choose(machine{}, all, func(size) (trial, error) {
		return trial{},
			errors.New("no")
	}); err == nil {
		t.Error("no error")
	}
}

// TestTry: a larger size of the demo's own rows takes longer, and is expected to be less off.
func TestTry(t *testing.T) {
	m := machine{cores: 2, late: 50 * time.Microsecond}
	var last trial
	for i, z := range []size{{5, 1, 40}, {5, 1. / 4, 12}} {
		r, err := try(context.Background(), scenario.Options{Demo: true, Seed: 1, Replicas: 3}, z)
		if err != nil {
			t.Fatal(err)
		}
		if len(r.rows) != 6 || i > 0 && (r.expect(m) >= last.expect(m) || r.took <= last.took) {
			t.Errorf("%+v: %d rows, %v, expects %.3f; before %v, %.3f", z, len(r.rows), r.took,
				r.expect(m), last.took,
				last.expect(m))
		}
		last = r
	}
}

// TestMeasureMachine: a wake-up is never early, and no more cores are busy than there are.
func TestMeasureMachine(t *testing.T) {
	m := wakeUps(20*time.Millisecond, 2*time.Millisecond)
	if m.late <= 0 {
		t.Errorf("%+v", m)
	}
	for _, tt := range []struct {
		m    machine
		want float64
	}{{machine{cores: 2}, 1}, {machine{cores: 2, busy: 1}, .5}, {machine{cores: 2, busy: 2}, .25},
		{machine{cores: 2, busy: 2, realtime: true}, 1}} {
		if got := tt.m.free(); got != tt.want {
			t.Errorf("%+v: %v is free, want %v", tt.m, got, tt.want)
		}
	}
}

// TestToRepeat: the row with the largest marked error comes first, each once, and none that would take too long.
func TestToRepeat(t *testing.T) {
	a := &attempt{order: []int{2, 0, 1, 3}}
	for _, e := range []float64{.12, .3, .05, .2} {
		a.outcomes = append(a.outcomes, &outcome.Outcome{Health: &report.Health{Expected: e}})
	}
	for _, wall := range []float64{1, 5, 20, 5} { // by the order
		a.costs = append(a.costs, report.PolicyRun{Wall: wall})
	}
	tried := make([]bool, 4)
	for _, want := range []int{3, 1, -1} { // row 1 takes 20 s
		k := a.toRepeat(tried, 6*time.Second)
		if k != want {
			t.Fatalf("place %d of the order, want %d", k, want)
		}
		if k >= 0 {
			tried[a.order[k]] = true
		}
	}
	a.outcomes[2].Health.Unknown = true
	if k := a.toRepeat(tried, 6*time.Second); k != 0 {
		t.Errorf("place %d of the order: an error that is not known is marked", k)
	}
	a.outcomes[2].Health = nil
	if k := a.toRepeat(tried, 6*time.Second); k != -1 {
		t.Errorf("place %d of the order: a row that has measured no error has none that is marked", k)
	}
}
