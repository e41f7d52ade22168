// Package pushbox repeats the evaluation of the PushBox document (sections 4, 6 and 7) on its trace, with the job model
// facebook-v1. Seeds draw where blocks lie and how wrong estimates are; the trace's arrivals and sizes are the same in
// every run.
package pushbox

import (
	"context"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
)

const source = "PushBox, section 7"

// Experiments returns the experiments of the document.
func Experiments() []experiment.Experiment {
	on := []string{experiment.OnFlowsim}
	return []experiment.Experiment{
		{Name: "pushbox", Doc: "job completion under Fair, FIFO and two queues, and without each component",
			Source: source + ", Figures 8 and 9", Seeds: 20, On: on, Run: runPushBox},
		{Name: "pushbox-concurrency", Doc: "use of receivers' lines over the number of receiving tasks",
			Source: "PushBox, section 4, Figures 3a and 3b", Seeds: 20, On: on, Run: runConcurrency},
		{Name: "pushbox-sweeps", Doc: "oversubscription, machines, slots and load",
			Source: source + ", Figures 10 to 13", Seeds: 20, On: on, Run: runPushBoxSweeps},
		{Name: "pushbox-assumptions", Doc: "what computing speed, input and slow start do to the gain",
			Source: source + ", what it leaves open", Seeds: 20, On: on, Run: runPushBoxAssumptions},
		{Name: "pushbox-overhead", Doc: "what deciding costs over the number of coflows",
			Source: "PushBox, section 7.4, Figure 14", Seeds: 20, On: on, Run: runPushBoxOverhead},
		{Name: "pushbox-testbed", Doc: "the two workloads of the testbed on packets, scaled down",
			Source: "PushBox, section 6.2, Figure 6", Seeds: 10, On: []string{experiment.OnNetns, experiment.OnFlowsim},
			Run: runPushBoxTestbed},
	}
}

// packing is a scheduler under comparison with a network.
type packing struct {
	name    string
	rule    pushbox.Rule
	intent  share.Intent
	network share.Intent // of the priorities; tcp: hosts share by themselves
	change  func(k *place.Packer)
	sunflow bool
}

// tcp is the network without priorities.
const tcp = share.Intent(255)

// policy makes the policy of a packing.
func (p *packing) policy() controller.Policy {
	k := place.NewPacker(p.rule, p.intent.Ordered)
	if p.change != nil {
		p.change(k)
	}
	var net policy.Part = &share.Priority{Intent: p.network, Size: k.Sends}
	if p.network == tcp {
		net = new(share.TCP)
	}
	if p.sunflow {
		return policy.Compose(k, circuits.Sunflow{}.Remembering(), route.Shortest{}, net)
	}
	return policy.Compose(k, nil, route.Shortest{}, net)
}

// rivals are the schedulers of Figure 9 under an intent, PushBox last.
func rivals(intent share.Intent) []packing {
	if intent == share.FIFOIntent {
		return []packing{
			{name: "Hadoop", rule: pushbox.Hadoop, intent: intent, network: tcp},
			{name: "Hadoop(FIFO)", rule: pushbox.Hadoop, intent: intent, network: share.OrderIntent},
			{name: "ShuffleWatcher", rule: pushbox.ShuffleWatcher, intent: intent, network: share.OrderIntent},
			{name: "NEAT", rule: pushbox.NEAT, intent: intent, network: share.OrderIntent},
			{name: "PushBox", intent: intent, network: intent}}
	}
	return []packing{
		{name: "Hadoop", rule: pushbox.Hadoop, intent: intent, network: tcp},
		{name: "ShuffleWatcher", rule: pushbox.ShuffleWatcher, intent: intent, network: tcp},
		{name: "NEAT", rule: pushbox.NEAT, intent: intent, network: intent},
		{name: "PushBox", intent: intent, network: intent}}
}

// farm is a cluster that runs the trace.
type farm struct {
	name   string
	fabric string
	model  workload.MapReduce
	queues bool // jobs of less than 100 MB are in a FIFO queue
	packing
}

// machines is a cluster without oversubscription: every machine is a rack of its own.
func machines(n, slots int, nic string) string {
	return fmt.Sprintf("leafspine:racks=%d,hosts=1,slots=%d,spines=1,nic=%s,eps=%s", n, slots, nic, nic)
}

// clusters is four clusters of 16 machines with a core that carries 1/ratio of what they can send.
func clusters(ratio float64) string {
	return fmt.Sprintf("leafspine:racks=4,hosts=16,slots=20,spines=1,nic=10Gbps,eps=%dMbps", int(160_000/ratio))
}

func (f farm) String() string { return f.name + ", " + f.packing.name }

// spans are the figures of one run, in seconds.
type spans struct {
	Mean, P95, P99, Max float64
	Small, Large        float64 // means of the smallest two and the largest two of seven size bins
}

// run replays the trace once.
func (f farm) run(ctx context.Context, b *experiment.Bench, trace *workload.Trace, seed uint64) (*spans, error) {
	t := *trace
	if b.Quick {
		t.Coflows = t.Coflows[:min(len(t.Coflows), 60)]
	}
	jobs := f.model.Jobs(&t)
	var size []float64
	for i := range jobs {
		sum := 0.0
		for k := range jobs[i].Edges {
			sum += float64(jobs[i].Edges[k].Bytes)
		}
		size = append(size, sum)
		if jobs[i].User = "fair"; f.queues && sum < 100e6 {
			jobs[i].User = share.QueueOfOrder
		}
	}
	c := replay.Case{Fabric: f.fabric, On: experiment.OnFlowsim, Policy: "fair+shortest", Jobs: jobs, Seed: seed,
		With: f.policy}
	if f.sunflow {
		c.Policy = "fair+shortest+sunflow"
	}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	took := make([]float64, len(ran.Jobs))
	for i, j := range ran.Jobs {
		took[i] = (j.End - j.Arrival).Seconds()
	}
	return spansOf(took, size), nil
}

// spansOf are the figures of jobs that took so long and are so large.
func spansOf(took, size []float64) *spans {
	var small, large []float64
	for i, x := range took {
		switch bin := share.Bin(size[i]); {
		case bin <= 1:
			small = append(small, x)
		case bin >= 5:
			large = append(large, x)
		}
	}
	sorted := slices.Sorted(slices.Values(took))
	return &spans{mean(took), report.Percentile(sorted, .95), report.Percentile(sorted, .99), report.Percentile(sorted, 1),
		mean(small), mean(large)}
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// farms runs each farm with every seed; those that are alike but for their names once.
func farms(ctx context.Context, b *experiment.Bench, all []farm) ([][]*spans, error) {
	trace, err := experiment.Facebook(b)
	if err != nil {
		return nil, err
	}
	at, once, known := make([]int, len(all)), []farm(nil), map[string]int{}
	for i, f := range all {
		k := fmt.Sprintf("%s %+v %v %s %d %d %d %v", f.fabric, f.model, f.queues, f.packing.name, f.rule, f.intent, f.network,
			f.sunflow)
		if _, ok := known[k]; !ok {
			known[k] = len(once)
			once = append(once, f)
		}
		at[i] = known[k]
	}
	got, err := experiment.Grid(ctx, b, once, farm.String, func(ctx context.Context, f farm, seed uint64) (*spans, error) {
		return f.run(ctx, b, trace, seed)
	})
	if err != nil {
		return nil, err
	}
	out := make([][]*spans, len(all))
	for i := range all {
		out[i] = got[at[i]]
	}
	return out, nil
}

// pick reads one figure of every run.
func pick(all []*spans, of func(*spans) float64) []float64 {
	var out []float64
	for _, s := range all {
		out = append(out, of(s))
	}
	return out
}

func meanOf(s *spans) float64 { return s.Mean }
func p95Of(s *spans) float64  { return s.P95 }
func p99Of(s *spans) float64  { return s.P99 }

// shorter is by how many percent ours is below theirs, run by run.
func shorter(ours, theirs []float64) []float64 {
	var out []float64
	for i := range ours {
		out = append(out, 100*(1-ours[i]/theirs[i]))
	}
	return out
}

const whyPushBox = "input, blocks, computing times and how 150 racks become 20 machines are not published: facebook-v1"

// against makes the rows of PushBox against the others of a group: paper holds the mean and the tail (0: no figure).
func against(b *experiment.Bench, figure, setting, tail string, group []farm, got [][]*spans,
	tailOf func(*spans) float64,
	paper map[string][2]float64) []experiment.Row {
	ours := got[len(group)-1]
	var rows []experiment.Row
	for i, f := range group[:len(group)-1] {
		for k, m := range []struct {
			name string
			of   func(*spans) float64
		}{{"mean job completion time shorter than " + f.packing.name + "'s by", meanOf},
			{tail + " of job completion times shorter than " + f.packing.name + "'s by", tailOf}} {
			r := experiment.Row{Figure: figure, Setting: setting, Metric: m.name, Unit: "%"}
			if p := paper[f.packing.name][k]; p != 0 {
				r.Paper = experiment.Number(p)
			}
			rows = append(rows, r.Measure(shorter(pick(ours, m.of), pick(got[i], m.of)), b.First).Judge(0, whyPushBox))
		}
	}
	for i, f := range group[:len(group)-1] {
		rows = append(rows, ahead(figure, setting, f.packing.name, pick(ours, meanOf), pick(got[i], meanOf), b.First))
	}
	for i, f := range group {
		rows = append(rows, experiment.Row{Figure: figure, Setting: setting,
			Metric: "mean job completion time, " + f.packing.name,
			Unit:   "s"}.Measure(pick(got[i], meanOf), b.First).Judge(0, "ours"))
	}
	return rows
}

// ahead is a row of the runs in which PushBox's mean is below another's.
func ahead(figure, setting, theirs string, ours, them []float64, seed uint64) experiment.Row {
	gap := shorter(ours, them)
	below := make([]float64, len(gap))
	for i, x := range gap {
		if x > experiment.OrderGap {
			below[i] = 100
		}
	}
	return experiment.Row{Figure: figure + ", order", Setting: setting, Unit: "%",
		Metric: "runs in which PushBox's mean job completion time is below " + theirs + "'s"}.Measure(below, seed).
		JudgeOrder(experiment.Row{}.Measure(gap, seed))
}

// runPushBox is Figures 8 and 9.
func runPushBox(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	model := workload.FacebookV1()
	base := machines(20, 20, "10Gbps")
	var all []farm
	group := func(name, fabric string, queues bool, of []packing) (first, end int) {
		first = len(all)
		for _, p := range of {
			all = append(all, farm{name, fabric, model, queues, p})
		}
		return first, len(all)
	}
	fair, fairEnd := group("Fair", base, false, rivals(share.FairIntent))
	fifo, fifoEnd := group("FIFO", base, false, rivals(share.FIFOIntent))
	multi, multiEnd := group("two queues", base, true, rivals(share.QueueIntent))
	parts := components()
	part, partEnd := group("components", base, false, parts)
	infinite, _ := group("a network without bound", machines(20, 20, "100Tbps"), false, rivals(share.FairIntent)[:1])
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}
	out := &experiment.Result{Assumptions: append(model.Lines(),
		"20 machines of 20 slots and 10 Gb/s, non-blocking, each a rack",
		"Starts-After: reduces take slots once all maps have ended, under every scheduler, since nothing can be received "+
			"before; three receiving tasks a machine, a skip for each machine, a busy network card from 75 % on")}
	out.Rows = append(out.Rows, against(b, "Figure 9a", "Fair", "95th percentile", all[fair:fairEnd], got[fair:fairEnd],
		p95Of, map[string][2]float64{"Hadoop": {57.5, 87.4}, "ShuffleWatcher": {40.0, 39.5}, "NEAT": {52.1, 65.3}})...)
	out.Rows = append(out.Rows, against(b, "Figure 9b", "FIFO", "95th percentile", all[fifo:fifoEnd], got[fifo:fifoEnd],
		p95Of, map[string][2]float64{"Hadoop(FIFO)": {24.7, 46.8}, "ShuffleWatcher": {2.7, 19.7}, "NEAT": {18.7, 38.1}})...)
	out.Rows = append(out.Rows, against(b, "Figure 9c", "one Fair and one FIFO queue", "99th percentile",
		all[multi:multiEnd], got[multi:multiEnd], p99Of,
		map[string][2]float64{"Hadoop": {21.4, 33.4}, "ShuffleWatcher": {19.2, 30.3}, "NEAT": {21.2, 33.2}})...)
	out.Rows = append(out.Rows, componentRows(b, parts, got[part:partEnd], got[fairEnd-1])...)
	out.Rows = append(out.Rows, experiment.Row{Figure: "none", Setting: "100 Tb/s for every machine", Unit: "%",
		Metric: "Hadoop's mean shorter than at 10 Gb/s by: what any network scheduler could gain"}.Measure(
		shorter(pick(got[infinite], meanOf), pick(got[fair], meanOf)), b.First).Judge(0, "ours"))
	out.Notes = []string{experiment.HolmNote(out.Rows)}
	return out, nil
}

// components are PushBox without each part of it, and with wrong estimates (Figure 8).
func components() []packing {
	with := func(name string, change func(k *place.Packer)) packing {
		return packing{name: name, intent: share.FairIntent, network: share.FairIntent, change: change}
	}
	gp := with("GP", nil)
	gp.network = share.BinIntent
	return []packing{gp,
		with("RS", func(k *place.Packer) { k.Random = true }),
		with("H", func(k *place.Packer) { k.NoHinderTest = true }),
		with("W", func(k *place.Packer) { k.NoWildcard = true }),
		with("estimates off by 2", func(k *place.Packer) { k.Error = 2 }),
		with("estimates off by 4", func(k *place.Packer) { k.Error = 4 }),
		with("slow start at 5 %", func(k *place.Packer) { k.SlowStart = place.SlowStart })}
}

// componentRows compares PushBox without a component with the whole.
func componentRows(b *experiment.Bench, parts []packing, got [][]*spans, whole []*spans) []experiment.Row {
	paper := map[string][2]float64{"GP": {9.9, 11.1}, "RS": {5.0, 6.5}, "H": {7.1, 44.8}, "W": {49.3, 39.4},
		"estimates off by 2": {13.8, 3.5}, "estimates off by 4": {60.7, 24.3}}
	figure := func(i int) string {
		switch {
		case i < 4:
			return "Figure 8a"
		case i < 6:
			return "Figure 8d"
		}
		return "none"
	}
	var rows []experiment.Row
	for i, p := range parts {
		for k, m := range []struct {
			name string
			of   func(*spans) float64
		}{{"mean job completion time", meanOf}, {"95th percentile", p95Of},
			{"mean of small jobs", func(s *spans) float64 { return s.Small }},
			{"mean of large jobs", func(s *spans) float64 { return s.Large }}} {
			r := experiment.Row{Figure: figure(i), Setting: p.name, Metric: m.name + " grows by", Unit: "%"}
			if k < 2 && paper[p.name][k] != 0 {
				r.Paper = experiment.Number(paper[p.name][k])
			}
			rows = append(rows, r.Measure(experiment.Improvement(pick(got[i], m.of), pick(whole, m.of)), b.First).Judge(0,
				whyPushBox))
		}
	}
	return rows
}
