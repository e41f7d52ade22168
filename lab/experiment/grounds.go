package experiment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Grounds are workloads and fabrics on which the network binds: shuffles are wide, tasks are free, and
// ports are 40 to 90 % busy. The grid was committed before the first comparison, and every cell of it
// is reported.

// ground is a fabric with a source of jobs.
type ground struct {
	name   string
	fabric string
	dark   string
	load   float64 // share of the time that ports are to be busy; 0: jobs come when their source says
	source source
}

// source draws the jobs of a run; Pace gives them their time. Seeds from heldOut on see parts of real
// traces that no other seed does.
type source struct {
	name string
	data bool // it needs the folder of real traces
	jobs func(b *Bench, seed uint64) ([]controller.Job, error)
}

// heldOut is the first seed whose jobs come from the second half of a real trace. Those below take the
// first half.
const heldOut = 1001

const (
	groundRacks = 8
	groundHosts = 4
	groundSlots = 16 // of a host
)

// groundFabric has two spines at 1.25 Gb/s and a circuit of 10 Gb/s a rack, whose hosts can send 40 Gb/s.
func groundFabric(dark string) string {
	return fmt.Sprintf("hybrid:racks=%d,hosts=%d,slots=%d,spines=2,nic=10Gbps,eps=1250Mbps,ocs=10Gbps,dark=%s",
		groundRacks, groundHosts, groundSlots, dark)
}

// groundPort is what a rack can send over packets and its circuit together.
const groundPort = 12_500 * pathmap.Mbps

// sources lists those of the grid, each with 40 jobs a run.
func sources(n int) []source {
	wide := func(o workload.WideOptions) func(*Bench, uint64) ([]controller.Job, error) {
		return func(_ *Bench, seed uint64) ([]controller.Job, error) {
			o.Seed, o.Jobs = seed, n
			return workload.Wide(o)
		}
	}
	mixed := func(heavy float64) func(*Bench, uint64) ([]controller.Job, error) {
		return func(b *Bench, seed uint64) ([]controller.Job,
			error) {
			return mixedJobs(b, fb2009, heavy, n, seed)
		}
	}
	return []source{
		{"wide", false, wide(workload.WideOptions{})},
		{"wide, alike", false, wide(workload.WideOptions{Least: 4e9, Most: 8e9})},
		{"few reduces", false, wide(workload.WideOptions{Reduces: [2]int{1, 4}})},
		{"SWIM, 20 % heavy", true, mixed(0.2)},
		{"SWIM, 60 % heavy", true, mixed(0.6)},
		{"FB2010, free racks", true, func(b *Bench, seed uint64) ([]controller.Job,
			error) {
			return freeJobs(b, n, seed)
		}},
	}
}

// grounds is the grid: every source at two loads and three dark times.
func grounds(n int) []ground {
	var all []ground
	for _, s := range sources(n) {
		for _, dark := range []string{"10ms", "100ms", "500ms"} {
			for _, load := range []float64{0.5, 0.9} {
				all = append(all, ground{fmt.Sprintf("%s, dark %s, offered %g %%", s.name, dark, 100*load),
					groundFabric(dark), dark, load, s})
			}
		}
	}
	return all
}

// jobs draws the jobs of a run, paced for the ground's load.
func (g *ground) jobs(b *Bench, seed uint64) ([]controller.Job, error) {
	jobs, err := g.source.jobs(b, seed)
	if err != nil || g.load == 0 {
		return jobs, err
	}
	return jobs, workload.Pace(jobs, groundRacks, groundPort, g.load)
}

// mixedJobs are jobs of a SWIM trace, of which the given share shuffles T_e = 1.125 GB and more, with
// tasks that compute 60 times as fast as swim-v1's, so that slots do not bind before ports do.
func mixedJobs(b *Bench, trace string, heavy float64, n int, seed uint64) ([]controller.Job, error) {
	all, err := recordsOf(b, trace)
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(seed, 0x6d6978))
	mix := swim.Mix{Heavy: heavy, Threshold: packetsLeast, Shuffle: 20 * packetsLeast, Input: 50e9}
	drawn, err := mix.Draw(halved(all, seed), n, r)
	if err != nil {
		return nil, err
	}
	m := packetsModel()
	m.MostReduces = groundRacks * groundHosts
	return m.Jobs(m.Sample(drawn, n, false, r), r), nil
}

// freeJobs are coflows of the Facebook trace of 2010 that follow each other, from one drawn at random,
// as jobs whose racks are free.
func freeJobs(b *Bench, n int, seed uint64) ([]controller.Job, error) {
	t, err := Facebook(b)
	if err != nil {
		return nil, err
	}
	half := halved(t.Coflows, seed)
	if len(half) < n {
		return nil, fmt.Errorf("draw jobs: %d coflows in half of %s: take at most as many jobs",
			len(half), FacebookTrace)
	}
	from := rand.New(rand.NewPCG(seed, 0x66726565)).IntN(len(half) - n + 1)
	return workload.FreeJobs(half[from : from+n]), nil
}

// halved is the half of a trace that a seed may see.
func halved[T any](all []T, seed uint64) []T {
	if seed < heldOut {
		return all[:len(all)/2]
	}
	return all[len(all)/2:]
}

func (g ground) String() string { return g.name }

// rival is one policy on a ground. Packets of equal capacity have a fabric of their own.
type rival struct {
	name    string
	packets bool
	ties    uint64 // added to the seed of the run, and not of its jobs
	policy  string // "": with makes it
	with    func() controller.Policy
}

func (r rival) String() string { return r.name }

// run measures one run of a policy on a ground.
func (g ground) run(ctx context.Context, b *Bench, r rival, seed uint64) (Figures, error) {
	jobs, err := g.jobs(b, seed)
	if err != nil {
		return nil, err
	}
	c := &replay.Case{Options: scenario.Options{
		Fabric: g.fabric, On: OnFlowsim, Policies: []string{cmp.Or(r.policy, "random+ecmp+sunflow")},
		Given: jobs, Seed: seed + r.ties,
	}, With: r.with}
	if r.packets {
		spec, err := topo.FromArgument(g.fabric)
		if err != nil {
			return nil, err
		}
		c.Policies, c.Fabric = []string{cmp.Or(r.policy, "random+ecmp")}, spec.WithoutOCS(true).String()
	}
	f, err := controlled(ctx, c)
	if err == nil && len(f.jobs()) < len(jobs) {
		err = errors.New("not all jobs ended")
	}
	return f, err
}

// headroomFrom is the least headroom in per cent at which a cell is a ground for comparing policies.
const headroomFrom = 30

func runGrounds(ctx context.Context, b *Bench) (*Result, error) {
	n := 40
	if b.Quick {
		n = 8
	}
	all := grounds(n)
	out := b.Result(
		"fabric "+groundFabric("10ms"),
		"all tasks are free; arrivals are stretched so that ports of 12.5 Gb/s would be busy for the named share if tasks "+
			"were spread over all racks",
		"SWIM: computing 60 times as fast as swim-v1, shuffles up to 22.5 GB, inputs up to 50 GB; FB2010: coflows that "+
			"follow each other, equal shares for reducers",
		fmt.Sprintf("%d jobs a run; seeds from %d on see the second half of each trace", n, heldOut),
		"a coflow within one rack counts in the mean",
	)
	if b.Data == "" {
		all = slices.DeleteFunc(all, func(g ground) bool { return g.source.data })
		out.Notes = []string{"without --data, the grounds of real traces were left out"}
	}
	return Fill(ctx, b, out, all, groundRivals(), ground.run, ground.rows, Chance)
}

// The rivals of a ground: a circuit for every pair, packets of equal capacity, and such packets in
// Sunflow's order of coflows, the smallest bottleneck first.
const (
	everyPair      = "every pair"
	equalPackets   = "equal packets"
	orderedPackets = "equal packets in order"
)

func groundRivals() []rival {
	return []rival{
		{name: everyPair, policy: "fair+ecmp+sunflow-every"},
		{name: equalPackets, packets: true, policy: "fair+ecmp"},
		{name: orderedPackets, packets: true, policy: "fair+ecmp+sebf"},
	}
}

// rows are those of one cell of the grid.
func (g ground) rows(out *Result, at Systems) {
	for _, r := range groundRivals() {
		got := at[r.name]
		h := out.At("cell", g.name+": "+r.name, "")
		for _, m := range metrics() {
			h.Row(m, "s", 0, got.Of(m))
		}
		h.Row(crossed, "TB", 0, got.Of(crossed))
		h.Row("ports busy", "%", 0, got.Each(func(f Figures) float64 {
			return 100 * f[crossed] * 8e12 / (groundRacks * float64(groundPort) * f[makespan])
		}))
		out.bounds(h.Setting, got)
	}
	h := out.At("headroom", g.name, "")
	r := h.Row("mean CCT of a circuit for every pair above equal packets", "%", 0,
		at.Against(everyPair, equalPackets, meanCCT, Above))
	r.Note = "no ground: too little to gain"
	if *r.Measured >= headroomFrom {
		r.Note = "a ground"
	}
	h.Row("mean CCT of equal packets above those in Sunflow's order", "%", 0,
		at.Against(equalPackets, orderedPackets, meanCCT, Above))
}
