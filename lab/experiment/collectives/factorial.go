package collectives

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/phases"
	"lightloom/controller/rollout"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// The fabric of the factorial: 16 servers on 8 racks. A rack has 2 × 50 Gb/s of packets and a circuit of 200 Gb/s, a
// server a network card of 200.
const factorialFabric = "hybrid:racks=8,hosts=2,spines=2,eps=50Gbps,ocs=200Gbps,nic=200Gbps,dark=10ms,slots=256"

// mix is a training job of 16 ranks.
type mix struct{ name, keys string }

func (m mix) String() string { return m.name }

// mixes are jobs of which each is bound by another phase. Sizes are stated, of no model.
func mixes(quick bool) []mix {
	all := []mix{
		{"even", "data=4,tensor=2,pipeline=2,tp=500MB,pp=250MB,dp=1GB"},
		{"data", "data=8,tensor=2,pipeline=1,tp=100MB,dp=4GB"},
		{"tensor", "data=2,tensor=8,pipeline=1,tp=1GB,dp=500MB"},
		{"pipeline", "data=2,tensor=2,pipeline=4,tp=100MB,pp=1GB,dp=500MB"},
		{"experts", "data=8,tensor=1,pipeline=2,expert=8,ep=1GB,pp=100MB,dp=250MB,skew=1"},
	}
	if quick {
		return all[:1]
	}
	return all
}

// composition is what is chosen apart: where ranks are, how they all-reduce, which circuits and paths there are.
type composition struct{ inner, collective, circuits, route string }

func (c composition) String() string {
	return strings.Join([]string{c.inner, c.collective, c.circuits, c.route}, ", ")
}

// What circuits there are.
const (
	noCircuits    = "packets"
	setOnce       = "set once"
	byPhase       = "by phase"
	fatPackets    = "packets of equal capacity"
	chosenJointly = "joint"
)

func compositions(quick bool) (out []composition) {
	inners, methods := workload.Inners(), workload.Collectives()
	if quick {
		inners, methods = inners[:1], methods[:1]
	}
	for _, inner := range inners {
		for _, method := range methods {
			for _, circuits := range []string{noCircuits, setOnce, byPhase, fatPackets} {
				for _, route := range []string{"ecmp", "anneal"} {
					out = append(out, composition{inner, method, circuits, route})
				}
			}
		}
	}
	return append(out, composition{circuits: chosenJointly, route: "anneal"})
}

// The figures of a run: of an iteration.
const (
	iterationTime = "iteration"
	overBoundBy   = "above the bound"
)

// job makes the job of a mix.
func (m mix) job(c composition, seed uint64, hosts int) (*controller.Job, error) {
	d, err := workload.ParseDrawn(fmt.Sprintf("training:%s,iterations=2,compute=50ms,inner=%s,collective=%s", m.keys,
		c.inner, c.collective))
	if err != nil {
		return nil, err
	}
	jobs, err := d.Jobs(seed, hosts, 0, nil)
	if err != nil {
		return nil, err
	}
	return &jobs[0], nil
}

// chosen returns the place and the collective with which circuits that follow phases take least, as package phases has
// it: that is the joint choice. Packets are reckoned at the rate of one spine, since routes can meet there.
func (m mix) chosen(f *topo.Fabric, seed uint64) (composition, error) {
	best, least := composition{}, time.Duration(math.MaxInt64)
	for _, c := range compositions(false) {
		if c.circuits != byPhase || c.route != "anneal" {
			continue
		}
		j, err := m.job(c, seed, f.Hosts())
		if err != nil {
			return best, err
		}
		on := phases.FabricOf(f, rollout.DefaultControl().Delta(f.Spec.Dark))
		on.Packets = f.Spec.EPS
		iteration, _ := phases.OfJob(j, j.PinnedHosts(), f.Racks, func(h southbound.HostID) int {
			return int(f.RackOf(int32(h)))
		})
		from, err := phases.Candidates(on, phases.Representative(iteration))
		if err != nil {
			return best, err
		}
		p, err := phases.Decide(on, iteration, from)
		if err != nil {
			return best, err
		}
		if p.Time < least {
			best, least = c, p.Time
		}
	}
	return best, nil
}

func (m mix) run(ctx context.Context, _ *experiment.Bench, c composition, seed uint64) (experiment.Figures, error) {
	spec, err := topo.FromArgument(factorialFabric)
	if err != nil {
		return nil, err
	}
	f, err := topo.New(spec.WithDefaults())
	if err != nil {
		return nil, err
	}
	if c.circuits == chosenJointly {
		if c, err = m.chosen(f, seed); err != nil {
			return nil, err
		}
	}
	j, err := m.job(c, seed, f.Hosts())
	if err != nil {
		return nil, err
	}
	r := &replay.Case{Options: scenario.Options{Fabric: factorialFabric, On: experiment.OnFlowsim, Seed: seed,
		Policies: []string{"random+" + c.route}, Given: []controller.Job{*j}}}
	switch c.circuits {
	case setOnce:
		r.Policies[0] += "+phases-once"
	case byPhase:
		r.Policies[0] += "+phases"
	case fatPackets:
		r.Fabric = spec.WithDefaults().WithoutOCS(true).String()
	}
	ran, err := r.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(ran.State.Jobs) != 1 || ran.State.Jobs[0].Ended <= 0 {
		return nil, errors.New("the job has not ended")
	}
	took := ran.State.Jobs[0].Ended - ran.State.Jobs[0].Placed
	bound := phases.Bound(j, j.PinnedHosts(), f)
	return experiment.Figures{iterationTime: took.Seconds() / 2,
		overBoundBy: 100 * (float64(took)/float64(bound) - 1)}, nil
}

// best returns the composition with the least mean iteration of those that are wanted.
func best(at experiment.Systems, all []composition, want func(composition) bool) (least composition) {
	mean := func(c composition) float64 {
		sum := 0.0
		for _, v := range at[c.String()].Of(iterationTime) {
			sum += v
		}
		return sum
	}
	for _, c := range all {
		if want(c) && (least == composition{} || mean(c) < mean(least)) {
			least = c
		}
	}
	return least
}

func (m mix) rows(out *experiment.Result, at experiment.Systems, all []composition) {
	h := out.At("training factorial", m.name, "")
	ours := at[composition{circuits: chosenJointly, route: "anneal"}.String()]
	h.Row("joint: "+iterationTime, "s", 0, ours.Of(iterationTime))
	h.Row("joint: "+overBoundBy, "%", 0, ours.Of(overBoundBy))
	rivals := []struct {
		name string
		want func(composition) bool
	}{
		{"best composition", func(c composition) bool { return c.circuits != chosenJointly && c.circuits != fatPackets }},
		{"best without circuits", func(c composition) bool { return c.circuits == noCircuits }},
		{"best with circuits set once", func(c composition) bool { return c.circuits == setOnce }},
		{fatPackets, func(c composition) bool { return c.circuits == fatPackets }},
	}
	for _, r := range rivals {
		c := best(at, all, r.want)
		runs := at[c.String()]
		name := fmt.Sprintf("%s (%v)", r.name, c)
		h.Row(name+": "+iterationTime, "s", 0, runs.Of(iterationTime))
		h.Row(name+": "+overBoundBy, "%", 0, runs.Of(overBoundBy))
		h.Row("joint sooner than "+r.name, "%", 0, ours.Against(runs, iterationTime, experiment.Below))
	}
	m.effects(h, at, all)
}

// effects adds, for each level of each factor, how far above the bound its compositions are in the mean.
func (m mix) effects(h experiment.Head, at experiment.Systems, all []composition) {
	for _, factor := range []struct {
		name string
		of   func(composition) string
	}{
		{"place", func(c composition) string { return c.inner }},
		{"collective", func(c composition) string { return c.collective }},
		{"circuits", func(c composition) string { return c.circuits }},
		{"routes", func(c composition) string { return c.route }},
	} {
		var levels []string
		for _, c := range all {
			if l := factor.of(c); c.circuits != chosenJointly && !slices.Contains(levels, l) {
				levels = append(levels, l)
			}
		}
		for _, l := range levels {
			var mean []float64
			n := 0.0
			for _, c := range all {
				if c.circuits == chosenJointly || factor.of(c) != l || factor.name != "circuits" && c.circuits == fatPackets {
					continue
				}
				for i, v := range at[c.String()].Of(overBoundBy) {
					if i == len(mean) {
						mean = append(mean, 0)
					}
					mean[i] += v
				}
				n++
			}
			for i := range mean {
				mean[i] /= n
			}
			h.Row(factor.name+" "+l+": mean "+overBoundBy, "%", 0, mean)
		}
	}
}

func runFactorial(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := b.Result("16 ranks on 16 servers, fabric "+factorialFabric+"; sizes are stated, of no model",
		"two iterations of two steps; ranks compute 50 ms before each phase, in which nothing is sent",
		"places: which parallelism's ranks stand side by side, two on a rack, or none (drawn); all-reduces are one coflow",
		"joint takes the place and the collective for which circuits by phase are planned to take least, and has no other "+
			"knowledge than the planner; the best composition is chosen after all runs, by its mean",
		"the bound: computing, and the busiest network card of each phase; no circuits and no packets are faster",
	)
	all := compositions(b.Quick)
	return experiment.Fill(ctx, b, out, mixes(b.Quick), all, mix.run,
		func(m mix, out *experiment.Result, at experiment.Systems) { m.rows(out, at, all) })
}
