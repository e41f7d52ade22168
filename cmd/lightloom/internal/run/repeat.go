package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/cmd/lightloom/internal/report"
)

// attempt is one run: every row once under one seed. A row that failed has an error and no outcome.
type attempt struct {
	setup    *setup
	order    []int      // of the rows
	outcomes []*outcome // by row; nil where it failed
	errs     []error    // by row
	costs    []report.PolicyRun
}

// attempt runs every row. It ends early only with the context.
func (s *setup) attempt(ctx context.Context, describe func(name string), progress func(done int)) *attempt {
	a := &attempt{setup: s, order: s.sequence(), outcomes: make([]*outcome, len(s.rows)), errs: make([]error, len(s.rows))}
	for n, i := range a.order {
		if ctx.Err() != nil {
			a.errs[i] = context.Cause(ctx)
			continue
		}
		describe(s.rows[i].Name)
		var cost report.PolicyRun
		a.outcomes[i], cost, a.errs[i] = s.row(ctx, s.rows[i], func(done int) { progress(n*len(s.jobs) + done) })
		if a.errs[i] != nil {
			a.outcomes[i], cost.Error = nil, a.errs[i].Error()
		}
		cost.Seed = s.opt.Seed
		a.costs = append(a.costs, cost)
	}
	return a
}

// sequence is in which order the rows run: as listed, or drawn from the seed.
func (s *setup) sequence() []int {
	if s.opt.Interleave {
		return rand.New(rand.NewPCG(s.opt.Seed, 0x6f72646572)).Perm(len(s.rows))
	}
	order := make([]int, len(s.rows))
	for i := range order {
		order[i] = i
	}
	return order
}

// ended counts the rows that did not fail.
func (a *attempt) ended() (n int) {
	for _, o := range a.outcomes {
		if o != nil {
			n++
		}
	}
	return n
}

// report makes the report of the rows that ended.
func (a *attempt) report() (*report.Report, []report.PolicyResult) {
	var all []*outcome
	for _, o := range a.outcomes {
		if o != nil {
			all = append(all, o)
		}
	}
	return a.setup.report(all)
}

// run is what a repetition keeps of an attempt.
func (a *attempt) run() report.SeedRun {
	run := report.SeedRun{Seed: a.setup.opt.Seed, Jobs: digest(a.setup.jobs)}
	for _, i := range a.order {
		run.Order = append(run.Order, a.setup.rows[i].Name)
	}
	var rep *report.Report
	if a.ended() > 0 {
		rep, _ = a.report()
	}
	at := 0
	for i, o := range a.outcomes {
		if o == nil {
			run.Policies = append(run.Policies, report.Measured{Name: a.setup.rows[i].Name, Error: a.errs[i].Error()})
			continue
		}
		run.Policies = append(run.Policies, report.Measure(&rep.Policies[at]))
		at++
	}
	return run
}

// seeded returns the same setup under another seed, with the jobs that this gives.
func (s *setup) seeded(seed uint64) (*setup, error) {
	if seed == s.opt.Seed {
		return s, nil
	}
	opt := s.opt
	opt.Seed = seed
	x, err := prepare(opt, s.opt.Scale)
	if err != nil {
		return nil, fmt.Errorf("prepare seed %d: %w", seed, err)
	}
	x.notes, x.rootless, x.kill = s.notes, s.rootless, s.kill
	return x, nil
}

// seeds are those of the runs.
func (s *setup) seeds() []uint64 {
	out := make([]uint64, max(1, s.opt.Repeat))
	for i := range out {
		out[i] = s.opt.Seed + uint64(i)
	}
	return out
}

// runs makes every run and returns the one to show, the first of those in which most rows ended, and what is kept of
// all, which is nil where there is one. A single run that fails is an error; so are several of which none gave anything.
func (s *setup) runs(ctx context.Context, run *report.Run) (*attempt, *report.Repeat, error) {
	bar := s.bar()
	var shown *attempt
	rep := &report.Repeat{Seeds: s.seeds(), Interleaved: s.opt.Interleave}
	for k, seed := range rep.Seeds {
		x, err := s.seeded(seed)
		if err != nil {
			return nil, nil, errors.Join(err, bar.Clear())
		}
		base := k * len(s.rows) * len(s.jobs)
		a := x.attempt(ctx, func(name string) { bar.Describe(name) }, func(done int) { _ = bar.Set(base + done) })
		run.Policies = append(run.Policies, a.costs...)
		if ctx.Err() != nil || len(rep.Seeds) == 1 && a.ended() < len(s.rows) {
			_ = bar.Clear()
			return nil, nil, cmp.Or(context.Cause(ctx), firstError(a.errs))
		}
		if shown == nil || a.ended() > shown.ended() {
			shown = a
		}
		if len(rep.Seeds) > 1 {
			rep.Runs = append(rep.Runs, a.run())
		}
	}
	_ = bar.Finish()
	rep.Shown = shown.setup.opt.Seed
	switch {
	case shown.ended() == 0:
		return nil, nil, fmt.Errorf("all %d runs failed; the first: %w", len(rep.Seeds), firstError(shown.errs))
	case len(rep.Seeds) == 1:
		return shown, nil, nil
	}
	return shown, rep, nil
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// settled leaves out of results what arrives during the warm-up: jobs by their arrival, coflows by their job's.
func (s *setup) settled(results []report.PolicyResult) []report.PolicyResult {
	from := s.opt.Warmup
	if from == 0 {
		return results
	}
	results = slices.Clone(results)
	for i := range results {
		r := &results[i]
		early := map[int32]bool{}
		for k := range r.Jobs {
			early[int32(r.Jobs[k].ID)] = r.Jobs[k].Arrival < from
		}
		r.Jobs = slices.DeleteFunc(slices.Clone(r.Jobs), func(j report.JobResult) bool { return early[int32(j.ID)] })
		r.Coflows = slices.DeleteFunc(slices.Clone(r.Coflows), func(c report.CoflowResult) bool { return early[int32(c.Job)] })
	}
	return results
}

// warm says what a warm-up leaves out, and refuses one that leaves nothing.
func (s *setup) warm() error {
	if s.opt.Warmup == 0 {
		return nil
	}
	early := 0
	for i := range s.jobs {
		if s.jobs[i].Arrival < s.opt.Warmup {
			early++
		}
	}
	if early == len(s.jobs) {
		hint := "leave --warmup away"
		if last := s.last().Round(time.Millisecond); last > 0 {
			hint = fmt.Sprintf("take a --warmup below %v", last)
		}
		return &insideError{fmt.Sprintf("all %d jobs arrive within the warm-up of %v: nothing would be measured", early, s.opt.Warmup), hint}
	}
	s.notes = append(s.notes, fmt.Sprintf("warm-up: %d of %d jobs arrive in the first %v and are left out of all figures; they ran all the same.", early, len(s.jobs), s.opt.Warmup))
	return nil
}
