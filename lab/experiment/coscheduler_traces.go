package experiment

import (
	"context"
	"strings"

	"lightloom/controller/workload/swim"
)

// swimTraces are the public traces of SWIM's workloadSuite. A job of the last shuffles 4.8 times as
// much as one of the first, from which the document takes its jobs.
var swimTraces = []string{fb2009, "FB-2009_samples_24_times_1hr_1.tsv.gz",
	"FB-2010_samples_24_times_1hr_0.tsv.gz"}

// runTraces compares the schedulers on jobs of each trace, at the published load.
func runTraces(ctx context.Context, b *Bench) (*Result, error) {
	var places []cluster
	for _, trace := range swimTraces {
		c := sectionVA()
		c.Trace, c.Name = trace, strings.TrimSuffix(trace, ".tsv.gz")
		places = append(places, c)
	}
	out := b.Result(assumed(swim.V1(12_000))...)
	out.Notes = []string{"the document takes its jobs from " + fb2009 + "; the others are of the same collection"}
	rows := func(c cluster, out *Result, at Systems) {
		c.figure5Rows(out, at)
		c.boundsOf(out, at)
	}
	return measure(ctx, b, out, places, schedulers(), rows, HolmNote)
}
