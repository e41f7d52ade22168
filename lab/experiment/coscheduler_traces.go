package experiment

import (
	"context"
	"fmt"
	"strings"

	"lightloom/controller/workload/swim"
)

// swimTraces are the public traces of SWIM's workloadSuite. A job of the last shuffles 4.8 times as much as one of the
// first, from which the document takes its jobs.
var swimTraces = []string{fb2009, "FB-2009_samples_24_times_1hr_1.tsv.gz", "FB-2010_samples_24_times_1hr_0.tsv.gz"}

// runTraces compares the schedulers on jobs of each trace, at the published load.
func runTraces(ctx context.Context, b *Bench) (*Result, error) {
	type on struct {
		trace string
		all   []swim.Record
		setting
	}
	c := sectionVA()
	if b.Quick {
		c.Jobs = min(c.Jobs, 50)
	}
	var settings []on
	for _, trace := range swimTraces {
		all, err := recordsOf(b, trace)
		if err != nil {
			return nil, err
		}
		for _, s := range schedulers() {
			settings = append(settings, on{strings.TrimSuffix(trace, ".tsv.gz"), all, setting{c, s}})
		}
	}
	got, err := Grid(ctx, b, settings, func(s on) string { return s.trace + ", " + s.scheduler.name },
		func(ctx context.Context, s on, seed uint64) (*figures, error) {
			return s.cluster.run(ctx, s.all, s.scheduler.policy, s.scheduler.with, seed)
		})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: assumed(swim.V1(12_000))}
	for i := 0; i < len(settings); i += 3 {
		out.Rows = append(out.Rows, figure5(settings[i].trace, true, got[i:i+3], b.First)...)
		out.Rows = append(out.Rows, boundsOf(settings[i].trace, got[i:i+3], b.First)...)
	}
	out.Notes = []string{fmt.Sprintf("the document takes its jobs from %s; the others are of the same collection",
		swimTraces[0]), HolmNote(out.Rows)}
	return out, nil
}
