// Package pushbox repeats the evaluation of the PushBox document (sections 4, 6 and 7) on its trace,
// with the job model facebook-v1. Seeds draw where blocks lie and how wrong estimates are; the trace's
// arrivals and sizes are the same in every run.
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
	"lightloom/lab/scenario"
)

const source = "PushBox, section 7"

// Experiments returns the experiments of the document.
func Experiments() []experiment.Experiment {
	const whole = "30 TB in an hour, under parts that have no name for a controller's process; pushbox-testbed has packets"
	return []experiment.Experiment{
		{Name: "pushbox", Doc: "job completion under Fair, FIFO and two queues, and without each component",
			Source: source + ", Figures 8 and 9", Only: whole, Run: runPushBox},
		{Name: "pushbox-concurrency", Doc: "use of receivers' lines over the number of receiving tasks",
			Source: "PushBox, section 4, Figures 3a and 3b",
			Only:   "priorities drawn by task have no name for a controller's process; pushbox-testbed has packets",
			Run:    runConcurrency},
		{Name: "pushbox-sweeps", Doc: "oversubscription, machines, slots and load",
			Source: source + ", Figures 10 to 13", Only: whole, Run: runPushBoxSweeps},
		{Name: "pushbox-assumptions", Doc: "what computing speed, input and slow start do to the gain",
			Source: source + ", what it leaves open", Only: whole, Run: runPushBoxAssumptions},
		{Name: "pushbox-overhead", Doc: "what deciding costs over the number of coflows",
			Source: "PushBox, section 7.4, Figure 14", Only: experiment.SendsNothing, Alone: experiment.TimesThis,
			Run: runPushBoxOverhead},
		{Name: "pushbox-testbed", Doc: "the two workloads of the testbed on packets, scaled down",
			Source: "PushBox, section 6.2, Figure 6", Seeds: 10, On: []string{experiment.OnNetns,
				experiment.OnFlowsim},
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
	early   bool // reduces get slots once 5 % of the maps have ended
	sunflow bool
}

// tcp is the network without priorities.
const tcp = share.Intent(255)

// policy makes the policy of a packing.
func (p *packing) policy() controller.Policy {
	k := place.NewPacker(p.rule, p.intent.Ordered)
	switch p.network {
	case tcp:
		k.Network = pushbox.EqualShares
	case share.OrderIntent:
		k.Network = pushbox.FirstCome
	}
	if p.change != nil {
		p.change(k)
	}
	if p.early {
		k.SlowStart = place.SlowStart
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
	return fmt.Sprintf("leafspine:racks=4,hosts=16,slots=20,spines=1,nic=10Gbps,eps=%dMbps",
		int(160_000/ratio))
}

func (f farm) String() string { return f.name + ", " + f.packing.name }

// The figures of one run, in seconds.
const (
	meanJCT   = "mean job completion time"
	p95JCT    = "95th percentile"
	p99JCT    = "99th percentile"
	longest   = "longest job"
	smallJobs = "mean of small jobs" // of the smallest two of seven size bins
	largeJobs = "mean of large jobs" // of the largest two
)

// run replays the trace once.
func (f farm) run(ctx context.Context, b *experiment.Bench, trace *workload.Trace, seed uint64) (
	experiment.Figures, error) {
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
	c := replay.Case{Options: scenario.Options{
		Fabric: f.fabric, On: experiment.OnFlowsim, Policies: []string{"fair+shortest"}, Given: jobs,
		Seed: seed,
	}, With: f.policy}
	if f.sunflow {
		c.Policies = []string{"fair+shortest+sunflow"}
	}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	return spansOf(timesOf(ran), size), nil
}

// timesOf are how long the jobs of a run took, in seconds.
func timesOf(ran *replay.Ran) []float64 {
	took := make([]float64, len(ran.Jobs))
	for i := range ran.Jobs {
		took[i] = ran.Jobs[i].JCT().Seconds()
	}
	return took
}

// spansOf are the figures of jobs that took so long and are so large.
func spansOf(took, size []float64) experiment.Figures {
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
	return experiment.Figures{meanJCT: report.Mean(took), p95JCT: report.Percentile(sorted, .95),
		p99JCT: report.Percentile(sorted, .99), longest: report.Percentile(sorted,
			1), smallJobs: report.Mean(small),
		largeJobs: report.Mean(large)}
}

// farms runs each farm with every seed; those that are alike but for their names once. It returns the
// runs by the name of the farm and that of its scheduler.
func farms(ctx context.Context, b *experiment.Bench, all []farm) (map[string]experiment.Systems, error) {
	trace, err := experiment.Facebook(b)
	if err != nil {
		return nil, err
	}
	like := func(f farm) string {
		return fmt.Sprintf("%s %+v %v %s %d %d %d %v %v", f.fabric, f.model, f.queues, f.packing.name,
			f.rule, f.intent,
			f.network, f.early, f.sunflow)
	}
	var once []farm
	at := map[string]int{}
	for _, f := range all {
		if _, known := at[like(f)]; !known {
			at[like(f)] = len(once)
			once = append(once, f)
		}
	}
	got, err := experiment.Grid(ctx, b, once, farm.String, func(ctx context.Context, f farm, seed uint64) (
		experiment.Figures, error) {
		return f.run(ctx, b, trace, seed)
	})
	if err != nil {
		return nil, err
	}
	out := map[string]experiment.Systems{}
	for _, f := range all {
		if out[f.name] == nil {
			out[f.name] = experiment.Systems{}
		}
		out[f.name][f.packing.name] = got[at[like(f)]]
	}
	return out, nil
}

const whyPushBox = "input, blocks, computing times and how 150 racks become 20 machines are not published: facebook-v1"

// against adds rows of PushBox, the last, against the others: paper is by how many per cent the
// document has its mean and its tail shorter (0: no figure).
func against(h experiment.Head, at experiment.Systems, who []packing, tail string,
	paper map[string][2]float64) {
	ours, others := at["PushBox"], who[:len(who)-1]
	for _, p := range others {
		shorter := " shorter than " + p.name + "'s by"
		h.Row(meanJCT+shorter, "%", paper[p.name][0], ours.Against(at[p.name], meanJCT, experiment.Below))
		h.Row(tail+" of job completion times"+shorter, "%", paper[p.name][1],
			ours.Against(at[p.name], tail, experiment.Below))
	}
	for _, p := range others {
		ahead(h, p.name, ours, at[p.name])
	}
	for _, p := range who {
		ownMean(h, p.name, at[p.name])
	}
}

// ahead adds the share of the runs in which PushBox's mean is below another's.
func ahead(h experiment.Head, theirs string, ours, them experiment.Runs) {
	h.Order("runs in which PushBox's mean job completion time is below "+theirs+"'s", experiment.OrderGap,
		ours.Against(them, meanJCT, experiment.Below))
}

// ownMean adds a scheduler's own mean.
func ownMean(h experiment.Head, name string, runs experiment.Runs) {
	h.Because("ours").Row(meanJCT+", "+name, "s", 0, runs.Of(meanJCT))
}

// runPushBox is Figures 8 and 9.
func runPushBox(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	const unbound = "a network without bound"
	model, base := workload.FacebookV1(), machines(20, 20, "10Gbps")
	var all []farm
	add := func(name, fabric string, queues bool, of []packing) {
		for _, p := range of {
			all = append(all, farm{name, fabric, model, queues, p})
		}
	}
	add("Fair", base, false, rivals(share.FairIntent))
	add("FIFO", base, false, rivals(share.FIFOIntent))
	add("two queues", base, true, rivals(share.QueueIntent))
	add("components", base, false, components())
	add(unbound, machines(20, 20, "100Tbps"), false, rivals(share.FairIntent)[:1])
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}

	out := b.Result(append(model.Lines(),
		"20 machines of 20 slots and 10 Gb/s, non-blocking, each a rack",
		"Starts-After: reduces take slots once all maps have ended, under every scheduler, since nothing can be received "+
			"before; three receiving tasks a machine, a skip for each machine, a busy network card from 75 % on",
		"ShuffleWatcher also sends maps to the fewest racks with a copy of each block, and reduces to machines that "+
			"hold their output; NEAT predicts both ends and the core under the network's own policy; tie rules are ours")...)
	for _, g := range []struct {
		figure, setting, farm string
		intent                share.Intent
		tail                  string
		paper                 map[string][2]float64
	}{
		{"Figure 9a", "Fair", "Fair", share.FairIntent, p95JCT,
			map[string][2]float64{"Hadoop": {57.5, 87.4}, "ShuffleWatcher": {40.0, 39.5}, "NEAT": {52.1, 65.3}}},
		{"Figure 9b", "FIFO", "FIFO", share.FIFOIntent, p95JCT,
			map[string][2]float64{"Hadoop(FIFO)": {24.7, 46.8}, "ShuffleWatcher": {2.7, 19.7},
				"NEAT": {18.7, 38.1}}},
		{"Figure 9c", "one Fair and one FIFO queue", "two queues", share.QueueIntent, p99JCT,
			map[string][2]float64{"Hadoop": {21.4, 33.4}, "ShuffleWatcher": {19.2, 30.3}, "NEAT": {21.2, 33.2}}},
	} {
		h := out.At(g.figure, g.setting, whyPushBox)
		against(h, got[g.farm], rivals(g.intent), g.tail, g.paper)
	}
	componentRows(got["components"], got["Fair"]["PushBox"], out)
	out.At("none", "100 Tb/s for every machine", "ours").Row(
		"Hadoop's mean shorter than at 10 Gb/s by: what any network scheduler could gain", "%", 0,
		got[unbound]["Hadoop"].Against(got["Fair"]["Hadoop"], meanJCT, experiment.Below))
	out.Notes = []string{experiment.HolmNote(out.Rows)}
	return out, nil
}

// components are PushBox without each part of it, and with wrong estimates (Figure 8).
func components() []packing {
	all := []packing{
		{name: "GP", network: share.BinIntent},
		{name: "RS", change: func(k *place.Packer) { k.Random = true }},
		{name: "H", change: func(k *place.Packer) { k.NoHinderTest = true }},
		{name: "W", change: func(k *place.Packer) { k.NoWildcard = true }},
		{name: "estimates off by 2", change: func(k *place.Packer) { k.Error = 2 }},
		{name: "estimates off by 4", change: func(k *place.Packer) { k.Error = 4 }},
		{name: "slow start at 5 %", early: true},
	}
	for i := range all {
		if all[i].intent = share.FairIntent; i > 0 {
			all[i].network = share.FairIntent
		}
	}
	return all
}

// componentRows compares PushBox without a component with the whole. paper is by how many per cent the
// document has the mean and the 95th percentile grow.
func componentRows(at experiment.Systems, whole experiment.Runs, out *experiment.Result) {
	for _, c := range []struct {
		figure, part string
		paper        [4]float64
	}{
		{"Figure 8a", "GP", [4]float64{9.9, 11.1}},
		{"Figure 8a", "RS", [4]float64{5.0, 6.5}},
		{"Figure 8a", "H", [4]float64{7.1, 44.8}},
		{"Figure 8a", "W", [4]float64{49.3, 39.4}},
		{"Figure 8d", "estimates off by 2", [4]float64{13.8, 3.5}},
		{"Figure 8d", "estimates off by 4", [4]float64{60.7, 24.3}},
		{"none", "slow start at 5 %", [4]float64{}},
	} {
		h := out.At(c.figure, c.part, whyPushBox)
		for k, m := range []string{meanJCT, p95JCT, smallJobs, largeJobs} {
			h.Row(m+" grows by", "%", c.paper[k], at[c.part].Against(whole, m, experiment.Above))
		}
	}
}
