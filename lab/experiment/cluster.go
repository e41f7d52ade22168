package experiment

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
	"lightloom/lab/experiment/control"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// cluster is the setting of section V-A of the Co-scheduler document, or a variation of it.
type cluster struct {
	Name    string
	Trace   string // of SWIM, from which the jobs are
	Fabric  string
	Jobs    int
	Model   swim.Model
	Without bool          // the job with the largest shuffle
	Step    time.Duration // ends of host flows are reported at its multiples; 0: when they come
}

func (c cluster) String() string { return c.Name }

// clusterFabric is 60 racks of 200 slots, 10 Gb/s from a rack to the packet core and 100 Gb/s to the
// optical switch, with mirrors dark for 10 ms. A rack's ten servers are one host here, with 200 slots
// and 100 Gb/s: their network cards together carry what the rack can send, and bytes within a rack are
// free. oversubscribed divides those 100 Gb/s.
func clusterFabric(oversubscribed float64) string {
	return fmt.Sprintf("hybrid:racks=60,hosts=1,slots=200,spines=1,nic=100Gbps,eps=%dMbps,ocs=100Gbps,dark=10ms",
		int(100_000/oversubscribed+0.5))
}

// sectionVA is the setting as published.
func sectionVA() cluster {
	return cluster{Name: "section V-A", Trace: fb2009, Fabric: clusterFabric(10), Jobs: 1000,
		Model: swim.V1(12_000)}
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

// offered is the cluster of section V-A under each offer.
func offered(b *Bench) []cluster {
	var all []cluster
	for _, o := range offers(b) {
		c := sectionVA()
		c.offer(o)
		c.Name = o.String()
		all = append(all, c)
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

// recordsOf reads a SWIM trace.
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

// fb2009 is the trace that the Co-scheduler document takes its jobs from.
const fb2009 = "FB-2009_samples_24_times_1hr_0.tsv.gz"

// jobs draws the jobs of one run. The seed alone decides records, arrivals and owners, so settings that
// differ in something else see the same jobs.
func (c *cluster) jobs(all []swim.Record, seed uint64) ([]controller.Job, error) {
	if err := c.Model.Check(); err != nil {
		return nil, err
	}
	drawn := c.Model.Sample(all, c.Jobs, c.Without, rand.New(rand.NewPCG(seed, 0x73776d)))
	return c.Model.Jobs(drawn, rand.New(rand.NewPCG(seed, 0x707265))), nil
}

// The figures of runs of jobs. Times are in seconds.
const (
	makespan = "makespan"
	meanJCT  = "mean JCT" // over jobs
	meanCCT  = "mean CCT" // over shuffles, from the first byte to the last
	heavyJCT = "JCT of shuffle-heavy jobs"
	lightJCT = "JCT of other jobs"
	overOCS  = "bytes between racks over circuits" // per cent
	crossed  = "bytes between racks"               // TB
	farMaps  = "maps that read from another rack"  // per cent
	// Of shuffles of T_e and more, in the mean.
	busiestUp   = "large shuffles: bytes that the busiest rack sends" // per cent
	busiestDown = "large shuffles: bytes that the busiest rack receives"
)

// metrics are the figures that documents about jobs report.
func metrics() []string { return []string{makespan, meanJCT, meanCCT} }

// timesOf notes how long each job took.
func (f Figures) timesOf(jobs []report.JobResult) {
	for i := range jobs {
		f[fmt.Sprint(perJob, jobs[i].ID)] = jobs[i].JCT().Seconds()
	}
}

// perJob begins the names of the figures of single jobs.
const perJob = "job "

// jobs names the figures of single jobs.
func (f Figures) jobs() (names []string) {
	for name := range f {
		if strings.HasPrefix(name, perJob) {
			names = append(names, name)
		}
	}
	return names
}

func (c *cluster) run(ctx context.Context, all []swim.Record, policy string, with func() controller.Policy,
	seed uint64) (Figures, error) {
	jobs, err := c.jobs(all, seed)
	if err != nil {
		return nil, err
	}
	return c.runJobs(ctx, jobs, policy, with, seed)
}

func (c *cluster) runJobs(ctx context.Context, jobs []controller.Job, policy string,
	with func() controller.Policy,
	seed uint64) (Figures, error) {
	spec, err := topo.FromArgument(c.Fabric)
	if err != nil {
		return nil, err
	}
	ran, err := control.Of(ctx, &replay.Case{Options: scenario.Options{
		Fabric: c.Fabric, On: OnFlowsim, Policies: []string{policy},
		Rules: scenario.Rules{Step: c.Step}, Given: jobs, Seed: seed,
	}, With: with})
	if err != nil {
		return nil, err
	}
	f := readFigures(ran)
	f.split(ran, jobs, 9*spec.WithDefaults().OCS.In(spec.WithDefaults().Dark))
	return f, nil
}

// controlled runs a case on the simulator, and returns what experiments of jobs report, and what a
// network can change of it.
func controlled(ctx context.Context, c *replay.Case) (Figures, error) {
	ran, err := control.Of(ctx, c)
	if err != nil {
		return nil, err
	}
	return readFigures(ran), nil
}

func readFigures(ran *control.Run) Figures {
	f := readRun(ran.Ran)
	f[bounded(meanJCT)], f[bounded(makespan)] = ran.Bound()
	return f
}

// readRun reads the figures of a run that has no control.
func readRun(ran *replay.Ran) Figures {
	f := Figures{makespan: 0, meanJCT: 0, meanCCT: 0, overOCS: 0, crossed: 0}
	f.timesOf(ran.Jobs)
	first, last := time.Duration(math.MaxInt64), time.Duration(0)
	for _, j := range ran.Jobs {
		f[meanJCT] += j.JCT().Seconds() / float64(len(ran.Jobs))
		first, last = min(first, j.Arrival), max(last, j.End)
	}
	f[makespan] = (last - first).Seconds()
	for _, x := range ran.Coflows {
		f[meanCCT] += (x.End - x.Start).Seconds() / float64(len(ran.Coflows))
	}
	if all := float64(ran.OCS + ran.EPS); all > 0 {
		f[overOCS], f[crossed] = 100*(float64(ran.OCS)/all), all/1e12
	}
	return f
}

// split sets the figures of jobs that shuffle an elephant or more, of the others, and of maps.
func (f Figures) split(ran *control.Run, jobs []controller.Job, elephant pathmap.Bytes) {
	sums, n := map[string]float64{}, map[string]float64{}
	for i, j := range ran.Jobs {
		kind := lightJCT
		if len(jobs[i].Edges) > 0 && jobs[i].Edges[0].Bytes >= elephant {
			kind = heavyJCT
		}
		sums[kind] += j.JCT().Seconds()
		n[kind]++
	}
	for i := range ran.State.Tasks {
		if t := &ran.State.Tasks[i]; t.Stage == 0 {
			n[farMaps]++
			if t.NonLocal {
				sums[farMaps] += 100
			}
		}
	}
	for _, kind := range []string{heavyJCT, lightJCT, farMaps} {
		f[kind] = sums[kind] / max(n[kind], 1)
	}
	f.uplinks(ran, jobs, elephant)
}

// uplinks sets how unevenly large shuffles load the racks, each of which is one host here. Every map
// sends every reduce the same.
func (f Figures) uplinks(ran *control.Run, jobs []controller.Job, elephant pathmap.Bytes) {
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
	heavy, busiest := 0, [2]float64{}
	for i := range jobs {
		j := &jobs[i]
		if len(j.Stages) != 2 || len(j.Edges) == 0 || j.Edges[0].Bytes < elephant {
			continue
		}
		heavy++
		for side, n := range at[i] {
			most, all, others := 0.0, float64(len(j.Stages[side].Tasks)), float64(len(j.Stages[1-side].Tasks))
			for rack, k := range n {
				most = max(most, k/all*(1-at[i][1-side][rack]/others))
			}
			busiest[side] += most
		}
	}
	f[busiestUp] = 100 * (busiest[0] / float64(max(heavy, 1)))
	f[busiestDown] = 100 * (busiest[1] / float64(max(heavy, 1)))
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
