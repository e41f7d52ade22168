package experiment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload/swim"
	"lightloom/lab/report"
	"lightloom/pathmap"
)

// The grid sets the schedulers on grounds where the network may bind: racks of several hosts, so that
// bytes within a rack are charged; tasks that compute faster; more jobs that shuffle much; more load.
// The cell for the comparison is chosen by what is published of Fair alone, and then all schedulers run
// on it untouched, and where the network binds most.

// What is published of Fair: the share of bytes over circuits in per cent, and by arithmetic from a
// makespan that Co-scheduler shortens by 56 % though arrivals last 90 minutes, the least makespan in
// seconds.
const (
	fairCircuits = 2.2
	fairMakespan = 204 * 60
)

// gridCell is one of the grid.
type gridCell struct {
	speed float64 // how many times as fast as swim-v1's tasks compute
	heavy float64 // share of jobs that shuffle T_e and more
	load  float64
}

func (g gridCell) String() string {
	return fmt.Sprintf("computing ×%g, %.3g %% heavy, load ×%g", g.speed, 100*g.heavy, g.load)
}

// gridCells is the grid, fixed before the first run. 5.8 % of the public jobs are shuffle-heavy.
func gridCells() []gridCell {
	var all []gridCell
	for _, speed := range []float64{1, 10, 60} {
		for _, heavy := range []float64{0.058, 0.2, 0.6} {
			for _, load := range []float64{1, 3} {
				all = append(all, gridCell{speed, heavy, load})
			}
		}
	}
	return all
}

// rackFabric is clusterFabric with four hosts a rack in place of ten servers, since a run costs the
// square of their number: a quarter of the bytes within a rack is free, not a tenth.
const rackFabric = "hybrid:racks=60,hosts=4,slots=50,spines=1,nic=25Gbps,eps=10Gbps,ocs=100Gbps,dark=10ms"

// gridStep is the step of time at which flows end: a large shuffle has 57,600 of them.
const gridStep = 10 * time.Millisecond

// gridJobs is half of the document's, since the trace holds too few shuffle-heavy jobs for 60 % of a
// thousand.
const gridJobs = 500

// jobs draws the jobs of one run.
func (g gridCell) jobs(all []swim.Record, n int, seed uint64) ([]controller.Job, error) {
	r := rand.New(rand.NewPCG(seed, 0x67726964))
	mix := swim.Mix{Heavy: g.heavy, Threshold: packetsLeast}
	drawn, err := mix.Draw(all, n, r)
	if err != nil {
		return nil, err
	}
	m := swim.V1(12_000)
	m.Name = fmt.Sprintf("swim-v1, computing %g times as fast", g.speed)
	m.MapRate, m.ReduceRate, m.Load = m.MapRate*g.speed, m.ReduceRate*g.speed, g.load
	return m.Jobs(m.Sample(drawn, n, false, r), r), nil
}

// contender is a scheduler of the grid, which may need to see the jobs beforehand or in another form.
type contender struct {
	name, policy string
	jobs         func(jobs []controller.Job) []controller.Job // nil: as they are
	with         func(jobs []controller.Job) controller.Policy
}

// fairs is how many of the contenders, the first, are Fair.
const fairs = 2

func contenders() []contender {
	return []contender{
		{name: "Fair", policy: "fair+sunflow"},
		{name: "Fair, shuffles overlap maps", policy: "fair+sunflow",
			jobs: func(jobs []controller.Job) []controller.Job {
				return overlapping(jobs, 4)
			}},
		{name: "Corral", policy: "corral+sunflow"},
		{name: "Corral, planned beforehand", policy: "corral+sunflow",
			with: func(jobs []controller.Job) controller.Policy {
				return policy.Compose(&place.Corral{Plan: place.PlanCorral(jobs, 60, 200, 10*pathmap.Gbps)},
					circuits.Sunflow{},
					route.Shortest{}, new(share.TCP))
			}},
		{name: "Co-scheduler", policy: "coscheduler+sunflow"},
	}
}

// overlapping lets shuffles begin before all maps have ended: the maps of a job become up to n stages,
// and what each leaves is shuffled once it has ended. YARN begins with every map.
func overlapping(jobs []controller.Job, n int) []controller.Job {
	out := make([]controller.Job, len(jobs))
	for i := range jobs {
		j := jobs[i]
		if len(j.Stages) == 2 && len(j.Edges) == 1 {
			j.Stages, j.Edges = overlapped(&jobs[i], n)
		}
		out[i] = j
	}
	return out
}

// overlapped are the stages and edges of one job of maps and reduces.
func overlapped(j *controller.Job, n int) (stages []controller.Stage, edges []controller.Edge) {
	maps, e := j.Stages[0].Tasks, j.Edges[0]
	n = min(n, len(maps))
	sent := pathmap.Bytes(0)
	for k := range n {
		from, to := k*len(maps)/n, (k+1)*len(maps)/n
		all := pathmap.Bytes(math.Round(float64(e.Bytes) * float64(to) / float64(len(maps))))
		if k == n-1 {
			all = e.Bytes
		}
		stages = append(stages, controller.Stage{Name: fmt.Sprint("map", k+1), Tasks: maps[from:to]})
		edges = append(edges, controller.Edge{Kind: e.Kind, From: k, To: n, Bytes: all - sent})
		sent = all
	}
	return append(stages, j.Stages[1]), edges
}

func (c contender) String() string { return c.name }

func (c contender) run(ctx context.Context, all []swim.Record, g gridCell, n int,
	seed uint64) (Figures, error) {
	jobs, err := g.jobs(all, n, seed)
	if err != nil {
		return nil, err
	}
	if c.jobs != nil {
		jobs = c.jobs(jobs)
	}
	var with func() controller.Policy
	if c.with != nil {
		with = func() controller.Policy { return c.with(jobs) }
	}
	k := cluster{Fabric: rackFabric, Step: gridStep}
	return k.runJobs(ctx, jobs, c.policy, with, seed)
}

func runGrid(ctx context.Context, b *Bench) (*Result, error) {
	all, err := recordsOf(b, fb2009)
	if err != nil {
		return nil, err
	}
	n, cells, who := gridJobs, gridCells(), contenders()
	if b.Quick {
		n, cells = 50, cells[:4]
	}
	run := func(g gridCell, ctx context.Context, _ *Bench, c contender, seed uint64) (Figures, error) {
		return c.run(ctx, all, g, n, seed)
	}
	fair, err := Cross(ctx, b, cells, who[:fairs], run)
	if err != nil {
		return nil, err
	}

	out := b.Result(append(assumed(swim.V1(12_000)), "fabric "+rackFabric+": bytes within a rack are charged",
		fmt.Sprintf("%d jobs of the trace; the cell is chosen by Fair's figures alone", n),
		fmt.Sprintf("flows end at multiples of %v", gridStep))...)
	var byFair []Runs
	var names []string
	for i, g := range cells {
		for _, c := range who[:fairs] {
			byFair, names = append(byFair, fair[i][c.name]), append(names, g.String()+", "+c.name)
			fairRows(names[len(names)-1], fair[i][c.name], out)
		}
	}

	at := calibrated(byFair)
	chosen := slices.Compact([]int{at / fairs, binding(byFair)})
	most := cells[chosen[len(chosen)-1]]
	others, err := Cross(ctx, b, []gridCell{cells[chosen[0]], most}[:len(chosen)], who[fairs:], run)
	if err != nil {
		return nil, err
	}
	for i, k := range chosen {
		maps.Copy(others[i], fair[k])
		gridRows(cells[k].String(), who, others[i], out)
	}
	out.Notes = []string{"calibrated on Fair: " + names[at], "the network binds most at " + most.String(),
		HolmNote(out.Rows)}
	return out, nil
}

// calibrated is the cell and the Fair that are nearest to what is published: first by the makespan that
// is missing, in steps of a tenth, so that the last arrival alone does not decide, then by the share of
// bytes over circuits.
func calibrated(fair []Runs) int {
	best, least := 0, [2]float64{math.Inf(1), math.Inf(1)}
	for i, f := range fair {
		missing := 1 - report.Mean(f.Of(makespan))/fairMakespan
		off := [2]float64{math.Floor(10 * max(0, missing)), math.Abs(report.Mean(f.Of(overOCS)) - fairCircuits)}
		if off[0] < least[0] || off[0] == least[0] && off[1] < least[1] {
			best, least = i, off
		}
	}
	return best
}

// binding is the cell in which a network that costs nothing saves most of the first Fair's JCT.
func binding(fair []Runs) int {
	best, most := 0, math.Inf(-1)
	for i := 0; i < len(fair); i += fairs {
		if bound := report.Mean(fair[i].Of(bounded(meanJCT))); bound > most {
			best, most = i/fairs, bound
		}
	}
	return best
}

// fairRows are those of Fair in a cell.
func fairRows(name string, got Runs, out *Result) {
	out.At("Fair", name, "at least 12,240 s by arithmetic").Row(makespan, "s", 0, got.Of(makespan))
	out.At("Fair", name, "2.2 % published").Row(overOCS, "%", 0, got.Of(overOCS))
	out.bounds(name, got)
}

// gridRows hold Co-scheduler against the others. The document's Fair and Corral are the last of their
// kind: with shuffles that overlap maps, and with a plan made beforehand.
func gridRows(name string, who []contender, at Systems, out *Result) {
	for _, c := range who[:len(who)-1] {
		h := out.At("Figure 5(a)", name+", Co-scheduler against "+c.name,
			"the grid has no cell in which Fair is as published")
		for _, m := range metrics() {
			paper := 0.0
			if base, _, last := strings.Cut(c.name, ", "); last {
				paper = figure5(base, m)
			}
			r := h.Row(m+" smaller by", "%", paper, at.Against(ours, c.name, m, Reduction))
			*r = r.reachable(at[c.name], m, out.seed)
		}
		out.bounds(name+", "+c.name, at[c.name])
	}
}
