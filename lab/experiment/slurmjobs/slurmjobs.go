package slurmjobs

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload/swim"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/lab/slurm"
	"lightloom/southbound"
)

// Experiments returns the experiments of this package.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{{Name: "slurm-jobs",
		Doc:    "nodes that real Slurm chose, on packets and with circuits, beside joint answers",
		Source: "the first 50 jobs of a SWIM trace, and nodes recorded from Slurm 26.05", Seeds: Seeds,
		Only: "on packets real Slurm runs, by the test of lab/e2e/slurm", Run: run}}
}

// answer says where jobs run, and which circuits they get.
type answer struct {
	name   string
	pinned bool // to the nodes that Slurm chose
	policy string
	with   func() controller.Policy
}

func (a answer) String() string { return a.name }

const (
	packets  = "Slurm, packets"
	byDemand = "Slurm + Sunflow"
	brokered = "agent's nodes + Sunflow"
	joint    = "joint"
)

// answers returns who is compared. The agent's nodes are those that its rule chooses of the idle ones.
func answers() []answer {
	return []answer{
		{packets, true, "random+ecmp", nil},
		{byDemand, true, "random+ecmp+sunflow", nil},
		{"Slurm + joint's circuits", true, "joint", nil},
		{brokered, false, "random+ecmp+sunflow", func() controller.Policy {
			return policy.Compose(&place.Asked{Ask: whole}, circuits.Sunflow{}.Remembering(), new(route.ECMP),
				new(share.TCP))
		}},
		{joint, false, "joint", nil},
	}
}

// whole places jobs on whole nodes, in the order of their arrival: of those that do not fit yet, later ones go first.
func whole(v *controller.View) (out []controller.Placement, _ error) {
	n := &slurm.Network{Racks: make([]slurm.Rack, racks)}
	idle := map[string]bool{}
	for h, free := range v.Free {
		name := strconv.Itoa(h)
		r := &n.Racks[h/perRack]
		r.Name, r.Nodes = strconv.Itoa(h/perRack), append(r.Nodes, name)
		idle[name] = int(free) == v.Fabric.Spec.Slots
	}
	for _, j := range v.Waiting {
		nodes, ok := slurm.Choose(n, idle, nil, len(j.Stages[0].Tasks))
		if !ok {
			continue
		}
		var hosts []southbound.HostID
		for _, name := range nodes {
			delete(idle, name)
			h, _ := strconv.Atoi(name) // it was one
			hosts = append(hosts, southbound.HostID(h))
		}
		out = append(out, controller.Placement{Job: j.ID, Hosts: slices.Repeat(hosts, len(j.Stages))})
	}
	return out, nil
}

// scale is a place of the comparison.
type scale struct {
	divided int
	records []swim.Record
	nodes   Choices
}

func (s scale) String() string { return fmt.Sprintf("bytes / %d", s.divided) }

// The figures of a run.
const (
	meanJCT  = "mean JCT"
	wideJCT  = "mean JCT of jobs of several nodes"
	waiting  = "mean time until a job begins"
	overOCS  = "bytes between racks over circuits"
	makespan = "makespan"
)

func (s scale) jobs(pinned bool, seed uint64) (jobs []controller.Job, err error) {
	for _, w := range Workload(s.records, s.divided, seed) {
		var hosts []southbound.HostID
		if pinned {
			hosts = s.nodes[Choice{s.divided, seed, w.Name}]
			switch known := seed >= 1 && seed <= Seeds; {
			case !known:
				return nil, fmt.Errorf("replay %s at scale %d, seed %d: nothing is recorded: seeds are 1 to %d", w.Name, s.divided,
					seed, Seeds)
			case len(hosts) != w.Nodes:
				return nil, fmt.Errorf("replay %s at scale %d, seed %d: %d nodes are recorded, of %d: the trace is not the one "+
					"that was recorded", w.Name, s.divided, seed, len(hosts), w.Nodes)
			}
		}
		jobs = append(jobs, w.job(hosts))
	}
	return jobs, nil
}

func (s scale) run(ctx context.Context, _ *experiment.Bench, a answer, seed uint64) (experiment.Figures, error) {
	jobs, err := s.jobs(a.pinned, seed)
	if err != nil {
		return nil, err
	}
	c := &replay.Case{Options: scenario.Options{Fabric: replayed, On: experiment.OnFlowsim, Policies: []string{a.policy},
		Given: jobs, Seed: seed}, With: a.with}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	if len(ran.Jobs) != len(jobs) {
		return nil, errors.New("not all jobs ended")
	}
	f := experiment.Figures{}
	wide, first, last := 0.0, time.Duration(0), time.Duration(0)
	for i, j := range ran.Jobs {
		f[meanJCT] += j.JCT().Seconds() / float64(len(jobs))
		f[waiting] += (j.Start - j.Arrival).Seconds() / float64(len(jobs))
		if len(jobs[i].Edges) > 0 {
			f[wideJCT] += j.JCT().Seconds()
			wide++
		}
		if i == 0 || j.Arrival < first {
			first = j.Arrival
		}
		last = max(last, j.End)
	}
	f[wideJCT] /= max(wide, 1)
	f[makespan] = (last - first).Seconds()
	if all := float64(ran.OCS + ran.EPS); all > 0 {
		f[overOCS] = 100 * float64(ran.OCS) / all
	}
	return f, nil
}

func (s scale) rows(out *experiment.Result, at experiment.Systems) {
	for _, a := range answers() {
		h := out.At(s.String(), a.name, "")
		for _, m := range []string{meanJCT, wideJCT, waiting, makespan} {
			h.Row(m, "s", 0, at[a.name].Of(m))
		}
		h.Row(overOCS, "%", 0, at[a.name].Of(overOCS))
	}
	for _, ours := range []string{brokered, joint} {
		for _, theirs := range []string{packets, byDemand} {
			out.At(s.String(), ours+" against "+theirs, "").Row(meanJCT+" smaller by", "%", 0,
				at.Against(ours, theirs, meanJCT, experiment.Below))
		}
	}
}

func run(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	all, err := Records(b)
	if err != nil {
		return nil, err
	}
	nodes, err := Recorded()
	if err != nil {
		return nil, err
	}
	var places []scale
	for _, s := range Scales() {
		places = append(places, scale{s, all, nodes})
	}
	out := b.Result("the first 50 jobs of "+Trace+": a node for each MB of shuffle begun, 8 at most; computing as "+
		"swim-v1, 8 tasks at a time a node; arrivals and computing divided by 20; each seed deals the arrivals out anew",
		"fabric "+Fabric+"; a job has its nodes for itself, but under joint, whose tasks share nodes by slots",
		"Slurm's nodes are those that it chose for jobs that sleep as long as they take on packets of their own; a job "+
			"waits for its nodes, also where others are free",
		"what Slurm takes to start and end jobs is in none of these figures")
	return experiment.Fill(ctx, b, out, places, answers(), scale.run, scale.rows)
}

// Records reads the trace.
func Records(b *experiment.Bench) ([]swim.Record, error) {
	f, err := experiment.OpenTrace(b, "swim", Trace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return swim.Read(f, Trace)
}
