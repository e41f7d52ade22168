package workload

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// SyntheticOptions configure the drawn coflows. Zero values take the default in brackets.
type SyntheticOptions struct {
	Seed         uint64
	Jobs         int           // [40]
	Racks        int           // of the fabric [8]; at least 2
	HostsPerRack int           // [2]
	Window       time.Duration // the first job arrives at 0, the last before Window [4 s]
	Elephant     pathmap.Bytes // least bytes of a rack pair in a long wide coflow [11.25 MB: 9 × 10 ms × 1 Gb/s]
	Long         pathmap.Bytes // bytes of all long wide coflows together, about [200 MB × Jobs/40]
}

// The defaults suit the demo's fabric: 8 racks × 2 hosts, two spines at 50 Mb/s a ToR–spine link,
// circuits of 1 Gb/s.
const (
	defaultJobs     = 40
	defaultWindow   = 4 * time.Second
	defaultElephant = 11_250_000
	longPerJob      = 200_000_000 / defaultJobs
)

func (o SyntheticOptions) defaults() SyntheticOptions {
	o.Jobs = cmp.Or(o.Jobs, defaultJobs)
	o.Racks = cmp.Or(o.Racks, 8)
	o.HostsPerRack = cmp.Or(o.HostsPerRack, 2)
	o.Window = cmp.Or(o.Window, defaultWindow)
	o.Elephant = cmp.Or(o.Elephant, defaultElephant)
	o.Long = cmp.Or(o.Long, longPerJob*pathmap.Bytes(o.Jobs))
	return o
}

// check returns an error for an option out of range.
func (o SyntheticOptions) check() error {
	switch {
	case o.Jobs < 1 || o.Jobs > MaxCoflows:
		return fmt.Errorf("draw synthetic jobs: %d jobs: take 1 to %d", o.Jobs, MaxCoflows)
	case o.Racks < 2 || o.Racks > southbound.MaxRacks:
		return fmt.Errorf("draw synthetic jobs: %d racks: take 2 to %d", o.Racks, southbound.MaxRacks)
	case o.HostsPerRack < 1 || o.HostsPerRack > southbound.MaxHostsPerRack:
		return fmt.Errorf("draw synthetic jobs: %d hosts a rack: take 1 to %d", o.HostsPerRack,
			southbound.MaxHostsPerRack)
	case o.Window < 0 || o.Elephant < 0 || o.Long < 0:
		return fmt.Errorf("draw synthetic jobs: window %v, elephant %d, long %d: none may be below zero", o.Window,
			o.Elephant, o.Long)
	}
	return nil
}

// class is one of the four bins in which coflow traces are reported: short or long (the longest flow),
// narrow or wide (the number of flows).
type class struct {
	name    string
	percent int // of the jobs; about those of the Facebook trace of 2010: 60, 16, 12 and 12 of a hundred
	draw    func(g *generator) shape
}

// shape is what both kinds of job are made from: a shuffle of pairs of hosts or tasks.
type shape struct {
	senders, receivers int
	bytes              pathmap.Bytes // of the coflow
	elephant           bool          // racks apart, so that each pair of racks holds its part
}

// Synthetic draws jobs: seeded, deterministic, in order of arrival, with the heavy tail of the Facebook
// trace (most coflows short and narrow, few long and wide that hold most bytes).
//
//   - Class by quota, so that every seed gives a workload of the same kind: 12 % long wide, 12 % short wide, 16 % long
//     narrow (rounded, at least one long wide), the rest short narrow.
//   - Kind: every other job of each class is a bare coflow with fixed hosts; the others are map-reduce jobs (a map
//     stage, one scatter-gather edge, a reduce stage), whose tasks the policy places.
//   - Sizes: short narrow 1–2 × 1–2 flows, each Pareto(1.1) within 8–400 kB; short wide 3–4 × 3–4, Pareto(1.1) within
//     8–200 kB; long narrow 1 × 1–2, Pareto(1.3) within 0.8–4 MB; long wide 1–2 × 2 racks, each pair of racks Elephant
//     × Pareto(1.3) within 1.05–2, then all of them scaled by one factor to Long together, no pair below 1.05 ×
//     Elephant.
//   - Hosts of bare coflows: uniform, senders and receivers apart; a long wide one uses every host of its racks, which
//     are dealt from a shuffled deck.
//   - Arrivals: uniform over Window, the first at 0; long wide jobs one in each equal part of its first half, so that
//     they meet each other and the run ends soon after the last arrival.
//   - Computing: exponential with mean 60 ms within 10–250 ms a map, mean 30 ms within 5–120 ms a reduce.
func Synthetic(opt SyntheticOptions) ([]controller.Job, error) {
	opt = opt.defaults()
	if err := opt.check(); err != nil {
		return nil, err
	}
	g := &generator{opt: opt, r: rand.New(rand.NewPCG(opt.Seed, 0x6c6f6f6d))}
	drafts := g.drafts()
	g.fill(drafts)
	g.arrive(drafts)
	jobs := make([]controller.Job, len(drafts))
	for i, d := range drafts {
		jobs[i] = g.job(i, d)
	}
	return jobs, nil
}

type generator struct {
	opt SyntheticOptions
	r   *rand.Rand

	deck  []int // of racks
	dealt int
}

type draft struct {
	class   string
	bare    bool
	shape   shape
	arrival time.Duration
	order   int // of drawing: the unique key of every sort
}

// classes returns them in the order of drawing; the last takes what the shares leave.
func classes() []class {
	return []class{
		{"long-wide", 12, func(g *generator) shape { return g.longWide() }},
		{"short-wide", 12, func(g *generator) shape { return g.many(3, 4, 1.1, 8e3, 200e3) }},
		{"long-narrow", 16, func(g *generator) shape { return g.narrow(1, 1.3, 800e3, 4e6) }},
		{"short-narrow", 60, func(g *generator) shape { return g.narrow(2, 1.1, 8e3, 400e3) }},
	}
}

func (g *generator) drafts() []draft {
	var out []draft
	all := classes()
	for i, c := range all {
		n := (g.opt.Jobs*c.percent + 50) / 100
		if i == 0 {
			n = max(n, 1)
		}
		if i == len(all)-1 {
			n = g.opt.Jobs - len(out)
		}
		for range min(n, g.opt.Jobs-len(out)) {
			out = append(out, draft{class: c.name, bare: len(out)%2 == 0, shape: c.draw(g), order: len(out)})
		}
	}
	return out
}

func (g *generator) narrow(senders int, tail, low, high float64) shape {
	s := shape{senders: 1 + g.r.IntN(senders), receivers: 1 + g.r.IntN(2)}
	return g.sized(s, tail, low, high)
}

func (g *generator) many(low, high int, tail, least, most float64) shape {
	s := shape{senders: low + g.r.IntN(high-low+1), receivers: low + g.r.IntN(high-low+1)}
	return g.sized(s, tail, least, most)
}

func (g *generator) sized(s shape, tail, low, high float64) shape {
	for range s.senders * s.receivers {
		s.bytes += pathmap.Bytes(g.pareto(tail, low, high))
	}
	return s
}

// longWide draws in racks: senders and receivers count racks of a bare coflow, tasks of a map-reduce job.
func (g *generator) longWide() shape {
	s := shape{senders: 1 + g.r.IntN(2), receivers: 2, elephant: true}
	for s.senders+s.receivers > g.opt.Racks {
		if s.receivers > 1 {
			s.receivers--
		} else {
			s.senders--
		}
	}
	pair := g.pareto(1.3, 1.05, 2) * float64(g.opt.Elephant)
	s.bytes = pathmap.Bytes(math.Ceil(pair)) * pathmap.Bytes(s.senders*s.receivers)
	return s
}

// fill scales the long wide coflows to their sum.
func (g *generator) fill(drafts []draft) {
	sum := 0.0
	for _, d := range drafts {
		if d.shape.elephant {
			sum += float64(d.shape.bytes)
		}
	}
	if sum == 0 {
		return
	}
	factor := float64(g.opt.Long) / sum
	for i := range drafts {
		if s := &drafts[i].shape; s.elephant {
			pairs := float64(s.senders * s.receivers)
			s.bytes = pathmap.Bytes(math.Ceil(max(float64(s.bytes)*factor, 1.05*float64(g.opt.Elephant)*pairs)))
		}
	}
}

// pareto draws from a Pareto distribution of that tail index, bounded to [low, high].
func (g *generator) pareto(tail, low, high float64) float64 {
	u := g.r.Float64() * (1 - math.Pow(low/high, tail))
	return low / math.Pow(1-u, 1/tail)
}

// arrive gives arrivals and sorts by them.
func (g *generator) arrive(drafts []draft) {
	window := float64(g.opt.Window)
	long := 0
	for _, d := range drafts {
		if d.shape.elephant {
			long++
		}
	}
	for i := range drafts {
		d := &drafts[i]
		if at := g.r.Float64(); d.shape.elephant {
			d.arrival = time.Duration((float64(i) + at) / float64(long) * window / 2)
		} else {
			d.arrival = time.Duration(at * window)
		}
	}
	slices.SortFunc(drafts, func(a, b draft) int {
		return cmp.Or(cmp.Compare(a.arrival, b.arrival), cmp.Compare(a.order, b.order))
	})
	drafts[0].arrival = 0
}

func (g *generator) job(i int, d draft) controller.Job {
	j := controller.Job{Arrival: d.arrival, Weight: 1}
	if d.bare {
		j.Name = fmt.Sprintf("%03d-coflow-%s", i, d.class)
		j.Edges = []controller.Edge{{Kind: controller.Fixed, Flows: g.flows(d.shape)}}
		return j
	}
	j.Name = fmt.Sprintf("%03d-mapreduce-%s", i, d.class)
	j.Stages = []controller.Stage{
		{Name: "map", Tasks: g.tasks(d.shape.senders, 60e6, 10e6, 250e6)},
		{Name: "reduce", Tasks: g.tasks(d.shape.receivers, 30e6, 5e6, 120e6)},
	}
	j.Edges = []controller.Edge{{Kind: controller.ScatterGather, From: 0, To: 1, Bytes: d.shape.bytes}}
	return j
}

// tasks draws compute times in nanoseconds.
func (g *generator) tasks(n int, mean, low, high float64) []controller.Task {
	tasks := make([]controller.Task, n)
	for i := range tasks {
		tasks[i].Compute = time.Duration(min(max(g.r.ExpFloat64()*mean, low), high))
	}
	return tasks
}

// flows spreads the bytes of a shape evenly over pairs of hosts, the remainder carried by the first, a
// byte each.
func (g *generator) flows(s shape) []controller.Flow {
	from, to := g.ends(s)
	n := pathmap.Bytes(len(from) * len(to))
	s.bytes = max(s.bytes, n) // a flow has at least a byte
	each, rest := s.bytes/n, s.bytes%n
	var flows []controller.Flow
	for _, src := range from {
		for _, dst := range to {
			f := controller.Flow{Src: src, Dst: dst, Bytes: each, Count: 1}
			if pathmap.Bytes(len(flows)) < rest {
				f.Bytes++
			}
			flows = append(flows, f)
		}
	}
	return merge(flows)
}

// deal takes the next racks of a shuffled deck that starts again at its end, so that long wide coflows
// load the racks evenly, and no coflow has a rack twice while the fabric has as many as it takes.
func (g *generator) deal(n int) []int {
	if g.deck == nil {
		g.deck = g.r.Perm(g.opt.Racks)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = g.deck[g.dealt%len(g.deck)]
		g.dealt++
	}
	return out
}

// ends draws hosts, no host twice where there are enough: of an elephant's racks all hosts, else any.
func (g *generator) ends(s shape) (from, to []southbound.HostID) {
	if s.elephant {
		return g.hosts(g.deal(s.senders)), g.hosts(g.deal(s.receivers))
	}
	hosts := g.r.Perm(g.opt.Racks * g.opt.HostsPerRack)
	for i := range s.senders + s.receivers {
		h := southbound.HostID(hosts[i%len(hosts)])
		if i < s.senders {
			from = append(from, h)
		} else {
			to = append(to, h)
		}
	}
	return from, to
}

func (g *generator) hosts(racks []int) []southbound.HostID {
	var out []southbound.HostID
	for _, r := range racks {
		for i := range g.opt.HostsPerRack {
			out = append(out, southbound.HostID(r*g.opt.HostsPerRack+i))
		}
	}
	return out
}
