package experiment

import (
	"context"
	"fmt"
	"math"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload/swim"
	"lightloom/lab/report"
)

// The evaluation of the Co-scheduler document (sections V-B to V-D). Jobs, when they come and whose they are is
// swim-v1's and the seed's; all schedulers see the same. Sunflow sets the circuits under every scheduler, as in the
// document.

func coschedulerExperiments() []Experiment {
	on := []string{OnFlowsim}
	const source = "Co-scheduler, section V"
	return []Experiment{
		{Name: "coscheduler-figure-4", Doc: "the latency matrix of the example job, in both forms",
			Source: "Co-scheduler, section IV-D, Figure 4", Seeds: 20, On: on, Run: runFigure4},
		{Name: "coscheduler", Doc: "makespan, job and coflow completion, bytes over circuits, over offered load",
			Source: source + "-B, Figures 5 and 6", Seeds: 20, On: on, Loads: true, Run: runCoscheduler},
		{Name: "coscheduler-mechanisms", Doc: "Co-scheduler without its mechanisms", Source: source + "-C, Figure 7",
			Seeds: 20, On: on, Loads: true, Run: runMechanisms},
		{Name: "coscheduler-oversubscription", Doc: "3:1 to 20:1 towards the packet core", Source: source + "-D, Figure 8",
			Seeds: 20, On: on, Loads: true, Run: runOversubscription},
		{Name: "coscheduler-recurring", Doc: "0 to 100 % recurring jobs", Source: source + "-D, Figure 9", Seeds: 20, On: on,
			Loads: true, Run: runRecurring},
		{Name: "coscheduler-estimation", Doc: "errors of the remaining time up to 50 %", Source: source + "-D, Figure 10",
			Seeds: 20, On: on, Loads: true, Run: runEstimation},
		{Name: "coscheduler-assumptions", Doc: "each assumption of the job model halved and doubled",
			Source: "swim-v1 itself", Seeds: 20, On: on, Run: runAssumptions},
		{Name: "coscheduler-traces", Doc: "the same on three public traces, one of which shuffles 4.8 times as much a job",
			Source: source + "-B, Figure 5", Seeds: 20, On: on, Run: runTraces},
		{Name: "coscheduler-grid", Doc: "where the network binds: computing, heavy jobs and load, chosen by Fair alone",
			Source: source + "-B, Figure 5", Seeds: 20, On: on, Run: runGrid},
		packetsExperiment(),
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

// setting is a cluster under a scheduler.
type setting struct {
	cluster
	scheduler
}

func (s setting) String() string { return s.cluster.Name + ", " + s.scheduler.name }

// measure runs settings with all seeds.
func measure(ctx context.Context, b *Bench, settings []setting) ([][]*figures, error) {
	all, err := records(b)
	if err != nil {
		return nil, err
	}
	if b.Quick {
		for i := range settings {
			settings[i].cluster.Jobs = min(settings[i].cluster.Jobs, 50)
		}
	}
	return Grid(ctx, b, settings, setting.String, func(ctx context.Context, s setting, seed uint64) (*figures, error) {
		return s.cluster.run(ctx, all, s.scheduler.policy, s.scheduler.with, seed)
	})
}

// metric is a figure that the document reports.
type metric struct {
	name, file string // file: part of the name of a picture
	of         func(*figures) float64
}

func metrics() []metric {
	return []metric{
		{"makespan", "makespan", func(f *figures) float64 { return f.Makespan }},
		{"mean JCT", "jct", func(f *figures) float64 { return f.JCT }},
		{"mean CCT", "cct", func(f *figures) float64 { return f.CCT }},
	}
}

func column(f []*figures, of func(*figures) float64) []float64 {
	out := make([]float64, len(f))
	for i := range f {
		out[i] = of(f[i])
	}
	return out
}

// reduction is Equation 14 with its sign, in percent, run by run: above zero where ours is smaller.
func reduction(ours, theirs []*figures, of func(*figures) float64) []float64 {
	var out []float64
	for i := range ours {
		if t := of(theirs[i]); t > 0 {
			out = append(out, 100*(t-of(ours[i]))/t)
		}
	}
	return out
}

// asked describes how wide a row's interval is against its effect. The target was 5 %, and n was fixed beforehand.
func asked(r Row) string {
	if r.Measured == nil || *r.Measured == 0 {
		return ""
	}
	return fmt.Sprintf("; half-width %.0f %% of the effect", 50*math.Abs((*r.High-*r.Low) / *r.Measured))
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

func runCoscheduler(ctx context.Context, b *Bench) (*Result, error) {
	loads := b.loads()
	var settings []setting
	for _, o := range offers(b) {
		c := sectionVA()
		c.offer(o)
		c.Name = o.String()
		for _, s := range schedulers() {
			settings = append(settings, setting{c, s})
		}
	}
	got, err := measure(ctx, b, settings)
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: assumed(swim.V1(12_000))}
	for i := 0; i < len(settings); i += 3 {
		name := settings[i].cluster.Name
		out.Rows = append(out.Rows, figure5(name, settings[i].cluster.published(), got[i:i+3], b.First)...)
		for k, base := range []string{"Fair", "Corral"} {
			for _, kind := range []metric{{"JCT of shuffle-heavy jobs", "", func(f *figures) float64 {
				return f.HeavyJCT
			}}, {"JCT of other jobs", "", func(f *figures) float64 { return f.LightJCT }}} {
				r := Row{Figure: "Figure 6", Setting: name + ", Co-scheduler against " + base, Metric: kind.name + " smaller by",
					Unit: "%"}
				out.Rows = append(out.Rows, r.Measure(reduction(got[i+2], got[i+k], kind.of), b.First).
					Judge(0, "the figure is a picture without numbers"))
			}
		}
		out.Rows = append(out.Rows, boundsOf(name, got[i:i+3], b.First)...)
	}
	out.Pictures = loadPictures(loads, got)
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

// figure5 are the rows of Figure 5 for one set of jobs under Fair, Corral and Co-scheduler.
func figure5(name string, published bool, got [][]*figures, seed uint64) (rows []Row) {
	const why = "the public traces offer little shuffle for 90 minutes: arrivals, and one job in a thousand, set these " +
		"figures"
	paper := map[string][2]float64{"makespan": {56, 44}, "mean JCT": {61, 43}, "mean CCT": {79, 63}}
	for k, base := range []string{"Fair", "Corral"} {
		for _, m := range metrics() {
			r := Row{Figure: "Figure 5(a)", Setting: name + ", Co-scheduler against " + base, Metric: m.name + " smaller by",
				Unit: "%"}
			if published {
				r.Paper = Number(paper[m.name][k])
			}
			r = r.Measure(reduction(got[2], got[k], m.of), seed)
			rows = append(rows, r.Judge(0, why+asked(r)).reachable(got[k], m, seed))
		}
	}
	for k, s := range schedulers() {
		r := Row{Figure: "Figure 5(b)", Setting: name + ", " + s.name, Metric: "bytes between racks over circuits",
			Unit: "%"}
		if published {
			r.Paper = Number([]float64{2.2, 33, 95.2}[k])
		}
		r = r.Measure(scaled(column(got[k], func(f *figures) float64 { return f.OCS }), 100), seed)
		rows = append(rows, r.Judge(0, "depends on how many jobs shuffle more than 1.125 GB between two racks, "+
			"which the model decides"))
	}
	return rows
}

// boundsOf are what a network can change for each scheduler, and the order of the schedulers.
func boundsOf(name string, got [][]*figures, seed uint64) (rows []Row) {
	for k, s := range schedulers() {
		rows = append(rows, boundRows(name+", "+s.name, got[k], seed)...)
	}
	return append(rows, orderings("Figure 5(a)", name, got, seed)...)
}

func scaled(v []float64, by float64) []float64 {
	for i := range v {
		v[i] *= by
	}
	return v
}

// orderings reports for each figure whether the document's order (Co-scheduler before Corral before Fair) holds in each
// run.
func orderings(figure, name string, got [][]*figures, seed uint64) []Row {
	var rows []Row
	for _, m := range metrics() {
		for _, pair := range [][3]any{{0, 1, "Corral below Fair"}, {1, 2, "Co-scheduler below Corral"}} {
			theirs, ours := got[pair[0].(int)], got[pair[1].(int)]
			holds := make([]float64, len(ours))
			for i := range ours {
				if m.of(ours[i]) < m.of(theirs[i]) {
					holds[i] = 100
				}
			}
			rows = append(rows, Row{Figure: figure + ", order", Setting: name, Metric: m.name + ": " + pair[2].(string),
				Unit: "% of runs"}.Measure(holds, seed).
				JudgeOrder(Row{}.Measure(reduction(ours, theirs, m.of), seed)).reachable(theirs, m, seed))
		}
	}
	return rows
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
func loadPictures(loads []float64, got [][]*figures) []Picture {
	var out []Picture
	for w, suffix := range []string{"", "-without-largest"} {
		for _, m := range metrics() {
			p := Picture{Name: "coscheduler-" + m.file + suffix,
				Title: m.name + " against Fair's, over load", X: "offered load, times the published", Y: m.name + " ÷ Fair's"}
			for k, s := range schedulers()[1:] {
				l := Line{Name: s.name}
				for i, load := range loads {
					at := (w*len(loads) + i) * 3
					var ratio []float64
					for run := range got[at] {
						if f := m.of(got[at][run]); f > 0 {
							ratio = append(ratio, m.of(got[at+k+1][run])/f)
						}
					}
					ci := report.Bootstrap(ratio, 1)
					l.X, l.Y, l.Low, l.High = append(l.X, load), append(l.Y, ci.Mean), append(l.Low, ci.Low), append(l.High, ci.High)
				}
				p.Lines = append(p.Lines, l)
			}
			out = append(out, p)
		}
	}
	return out
}
