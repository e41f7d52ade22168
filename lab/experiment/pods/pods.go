// Package pods has experiments on fabrics of many optical switches: how long slices of a pod of cubes wait for a
// place, what real faults cost such a pod, and what topologies over parallel switches reach beside what can be
// proven.
//
// They run on plain numbers. No packet is sent, and no time passes.
package pods

import (
	"context"
	"fmt"
	"slices"

	"lightloom/controller/torus"
	"lightloom/lab/experiment"
)

// Experiments returns the experiments.
func Experiments() []experiment.Experiment {
	const months = "it is months of jobs that send nothing"
	return []experiment.Experiment{
		{Name: "slices", Doc: "how long slices wait under first-fit, re-wiring, folding and best-fit", Seeds: 10,
			Source: "RFold (2025), its mix of shapes and its rules", Only: months, Run: runSlices},
		{Name: "slices-faults", Doc: "availability and lost node-hours of a pod of 64 cubes with 0 to 8 spare ones",
			Source: "the public trace of faults of 400 servers (InfiniteHBD, SIGCOMM 2025)", Seeds: 10,
			Only: months, Alone: experiment.NoRuns, Run: runFaults},
		{Name: "topology-engineering", Doc: "circuits over many switches: disturbed ones, balance, clearance, and bounds",
			Source: "drawn demand of 16 and 64 pods", Seeds: 10, Only: experiment.SendsNothing, Run: runTopology},
	}
}

const (
	meanDuration = 3600  // seconds, of a job
	t1bGap       = 691.5 // seconds between jobs of trace T1b
	manyJobs     = 1000
)

// pod16 is 4×4×4 cubes, 16 nodes a side.
func pod16() (*torus.Pod, error) { return torus.New(4, 4, 4, 4) }

// ground is jobs that queues are compared on.
type ground struct {
	name string
	mix  Mix
	gap  float64
}

func (g ground) String() string { return g.name }

func grounds() []ground {
	return []ground{
		{"TPU v4 mix", tpu(), t1bGap},
		{"TPU v4 mix, 20 % more jobs", tpu(), t1bGap / 1.2},
		{"sheets", sheets(), sheetsGap},
	}
}

// sheetsGap is the mean gap on sheets: these jobs are smaller, and more of them come.
const sheetsGap = 400

// system is a queue under comparison.
type system struct {
	name string
	Queue
}

func (s system) String() string { return s.name }

func systems() []system {
	var all []system
	for _, fill := range []bool{false, true} {
		after := ""
		if fill {
			after = ", backfilling"
		}
		for _, r := range torus.Rules() {
			all = append(all, system{r.Name + after, Queue{Rule: r, Backfill: fill}})
		}
		r := slices.IndexFunc(torus.Rules(), func(r torus.Rule) bool { return r.Name == "bestfit" })
		all = append(all, system{"bestfit and moves" + after,
			Queue{Rule: torus.Rules()[r], Backfill: fill, Move: true}})
	}
	return append(all, system{bound, Queue{Rule: torus.Rule{Name: bound, Place: anyNodes}}})
}

// bound names the queue that no placement beats in the order of arrival: any free nodes are a slice. Its jobs start no
// later than under any other one, since those before them have started no later, and so have ended no later.
const bound = "any nodes, a bound"

// anyNodes takes the first free nodes.
func anyNodes(p *torus.Pod, s torus.Shape) *torus.Placement {
	left := s.Nodes()
	if left > p.FreeNodes() {
		return nil
	}
	out := &torus.Placement{Shape: s}
	for c := range p.Cubes() {
		part := torus.Part{Cube: c}
		for free := p.Free(c); free != 0 && left > 0; free &= free - 1 {
			part.Nodes |= free & -free
			left--
		}
		if part.Nodes != 0 {
			out.Parts = append(out.Parts, part)
		}
	}
	return out
}

// The figures of one run.
const (
	utilisation = "utilisation"
	queueing    = "mean queueing"
	tail        = "p99 of queueing"
	movedNodes  = "nodes moved a job"
)

func (g ground) run(_ context.Context, b *experiment.Bench, s system, seed uint64) (experiment.Figures, error) {
	pod, err := pod16()
	if err != nil {
		return nil, err
	}
	jobs := manyJobs
	if b.Quick {
		jobs /= 20
	}
	w, err := s.Run(pod, Draw(g.mix, jobs, g.gap, meanDuration, seed))
	if err != nil {
		return nil, err
	}
	slices.Sort(w.Waited)
	return experiment.Figures{utilisation: w.Utilisation, queueing: w.Mean(),
		tail:       float64(w.Waited[(len(w.Waited)*99+99)/100-1]),
		movedNodes: float64(w.MovedNodes) / float64(jobs)}, nil
}

func (g ground) rows(out *experiment.Result, at experiment.Systems) {
	for _, s := range systems() {
		h := out.At("queueing", g.name+": "+s.name, "")
		h.Row(utilisation, "share of nodes", 0, at[s.name].Of(utilisation))
		h.Row(queueing, "s", 0, at[s.name].Of(queueing))
		h.Row(tail, "s", 0, at[s.name].Of(tail))
		if s.Move {
			h.Row(movedNodes, "nodes", 0, at[s.name].Of(movedNodes))
		}
		rival := "reconfig"
		if s.Backfill {
			rival += ", backfilling"
		}
		if s.name != rival {
			h.Row(queueing+" less than reconfig's by", "%", 0, at.Against(s.name, rival, queueing, experiment.Below))
		}
	}
}

func runSlices(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := b.Result(
		"a pod of 64 cubes of 4×4×4 nodes; any cubes can be joined, at no delay",
		"1,000 jobs; gaps and durations exponential, in whole seconds; durations 3,600 s in the mean, gaps 691.5 s, on "+
			"sheets 400 s",
		"a queue in the order of arrival, whose first job alone is tried; backfilling starts whatever fits, without "+
			"reservations",
		"sheets: half of the jobs are the TPU v4 mix, half are 1×4×8 to 1×16×16 and 2×4×8 to 2×8×16",
	)
	if err := t1b(out); err != nil {
		return nil, err
	}
	return experiment.Fill(ctx, b, out, grounds(), systems(), ground.run, ground.rows)
}

// t1b adds the rows of trace T1b, whose figures come from RFold's own program.
func t1b(out *experiment.Result) error {
	pod, err := pod16()
	if err != nil {
		return err
	}
	jobs := Draw(tpu(), manyJobs, t1bGap, meanDuration, 1)
	for _, theirs := range []struct {
		rule          string
		waits, margin float64
	}{{"firstfit", 6662.8, 0.05}, {"reconfig", 1246, 0.5}, {"rfold", 1246, 0.5}} {
		rule, err := torus.RuleNamed(theirs.rule)
		if err != nil {
			return err
		}
		w, err := Queue{Rule: rule}.Run(pod, jobs)
		if err != nil {
			return fmt.Errorf("run trace T1b: %w", err)
		}
		h := out.At("T1b", theirs.rule, "another order of what happens at one instant, or another rule")
		h.Exactly(utilisation, "share of nodes", 0.4627, 0.00005, w.Utilisation)
		h.Exactly(queueing, "s", theirs.waits, theirs.margin, w.Mean())
	}
	return nil
}
