package experiment

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"lightloom/controller/workload/swim"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// The schedulers of the Co-scheduler document on real packets: a cluster of a tenth of the racks, the
// same jobs and seeds at flow level beside it, and the two held against each other job by job.

// The cluster of section V-A with six racks instead of sixty, and two hosts of eight slots instead of
// ten servers of twenty. Rates have the document's proportions: a rack's servers have 100 Gb/s
// together, its link to the packet core 10, that to the optical switch 100. The run divides rates and
// sizes by packetsScale, and leaves times.
const (
	packetsFabric = "hybrid:racks=6,hosts=2,slots=8,spines=1,nic=50Gbps,eps=10Gbps,ocs=100Gbps,dark=10ms"
	packetsSlots  = 6 * 2 * 8
	packetsScale  = 100
	packetsFaster = 60 // how many times as fast tasks compute: a map of Figure 4's job takes 1.4 s
	packetsWindow = 8 * time.Second
)

// The slice of the trace, by shuffle and input: heavy jobs that packets carry in seconds, and others
// whose shuffle is not lost in what a decision takes in real time.
const (
	packetsHeavy, packetsLight = 6, 10
	packetsLeast               = 1_125_000_000 // T_e
	packetsMost                = 10 * packetsLeast
	packetsSmall               = 100_000_000 // bytes of shuffle of the others, at least
	packetsInput               = 20e9        // bytes: at most 79 maps
)

// packetsModel is swim-v1 with computing sped up by packetsFaster.
func packetsModel() swim.Model {
	m := swim.V1(packetsSlots)
	m.Name = fmt.Sprintf("swim-v1, computing %d times as fast", packetsFaster)
	m.MapRate, m.ReduceRate, m.FarRate = m.MapRate*packetsFaster, m.ReduceRate*packetsFaster, m.FarRate*packetsFaster
	m.Start = m.Start / packetsFaster
	m.Window = packetsWindow
	return m
}

// packetsSlice are the records of all runs: drawn once, so that a job can be looked at over the seeds.
func packetsSlice(all []swim.Record, heavy, light int) ([]swim.Record, error) {
	pool := slices.Clone(all)
	rand.New(rand.NewPCG(1, 0x70636b74)).Shuffle(len(pool),
		func(i, k int) { pool[i], pool[k] = pool[k], pool[i] })
	var out []swim.Record
	for _, r := range pool {
		switch {
		case r.Shuffle < packetsSmall || r.Shuffle > packetsMost || r.Input > packetsInput:
		case r.Shuffle >= packetsLeast && heavy > 0:
			heavy--
			out = append(out, r)
		case r.Shuffle < packetsLeast && light > 0:
			light--
			out = append(out, r)
		}
	}
	if heavy > 0 || light > 0 {
		return nil, fmt.Errorf("draw jobs for packets: the trace lacks %d jobs with a shuffle of %d to %d bytes and %d "+
			"with one of at least %d, of at most %.0f GB of input",
			heavy, packetsLeast, packetsMost, light, packetsSmall, packetsInput/1e9)
	}
	return out, nil
}

// packetsRun is one scheduler with one seed, on packets and at flow level.
type packetsRun struct {
	policy, seed   int
	failed         error // on packets; reported, and the run is kept
	packets, fluid *measuredRun
}

// measuredRun is one of the two runs.
type measuredRun struct {
	jct, cct map[string]float64 // seconds, by job; by job with a shuffle that leaves its racks
	end      float64
	circuits float64            // share of the bytes between racks
	places   map[string][]int32 // hosts by task, by job: two that arrive together may be accepted in either order
}

func runPackets(ctx context.Context, b *Bench) (*Result, error) {
	all, err := recordsOf(b, fb2009)
	if err != nil {
		return nil, err
	}
	heavy, light := packetsHeavy, packetsLight
	if b.Quick {
		heavy, light = 2, 2
	}
	slice, err := packetsSlice(all, heavy, light)
	if err != nil {
		return nil, err
	}
	runs, err := packetsRuns(ctx, b, slice, schedulers())
	if err != nil {
		return nil, err
	}
	m := packetsModel()
	out := b.Result(append(m.Lines(),
		"fabric "+packetsFabric+fmt.Sprintf(", run at a hundredth of its rates with a hundredth of all bytes: T_e is %.4g "+
			"MB as run", packetsLeast/packetsScale/1e6),
		fmt.Sprintf("%d jobs of the trace with a shuffle of 1.125 to %.4g GB and %d with one of 0.1 to 1.125 GB, none with "+
			"more than %.0f GB of input, the same in all runs; arrivals, users, predictions and blocks by seed",
			heavy, float64(packetsMost)/1e9, light, packetsInput/1e9),
		"runs on packets in random order, one thrown away before them; runs that fail are kept and counted",
		"delay scheduling waits its 5 s, however fast tasks compute",
	)...)
	packetsRows(runs, slice, b, out)
	out.Notes = []string{HolmNote(out.Rows), "the document has no packets: no row makes a claim"}
	return out, nil
}

// packetsRuns runs every one of these schedulers with every seed, in an order drawn at random, and one
// more before them that warms the machine.
func packetsRuns(ctx context.Context, b *Bench, slice []swim.Record, who []scheduler) ([]packetsRun, error) {
	runs := make([]packetsRun, len(who)*b.Seeds)
	for i := range runs {
		runs[i].policy, runs[i].seed = i/b.Seeds, i%b.Seeds
	}
	order := b.order(len(runs))
	var mu sync.Mutex
	err := b.Each(ctx, len(order), func(ctx context.Context, i int) error {
		r := runs[order[i]]
		err := r.make(ctx, b, slice, who[r.policy].policy)
		mu.Lock()
		defer mu.Unlock()
		runs[order[i]] = r
		return err
	})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(runs, func(r packetsRun) bool { return r.failed == nil }) {
		return nil, fmt.Errorf("run on packets: all of %d failed, the first: %w", len(runs), runs[0].failed)
	}
	return runs, nil
}

// make runs both twins. A failure on packets is noted; a failure of the simulator, or the end of ctx,
// is an error.
func (r *packetsRun) make(ctx context.Context, b *Bench, slice []swim.Record, policy string) error {
	seed := b.Seed(r.seed)
	jobs, err := (&cluster{Jobs: len(slice), Model: packetsModel()}).jobs(slice, seed)
	if err != nil {
		return err
	}
	c := replay.Case{Options: scenario.Options{
		Fabric: packetsFabric, On: OnFlowsim, Policies: []string{policy}, Given: jobs, Seed: seed,
		Scale: packetsScale,
	}}
	fluid, err := c.Run(ctx)
	if err != nil {
		return fmt.Errorf("run %s with seed %d at flow level: %w", policy, seed, err)
	}
	r.fluid = newMeasuredRun(fluid)
	c.On = OnNetns
	packets, err := c.Run(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		r.failed = fmt.Errorf("%s with seed %d: %w", policy, seed, err)
	default:
		r.packets = newMeasuredRun(packets)
	}
	return nil
}

func newMeasuredRun(ran *replay.Ran) *measuredRun {
	t := &measuredRun{jct: map[string]float64{}, cct: map[string]float64{}, places: map[string][]int32{}}
	for _, j := range ran.Jobs {
		t.jct[j.Name] = j.JCT().Seconds()
		t.end = max(t.end, j.End.Seconds())
	}
	for _, x := range ran.Coflows {
		if x.Bytes > x.Local+x.Rack {
			t.cct[x.Name] = (x.End - x.Start).Seconds()
		}
	}
	if sum := float64(ran.OCS + ran.EPS); sum > 0 {
		t.circuits = float64(ran.OCS) / sum
	}
	for i := range ran.State.Tasks {
		k := &ran.State.Tasks[i]
		name := ran.State.Job(k.Job).Name
		t.places[name] = append(t.places[name], int32(k.Host))
	}
	return t
}

// packetsRows compares packets with the simulator: over all jobs of a run, by scheduler, and job by job
// over the seeds.
func packetsRows(runs []packetsRun, slice []swim.Record, b *Bench, out *Result) {
	who := schedulers()
	by := make([][]packetsRun, len(who))
	for k, s := range who {
		var lost []string
		for _, r := range runs {
			switch {
			case r.policy != k:
			case r.failed != nil:
				lost = append(lost, r.failed.Error())
			default:
				by[k] = append(by[k], r)
			}
		}
		n := float64(len(lost))
		out.Add(Row{Figure: "runs", Setting: s.name, Metric: "failed on packets", Measured: &n,
			Low: &n, High: &n,
			N: b.Seeds, Verdict: NoClaim, Note: strings.Join(lost, "; ")})
		packetsOf(s.name, by[k], out)
	}
	packetsOrder(by, out)
	for k, s := range who {
		packetsJobs(s.name, by[k], slice, out)
	}
}

// figures compares a run on packets with that at flow level.
func (r *packetsRun) figures() Figures {
	p, f := r.packets, r.fluid
	return Figures{
		"JCT, median job":                   ratioAt(0.5, p.jct, f.jct),
		"JCT, least":                        ratioAt(0, p.jct, f.jct),
		"JCT, most":                         ratioAt(1, p.jct, f.jct),
		"jobs whose JCT is within 10 %":     near(ratios(p.jct, f.jct)),
		"CCT, median shuffle between racks": ratioAt(0.5, p.cct, f.cct),
		"CCT, least":                        ratioAt(0, p.cct, f.cct),
		"CCT, most":                         ratioAt(1, p.cct, f.cct),
		makespan:                            p.end / f.end,
		"tasks on the same host":            100 * sameHosts(p, f),
		overOCS + onPacketsToo:              100 * p.circuits,
		overOCS + atFlowLevel:               100 * f.circuits,
		meanJCT + onPacketsToo:              meanBy(p.jct),
		meanJCT + atFlowLevel:               meanBy(f.jct),
		meanCCT + onPacketsToo:              meanBy(p.cct),
		meanCCT + atFlowLevel:               meanBy(f.cct),
	}
}

const onPacketsToo, atFlowLevel = ", on packets", ", at flow level"

// packetsOf are a scheduler's figures of whole runs.
func packetsOf(name string, runs []packetsRun, out *Result) {
	var all Runs
	for _, r := range runs {
		all = append(all, r.figures())
	}
	h := out.At("packets ÷ flow level", name, "")
	add := func(unit string, metrics ...string) {
		for _, m := range metrics {
			h.Row(m, unit, 0, slices.DeleteFunc(all.Of(m), math.IsNaN))
		}
	}
	add("", "JCT, median job", "JCT, least", "JCT, most")
	add("%", "jobs whose JCT is within 10 %")
	add("", "CCT, median shuffle between racks", "CCT, least", "CCT, most", makespan)
	add("%", "tasks on the same host", overOCS+onPacketsToo, overOCS+atFlowLevel)
}

// ratioAt is a percentile of what both have; NaN where that is nothing.
func ratioAt(p float64, packets, fluid map[string]float64) float64 {
	v := ratios(packets, fluid)
	if len(v) == 0 {
		return math.NaN()
	}
	return report.Percentile(v, p)
}

// near is how many per cent of ratios are within a tenth of 1.
func near(ratios []float64) float64 {
	n := 0
	for _, x := range ratios {
		if x > 1/1.1 && x < 1.1 {
			n++
		}
	}
	return 100 * float64(n) / float64(len(ratios))
}

// ratios are a ÷ b of what both have, ascending.
func ratios(a, b map[string]float64) []float64 {
	var out []float64
	for name, x := range a {
		if y := b[name]; y > 0 {
			out = append(out, x/y)
		}
	}
	slices.Sort(out)
	return out
}

// sameHosts is the share of tasks that both placed on the same host.
func sameHosts(a, b *measuredRun) float64 {
	same, all := 0, 0
	for job, hosts := range a.places {
		other := b.places[job]
		for t := range min(len(hosts), len(other)) {
			all++
			if hosts[t] == other[t] {
				same++
			}
		}
	}
	return float64(same) / float64(max(all, 1))
}

// packetsOrder compares Co-scheduler with the others, on packets and on the simulator.
func packetsOrder(by [][]packetsRun, out *Result) {
	for k, base := range []string{"Fair", "Corral"} {
		var ours, theirs Runs // with the same seeds
		for i := range by[2] {
			for n := range by[k] {
				if by[k][n].seed == by[2][i].seed {
					ours, theirs = append(ours, by[2][i].figures()), append(theirs, by[k][n].figures())
				}
			}
		}
		for _, m := range metrics()[1:] {
			for _, side := range []string{onPacketsToo, atFlowLevel} {
				out.At("order", "Co-scheduler against "+base+side, "").Row(m+" smaller by", "%", 0,
					ours.Against(theirs, m+side, Reduction))
			}
		}
	}
}

// meanBy adds in the order of names.
func meanBy(v map[string]float64) float64 {
	var all []float64
	for _, name := range slices.Sorted(maps.Keys(v)) {
		all = append(all, v[name])
	}
	return report.Mean(all)
}

// packetsJobs is the table by job: its time on packets over its time at flow level, over the seeds.
func packetsJobs(name string, runs []packetsRun, slice []swim.Record, out *Result) {
	for _, rec := range slice {
		var v []float64
		for _, r := range runs {
			if fluid := r.fluid.jct[rec.Name]; fluid > 0 {
				v = append(v, r.packets.jct[rec.Name]/fluid)
			}
		}
		if len(v) == 0 {
			continue
		}
		note := fmt.Sprintf("shuffle %.4g GB, input %.4g GB; least %.3f, most %.3f", float64(rec.Shuffle)/1e9,
			float64(rec.Input)/1e9, slices.Min(v), slices.Max(v))
		out.At("by job", name+", "+rec.Name, note).Row("JCT, packets ÷ flow level", "", 0, v)
	}
}
