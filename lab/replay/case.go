package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/topo"
)

// Case is one run of an experiment: the options that a user would write, for one policy and the
// experiment's own jobs, and what no user can write. Scale and Speedup are 1 where they are left out,
// and Replicas three on packets. Jobs, faults and StopAt are scaled with the fabric.
type Case struct {
	scenario.Options // with one policy, and Given for this fabric

	// With makes the policy, if no name expresses what an experiment varies. The policy of the options then
	// names it in errors, and must set up circuits if and only if this one does. On the simulator only.
	With func() controller.Policy

	Events   []fault.Event     // faults, by time
	Once     bool              // a run on packets counts, however much others disturb it
	Profiles emulated.Profiles // of the switches on packets
	Stderr   io.Writer
}

// besideKey is the key of ReadingBeside.
type besideKey struct{}

// ReadingBeside has the tasks of all cases that run under the context read blocks of other racks beside the network, in
// the time that their model says: experiments make their cases themselves.
func ReadingBeside(ctx context.Context) context.Context {
	return context.WithValue(ctx, besideKey{}, true)
}

// Ran is the result of a case.
type Ran struct {
	report.PolicyResult
	State   *state.Data
	End     time.Duration
	Busiest float64      // load of the busiest link between switches; the simulator alone knows it
	Usages  []loop.Usage // of circuit reservations, where the rules have a file of them

	fabric *topo.Fabric
	seed   uint64
}

// Run runs a case to its end.
func (c *Case) Run(ctx context.Context) (*Ran, error) {
	opt := c.Options
	if len(opt.Policies) != 1 {
		return nil, fmt.Errorf("run case: it has %d policies: give it one", len(opt.Policies))
	}
	if opt.Given == nil {
		return nil, fmt.Errorf("run case %s: it has no jobs", opt.Policies[0])
	}
	opt.Speedup = cmp.Or(opt.Speedup, 1)
	opt.StopAt = time.Duration(float64(opt.StopAt) / opt.Speedup)
	if opt.On == scenario.OnNetns {
		if c.With != nil {
			return nil, fmt.Errorf("run case %s on packets: its policy has no name that a controller's process could be given",
				opt.Policies[0])
		}
		opt.Replicas = cmp.Or(opt.Replicas, 3)
	}
	opt.Replicas = max(opt.Replicas, 1)
	if ctx.Value(besideKey{}) != nil {
		opt.Parts.ReadsBeside = true
	}
	p, err := scenario.Prepare(opt, cmp.Or(opt.Scale, 1))
	if err != nil {
		return nil, err
	}
	s := &runner{Prepared: p, Console: Console{Stderr: cmp.Or(c.Stderr, io.Discard)}, with: c.With,
		once: c.Once, packets: emulated.Options{Profiles: c.Profiles}}
	for _, e := range c.Events {
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
	return &Ran{PolicyResult: o.ResultOf(s.Prepared), State: o.State, End: o.End,
		Busiest: o.Busiest, Usages: o.Usages,
		fabric: s.Fabric, seed: c.Seed}, nil
}
