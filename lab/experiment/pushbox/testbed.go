package pushbox

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// The testbed of section 6.2: nine machines of ten slots behind one switch. Rates and sizes are divided by
// testbedScale, times and sizes by testbedFaster.
const (
	testbedFabric = "leafspine:racks=9,hosts=1,slots=10,spines=1,nic=10Gbps,eps=10Gbps"
	testbedScale  = 500
	testbedFaster = 40
	testbedGap    = 5 * time.Second // between arrivals, in the mean
)

// puma is one application of the testbed's workloads, of so many jobs.
type puma struct {
	name    string
	jobs    int
	input   pathmap.Bytes
	shuffle float64 // bytes for one of input
	reduces int
}

// pumas are the two workloads. A terasort's reduces are as skewed as few samples make them.
func pumas(workload int) []puma {
	sorts := []puma{{"terasort 300 GB", 1, 300e9, 1, 30}, {"terasort 100 GB", 1, 100e9, 1, 10}}
	if workload == 1 {
		return append(sorts, puma{"query", 28, 2e9, .1, 2})
	}
	return append(sorts, puma{"wordcount", 1, 50e9, .05, 5}, puma{"grep 5 GB", 3, 5e9, .001, 1},
		puma{"grep 1 GB", 3, 1e9, .001, 1}, puma{"teragen 100 MB", 10, 100e6, 0,
			0}, puma{"teragen 10 MB", 10, 10e6, 0, 0})
}

// testbedJobs draws a workload: the order and times of arrivals, and how a shuffle is spread over its
// reduces.
func testbedJobs(which int, seed uint64) []controller.Job {
	r := rand.New(rand.NewPCG(seed, 0x66696736+uint64(which)))
	m := workload.FacebookV1()
	var jobs []controller.Job
	for _, p := range pumas(which) {
		for i := range p.jobs {
			j := controller.Job{Name: fmt.Sprint(p.name, " ", i), Incremental: true}
			maps := m.Maps(p.input)
			j.Stages = []controller.Stage{{Name: "map", Tasks: maps}}
			for k, b := range skewed(r, p.reduces, float64(p.input)*p.shuffle) {
				m.Reduce(&j, k, b)
			}
			jobs = append(jobs, j)
		}
	}
	r.Shuffle(len(jobs), func(a, b int) { jobs[a], jobs[b] = jobs[b], jobs[a] })
	at := 0.0
	for i := range jobs {
		jobs[i].Arrival = time.Duration(at * float64(testbedGap))
		at += r.ExpFloat64()
	}
	return jobs
}

// skewed splits bytes into parts of which each is at times e^±0.5 of another.
func skewed(r *rand.Rand, parts int, bytes float64) []pathmap.Bytes {
	w, sum := make([]float64, parts), 0.0
	for i := range w {
		w[i] = math.Exp(r.NormFloat64() / 2)
		sum += w[i]
	}
	out := make([]pathmap.Bytes, parts)
	for i := range w {
		out[i] = max(pathmap.Bytes(bytes*w[i]/sum), 1)
	}
	return out
}

// testbed is a workload on a fabric.
type testbed struct {
	which int
	on    string
	paper map[string]float64 // by how many per cent PushBox's figures are shorter than Hadoop's in the document
}

func (t testbed) String() string {
	return fmt.Sprintf("workload %d, %s", t.which, map[string]string{experiment.OnFlowsim: "flow level",
		experiment.OnNetns: "packets"}[t.on])
}

func (t testbed) run(ctx context.Context, b *experiment.Bench, policy string,
	seed uint64) (experiment.Figures, error) {
	jobs := testbedJobs(t.which, seed)
	if b.Quick {
		jobs = slices.DeleteFunc(jobs, func(j controller.Job) bool { return len(j.Stages[0].Tasks) > 10 })
	}
	c := replay.Case{Options: scenario.Options{
		Fabric: testbedFabric, On: t.on, Policies: []string{policy}, Given: jobs, Seed: seed,
		Scale: testbedScale, Speedup: testbedFaster, Replicas: 1,
	}, Once: true}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	took := timesOf(ran)
	slices.Sort(took)
	return experiment.Figures{meanJCT: report.Mean(took), p95JCT: report.Percentile(took, .95)}, nil
}

// runPushBoxTestbed is Figure 6, on packets and beside it at flow level.
func runPushBoxTestbed(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	on := []string{experiment.OnFlowsim}
	if b.On == experiment.OnNetns {
		on = append(on, experiment.OnNetns)
	}
	var places []testbed
	for _, paper := range []map[string]float64{{meanJCT: 49.8, p95JCT: 21.1}, {meanJCT: 32.6, p95JCT: 18.8}} {
		for _, o := range on {
			places = append(places, testbed{1 + len(places)/len(on), o, paper})
		}
	}
	m := workload.FacebookV1()
	out := b.Result(append(m.Lines()[2:3],
		fmt.Sprintf("%s, rates and sizes divided by %d, times and sizes by %d", testbedFabric,
			testbedScale, testbedFaster),
		"blocks of 1 GB, a query reads 2 GB and shuffles a tenth of it, jobs arrive in random order every 5 s in the mean: "+
			"the document does not say; its second workload lists 29 of 30 jobs")...)
	return experiment.Fill(ctx, b, out, places, []string{onHadoop, onPushBox}, testbed.run, testbed.rows,
		experiment.HolmNote)
}

// The policies of the testbed.
const onHadoop, onPushBox = "hadoop+ecmp", "pushbox+ecmp"

func (t testbed) rows(out *experiment.Result, at experiment.Systems) {
	h := out.At("Figure 6", t.String(), "queries, computing times and arrivals are not published")
	for _, m := range []struct{ name, figure string }{{"mean", meanJCT}, {p95JCT, p95JCT}} {
		h.Row(m.name+" of job completion times shorter than Hadoop's by", "%", t.paper[m.figure],
			at.Against(onPushBox, onHadoop, m.figure, experiment.Below))
	}
	h.Why = "ours"
	ahead(h, "Hadoop", at[onPushBox], at[onHadoop])
	h.Row("mean job completion time as run, Hadoop", "s", 0, at[onHadoop].Of(meanJCT))
	h.Row("mean job completion time as run, PushBox", "s", 0, at[onPushBox].Of(meanJCT))
}
