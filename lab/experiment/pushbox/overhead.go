package pushbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
	"lightloom/lab/scenario"
)

// stopwatch is a packer that notes how long the decisions took that placed something.
type stopwatch struct {
	*place.Packer
	took []float64 // microseconds
}

// Fill times the packer's.
func (s *stopwatch) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	before, at := len(p.Place), time.Now()
	s.Packer.Fill(v, ev, p)
	if len(p.Place) > before {
		s.took = append(s.took, float64(time.Since(at).Nanoseconds())/1e3)
	}
}

// The figures of what deciding cost in one run.
const (
	allDecisions   = "all decisions"                 // seconds
	medianDecision = "median of a decision"          // microseconds
	p95Decision    = "95th percentile of a decision" // microseconds
)

// lengthened draws that many coflows of a trace, with the gaps between its arrivals, so that the load stays.
func lengthened(t *workload.Trace, n int, seed uint64) *workload.Trace {
	r := rand.New(rand.NewPCG(seed, 0x66313461))
	out := &workload.Trace{Name: t.Name, Racks: t.Racks}
	at := time.Duration(0)
	for i := range n {
		k := 1 + r.IntN(len(t.Coflows)-1)
		at += max(t.Coflows[k].Arrival-t.Coflows[k-1].Arrival, 0)
		c := t.Coflows[r.IntN(len(t.Coflows))]
		c.ID, c.Arrival = i+1, at
		out.Coflows = append(out.Coflows, c)
	}
	return out
}

func deciding(ctx context.Context, b *experiment.Bench, trace *workload.Trace, n int, seed uint64) (
	experiment.Figures, error) {
	if b.Quick {
		n /= 20
	}
	model := workload.FacebookV1()
	k := place.NewPacker(pushbox.PushBox, share.FairIntent.Ordered)
	w := &stopwatch{Packer: k}
	c := replay.Case{Options: scenario.Options{
		Fabric: machines(20, 20, "10Gbps"), On: experiment.OnFlowsim,
		Policies: []string{"fair+shortest"}, Seed: seed,
		Given: model.Jobs(lengthened(trace, n, seed)),
	}, With: func() controller.Policy {
		return policy.Compose(w, nil, route.Shortest{}, &share.Priority{Intent: share.FairIntent, Size: k.Sends})
	}}
	if _, err := c.Run(ctx); err != nil {
		return nil, err
	}
	sum := 0.0
	for _, x := range w.took {
		sum += x
	}
	slices.Sort(w.took)
	return experiment.Figures{allDecisions: sum / 1e6, medianDecision: report.Percentile(w.took, .5),
		p95Decision: report.Percentile(w.took, .95)}, nil
}

// runPushBoxOverhead is Figure 14.
func runPushBoxOverhead(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	trace, err := experiment.Facebook(b)
	if err != nil {
		return nil, err
	}
	sizes := []int{400, 600, 800, 1000, 1200, 1400}
	got, err := experiment.Grid(ctx, b, sizes, func(n int) string { return fmt.Sprintf("%d coflows", n) },
		func(ctx context.Context, n int, seed uint64) (experiment.Figures, error) {
			return deciding(ctx, b, trace, n, seed)
		})
	if err != nil {
		return nil, err
	}
	out := b.Result(
		"coflows drawn from the trace, with gaps drawn from its arrivals: the load is that of the trace",
		"a decision here reads the view, sorts jobs and machines and fills all free slots, where the document times the "+
			"choice alone: that is BenchmarkDecision of controller/policy/pushbox",
	)
	line := plot.Line{Name: allDecisions}
	var all []experiment.Runs
	for i, n := range sizes {
		runs := experiment.Runs(got[i])
		h := out.At("Figure 14a", fmt.Sprintf("%d coflows", n), "another machine")
		h.Row(allDecisions, "s", 0, runs.Of(allDecisions))
		h.Figure = "Figure 14b"
		h.Row(medianDecision, "µs", 0, runs.Of(medianDecision))
		h.Row(p95Decision, "µs", 0, runs.Of(p95Decision))
		line.X, line.Y = append(line.X, float64(n)), append(line.Y, report.Mean(runs.Of(allDecisions)))
		all = append(all, runs)
	}
	h := out.At("Figure 14a", "400 to 1400 coflows", "the document: approximately linear")
	h.Row("growth of all decisions", "times", 3.5,
		all[len(all)-1].Against(all[0], allDecisions, experiment.Ratio))
	out.Pictures = []plot.Chart{{Name: "pushbox-overhead", Title: "Figure 14a", X: "coflows",
		Y: "all decisions, s", Lines: []plot.Line{line}}}
	return out, nil
}
