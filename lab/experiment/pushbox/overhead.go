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

// overhead is what deciding cost in one run.
type overhead struct{ Total, P50, P95 float64 } // seconds, microseconds

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

func deciding(ctx context.Context, b *experiment.Bench, trace *workload.Trace, n int, seed uint64) (*overhead, error) {
	if b.Quick {
		n /= 20
	}
	model := workload.FacebookV1()
	k := place.NewPacker(pushbox.PushBox, share.FairIntent.Ordered)
	w := &stopwatch{Packer: k}
	c := replay.Case{Fabric: machines(20, 20, "10Gbps"), On: experiment.OnFlowsim, Policy: "fair+shortest", Seed: seed,
		Jobs: model.Jobs(lengthened(trace, n, seed)), With: func() controller.Policy {
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
	return &overhead{sum / 1e6, report.Percentile(w.took, .5), report.Percentile(w.took, .95)}, nil
}

// runPushBoxOverhead is Figure 14.
func runPushBoxOverhead(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	trace, err := experiment.Facebook(b)
	if err != nil {
		return nil, err
	}
	all := []int{400, 600, 800, 1000, 1200, 1400}
	got, err := experiment.Grid(ctx, b, all, func(n int) string { return fmt.Sprintf("%d coflows", n) },
		func(ctx context.Context, n int, seed uint64) (*overhead, error) {
			return deciding(ctx, b, trace, n, seed)
		})
	if err != nil {
		return nil, err
	}
	out := &experiment.Result{Assumptions: []string{
		"coflows drawn from the trace, with gaps drawn from its arrivals: the load is that of the trace",
		"a decision here reads the view, sorts jobs and machines and fills all free slots, where the document times the " +
			"choice alone: that is BenchmarkDecision of controller/policy/pushbox",
	}}
	line := experiment.Line{Name: "all decisions"}
	figure := func(i int, f func(*overhead) float64) []float64 {
		var v []float64
		for _, o := range got[i] {
			v = append(v, f(o))
		}
		return v
	}
	total := func(o *overhead) float64 { return o.Total }
	for i, n := range all {
		setting := fmt.Sprintf("%d coflows", n)
		out.Rows = append(out.Rows,
			experiment.Row{Figure: "Figure 14a", Setting: setting, Metric: "all decisions", Unit: "s"}.Measure(figure(i,
				total), b.First).
				Judge(0, "another machine"),
			experiment.Row{Figure: "Figure 14b", Setting: setting, Metric: "median of a decision", Unit: "µs"}.
				Measure(figure(i, func(o *overhead) float64 { return o.P50 }), b.First).Judge(0, "another machine"),
			experiment.Row{Figure: "Figure 14b", Setting: setting, Metric: "95th percentile of a decision", Unit: "µs"}.
				Measure(figure(i, func(o *overhead) float64 { return o.P95 }), b.First).Judge(0, "another machine"))
		line.X, line.Y = append(line.X, float64(n)), append(line.Y, mean(figure(i, total)))
	}
	last := len(all) - 1
	out.Rows = append(out.Rows, experiment.Row{Figure: "Figure 14a", Setting: "400 to 1400 coflows", Unit: "times",
		Metric: "growth of all decisions", Paper: experiment.Number(3.5)}.Measure(times(figure(last, total), figure(0,
		total)), b.First).
		Judge(0, "the document: approximately linear"))
	out.Pictures = []experiment.Picture{{Name: "pushbox-overhead", Title: "Figure 14a", X: "coflows",
		Y:     "all decisions, s",
		Lines: []experiment.Line{line}}}
	return out, nil
}

// times is how many times theirs ours is, run by run.
func times(ours, theirs []float64) []float64 {
	out := make([]float64, len(ours))
	for i := range out {
		out[i] = ours[i] / theirs[i]
	}
	return out
}
