package experiment

import (
	"context"
	"fmt"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/pathmap/topo"
)

// DecisionTime measures, in wall time, how long a policy takes to decide on the last of some jobs while
// the others run. It places the others one by one, which warms the policy's caches, and starts all that
// can start. Devices never report, so no time is spent on their state.
func DecisionTime(ctx context.Context, spec, name string, jobs []controller.Job,
	seed uint64) (time.Duration, error) {
	parsed, err := topo.FromArgument(spec)
	if err != nil {
		return 0, err
	}
	f, err := topo.New(parsed.WithDefaults())
	if err != nil {
		return 0, err
	}
	paths, err := f.PathMap(parsed.WithDefaults().PathsKept(), seed)
	if err != nil {
		return 0, err
	}
	p, err := policy.New(name, policy.Options{})
	if err != nil {
		return 0, err
	}
	timed := &timedPolicy{Policy: p}
	s := state.New(f)
	l := loop.New(f, loop.Config{Policy: timed, Paths: paths, Seed: seed})
	for i := range jobs {
		in := loop.Inputs{Jobs: []controller.Offer{{Job: &jobs[i], Recorded: true}}}
		for {
			if err := context.Cause(ctx); err != nil {
				return 0, err
			}
			entries, act, wake := l.Step(s, 0, in)
			in = loop.Inputs{}
			if err := s.ApplyAll(entries); err != nil {
				return 0, fmt.Errorf("time decision: %w", err)
			}
			for _, set := range act.Sets {
				in.Done = append(in.Done, loop.SetDone{Device: set.Device, Token: set.Token})
			}
			if wake > 0 && len(in.Done) == 0 {
				break
			}
		}
	}
	if timed.decisions < len(jobs) {
		return 0, fmt.Errorf("time decision: %d decisions for %d jobs", timed.decisions, len(jobs))
	}
	return timed.last, nil
}

// timedPolicy measures decisions that place something.
type timedPolicy struct {
	controller.Policy
	last      time.Duration
	decisions int
}

func (t *timedPolicy) Decide(v *controller.View, ev []controller.Event) *controller.Plan {
	began := time.Now()
	p := t.Policy.Decide(v, ev)
	if took := time.Since(began); len(p.Place) > 0 {
		t.last = took
		t.decisions++
	}
	return p
}
