package run

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Case is one run of an experiment: jobs that the experiment has made itself, under one policy, on one fabric.
type Case struct {
	Fabric string // a spec, as of Options
	On     string // OnFlowsim or OnNetns
	Policy string // a name, as of Options
	Parts  Parts
	Rules  Rules
	Jobs   []controller.Job // for this fabric; they are not scaled
	Seed   uint64

	// With makes the policy, where no name says what an experiment varies; Policy names it in errors then, and is the
	// name of a policy that lights circuits if and only if this one does. On the simulator alone.
	With func() controller.Policy

	Faults []fault.Event // by time
	Until  time.Duration // stop then, whatever still runs; 0: at the end of all jobs

	Scale, Speedup float64 // as of Options; 0: 1. Jobs, faults and Until are scaled with them

	Replicas int // of the controller on packets; 0: three
	Stderr   io.Writer
}

// Ran is what a case came to.
type Ran struct {
	report.PolicyResult
	State   *state.Data
	End     time.Duration
	Busiest float64 // load of the busiest link between switches; the simulator alone knows it
	EPS     pathmap.Bytes
	OCS     pathmap.Bytes

	fabric *topo.Fabric
	seed   uint64
}

// Run runs a case to its end.
func (c *Case) Run(ctx context.Context) (*Ran, error) {
	opt := Options{Fabric: c.Fabric, On: c.On, Policies: []string{c.Policy}, Parts: c.Parts, Rules: c.Rules, Speedup: cmp.Or(c.Speedup, 1), Seed: c.Seed,
		Replicas: max(c.Replicas, 1), Stdout: io.Discard, Stderr: c.Stderr, given: c.Jobs, with: c.With}
	opt.until = time.Duration(float64(c.Until) / opt.Speedup)
	if c.On == OnNetns {
		if c.With != nil {
			return nil, fmt.Errorf("run case %s on packets: its policy has no name that a controller's process could be given", c.Policy)
		}
		if c.Replicas == 0 {
			opt.Replicas = 3
		}
	}
	if opt.Stderr == nil {
		opt.Stderr = io.Discard
	}
	if c.Jobs == nil {
		return nil, fmt.Errorf("run case %s: it has no jobs", c.Policy)
	}
	s, err := prepare(opt, cmp.Or(c.Scale, 1))
	if err != nil {
		return nil, err
	}
	for _, e := range c.Faults {
		e.At = time.Duration(float64(e.At) / opt.Speedup)
		s.faults = append(s.faults, e)
	}
	o, _, err := s.row(ctx, s.rows[0], nil)
	if err != nil {
		return nil, err
	}
	return &Ran{PolicyResult: s.result(o), State: o.State, End: o.End, Busiest: o.Busiest, EPS: o.EPS, OCS: o.OCS, fabric: s.fabric, seed: c.Seed}, nil
}
