package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
	"lightloom/lab/experiment/control"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// cluster is the setting of section V-A of the Co-scheduler document, or a variation of it.
type cluster struct {
	Name    string
	Fabric  string
	Jobs    int
	Model   swim.Model
	Without bool          // the job with the largest shuffle
	Step    time.Duration // ends of host flows are reported at its multiples; 0: when they come
}

// clusterFabric is 60 racks of 200 slots, 10 Gb/s from a rack to the packet core and 100 Gb/s to the optical switch,
// with mirrors dark for 10 ms. A rack's ten servers are one host here, with 200 slots and 100 Gb/s: their network cards
// together carry what the rack can send, and bytes within a rack are free. oversubscribed divides those 100 Gb/s.
func clusterFabric(oversubscribed float64) string {
	return fmt.Sprintf("hybrid:racks=60,hosts=1,slots=200,spines=1,nic=100Gbps,eps=%dMbps,ocs=100Gbps,dark=10ms",
		int(100_000/oversubscribed+0.5))
}

// sectionVA is the setting as published.
func sectionVA() cluster {
	return cluster{Name: "section V-A", Fabric: clusterFabric(10), Jobs: 1000, Model: swim.V1(12_000)}
}

// offer is how much work a trace offers: a load, with the job of the largest shuffle or without.
type offer struct {
	load    float64
	without bool
}

// offers are those of every figure over load: the bench's loads with the largest job, then without.
func offers(b *Bench) []offer {
	var all []offer
	for _, without := range []bool{false, true} {
		for _, load := range b.loads() {
			all = append(all, offer{load, without})
		}
	}
	return all
}

func (o offer) String() string {
	if o.without {
		return fmt.Sprintf("load ×%g, without the largest job", o.load)
	}
	return fmt.Sprintf("load ×%g", o.load)
}

// suffix names the offer in the name of a picture; empty for the published offer.
func (o offer) suffix() string {
	s := ""
	if o.load != 1 {
		s = fmt.Sprintf("-x%g", o.load)
	}
	if o.without {
		s += "-without-largest"
	}
	return s
}

// offer sets the records that jobs are drawn from, and the load.
func (c *cluster) offer(o offer) { c.Model.Load, c.Without = o.load, o.without }

// published reports whether the offered load is the document's.
func (c *cluster) published() bool { return c.Model.Load == 1 && !c.Without }

// records reads the trace that the document takes its jobs from.
func records(b *Bench) ([]swim.Record, error) { return recordsOf(b, fb2009) }

func recordsOf(b *Bench, name string) ([]swim.Record, error) {
	f, err := OpenTrace(b, "swim", name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return swim.Read(f, name)
}

// OpenTrace opens a file of the folder of real traces.
func OpenTrace(b *Bench, folder, name string) (*os.File, error) {
	if b.Data == "" {
		return nil, fmt.Errorf("find trace: no folder of traces: name one that holds %s/%s with --data, or in "+
			"LIGHTLOOM_DATA", folder, name)
	}
	f, err := os.Open(filepath.Join(b.Data, folder, name))
	if err != nil {
		return nil, fmt.Errorf("find trace: %w: docs/reference.md says where public traces are kept", err)
	}
	return f, nil
}

const fb2009 = "FB-2009_samples_24_times_1hr_0.tsv.gz"

// jobs draws the jobs of one run. The seed alone decides records, arrivals and owners, so settings that differ in
// something else see the same jobs.
func (c *cluster) jobs(all []swim.Record, seed uint64) ([]controller.Job, error) {
	if err := c.Model.Check(); err != nil {
		return nil, err
	}
	drawn := c.Model.Sample(all, c.Jobs, c.Without, rand.New(rand.NewPCG(seed, 0x73776d)))
	jobs := c.Model.Jobs(drawn, rand.New(rand.NewPCG(seed, 0x707265)))
	return jobs, nil
}

// figures are the document's figures of one run.
type figures struct {
	Makespan, JCT, CCT float64 // seconds; means over jobs, and over shuffles from the first byte to the last
	OCS                float64 // share of the bytes between racks
	HeavyJCT, LightJCT float64 // of jobs with a shuffle of T_e and more, and of the others
	Far                float64 // share of maps that read from another rack
	Crossed            float64 // bytes between racks, TB
	// of shuffles of T_e and more, means: how much of a shuffle's bytes the busiest rack sends, and the busiest receives
	Up, Down float64
	// how much of JCT and makespan the infinite-network control saves, in per cent
	BoundJCT, BoundMakespan float64
	Took                    []float64 // by job, in order of number
}

func (c *cluster) run(ctx context.Context, all []swim.Record, policy string, with func() controller.Policy,
	seed uint64) (*figures, error) {
	jobs, err := c.jobs(all, seed)
	if err != nil {
		return nil, err
	}
	return c.runJobs(ctx, jobs, policy, with, seed)
}

func (c *cluster) runJobs(ctx context.Context, jobs []controller.Job, policy string, with func() controller.Policy,
	seed uint64) (*figures, error) {
	spec, err := topo.FromArgument(c.Fabric)
	if err != nil {
		return nil, err
	}
	ran, err := control.Of(ctx, &replay.Case{Fabric: c.Fabric, On: OnFlowsim, Policy: policy,
		Rules: scenario.Rules{Step: c.Step}, Jobs: jobs, Seed: seed, With: with})
	if err != nil {
		return nil, err
	}
	f := readFigures(ran)
	f.split(ran, jobs, 9*spec.WithDefaults().OCS.In(spec.WithDefaults().Dark))
	return f, nil
}

// readFigures reads what every experiment of jobs reports.
func readFigures(ran *control.Run) *figures {
	f := readRun(ran.Ran)
	f.BoundJCT, f.BoundMakespan = ran.Bound()
	return f
}

// readRun reads the figures of a run that has no control.
func readRun(ran *replay.Ran) *figures {
	f := &figures{}
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	for _, j := range ran.Jobs {
		f.JCT += (j.End - j.Arrival).Seconds() / float64(len(ran.Jobs))
		f.Took = append(f.Took, (j.End - j.Arrival).Seconds())
		first, last = min(first, j.Arrival), max(last, j.End)
	}
	f.Makespan = (last - first).Seconds()
	for _, x := range ran.Coflows {
		f.CCT += (x.End - x.Start).Seconds() / float64(len(ran.Coflows))
	}
	if all := float64(ran.OCS + ran.EPS); all > 0 {
		f.OCS, f.Crossed = float64(ran.OCS)/all, all/1e12
	}
	return f
}

// split sets the figures of jobs that shuffle an elephant or more, of the others, and of maps.
func (f *figures) split(ran *control.Run, jobs []controller.Job, elephant pathmap.Bytes) {
	heavy, light, maps, far := 0, 0, 0, 0
	for i, j := range ran.Jobs {
		took := (j.End - j.Arrival).Seconds()
		if len(jobs[i].Edges) > 0 && jobs[i].Edges[0].Bytes >= elephant {
			f.HeavyJCT += took
			heavy++
		} else {
			f.LightJCT += took
			light++
		}
	}
	for i := range ran.State.Tasks {
		if t := &ran.State.Tasks[i]; t.Stage == 0 {
			maps++
			if t.NonLocal {
				far++
			}
		}
	}
	f.uplinks(ran, jobs, elephant)
	f.HeavyJCT /= float64(max(heavy, 1))
	f.LightJCT /= float64(max(light, 1))
	f.Far = float64(far) / float64(max(maps, 1))
}

// uplinks sets how unevenly large shuffles load the racks, each of which is one host here. Every map sends every reduce
// the same.
func (f *figures) uplinks(ran *control.Run, jobs []controller.Job, elephant pathmap.Bytes) {
	type racks [2]map[southbound.HostID]float64 // tasks by rack: maps, reduces
	at := make([]racks, len(jobs))
	for i := range ran.State.Tasks {
		t := &ran.State.Tasks[i]
		if t.Stage > 1 {
			continue
		}
		if r := &at[t.Job][t.Stage]; *r == nil {
			*r = map[southbound.HostID]float64{}
		}
		at[t.Job][t.Stage][t.Host]++
	}
	heavy := 0
	for i := range jobs {
		j := &jobs[i]
		if len(j.Stages) != 2 || len(j.Edges) == 0 || j.Edges[0].Bytes < elephant {
			continue
		}
		heavy++
		most := [2]float64{}
		for side, n := range at[i] {
			all, others := float64(len(j.Stages[side].Tasks)), float64(len(j.Stages[1-side].Tasks))
			for rack, k := range n {
				most[side] = max(most[side], k/all*(1-at[i][1-side][rack]/others))
			}
		}
		f.Up, f.Down = f.Up+most[0], f.Down+most[1]
	}
	f.Up, f.Down = f.Up/float64(max(heavy, 1)), f.Down/float64(max(heavy, 1))
}

// FacebookTrace is the file of the coflow trace of 2010, in the folder coflow of the real traces.
const FacebookTrace = "FB2010-1Hr-150-0.txt"

// Facebook reads it.
func Facebook(b *Bench) (*workload.Trace, error) {
	f, err := OpenTrace(b, "coflow", FacebookTrace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return workload.ReadTrace(f, FacebookTrace)
}
