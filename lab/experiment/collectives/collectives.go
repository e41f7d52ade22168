// Package collectives has experiments on collectives fitted to circuits, and on circuits that move between the phases
// of a training job.
//
// They run on plain numbers, but for the factorial, which runs on the simulator. No packet is sent.
package collectives

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/controller/collective"
	"lightloom/controller/collective/collectivetest"
	"lightloom/controller/collective/tacos"
	"lightloom/lab/experiment"
	"lightloom/pathmap"
)

// Experiments returns the experiments.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		{Name: "collectives", Doc: "schedules of collectives for whole, damaged and irregular networks, beside TACOS's " +
			"rule and bounds, and chosen with circuits", Source: "TACOS (MICRO 2024): its rule and its table", Seeds: 10,
			Only: experiment.SendsNothing, Alone: experiment.TimesThis, Run: runCollectives},
		{Name: "training-circuits", Doc: "circuits that move between the phases of a training job, over reconfiguration " +
			"delays", Source: "jobs of stated sizes: dense 7 B and 70 B, MoE 8×7 B", Seeds: 1, Only: experiment.SendsNothing,
			Run: runTraining},
		{Name: "training-factorial", Doc: "place × collective × circuits × routes of training jobs, and joint, " +
			"which chooses place, collective and circuits at once", Source: "five jobs of stated sizes", Seeds: 10,
			Only: "its 5,000 runs would take hours in real time; bench/training has such jobs on packets", Run: runFactorial},
	}
}

// instance is a network that a collective is planned for.
type instance struct {
	name   string
	chunks int
	hold   bool
	tries  int     // runs of TACOS's rule, of which the best counts
	paper  float64 // microseconds of TACOS's table; 0: it has no such row
	make   func(rng *rand.Rand) (*collective.Network, error)
}

func (i instance) String() string {
	rule := "pipelined"
	if i.hold {
		rule = "held"
	}
	return fmt.Sprintf("%s, %d a node, %s", i.name, i.chunks, rule)
}

// instances are TACOS's table, and networks that are damaged, irregular or random. Each is planned with links that
// latency keeps busy, as TACOS counts, and with those that it does not.
func instances(quick bool) []instance {
	var out []instance
	for i, n := range collectivetest.Table() {
		out = append(out, instance{n.Name, 1, true, triesOf(n.Net.Nodes), []float64{10002, 9606, 3706.2, 3443, 3402.4}[i],
			func(*rand.Rand) (*collective.Network, error) { return n.Net, nil }})
	}
	sides := []int{4, 8}
	regular := []int{64, 512}
	if quick {
		sides, regular = sides[:1], nil
	}
	var more []instance
	for _, side := range sides {
		for k, n := range collectivetest.Cube(side, rand.New(rand.NewPCG(1, 1))) {
			more = append(more, instance{name: n.Name, make: func(rng *rand.Rand) (*collective.Network, error) {
				return collectivetest.Cube(side, rng)[k].Net, nil
			}, tries: triesOf(n.Net.Nodes)})
		}
	}
	if quick {
		out, more = out[:2], more[1:2]
	}
	more = append(more, instance{name: "irregular Jellyfish 64", make: collectivetest.Irregular, tries: triesOf(64)})
	for _, nodes := range regular {
		more = append(more, instance{name: fmt.Sprintf("random 6-regular %d", nodes), tries: triesOf(nodes),
			make: func(rng *rand.Rand) (*collective.Network, error) { return collectivetest.Regular(nodes, 6, rng) }})
	}
	for _, chunks := range []int{1, 2} {
		for _, i := range more {
			i.chunks = chunks
			out = append(out, i)
		}
	}
	return out
}

// triesOf is how many random runs of the rule there are: one takes seconds on 512 nodes.
func triesOf(nodes int) int {
	if nodes > 100 {
		return 1
	}
	return 10
}

// The systems of an instance, and the figures of a run.
const (
	ours = "Lightloom"
	rule = "TACOS's rule"

	ends       = "all-gather"
	aboveNIC   = "above the NIC bound"
	aboveCut   = "above the cut bound"
	aboveWhole = "above the bound in whole chunks"
	synthesis  = "synthesis, processor time"
)

func (i instance) run(_ context.Context, _ *experiment.Bench, system string, seed uint64) (experiment.Figures, error) {
	rng := rand.New(rand.NewPCG(seed, 0x636f6c6c)) // "coll"
	shared, err := i.make(rng)
	if err != nil {
		return nil, err
	}
	n := *shared
	n.Hold = i.hold
	bytes := collectivetest.GiB / pathmap.Bytes(n.Nodes*i.chunks)
	if system == rule {
		best := pathmap.MaxDuration
		for range i.tries {
			s := tacos.AllGather(&n, i.chunks, bytes, rng)
			if err := collectivetest.Check(&n, s); err != nil {
				return nil, fmt.Errorf("replay %v of %s: %w", i, system, err)
			}
			best = min(best, s.Ends)
		}
		return experiment.Figures{ends: float64(best) / 1e3}, nil
	}
	var s *collective.Schedule
	var b collective.Bounds
	took, err := processorTime(func() (err error) {
		s, b, err = collective.AllGather(&n, i.chunks, bytes)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := collectivetest.Check(&n, s); err != nil {
		return nil, fmt.Errorf("replay %v of %s: %w", i, system, err)
	}
	above := func(bound time.Duration) float64 { return 100 * (float64(s.Ends)/float64(bound) - 1) }
	f := experiment.Figures{ends: float64(s.Ends) / 1e3, aboveNIC: above(b.Ingress), aboveWhole: above(b.Best()),
		synthesis: took.Seconds() * 1e3}
	if i.paper == 0 {
		f[aboveCut] = above(collective.CutBound(&n, i.chunks, bytes))
	}
	return f, nil
}

// processorTime returns how long this thread works at something.
func processorTime(do func() error) (time.Duration, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var from, to unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &from); err != nil {
		return 0, err
	}
	err := do()
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &to); err != nil {
		return 0, err
	}
	used := func(r unix.Rusage) time.Duration { return time.Duration(r.Utime.Nano() + r.Stime.Nano()) }
	return used(to) - used(from), err
}

func (i instance) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("all-gather", i.String(), "another order of equal choices")
	if i.paper > 0 {
		h.AtMost(ends+", "+ours, "µs", i.paper, at[ours].Of(ends))
		h.Row(ends+", "+rule, "µs", i.paper, at[rule].Of(ends))
	} else {
		h.Row(ends+", "+ours, "µs", 0, at[ours].Of(ends))
		h.Row(ends+", "+rule, "µs", 0, at[rule].Of(ends))
		h.Row(aboveCut, "%", 0, at[ours].Of(aboveCut))
	}
	h.Row("sooner than "+rule, "%", 0, at.Against(ours, rule, ends, experiment.Below))
	h.Row(aboveNIC, "%", 0, at[ours].Of(aboveNIC))
	h.Row(aboveWhole, "%", 0, at[ours].Of(aboveWhole))
	h.Row(synthesis, "ms", 0, at[ours].Of(synthesis))
}

func runCollectives(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := b.Result(
		"a GiB in all; links of 50 GiB/s and 0.5 µs; every schedule is replayed by code of its own",
		"held: a link is busy for its latency, too, as TACOS counts; pipelined: it is not, as ASTRA-sim counts",
		"TACOS's rule is rebuilt from its description: the best of 10 random runs, of 1 on 512 nodes",
		"the NIC bound is the ingress of the slowest node, in parts of any size; the cut bound is exact, without latency",
		"dead cables, the dead node and graphs are drawn; the irregular one has 8 cables a node, and a quarter of them dead",
	)
	all, err := experiment.Cross(ctx, b, instances(b.Quick), []string{ours, rule}, instance.run)
	if err != nil {
		return nil, err
	}
	for k, i := range instances(b.Quick) {
		i.rows(out, all[k])
	}
	one := []string{ours}
	if _, err := experiment.Fill(ctx, b, out, repairs(b.Quick), one, repaired.run, repaired.rows); err != nil {
		return nil, err
	}
	if _, err := experiment.Fill(ctx, b, out, exchanges(b.Quick), one, exchange.run, exchange.rows); err != nil {
		return nil, err
	}
	return experiment.Fill(ctx, b, out, togethers(b.Quick), one, together.run, together.rows)
}
