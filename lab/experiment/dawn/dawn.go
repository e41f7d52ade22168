// Package dawn repeats the evaluation of the Dawn document (sections II-B and IV) on drawn chains of
// jobs: what its benchmarks' jobs read and write, their arrivals and the threshold are not published.
package dawn

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/experiment/control"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Experiments returns the experiments of the document.
func Experiments() []experiment.Experiment {
	return []experiment.Experiment{
		{Name: "dawn", Doc: "throughput, completion and traffic between racks of chains of jobs",
			Source:    "Dawn, sections II-B and IV, Figures 1, 3, 4 and 5",
			OnPackets: 5, On: []string{experiment.OnFlowsim, experiment.OnNetns}, Run: runDawn},
		{Name: "dawn-sweeps", Doc: "Dawn over its threshold of saturation and over the arrival rate",
			Source: "Dawn, section III-C",
			Only:   "thresholds have no name for a controller's process; dawn has packets", Run: runDawnSweeps},
		{Name: "dawn-circuits", Doc: "Dawn and Fair with circuits and without",
			Source: "Dawn's workloads, with an optical switch",
			Only:   "packets need times divided, which dark times of 10 ms are not; dawn has packets",
			Run:    runDawnCircuits},
	}
}

const (
	dawnFabric = "leafspine:racks=6,hosts=6,slots=8,spines=1,nic=1Gbps,eps=500Mbps"
	// caseFabric has a node for each rack: the case study counts traffic between nodes.
	caseFabric = "leafspine:racks=4,hosts=1,slots=6,spines=1,nic=1Gbps,eps=1Gbps"
	steady     = 4 * time.Hour
)

// assigner is a scheduler of the comparison.
type assigner struct {
	name   string
	policy string
	with   func() controller.Policy // nil: by name
}

func (a assigner) String() string { return a.name }

// Rivals: ShuffleWatcher is read in two ways, by its own abstract, and as Dawn does (reduces in the
// rack of most maps, other jobs ignored); Dawn's loop has no exit, so Strict is as printed.
const (
	fairName, watcherName, aloneName = "Fair", "ShuffleWatcher", "ShuffleWatcher as Dawn tells it"
	strictName, dawnName             = "Dawn as printed", "Dawn with an exit"
)

func assigners() []assigner {
	return []assigner{{fairName, "fair+shortest+tcp", nil}, {watcherName, "shufflewatcher+shortest+tcp", nil},
		{aloneName, "dawn-alone+shortest+tcp", nil}, {strictName, "dawn-strict+shortest+tcp", nil},
		{dawnName, "dawn+shortest+tcp", nil}}
}

// threshold is Dawn as printed with a threshold.
func threshold(x float64) assigner {
	return assigner{fmt.Sprintf("threshold %g", x), "dawn-strict+shortest+tcp", func() controller.Policy {
		return policy.Compose(&place.Dawn{Threshold: x, Strict: true}, nil, route.Shortest{}, new(share.TCP))
	}}
}

// office is a workload on a cluster.
type office struct {
	kind   string
	blocks bool
	every  time.Duration
	fabric string
	divided
}

// divided is where an office runs, and by what its rates and sizes, and its times and sizes are divided.
type divided struct {
	on            string // empty: on the simulator
	scale, faster float64
}

func (o office) String() string {
	s := map[string]string{"ml": "learning", "tpch": "queries", "tpch-tez": "queries on Tez",
		"dag": "twelve jobs"}[o.kind]
	if o.blocks {
		s += ", inputs as blocks"
	} else {
		s += ", inputs in one copy"
	}
	return s + map[string]string{experiment.OnFlowsim: ", flow level", experiment.OnNetns: ", packets"}[o.on]
}

// rate adds how often chains arrive.
func (o office) rate() string {
	if o.every == 0 {
		return o.String()
	}
	return fmt.Sprintf("%v, one every %v", o, o.every)
}

// options are the chains of an office; Quick takes few.
func (o office) options(b *experiment.Bench, seed uint64) workload.ChainOptions {
	c := workload.ChainOptions{Seed: seed, Kind: o.kind, Blocks: o.blocks, Hosts: 36, Every: o.every}
	switch o.kind {
	case "ml":
		c.Poisson, c.Chains = true, int(steady/o.every)
	case "dag":
		c.Hosts, c.Maps, c.Reduces, c.Least, c.Most = 4, 4, 2, 12e9, 12e9
	}
	if b.Quick {
		c.Chains = 2
	}
	return c
}

// draw makes the jobs of a run. Queries arrive at random within 25 minutes.
func (o office) draw(b *experiment.Bench, seed uint64) ([]controller.Job, error) {
	opt := o.options(b, seed)
	jobs, err := workload.Chains(opt)
	if err != nil || o.kind == "ml" || o.kind == "dag" {
		return jobs, err
	}
	r := rand.New(rand.NewPCG(seed, 0x6461776e))
	var at []time.Duration
	for range 22 {
		at = append(at, time.Duration(r.Float64()*float64(25*time.Minute)))
	}
	slices.Sort(at)
	query, last := -1, time.Duration(-1)
	for i := range jobs {
		if jobs[i].Arrival != last {
			query, last = query+1, jobs[i].Arrival
		}
		jobs[i].Arrival = at[query]
	}
	return jobs, nil
}

// The figures of one run.
const (
	throughput = "throughput" // jobs an hour within the steady time
	meanJCT    = "mean JCT"   // seconds
	traffic    = "traffic"    // bytes between racks
	inputs     = "inputs"     // of it, inputs and outputs read
	shuffles   = "shuffles"   // of it, between stages
	bound      = "bound"      // per cent of JCT that a network can change
)

// run replays an office once.
func (o office) run(ctx context.Context, b *experiment.Bench, s assigner,
	seed uint64) (experiment.Figures, error) {
	jobs, err := o.draw(b, seed)
	if err != nil {
		return nil, err
	}
	c := replay.Case{Options: scenario.Options{
		Fabric: o.fabric, On: cmp.Or(o.on, experiment.OnFlowsim), Policies: []string{s.policy}, Given: jobs,
		Seed: seed, Scale: o.scale, Speedup: o.faster, Replicas: 1,
	}, With: s.with}
	if o.on == experiment.OnNetns {
		ran, err := c.Run(ctx)
		if err != nil {
			return nil, err
		}
		return o.figures(ran)
	}
	ran, err := control.Of(ctx, &c)
	if err != nil {
		return nil, err
	}
	f, err := o.figures(ran.Ran)
	if err == nil {
		f[bound], _ = ran.Bound()
	}
	return f, err
}

// figures reads a run, in the document's times.
func (o office) figures(ran *replay.Ran) (experiment.Figures, error) {
	spec, err := topo.FromArgument(o.fabric)
	if err != nil {
		return nil, err
	}
	f := experiment.Figures{}
	last, ended := 0.0, 0
	for _, j := range ran.Jobs {
		f[meanJCT] += j.JCT().Seconds() / float64(len(ran.Jobs))
		end := j.End.Hours() * cmp.Or(o.faster, 1)
		if last = max(last, end); end <= steady.Hours() {
			ended++
		}
	}
	f[throughput] = float64(ended) / min(last, steady.Hours())
	f[inputs], f[shuffles] = betweenRacks(ran, spec.WithDefaults().Hosts)
	f[traffic] = f[inputs] + f[shuffles]
	return f, nil
}

// betweenRacks sums what tasks read from other racks: of inputs and of other jobs' outputs, and of
// other stages.
func betweenRacks(ran *replay.Ran, perRack int) (input, inter float64) {
	rack := func(h southbound.HostID) int { return int(h) / perRack }
	for _, j := range ran.State.Jobs {
		hosts := make([]southbound.HostID, j.Job.Tasks())
		for t := range hosts {
			s := &ran.State.Tasks[int(j.Job.FirstTask)+t]
			if hosts[t] = s.Host; s.NonLocal {
				first, _ := j.Job.StageTasks(int(s.Stage))
				input += float64(j.Job.Stages[s.Stage].Tasks[t-first].Input)
			}
		}
		for i := range j.Job.Edges {
			e := &j.Job.Edges[i]
			c := controller.Expand(&j.Job, e, hosts)
			sum := pathmap.Bytes(0)
			for k := range c.Src {
				if rack(c.Src[k]) != rack(c.Dst[k]) {
					sum += c.Size[k]
				}
			}
			if e.Reads != nil {
				input += float64(sum)
			} else {
				inter += float64(sum)
			}
		}
	}
	return input, inter
}

const whyDawn = "what jobs read and write, slots, arrivals and the threshold are not published: chains-v1"

// compared is a figure that the document compares.
type compared struct {
	metric, figure string
	by             experiment.Comparison
}

func dawnFigures() []compared {
	return []compared{
		{"throughput higher than", throughput, experiment.Above},
		{"mean JCT shorter than", meanJCT, experiment.Below},
		{"traffic between racks below", traffic, experiment.Below},
		{"of it, inputs and outputs read, below", inputs, experiment.Below},
		{"of it, between stages, below", shuffles, experiment.Below},
	}
}

// dawnPaper is the document's figures in per cent over Fair and over ShuffleWatcher; zero: none is given.
func dawnPaper(kind, theirs, figure string) float64 {
	type figures map[string]float64
	return map[string]map[string]figures{
		"ml": {
			fairName:    {throughput: 51, meanJCT: 41, traffic: 49, shuffles: 26},
			watcherName: {throughput: 28, meanJCT: 23, traffic: 26},
			aloneName:   {throughput: 28, meanJCT: 23, traffic: 26},
		},
		"tpch": {
			fairName:    {throughput: 42},
			watcherName: {throughput: 21, meanJCT: 19, traffic: 22},
			aloneName:   {throughput: 21, meanJCT: 19, traffic: 22},
		},
		"tpch-tez": {fairName: {throughput: 48, meanJCT: 39, traffic: 47}},
	}[kind][theirs][figure]
}

// dawnRows compares Dawn with the others of one office.
func dawnRows(o office, all []assigner, at experiment.Systems, out *experiment.Result) {
	figure := map[string]string{"ml": "Figures 3 and 4", "tpch": "Figures 3 and 4", "tpch-tez": "Figure 5",
		"dag": "Figure 1"}[o.kind]
	for d, ours := range all {
		if ours.name != strictName && ours.name != dawnName {
			continue
		}
		h := out.At(figure, o.String()+", "+ours.name, whyDawn)
		for _, theirs := range all[:d] {
			if theirs.name == strictName {
				continue
			}
			for _, c := range dawnFigures() {
				if slices.Contains(at[theirs.name].Of(c.figure), 0) {
					continue // no share of nothing
				}
				paper, metric := dawnPaper(o.kind, theirs.name, c.figure), c.metric+" "+theirs.name+"'s by"
				v := at.Against(ours.name, theirs.name, c.figure, c.by)
				h.Row(metric, "%", paper, v)
				if c.figure != meanJCT {
					continue
				}
				order := h.Order("runs in which "+metric+" anything", 0, v)
				if paper == 0 {
					*order = order.Judge(0, "the document has no such figure")
				}
			}
		}
	}
}

// boundRow is what a network can change for Fair.
func boundRow(o office, at experiment.Systems, out *experiment.Result) {
	h := out.At("infinite network", o.String(), experiment.SameOrder)
	h.Row("Fair's mean JCT smaller by, at most", "%", 0, at[fairName].Of(bound))
}

func assumedDawn() []string {
	return append(workload.ChainLines(workload.ChainOptions{Kind: "ml"}),
		"6 racks of 6 nodes with 8 slots, 1 Gb/s a node and 500 Mb/s a rack; threshold 0.7; a benchmark of Table I every 15 "+
			"minutes in the mean, exponential, for 4 hours, and run to the end; 22 queries of 50 GB at random within 25 minutes",
		"the case study is a picture: twelve drawn jobs of 4 maps and 2 reduces, 1 GB each, on 4 nodes of 6 slots",
		"ShuffleWatcher in two readings: its own (as the experiment pushbox has it) and Dawn's (each stage in the "+
			"rack of most of what it reads, other jobs ignored); Dawn in two: its loop without an exit, and any rack after 5 s")
}

const quarter = 15 * time.Minute

// runDawn is the case study and Figures 3, 4 and 5.
func runDawn(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	if b.On == experiment.OnNetns {
		return runDawnPackets(ctx, b)
	}
	var offices []office
	for _, blocks := range []bool{true, false} {
		offices = append(offices, office{"dag", blocks, quarter, caseFabric, divided{}},
			office{"ml", blocks, quarter, dawnFabric, divided{}},
			office{"tpch", blocks, 0, dawnFabric, divided{}}, office{"tpch-tez", blocks, 0, dawnFabric, divided{}})
	}
	of := func(o office) []assigner {
		if o.kind == "tpch-tez" { // against Fair alone
			return slices.DeleteFunc(assigners(), func(a assigner) bool {
				return a.name == watcherName ||
					a.name == aloneName
			})
		}
		return assigners()
	}
	got, err := experiment.CrossEach(ctx, b, offices, of, office.run)
	if err != nil {
		return nil, err
	}
	out := b.Result(assumedDawn()...)
	for i, o := range offices {
		dawnRows(o, of(o), got[i], out)
		boundRow(o, got[i], out)
	}
	out.Notes = []string{experiment.HolmNote(out.Rows), experiment.Chance(out.Rows)}
	return out, nil
}

// runDawnSweeps sweeps what the document does not publish.
func runDawnSweeps(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	levels := []float64{0.3, 0.5, 0.7, 0.9, 1}
	var offices []office
	for _, every := range []time.Duration{10, 15, 20, 30} {
		offices = append(offices, office{"ml", true, every * time.Minute, dawnFabric, divided{}})
	}
	offices = append(offices, office{"tpch", true, 0, dawnFabric, divided{}})
	of := func(o office) []assigner {
		all := []assigner{assigners()[0]}
		if o.every == 15*time.Minute || o.every == 0 {
			for _, x := range levels {
				all = append(all, threshold(x))
			}
			return append(all, assigners()[4])
		}
		return append(all, threshold(0.7), assigners()[4])
	}
	got, err := experiment.CrossEach(ctx, b, offices, of, office.run)
	if err != nil {
		return nil, err
	}
	out := b.Result(assumedDawn()...)
	for i, o := range offices {
		for _, s := range of(o)[1:] {
			h := out.At("none", o.rate()+", "+s.name, "the document names no value")
			for _, c := range dawnFigures()[:3] {
				h.Row(c.metric+" Fair's by", "%", 0, got[i].Against(s.name, fairName, c.figure, c.by))
			}
		}
	}
	return out, nil
}
