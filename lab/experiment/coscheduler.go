package experiment

import (
	"context"
	"fmt"
	"math"
	"strings"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload/swim"
	"lightloom/lab/report/plot"
)

// The evaluation of the Co-scheduler document (sections V-B to V-D). Jobs, when they come and whose
// they are is swim-v1's and the seed's; all schedulers see the same. Sunflow sets the circuits under
// every scheduler, as in the document.

func coschedulerExperiments() []Experiment {
	const hourLong = "1,000 jobs over 90 minutes, at up to 30 times their load; coscheduler-packets has 16 on packets"
	const source = "Co-scheduler, section V"
	return []Experiment{
		{Name: "coscheduler-figure-4", Doc: "the latency matrix of the example job, in both forms",
			Source: "Co-scheduler, section IV-D, Figure 4", Seeds: 1, Only: SendsNothing, Alone: NoRuns, Run: runFigure4},
		{Name: "coscheduler", Doc: "makespan, job and coflow completion, bytes over circuits, over offered load",
			Source: source + "-B, Figures 5 and 6", Loads: true, Only: hourLong, Run: runCoscheduler},
		{Name: "coscheduler-mechanisms", Doc: "Co-scheduler without its mechanisms",
			Source: source + "-C, Figure 7",
			Loads:  true, Only: hourLong, Run: runMechanisms},
		{Name: "coscheduler-oversubscription", Doc: "3:1 to 20:1 towards the packet core",
			Source: source + "-D, Figure 8",
			Loads:  true, Only: hourLong, Run: runOversubscription},
		{Name: "coscheduler-recurring", Doc: "0 to 100 % recurring jobs", Source: source + "-D, Figure 9",
			Loads: true, Only: hourLong, Run: runRecurring},
		{Name: "coscheduler-estimation", Doc: "errors of the remaining time up to 50 %",
			Source: source + "-D, Figure 10",
			Loads:  true, Only: hourLong, Run: runEstimation},
		{Name: "coscheduler-assumptions", Doc: "each assumption of the job model halved and doubled",
			Source: "swim-v1 itself", Only: hourLong, Run: runAssumptions},
		{Name: "coscheduler-traces", Doc: "the same on three public traces, one of which shuffles 4.8 times as much a job",
			Source: source + "-B, Figure 5", Only: hourLong, Run: runTraces},
		{Name: "coscheduler-grid", Doc: "where the network binds: computing, heavy jobs and load, chosen by Fair alone",
			Source: source + "-B, Figure 5", Only: hourLong, Run: runGrid},
		{Name: "coscheduler-packets", Doc: "Fair, Corral and Co-scheduler on real packets, job by job beside the simulator",
			Source: "Co-scheduler, section V, scaled down", Seeds: 10, On: []string{OnNetns}, Only: Beside, Run: runPackets},
	}
}

// scheduler is one of the schedulers under comparison.
type scheduler struct {
	name   string
	policy string
	with   func() controller.Policy
}

func schedulers() []scheduler {
	return []scheduler{{"Fair", "fair+sunflow", nil}, {"Corral", "corral+sunflow", nil},
		{"Co-scheduler", "coscheduler+sunflow", nil}}
}

// variant is a Co-scheduler with something left out or added.
func variant(name string, part func() *place.CoScheduler) scheduler {
	return scheduler{name, "coscheduler+sunflow", func() controller.Policy {
		return policy.Compose(part(), circuits.Sunflow{}, route.Shortest{}, new(share.TCP))
	}}
}

func (s scheduler) String() string { return s.name }

// measure fills a result by every scheduler on every cluster.
func measure(ctx context.Context, b *Bench, out *Result, places []cluster, who []scheduler,
	rows func(c cluster, out *Result, at Systems), notes ...func([]Row) string) (*Result, error) {
	all := map[string][]swim.Record{}
	for i := range places {
		c := &places[i]
		if b.Quick {
			c.Jobs = min(c.Jobs, 50)
		}
		if all[c.Trace] == nil {
			var err error
			if all[c.Trace], err = recordsOf(b, c.Trace); err != nil {
				return nil, err
			}
		}
	}
	run := func(c cluster, ctx context.Context, _ *Bench, s scheduler, seed uint64) (Figures, error) {
		return c.run(ctx, all[c.Trace], s.policy, s.with, seed)
	}
	return Fill(ctx, b, out, places, who, run, rows, notes...)
}

// assumed are the assumptions of every experiment of this document.
func assumed(m swim.Model) []string {
	return append(m.Lines(),
		"60 racks of 200 slots; the ten servers of a rack are one host of 100 Gb/s, so that bytes within a rack are free",
		"T_e = 1.125 GB = 9 × 10 ms × 100 Gb/s; the reconfiguration delay of a move is the 10 ms of the mirrors and "+
			"another 10 ms of "+
			"control",
		"packets share links max-min; a shuffle starts once all of its reduces have a slot; CCT is from its start to its "+
			"last byte",
		"Fair: delay scheduling of 5 s by rack, reduces anywhere; Corral: planned at arrival; Co-scheduler: Figure 4's "+
			"form of the shuffle, lines 8 and 9 of Algorithm 2 taken literally",
	)
}

// ours is the system that rows hold against the others.
const ours = "Co-scheduler"

// The notes of rows that differ from the document.
const (
	onlyPicture = "the figure is a picture without numbers"
	byShuffle   = "the public traces offer little shuffle for 90 minutes: arrivals, and one job in a thousand, set " +
		"these figures"
	byModel = "depends on how many jobs shuffle more than 1.125 GB between two racks, which the model decides"
)

// figure5 is what the document prints of Figure 5(a): by how many per cent Co-scheduler's figures are
// smaller.
func figure5(base, metric string) float64 {
	return map[string]map[string]float64{
		"Fair":   {makespan: 56, meanJCT: 61, meanCCT: 79},
		"Corral": {makespan: 44, meanJCT: 43, meanCCT: 63},
	}[base][metric]
}

func runCoscheduler(ctx context.Context, b *Bench) (*Result, error) {
	var got []Systems
	rows := func(c cluster, out *Result, at Systems) {
		got = append(got, at)
		c.figure5Rows(out, at)
		for _, base := range []string{"Fair", "Corral"} {
			h := out.At("Figure 6", c.Name+", Co-scheduler against "+base, onlyPicture)
			for _, m := range []string{heavyJCT, lightJCT} {
				h.Row(m+" smaller by", "%", 0, at.Against(ours, base, m, Reduction))
			}
		}
		c.boundsOf(out, at)
	}
	out, err := measure(ctx, b, b.Result(assumed(swim.V1(12_000))...), offered(b), schedulers(),
		rows, HolmNote)
	if err == nil {
		out.Pictures = loadPictures(b.loads(), got)
	}
	return out, err
}

// figure5Rows are the rows of Figure 5 for one set of jobs.
func (c *cluster) figure5Rows(out *Result, at Systems) {
	for _, base := range []string{"Fair", "Corral"} {
		h := out.At("Figure 5(a)", c.Name+", Co-scheduler against "+base, byShuffle)
		for _, m := range metrics() {
			h.smaller(at[ours], at[base], m, c.ifPublished(figure5(base, m)))
		}
	}
	paper := map[string]float64{"Fair": 2.2, "Corral": 33, ours: 95.2}
	for _, s := range schedulers() {
		h := out.At("Figure 5(b)", c.Name+", "+s.name, byModel)
		h.Row(overOCS, "%", c.ifPublished(paper[s.name]), at[s.name].Of(overOCS))
	}
}

// ifPublished is the document's figure where the offered load is the document's.
func (c *cluster) ifPublished(paper float64) float64 {
	if !c.published() {
		return 0
	}
	return paper
}

// smaller adds by how much our figure is smaller than another's, where a network can change it.
func (h Head) smaller(ours, base Runs, metric string, paper float64) {
	r := h.asked(metric+" smaller by", paper, ours.Against(base, metric, Reduction))
	*r = r.reachable(base, metric, h.out.seed)
}

// asked adds a row in per cent whose note says how wide the interval is against its effect. The target
// was 5 %, and n was fixed beforehand.
func (h Head) asked(metric string, paper float64, v []float64) *Row {
	if r := (Row{}).Measure(v, h.out.seed); r.Measured != nil && *r.Measured != 0 {
		h.Why += fmt.Sprintf("; half-width %.0f %% of the effect", 50*math.Abs((*r.High-*r.Low) / *r.Measured))
	}
	return h.Row(metric, "%", paper, v)
}

// boundsOf are what a network can change for each scheduler, and the order of the schedulers.
func (c *cluster) boundsOf(out *Result, at Systems) {
	for _, s := range schedulers() {
		out.bounds(c.Name+", "+s.name, at[s.name])
	}
	out.orderings("Figure 5(a)", c.Name, at)
}

// orderings reports for each figure whether the document's order (Co-scheduler before Corral before
// Fair) holds in each run.
func (r *Result) orderings(figure, name string, at Systems) {
	h := r.At(figure, name, "")
	for _, m := range metrics() {
		for _, pair := range [][2]string{{"Corral", "Fair"}, {ours, "Corral"}} {
			row := h.Order(m+": "+pair[0]+" below "+pair[1], 0, at.Against(pair[0], pair[1], m, Reduction))
			row.Unit = "% of runs"
			*row = row.reachable(at[pair[1]], m, r.seed)
		}
	}
}

// HolmNote states how many comparisons a page makes: at 95 % each, one in twenty is wrong by chance.
func HolmNote(rows []Row) string {
	n := 0
	for _, r := range rows {
		if r.Verdict != NoClaim {
			n++
		}
	}
	return fmt.Sprintf("%d comparisons: at 95 %% each, about %.0f intervals miss by chance; by Holm's rule single ones "+
		"need %.2g %%", n, float64(n)/20, 5/float64(max(n, 1)))
}

// loadPictures draws each figure over offered load, with the largest job and without.
func loadPictures(loads []float64, got []Systems) []plot.Chart {
	var out []plot.Chart
	for w, suffix := range []string{"", "-without-largest"} {
		for _, m := range metrics() {
			p := plot.Chart{Name: "coscheduler-" + fileOf(m) + suffix,
				Title: m + " against Fair's, over load", X: "offered load, times the published", Y: m + " ÷ Fair's"}
			for _, s := range schedulers()[1:] {
				l := plot.Line{Name: s.name}
				for i, load := range loads {
					at := got[w*len(loads)+i]
					point(&l, load, at.Against(s.name, "Fair", m, Ratio), 1)
				}
				p.Lines = append(p.Lines, l)
			}
			out = append(out, p)
		}
	}
	return out
}

// fileOf is a metric in the name of a file.
func fileOf(metric string) string { return strings.ToLower(strings.TrimPrefix(metric, "mean ")) }
