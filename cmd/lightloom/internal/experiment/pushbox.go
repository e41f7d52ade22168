package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/cmd/lightloom/internal/replay"
	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/pushbox"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/controller/workload"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// The evaluation of the PushBox document (section 7) on its trace, with the job model facebook-v1. Seeds draw where
// blocks lie and how wrong estimates are; the trace's arrivals and sizes are the same in every run.

const (
	pushboxSource = "PushBox, section 7"
	facebookTrace = "FB2010-1Hr-150-0.txt"
)

func pushboxExperiments() []Experiment {
	on := []string{OnFlowsim}
	return []Experiment{
		{Name: "pushbox", Doc: "job completion under Fair, FIFO and two queues, and without each component",
			Source: pushboxSource + ", Figures 8 and 9", Seeds: 20, On: on, Run: runPushBox},
		{Name: "pushbox-concurrency", Doc: "use of receivers' lines over the number of receiving tasks",
			Source: "PushBox, section 4, Figure 3a", Seeds: 20, On: on, Run: runConcurrency},
		{Name: "pushbox-sweeps", Doc: "oversubscription, machines, slots and load",
			Source: pushboxSource + ", Figures 10 to 13", Seeds: 20, On: on, Run: runPushBoxSweeps},
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
func (f farm) run(ctx context.Context, b *Bench, trace *workload.Trace, seed uint64) (*spans, error) {
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
	c := replay.Case{Fabric: f.fabric, On: OnFlowsim, Policy: "fair+shortest", Jobs: jobs, Seed: seed,
		With: f.policy}
	if f.sunflow {
		c.Policy = "fair+shortest+sunflow"
	}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	var took, small, large []float64
	for i, j := range ran.Jobs {
		x := (j.End - j.Arrival).Seconds()
		took = append(took, x)
		switch bin := share.Bin(size[i]); {
		case bin <= 1:
			small = append(small, x)
		case bin >= 5:
			large = append(large, x)
		}
	}
	return &spans{mean(took), report.Percentile(took, .95), report.Percentile(took, .99), report.Percentile(took, 1),
		mean(small), mean(large)}, nil
}

func mean(v []float64) float64 {
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	return sum / float64(max(len(v), 1))
}

// facebook reads the trace.
func facebook(b *Bench) (*workload.Trace, error) {
	f, err := openTrace(b, "coflow", facebookTrace)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return workload.ReadTrace(f, facebookTrace)
}

// farms runs each farm with every seed.
func farms(ctx context.Context, b *Bench, all []farm) ([][]*spans, error) {
	trace, err := facebook(b)
	if err != nil {
		return nil, err
	}
	return Grid(ctx, b, all, farm.String, func(ctx context.Context, f farm, seed uint64) (*spans, error) {
		return f.run(ctx, b, trace, seed)
	})
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
func against(b *Bench, figure, setting, tail string, group []farm, got [][]*spans, tailOf func(*spans) float64,
	paper map[string][2]float64) []Row {
	ours := got[len(group)-1]
	var rows []Row
	for i, f := range group[:len(group)-1] {
		for k, m := range []struct {
			name string
			of   func(*spans) float64
		}{{"mean job completion time shorter than " + f.packing.name + "'s by", meanOf},
			{tail + " of job completion times shorter than " + f.packing.name + "'s by", tailOf}} {
			r := Row{Figure: figure, Setting: setting, Metric: m.name, Unit: "%"}
			if p := paper[f.packing.name][k]; p != 0 {
				r.Paper = Number(p)
			}
			rows = append(rows, r.Measure(shorter(pick(ours, m.of), pick(got[i], m.of)), b.First).Judge(0, whyPushBox))
		}
	}
	for i, f := range group {
		rows = append(rows, Row{Figure: figure, Setting: setting, Metric: "mean job completion time, " + f.packing.name,
			Unit: "s"}.Measure(pick(got[i], meanOf), b.First).Judge(0, "ours"))
	}
	return rows
}

// runPushBox is Figures 8 and 9.
func runPushBox(ctx context.Context, b *Bench) (*Result, error) {
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
	out := &Result{Assumptions: append(model.Lines(), "20 machines of 20 slots and 10 Gb/s, non-blocking, each a rack",
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
	out.Rows = append(out.Rows, Row{Figure: "none", Setting: "100 Tb/s for every machine", Unit: "%",
		Metric: "Hadoop's mean shorter than at 10 Gb/s by: what any network scheduler could gain"}.Measure(
		shorter(pick(got[infinite], meanOf), pick(got[fair], meanOf)), b.First).Judge(0, "ours"))
	out.Notes = []string{HolmNote(out.Rows)}
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
func componentRows(b *Bench, parts []packing, got [][]*spans, whole []*spans) []Row {
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
	var rows []Row
	for i, p := range parts {
		for k, m := range []struct {
			name string
			of   func(*spans) float64
		}{{"mean job completion time", meanOf}, {"95th percentile", p95Of},
			{"mean of small jobs", func(s *spans) float64 { return s.Small }},
			{"mean of large jobs", func(s *spans) float64 { return s.Large }}} {
			r := Row{Figure: figure(i), Setting: p.name, Metric: m.name + " grows by", Unit: "%"}
			if k < 2 && paper[p.name][k] != 0 {
				r.Paper = Number(paper[p.name][k])
			}
			rows = append(rows, r.Measure(Improvement(pick(got[i], m.of), pick(whole, m.of)), b.First).Judge(0, whyPushBox))
		}
	}
	return rows
}

// axis is one axis of Figures 10 to 13.
type axis struct {
	figure, name string
	x            []float64
	at           func(x float64, m *workload.MapReduce) string // fabric
	paper        [3][2]float64                                 // least and most for Hadoop, ShuffleWatcher and NEAT
}

func axes() []axis {
	return []axis{
		{"Figure 10", "oversubscription", []float64{1, 2, 4, 6}, func(x float64, _ *workload.MapReduce) string {
			return clusters(x)
		}, [3][2]float64{{31.7, 65.5}, {23.7, 48.8}, {21.8, 56.6}}},
		{"Figure 11", "machines", []float64{10, 20, 50, 110}, func(x float64, _ *workload.MapReduce) string {
			return machines(int(x), 20, "10Gbps")
		}, [3][2]float64{{22.7, 67.0}, {17.3, 43.0}, {13.2, 57.9}}},
		{"Figure 12", "slots", []float64{8, 12, 16, 20}, func(x float64, _ *workload.MapReduce) string {
			return machines(20, int(x), "10Gbps")
		}, [3][2]float64{{31.3, 57.5}, {22.9, 40.0}, {21.7, 53.1}}},
		{"Figure 13", "load", []float64{0.5, 1, 1.5, 2}, func(x float64, m *workload.MapReduce) string {
			m.Times = x
			return machines(20, 20, "10Gbps")
		}, [3][2]float64{{51.3, 64.9}, {35.9, 41.5}, {46.4, 58.7}}},
	}
}

// runPushBoxSweeps is Figures 10 to 13.
func runPushBoxSweeps(ctx context.Context, b *Bench) (*Result, error) {
	var all []farm
	for _, s := range axes() {
		for _, x := range s.x {
			model := workload.FacebookV1()
			fabric := s.at(x, &model)
			for _, p := range rivals(share.FairIntent) {
				all = append(all, farm{fmt.Sprintf("%s %g", s.name, x), fabric, model, false, p})
			}
		}
	}
	light := rivals(share.FairIntent)[3]
	light.name, light.sunflow = "PushBox+sunflow", true
	hybrid := "hybrid:racks=4,hosts=16,slots=20,spines=1,nic=10Gbps,eps=40Gbps,ocs=100Gbps,dark=10ms"
	all = append(all, farm{"oversubscription 4 and an optical switch", hybrid, workload.FacebookV1(), false, light})
	got, err := farms(ctx, b, all)
	if err != nil {
		return nil, err
	}
	model := workload.FacebookV1()
	out := &Result{Assumptions: append(model.Lines(), "Fair; the document gives the range over each axis only: a point "+
		"counts as reproduced inside it")}
	at := 0
	for _, s := range axes() {
		lines := make([]Line, 4)
		for _, x := range s.x {
			for k := range 4 {
				m := pick(got[at+k], meanOf)
				lines[k].Name, lines[k].X = all[at+k].packing.name, append(lines[k].X, x)
				lines[k].Y = append(lines[k].Y, mean(m))
				if k == 3 {
					continue
				}
				low, high := s.paper[k][0], s.paper[k][1]
				r := Row{Figure: s.figure, Setting: fmt.Sprintf("%s %g", s.name, x), Unit: "%", Paper: Number((low + high) / 2),
					Metric: "mean job completion time shorter than " + all[at+k].packing.name + "'s by"}
				out.Rows = append(out.Rows, r.Measure(shorter(pick(got[at+3], meanOf), m), b.First).Judge((high-low)/2,
					fmt.Sprintf("the document: %g to %g over the axis; %s", low, high, whyPushBox)))
			}
			at += 4
		}
		out.Pictures = append(out.Pictures, Picture{Name: "pushbox-" + s.name, Title: s.figure, X: s.name,
			Y: "mean job completion time, s", Lines: lines})
	}
	out.Rows = append(out.Rows, Row{Figure: "none", Setting: all[at].name, Unit: "s",
		Metric: "mean job completion time, PushBox+sunflow"}.Measure(pick(got[at], meanOf), b.First).Judge(0, "ours"))
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

// concurrency is Figure 3a: so many receiving tasks on each of 20 machines, each with five random senders.
type concurrency int

// use returns the share of all machines' lines that is used in the first tenth of a second.
func (m concurrency) use(ctx context.Context, seed uint64) (float64, error) {
	const n, each = 20, 5
	line := 10e9 / 8 * 1448 / 1514
	const d = 100 * time.Millisecond
	jobs := contest(n, int(m), each, seed)
	jobs = append(jobs, controller.Job{Name: "end", Arrival: d, Edges: []controller.Edge{{Kind: controller.Fixed,
		Flows: []controller.Flow{{Dst: 1, Bytes: 1}}}}}) // a run stops at the first event after d
	c := replay.Case{Fabric: machines(n, 1, "10Gbps"), On: OnFlowsim, Policy: "fair+shortest", Jobs: jobs, Seed: seed,
		Until: d,
		With: func() controller.Policy {
			return policy.Compose(new(place.Fair), nil, route.Shortest{}, &share.Priority{Intent: share.FairIntent})
		}}
	ran, err := c.Run(ctx)
	if err != nil {
		return 0, err
	}
	return 100 * float64(ran.EPS) / (line * n * d.Seconds()), nil
}

// contest is the coflows of Figure 3a: bare ones, which have no end in sight. Their sizes are random, and so their
// priorities.
func contest(machines, tasks, senders int, seed uint64) []controller.Job {
	r := rand.New(rand.NewPCG(seed, 0x66696733))
	var jobs []controller.Job
	for dst := range machines {
		for k := range tasks {
			e := controller.Edge{Kind: controller.Fixed}
			for range senders {
				src := (dst + 1 + r.IntN(machines-1)) % machines
				e.Flows = append(e.Flows, controller.Flow{Src: southbound.HostID(src), Dst: southbound.HostID(dst),
					Bytes: 1e12 + pathmap.Bytes(r.Int64N(1e12))})
			}
			jobs = append(jobs, controller.Job{Name: fmt.Sprintf("%d-%d", dst, k), Edges: []controller.Edge{e}})
		}
	}
	return jobs
}

// runConcurrency is Figure 3a.
func runConcurrency(ctx context.Context, b *Bench) (*Result, error) {
	all := []concurrency{1, 2, 3, 4, 5, 6}
	got, err := Grid(ctx, b, all, func(m concurrency) string { return fmt.Sprintf("%d tasks", m) },
		func(ctx context.Context, m concurrency, seed uint64) (float64, error) { return m.use(ctx, seed) })
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: []string{"20 machines of 10 Gb/s, non-blocking; each task receives from five machines " +
		"drawn at random, and has a priority drawn at random among those of its machine"}}
	line := Line{Name: "use of lines"}
	for i, m := range all {
		r := Row{Figure: "Figure 3a", Setting: fmt.Sprintf("%d receiving tasks a machine", m), Metric: "use of all lines",
			Unit: "%"}
		if m == 3 {
			r.Paper = Number(95)
		}
		out.Rows = append(out.Rows, r.Measure(got[i], b.First).Judge(2, "the number of machines is not published"))
		line.X, line.Y = append(line.X, float64(m)), append(line.Y, mean(got[i]))
	}
	out.Pictures = []Picture{{Name: "pushbox-concurrency", Title: "Figure 3a", X: "receiving tasks a machine",
		Y: "use of all lines, %", Lines: []Line{line}}}
	return out, nil
}
