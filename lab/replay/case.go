package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Case is one run of an experiment: the experiment's own jobs, under one policy, on one fabric.
type Case struct {
	Fabric string // a spec, as of Options
	On     string // OnFlowsim or OnNetns
	Policy string // a name, as of Options
	Parts  policy.Overrides
	Rules  scenario.Rules
	Delays string           // as --delays
	Jobs   []controller.Job // for this fabric; they are not scaled
	Seed   uint64

	// With makes the policy, if no name expresses what an experiment varies. Policy then names it in
	// errors, and must name a policy that sets up circuits if and only if this one does. On the simulator
	// only.
	With func() controller.Policy

	Faults []fault.Event // by time
	Until  time.Duration // stop then, whatever still runs; 0: at the end of all jobs

	Scale, Speedup float64 // as of Options; 0: 1. Jobs, faults and Until are scaled with them

	Replicas int               // of the controller on packets; 0: three
	Once     bool              // a run on packets counts, however much others disturb it
	Profiles emulated.Profiles // of the switches on packets
	Stderr   io.Writer
}

// Ran is the result of a case.
type Ran struct {
	report.PolicyResult
	State   *state.Data
	End     time.Duration
	Busiest float64 // load of the busiest link between switches; the simulator alone knows it
	EPS     pathmap.Bytes
	OCS     pathmap.Bytes
	Usages  []loop.Usage // of circuit reservations, where the rules have a file of them

	fabric *topo.Fabric
	seed   uint64
}

// Run runs a case to its end.
func (c *Case) Run(ctx context.Context) (*Ran, error) {
	opt := scenario.Options{Fabric: c.Fabric, On: c.On, Policies: []string{c.Policy}, Parts: c.Parts, Rules: c.Rules,
		Delays: c.Delays, Speedup: cmp.Or(c.Speedup, 1), Seed: c.Seed, Replicas: max(c.Replicas, 1), Given: c.Jobs}
	opt.StopAt = time.Duration(float64(c.Until) / opt.Speedup)
	if c.On == scenario.OnNetns {
		if c.With != nil {
			return nil, fmt.Errorf("run case %s on packets: its policy has no name that a controller's process could be given",
				c.Policy)
		}
		if c.Replicas == 0 {
			opt.Replicas = 3
		}
	}
	if c.Jobs == nil {
		return nil, fmt.Errorf("run case %s: it has no jobs", c.Policy)
	}
	p, err := scenario.Prepare(opt, cmp.Or(c.Scale, 1))
	if err != nil {
		return nil, err
	}
	s := &runner{Prepared: p, Console: Console{Stderr: cmp.Or(c.Stderr, io.Discard)}, with: c.With,
		once: c.Once, packets: emulated.Options{Profiles: c.Profiles}}
	for _, e := range c.Faults {
		e.At = time.Duration(float64(e.At) / opt.Speedup)
		s.Faults = append(s.Faults, e)
	}
	o, _, err := s.row(ctx, s.Rows[0], nil)
	if file := c.Rules.PerReservation; err == nil && file != "" {
		err = outcome.WritePerReservation(file, []*outcome.Outcome{o})
	}
	if err != nil {
		return nil, err
	}
	return &Ran{PolicyResult: o.ResultOf(s.Prepared), State: o.State, End: o.End, Busiest: o.Busiest, EPS: o.EPS,
		OCS:    o.OCS,
		Usages: o.Usages,
		fabric: s.Fabric, seed: c.Seed}, nil
}
