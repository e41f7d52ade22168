// Package clairvoyant is an experiment: how much of what is left between the best composition of
// separate parts and a search that knows all jobs does joint gain? Beside it are packets of equal
// capacity and a proven bound. The search is a tool of the experiment: no controller knows jobs to
// come, or has so much time.
package clairvoyant

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/lab/experiment"
	"lightloom/lab/report"
	"lightloom/pathmap/topo"
)

// Experiments returns the experiment.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "clairvoyant",
		Doc: "joint between the best composition, a search that knows " +
			"all jobs, and a proven bound", Source: "wide shuffles", Seeds: 5, Run: run,
		Only: "its search makes 300 runs of the jobs of each seed"}}
}

// trials is how many runs of a seed's jobs the search may simulate. That takes 100 to 160 times the
// processor time of joint's whole run (BenchmarkRuns).
const trials = 300

// grounds are those of joint-wide whose jobs are all of one shuffle and placed at once.
func grounds() []string { return []string{"busier", "dark 200 ms"} }

// found is what was run on one ground with one seed. Bounds are means in seconds.
type found struct {
	rival, joint, best, packets *trial
	anywhere                    float64    // no mean JCT is below, wherever tasks are
	alone                       float64    // no mean CCT is
	here                        [2]float64 // no mean CCT on joint's and on the best schedule's hosts, from the same starts
}

func run(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	jobs, runs := 60, trials
	if b.Quick {
		jobs, runs = 6, 12
	}
	got, err := experiment.Grid(ctx, b, []int{jobs}, func(n int) string { return fmt.Sprint(n, " jobs") },
		func(ctx context.Context, n int, seed uint64) (all []*found, err error) {
			for _, g := range grounds() {
				f, err := look(ctx, b, experiment.Contested(g, n), seed, runs)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", g, err)
				}
				all = append(all, f)
			}
			return all, nil
		})
	if err != nil {
		return nil, err
	}
	out := b.Result(
		fmt.Sprintf("the search simulates %d runs, from the better of joint and the frozen rival on; it changes places, "+
			"the ranks of coflows and the threshold of circuits, and knows all jobs", runs),
		"all have joint's routes and max-min shares; equal packets: packed places, the circuits' rate as packets",
		"bound on JCT: wherever tasks are; on CCT: alone on the fabric; on hosts: from the same starts, with circuits that "+
			"are moved for a coflow dark for a reconfiguration delay")
	for k, g := range grounds() {
		var of []*found
		for _, all := range got[0] {
			of = append(of, all[k])
		}
		rows(g, of, out, b.First)
	}
	return out, nil
}

// look runs everything on one ground with one seed.
func look(ctx context.Context, b *experiment.Bench, c experiment.Contest, seed uint64,
	runs int) (*found, error) {
	jobs, err := c.Jobs(b, seed)
	if err != nil {
		return nil, err
	}
	a, err := newArena(c.Fabric, jobs, seed)
	if err != nil {
		return nil, err
	}
	f := &found{}
	if f.rival, err = a.run(ctx, a.spec, someCircuits, c.Rival); err != nil {
		return nil, err
	}
	if f.joint, err = a.run(ctx, a.spec, someCircuits, c.Joint); err != nil {
		return nil, err
	}
	if f.packets, err = a.packets(ctx); err != nil {
		return nil, err
	}
	everyPair := f.rival.clone()
	everyPair.least = 0
	again, err := a.follow(ctx, everyPair)
	if err != nil {
		return nil, err
	}
	if f.best, err = a.search(ctx, []*trial{f.joint, f.rival, again}, runs); err != nil {
		return nil, err
	}
	return f, f.bound(a)
}

func newArena(spec string, jobs []controller.Job, seed uint64) (*arena, error) {
	for i := range jobs {
		if j := &jobs[i]; len(j.Stages) != 2 || len(j.Edges) != 1 ||
			j.Edges[0].Kind != controller.ScatterGather ||
			j.Incremental {
			return nil, fmt.Errorf("search a schedule: job %d is not maps, one shuffle and reduces, placed at once", i)
		}
	}
	s, err := topo.FromArgument(spec)
	if err != nil {
		return nil, err
	}
	f, err := topo.New(s)
	if err != nil {
		return nil, err
	}
	return &arena{fabric: f, spec: spec, jobs: jobs, alone: anywhere(f, jobs).Alone, seed: seed}, nil
}

// bound computes the bounds, and returns an error if any run is below one.
func (f *found) bound(a *arena) error {
	n, o := float64(len(a.jobs)), anywhere(a.fabric, a.jobs)
	f.anywhere = o.Bound(certified.Effort{}) / n
	for i := range a.jobs {
		f.anywhere += (longest(&a.jobs[i], 1) - a.jobs[i].Arrival).Seconds() / n
		f.alone += o.Alone[i] / n
	}
	for k, t := range []*trial{f.joint, f.best} {
		p := placed(a.fabric, a.jobs, t)
		f.here[k] = p.Bound(certified.Effort{Trials: 100}) / n
		for _, at := range t.start {
			f.here[k] -= at / n
		}
		if f.here[k] > t.CCT+1e-6 {
			return fmt.Errorf("a mean CCT of %v s is below the bound %v s", t.CCT, f.here[k])
		}
	}
	for _, t := range []*trial{f.rival, f.joint, f.best, f.packets} {
		if t.JCT < f.anywhere-1e-6 || t.CCT < f.alone-1e-6 {
			return fmt.Errorf("a mean JCT of %v s and CCT of %v s are below the bounds %v s and %v s",
				t.JCT, t.CCT, f.anywhere,
				f.alone)
		}
	}
	return nil
}

func rows(ground string, of []*found, out *experiment.Result, first uint64) {
	var runs experiment.Runs
	for _, f := range of {
		runs = append(runs, experiment.Figures{
			"rival mean CCT": f.rival.CCT, "rival mean JCT": f.rival.JCT,
			"joint mean CCT": f.joint.CCT, "joint mean JCT": f.joint.JCT,
			"clairvoyant mean CCT": f.best.CCT, "clairvoyant mean JCT": f.best.JCT,
			"equal packets mean CCT": f.packets.CCT, "equal packets mean JCT": f.packets.JCT,
			"bound mean CCT": f.alone, "bound mean JCT": f.anywhere,
			"bound on joint's hosts mean CCT": f.here[0], "bound on clairvoyant's hosts mean CCT": f.here[1],
		})
	}
	own := func(who, metric string) {
		out.At("cell", ground+": "+who, "").Row(metric, "s", 0, runs.Of(who+" "+metric))
	}
	for _, who := range []string{"rival", "joint", "clairvoyant", "equal packets", "bound"} {
		own(who, "mean CCT")
		own(who, "mean JCT")
	}
	own("bound on joint's hosts", "mean CCT")
	own("bound on clairvoyant's hosts", "mean CCT")
	for _, m := range []string{"mean CCT", "mean JCT"} {
		below := func(who string) []float64 {
			return runs.Each(func(f experiment.Figures) float64 { return f["rival "+m] - f[who+" "+m] })
		}
		out.Add(closed(ground+": closed by joint, to the search", m, below("joint"),
			below("clairvoyant"), first))
		out.Add(closed(ground+": closed by joint, to the bound", m, below("joint"), below("bound"), first))
	}
}

// closed is the share of the gap between the rival and the search, or a bound, that joint closes: the
// ratio of the means, with the percentile interval of resampled seeds.
func closed(setting, metric string, won, all []float64, seed uint64) experiment.Row {
	row := experiment.Row{Figure: "gap", Setting: setting, Metric: metric, Unit: "%", N: len(won)}
	ratio := func(pick func(i int) int) float64 {
		a, b := 0.0, 0.0
		for i := range won {
			k := pick(i)
			a, b = a+won[k], b+all[k]
		}
		return 100 * a / b
	}
	r := rand.New(rand.NewPCG(seed, 0x676170))
	var drawn []float64
	for range 10_000 {
		if x := ratio(func(int) int { return r.IntN(len(won)) }); !math.IsNaN(x) && !math.IsInf(x, 0) {
			drawn = append(drawn, x)
		}
	}
	if whole := ratio(func(i int) int { return i }); len(drawn) > 0 && !math.IsNaN(whole) &&
		!math.IsInf(whole, 0) {
		slices.SortFunc(drawn, cmp.Compare[float64])
		row.Measured = experiment.Number(whole)
		row.Low = experiment.Number(report.Percentile(drawn, 0.025))
		row.High = experiment.Number(report.Percentile(drawn, 0.975))
	}
	return row.Judge(0, "")
}
