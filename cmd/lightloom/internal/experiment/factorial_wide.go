package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"lightloom/cmd/lightloom/internal/replay"
	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/joint"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/pathmap"
)

// The experiment joint-wide sets joint beside compositions of parts on wide shuffles whose tasks are free and do not
// fit into a rack. It is of no document: every row makes no claim.

func jointWide() Experiment {
	return Experiment{Name: "joint-wide", Doc: "joint beside separate parts on wide shuffles that no rack holds",
		Source: "wide shuffles",
		Seeds:  20, On: []string{OnFlowsim}, Run: runJointWide}
}

// wideGround is where jobs of wide shuffles run.
type wideGround struct {
	name, fabric string
	gap          time.Duration // mean between arrivals
	tasks        [2]int        // least and most of a stage
	bytes        float64       // of a pair of tasks, mean
}

func wideGrounds() []wideGround {
	const fabric = "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=500Mbps,ocs=10Gbps,dark="
	g := wideGround{"wide", fabric + "10ms", 600 * time.Millisecond, [2]int{4, 16}, 12e6}
	busy, slow, thin := g, g, g
	busy.name, busy.gap = "busier", 300*time.Millisecond
	slow.name, slow.fabric = "dark 200 ms", fabric+"200ms"
	thin.name = "circuits of 2 Gb/s"
	thin.fabric = "hybrid:racks=12,hosts=8,slots=2,spines=2,nic=1Gbps,eps=250Mbps,ocs=2Gbps,dark=10ms"
	return []wideGround{g, busy, slow, thin}
}

// draw returns the jobs of a run.
func (g *wideGround) draw(n int, seed uint64) []controller.Job {
	rng := rand.New(rand.NewPCG(seed, 0x77696465))
	stage := func(name string, n int, mean float64) controller.Stage {
		s := controller.Stage{Name: name}
		for range n {
			s.Tasks = append(s.Tasks, controller.Task{Compute: time.Duration(min(max(rng.ExpFloat64(), .2), 3) * mean * 1e9)})
		}
		return s
	}
	var jobs []controller.Job
	at := time.Duration(0)
	for k := range n {
		size := func() int {
			lo, hi := math.Log(float64(g.tasks[0])), math.Log(float64(g.tasks[1])+1)
			return int(math.Exp(lo + rng.Float64()*(hi-lo)))
		}
		m, r := size(), size()
		bytes := float64(m*r) * g.bytes * min(math.Pow(rng.Float64(), -1/1.3), 10) * .3
		jobs = append(jobs, controller.Job{Name: fmt.Sprintf("wide-%d", k), Arrival: at,
			Stages: []controller.Stage{stage("map", m, .5), stage("reduce", r, .25)},
			Edges:  []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: pathmap.Bytes(bytes)}}})
		at += time.Duration(rng.ExpFloat64() * float64(g.gap))
	}
	return jobs
}

// wideRival is a policy of the experiment.
type wideRival struct {
	name  string
	ties  uint64 // added to the seed of the run, and not of its jobs
	parts func() (place, lit, route policy.Part)
}

// wideRivals returns the policies, joint last. Apart is the same search for places without circuits in mind.
func wideRivals() []wideRival {
	every := func() policy.Part { return everyPair{circuits.Sunflow{}.Remembering()} }
	return []wideRival{
		{"packed+sunflow", 0, func() (a, b, c policy.Part) {
			return place.Packed{}, circuits.Sunflow{}.Remembering(), new(route.Annealed)
		}},
		{"packed+sunflow-te0", 0, func() (a, b, c policy.Part) { return place.Packed{}, every(), new(route.Annealed) }},
		{"coscheduler+sunflow-te0", 0, func() (a, b, c policy.Part) {
			return new(place.CoScheduler), every(), new(route.Annealed)
		}},
		{"apart", 0, func() (a, b, c policy.Part) { return joint.NewApart(anneal.Options{}) }},
		{"joint, another seed for ties", 1000, func() (a, b, c policy.Part) { return joint.NewJoint(anneal.Options{}) }},
		{"joint", 0, func() (a, b, c policy.Part) { return joint.NewJoint(anneal.Options{}) }},
	}
}

func (r *wideRival) make() controller.Policy {
	p, l, way := r.parts()
	return policy.Compose(p, l, way, new(share.TCP))
}

// wideFigures are those of one run.
type wideFigures struct {
	figures
	jct []float64 // by job, seconds
}

// run measures one run.
func (g *wideGround) run(ctx context.Context, jobs int, r *wideRival, seed uint64) (*wideFigures, error) {
	one := replay.Case{Fabric: g.fabric, On: OnFlowsim, Policy: "random+ecmp+sunflow", Jobs: g.draw(jobs, seed),
		Seed: seed + r.ties, With: r.make}
	ran, err := one.Run(ctx)
	if err != nil {
		return nil, err
	}
	f := &wideFigures{}
	for _, j := range ran.Jobs {
		f.Makespan = max(f.Makespan, j.End.Seconds())
		f.jct = append(f.jct, (j.End - j.Arrival).Seconds())
		f.JCT += (j.End - j.Arrival).Seconds() / float64(len(ran.Jobs))
	}
	for _, x := range ran.Coflows {
		f.CCT += (x.End - x.Start).Seconds() / float64(len(ran.Coflows))
	}
	if sum := float64(ran.OCS + ran.EPS); sum > 0 {
		f.OCS = float64(ran.OCS) / sum
	}
	f.Crossed = float64(ran.OCS+ran.EPS) / 1e12
	return f, nil
}

func runJointWide(ctx context.Context, b *Bench) (*Result, error) {
	jobs := 60
	if b.Quick {
		jobs = 6
	}
	type point struct {
		wideGround
		wideRival
	}
	grounds, who := wideGrounds(), wideRivals()
	var points []point
	for _, g := range grounds {
		for _, r := range who {
			points = append(points, point{g, r})
		}
	}
	got, err := Grid(ctx, b, points, func(p point) string {
		return p.wideGround.name + ": " + p.wideRival.name
	}, func(ctx context.Context, p point, seed uint64) (*wideFigures, error) {
		return p.wideGround.run(ctx, jobs, &p.wideRival, seed)
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: []string{
		fmt.Sprintf("%d jobs of 4–16 maps and 4–16 reduces (even in the logarithm), 2 slots a host, 16 a rack; a pair of "+
			"tasks has 3.6 MB × Pareto(1.3) up to 36 MB on average; maps compute 0.1–1.5 s, reduces half of that", jobs),
		"sunflow-te0 lights every pair; packets share links max-min; apart is joint's search for the packet network alone, " +
			"with joint's circuits"}}
	for i, g := range grounds {
		out.Assumptions = append(out.Assumptions, fmt.Sprintf("%s: %s, a job every %v", g.name, g.fabric, g.gap))
		out.Rows = append(out.Rows, wideRows(b, g.name, who, got[i*len(who):(i+1)*len(who)])...)
	}
	return out, nil
}

// wideRows compares the last policy with each of the others.
func wideRows(b *Bench, name string, who []wideRival, got [][]*wideFigures) []Row {
	var rows []Row
	last := len(who) - 1
	all := make([][]*figures, len(who))
	for k := range who {
		for _, f := range got[k] {
			all[k] = append(all[k], &f.figures)
		}
	}
	add := func(figure, who, metric, unit string, v []float64) {
		r := Row{Figure: figure, Setting: name + ": " + who, Metric: metric, Unit: unit}
		rows = append(rows, r.Measure(v, b.First).Judge(0, ""))
	}
	for k, r := range who {
		for _, m := range metrics() {
			add("cell", r.name, m.name, "s", column(all[k], m.of))
			if k < last {
				add("joint", "joint against "+r.name, m.name, "%", changes(all[last], all[k], m.of))
			}
		}
		if k < last {
			add("joint", "joint against "+r.name, "jobs slower by over 5 %", "%", slower(got[last], got[k]))
		}
		add("share of circuits", r.name, "bytes between racks over circuits", "%",
			scaled(column(all[k], func(f *figures) float64 { return f.OCS }), 100))
		add("crossing", r.name, "bytes between racks", "GB",
			scaled(column(all[k], func(f *figures) float64 { return f.Crossed }), 1000))
	}
	return rows
}

// changes returns by how many percent ours is above theirs, run by run.
func changes(ours, theirs []*figures, of func(*figures) float64) []float64 {
	return scaled(reduction(ours, theirs, of), -1)
}

// slower returns the share of jobs that take over 5 % longer under ours than under theirs, run by run.
func slower(ours, theirs []*wideFigures) []float64 {
	out := make([]float64, len(ours))
	for run := range ours {
		for i, t := range ours[run].jct {
			if t > 1.05*theirs[run].jct[i] {
				out[run] += 100 / float64(len(ours[run].jct))
			}
		}
	}
	return out
}
