package dissertation

import (
	"context"
	"math"
	"testing"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"

	"lightloom/lab/experiment"
)

// TestDissertation: runs of each kind go through, small, verify, and are the same again but for running
// times.
func TestDissertation(t *testing.T) {
	for name, run := range map[string]func() (experiment.Figures, error){
		"jobs": func() (experiment.Figures, error) { return placing{pods: 4, tasks: 12, mmga: 2, gsa: 2}.run(1) },
		"coflow": func() (experiment.Figures, error) {
			return routing{k: 4, flows: 8}.run(1, coflowRouters(), (*certified.Plan).VerifyLast)
		},
		"flows": func() (experiment.Figures, error) {
			return routing{k: 4, flows: 8}.run(1, flowRouters(), (*certified.Plan).VerifyTotal)
		},
		"OnTaPRA": func() (experiment.Figures, error) {
			return arriving{Order: online.SJF, By: TaPRA, DRC: true, Scaled: true}.Run(1, 30)
		},
		"FCFS": func() (experiment.Figures, error) {
			return arriving{Order: online.FCFS, By: MMGA, DRC: false, Scaled: true}.Run(1, 30)
		},
		"OnFRoBA": func() (experiment.Figures, error) {
			return flowing{Select: online.SFF, By: "FRoBA", DRB: true, Preempt: true}.Run(1, 10)
		},
		"with WCMP": func() (experiment.Figures, error) {
			return flowing{Select: online.InTurn, By: "WCMP", DRB: true}.Run(1, 10)
		},
	} {
		a, err := run()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		b, err := run()
		for what, v := range a {
			if math.IsNaN(v) || v < -1e-6 {
				t.Errorf("%s: %s is %v", name, what, v)
			}
			clocked := what == "ms" || len(what) > 3 && what[:3] == "ms " || name == "jobs" // the baselines have a time
			if !clocked && (err != nil || b[what] != v) {
				t.Errorf("%s: %s is %v and then %v, %v", name, what, v, b[what], err)
			}
		}
	}
}

// TestTimesRow: x % smaller is x % above, and a quarter of it is the margin.
func TestTimesRow(t *testing.T) {
	var runs experiment.Runs
	for range 3 {
		runs = append(runs, experiment.Figures{"a": 3, "b": 2}, experiment.Figures{"a": 3.2, "b": 2})
	}
	for paper, want := range map[float64]experiment.Verdict{1.5: experiment.Reproduced, 3: experiment.Differs,
		1: experiment.NoTest, 0: experiment.NoClaim} {
		f := figure{(&experiment.Bench{First: 1}).Result().At("", "", ""), runs}
		if r := f.above("CCT", "a", "b", paper); r.Verdict != want || math.Abs(*r.Measured-55) > 1e-9 {
			t.Errorf("%v: %+v", paper, r)
		}
	}
}

// TestOverTime: every search on every small instance has an answer in time, none is below the bound,
// and more time never makes one worse.
func TestOverTime(t *testing.T) {
	for _, c := range contests(true) {
		bound, samples, err := c.Run(1, []float64{0.5, 5, 50})
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		for _, name := range c.Methods {
			best := math.Inf(1)
			for _, s := range samples[name] {
				if s != nil && (s.Value < bound*(1-1e-6) || s.Value > best) {
					t.Errorf("%s, %s: %v after %v, bound %v", c.Name, name, s.Value, best, bound)
				}
				if s != nil {
					best = s.Value
				}
			}
			if math.IsInf(best, 1) {
				t.Errorf("%s, %s: no answer", c.Name, name)
			}
		}
	}
}

// TestInterruptedOnline: what Ctrl-C leaves of an online experiment is the rows of its whole seeds.
func TestInterruptedOnline(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := &experiment.Bench{Seeds: 3, First: 1, Quick: true, Progress: func(done, of int) {
		if done == of/3+1 {
			cancel()
		}
	}}
	r, err := onlineTaPRA(ctx, b)
	if err != nil || len(b.Interrupted()) != 1 {
		t.Fatalf("%v, %v", err, b.Interrupted())
	}
	for _, x := range r.Rows {
		if x.N < 1 || x.N > 2 {
			t.Errorf("%s: %s of %d seeds", x.Figure, x.Metric, x.N)
		}
	}
}
