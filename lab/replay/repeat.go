package replay

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/schollz/progressbar/v3"

	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// attempt is one run: every row once under one seed. A row that failed has an error and no outcome.
type attempt struct {
	runner   *runner
	order    []int              // of the rows
	outcomes []*outcome.Outcome // by row; nil where it failed
	errs     []error            // by row
	costs    []report.PolicyRun
}

// attempt runs every row. Only the end of ctx stops it early.
func (s *runner) attempt(ctx context.Context, describe func(name string), progress func(done int)) *attempt {
	a := &attempt{runner: s, order: s.sequence(), outcomes: make([]*outcome.Outcome, len(s.Rows)),
		errs: make([]error, len(s.Rows))}
	for n, i := range a.order {
		if ctx.Err() != nil {
			a.errs[i] = context.Cause(ctx)
			continue
		}
		describe(s.Rows[i].Name)
		var cost report.PolicyRun
		a.outcomes[i], cost, a.errs[i] = s.row(ctx, s.Rows[i], func(done int) { progress(n*len(s.Jobs) + done) })
		if a.errs[i] != nil {
			a.outcomes[i], cost.Error = nil, a.errs[i].Error()
		}
		cost.Seed = s.Options.Seed
		a.costs = append(a.costs, cost)
	}
	return a
}

// repeatMarked makes rows of a demo again whose expected errors are marked, the largest first and each once, while
// there is time. Of two runs of a row the one with the smaller expected error counts, whatever its figures: it was
// the less disturbed.
func (s *runner) repeatMarked(ctx context.Context, a *attempt, bar *progressbar.ProgressBar) {
	if s.until.IsZero() || s.explain != nil || a.ended() < len(s.Rows) {
		return
	}
	tried := make([]bool, len(s.Rows))
	for ctx.Err() == nil {
		k := a.toRepeat(tried, time.Until(s.until))
		if k < 0 {
			return
		}
		i := a.order[k]
		tried[i] = true
		bar.Describe(s.Rows[i].Name + ", again")
		o, cost, err := s.row(ctx, s.Rows[i], func(int) {})
		if err != nil || o.Health == nil {
			continue // the run that there is counts
		}
		a.costs[k].Repeated++
		if o.Health.Expected < a.outcomes[i].Health.Expected {
			cost.Seed, cost.Repeated = a.costs[k].Seed, a.costs[k].Repeated
			a.outcomes[i], a.costs[k] = o, cost
		}
	}
}

// toRepeat returns the place in the order of the row with the largest marked error, of those that are not tried and
// take less time than is left; -1 without one.
func (a *attempt) toRepeat(tried []bool, left time.Duration) int {
	best, most := -1, report.MarkedError
	for k, i := range a.order {
		h := a.outcomes[i].Health
		if h == nil || tried[i] || a.costs[k].Wall > left.Seconds() {
			continue
		}
		if h.Expected > most || h.Unknown && best < 0 {
			best, most = k, max(most, h.Expected)
		}
	}
	return best
}

// sequence is the order in which the rows run: as listed, or drawn from the seed.
func (s *runner) sequence() []int {
	if s.Interleave {
		return rand.New(rand.NewPCG(s.Options.Seed, 0x6f72646572)).Perm(len(s.Rows))
	}
	order := make([]int, len(s.Rows))
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
	var all []*outcome.Outcome
	for _, o := range a.outcomes {
		if o != nil {
			all = append(all, o)
		}
	}
	return a.runner.report(all)
}

// run is the part of an attempt that a repetition keeps.
func (a *attempt) run() report.SeedRun {
	run := report.SeedRun{Seed: a.runner.Options.Seed, Jobs: a.runner.Digest()}
	for _, i := range a.order {
		run.Order = append(run.Order, a.runner.Rows[i].Name)
	}
	var rep *report.Report
	if a.ended() > 0 {
		rep, _ = a.report()
	}
	at := 0
	for i, o := range a.outcomes {
		if o == nil {
			run.Policies = append(run.Policies, report.Measured{Name: a.runner.Rows[i].Name,
				Error: a.errs[i].Error()})
			continue
		}
		run.Policies = append(run.Policies, report.Measure(&rep.Policies[at]))
		at++
	}
	return run
}

// seeded returns the same setup under another seed, with that seed's jobs.
func (s *runner) seeded(seed uint64) (*runner, error) {
	if seed == s.Options.Seed {
		return s, nil
	}
	opt := s.Options
	opt.Seed = seed
	x, err := scenario.Prepare(opt, s.Options.Scale)
	if err != nil {
		return nil, fmt.Errorf("prepare seed %d: %w", seed, err)
	}
	x.Notes = s.Notes
	other := *s
	other.Prepared = x
	return &other, nil
}

// runs makes every run. It returns the one to show, the first of those with the most rows ended, and
// the record of all runs, which is nil for a single run. A single run that fails is an error; so are
// several that all fail. Where ctx ends it early, it returns what had ended besides the cause, for a
// partial report: nil where nothing had.
func (s *runner) runs(ctx context.Context, run *report.Run) (*attempt, *report.Repeat, error) {
	bar := s.bar()
	var shown *attempt
	rep := &report.Repeat{Seeds: s.Seeds(), Interleaved: s.Interleave}
	for k, seed := range rep.Seeds {
		x, err := s.seeded(seed)
		if err != nil {
			return nil, nil, errors.Join(err, bar.Clear())
		}
		base := k * len(s.Rows) * len(s.Jobs)
		a := x.attempt(ctx, func(name string) { bar.Describe(name) },
			func(done int) { _ = bar.Set(base + done) })
		x.repeatMarked(ctx, a, bar)
		run.Policies = append(run.Policies, a.costs...)
		switch {
		case ctx.Err() != nil:
			shown, rep = s.partial(shown, a, rep)
			return shown, rep, errors.Join(context.Cause(ctx), bar.Clear())
		case len(rep.Seeds) == 1 && a.ended() < len(s.Rows):
			return nil, nil, errors.Join(firstError(a.errs), bar.Clear())
		}
		if shown == nil || a.ended() > shown.ended() {
			shown = a
		}
		if len(rep.Seeds) > 1 {
			rep.Runs = append(rep.Runs, a.run())
		}
	}
	_ = bar.Finish()
	rep.Shown = shown.runner.Options.Seed
	switch {
	case shown.ended() == 0:
		return nil, nil, fmt.Errorf("all %d runs failed; the first: %w", len(rep.Seeds), firstError(shown.errs))
	case len(rep.Seeds) == 1:
		return shown, nil, nil
	}
	return shown, rep, nil
}

// partial returns what is left of runs that were interrupted in an attempt: the runs before it, or of the
// first one the rows that had ended. The report's notes say so.
func (s *runner) partial(shown, cut *attempt, rep *report.Repeat) (*attempt, *report.Repeat) {
	note := fmt.Sprintf("Interrupted: %d of %d runs had ended, and only these are here.",
		len(rep.Runs), len(rep.Seeds))
	switch {
	case shown == nil && cut.ended() == 0:
		return nil, nil
	case shown == nil:
		shown = cut
		note = fmt.Sprintf("Interrupted: %d of %d policies had ended, and only these are here.",
			cut.ended(), len(s.Rows))
	}
	if len(rep.Runs) > 0 || cut.ended() < len(s.Rows) {
		shown.runner.Notes = append([]string{note}, shown.runner.Notes...)
		fmt.Fprintln(s.Stderr, note)
	}
	if len(rep.Runs) < 2 {
		return shown, nil
	}
	rep.Seeds, rep.Shown = rep.Seeds[:len(rep.Runs)], shown.runner.Options.Seed
	return shown, rep
}

func firstError(errs []error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// settled removes from results what arrives during the warm-up: jobs by their own arrival, coflows by
// their job's.
func (s *runner) settled(results []report.PolicyResult) []report.PolicyResult {
	from := s.Options.Warmup
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
		r.Jobs = slices.DeleteFunc(slices.Clone(r.Jobs),
			func(j report.JobResult) bool { return early[int32(j.ID)] })
		r.Coflows = slices.DeleteFunc(slices.Clone(r.Coflows), func(c report.CoflowResult) bool {
			return early[int32(c.Job)]
		})
	}
	return results
}
