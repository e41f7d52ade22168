package pushbox

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/controller/policy/share"
	"lightloom/lab/experiment"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// concurrency is Figure 3a: so many receiving tasks on each of 20 machines, each with five random senders.
type concurrency int

// use returns the share of all machines' lines that is used in the first tenth of a second.
func (m concurrency) use(ctx context.Context, seed uint64) (float64, error) {
	const n, each = 20, 5
	line := 10e9 / 8 * 1448 / 1514
	const d = 100 * time.Millisecond
	jobs := contest(n, int(m), each, seed)
	jobs = append(jobs, controller.Job{Name: "end", Arrival: d,
		Edges: []controller.Edge{{Kind: controller.Fixed,
			Flows: []controller.Flow{{Dst: 1, Bytes: 1}}}}}) // a run stops at the first event after d
	c := replay.Case{Options: scenario.Options{
		Fabric: machines(n, 1, "10Gbps"), On: experiment.OnFlowsim,
		Policies: []string{"fair+shortest"}, Given: jobs, Seed: seed, StopAt: d,
	}, With: underPriority}
	ran, err := c.Run(ctx)
	if err != nil {
		return 0, err
	}
	return 100 * float64(ran.EPS) / (line * n * d.Seconds()), nil
}

// contest is the coflows of Figure 3a: bare ones, which have no end in sight. Their sizes are random,
// and so their priorities.
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

// ordered is Figure 3b: three reducers of one machine with the same input and priorities in their
// order, and other machines with reducers that go on.
type ordered struct {
	Use  float64    // of the machine's line until the last of the three has its input, in per cent
	Ends [3]float64 // when each has it, seconds
	Lone float64    // how long one of them would take with the line to itself
}

// inPriority has every task receive from so many machines: from all others alike, or else from some
// drawn at random.
func inPriority(ctx context.Context, senders int, seed uint64) (*ordered, error) {
	const n, tasks, bytes = 9, 3, 5e9
	line := 10e9 / 8 * 1448 / 1514
	jobs := contest(n, tasks, senders, seed)
	for i := range jobs {
		for k := range jobs[i].Edges[0].Flows {
			f := &jobs[i].Edges[0].Flows[k]
			if senders == n-1 {
				f.Src = southbound.HostID((i/tasks + 1 + k) % n)
			}
			if i < tasks { // of the first machine; equals go by number
				f.Bytes = pathmap.Bytes(bytes / senders)
			}
		}
	}
	c := replay.Case{Options: scenario.Options{
		Fabric: machines(n, 1, "10Gbps"), On: experiment.OnFlowsim,
		Policies: []string{"fair+shortest"}, Given: jobs, Seed: seed,
	}, With: underPriority}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	out := &ordered{Lone: bytes / line}
	for i := range out.Ends {
		out.Ends[i] = ran.Jobs[i].End.Seconds()
	}
	out.Use = 100 * tasks * out.Lone / max(out.Ends[0], out.Ends[1], out.Ends[2])
	return out, nil
}

// orderedRows are the rows of Figure 3b.
func orderedRows(senders int, got []*ordered, out *experiment.Result) {
	var use, alone, gap []float64
	for _, g := range got {
		use, alone = append(use, g.Use), append(alone, experiment.Above(g.Ends[0], g.Lone))
		gap = append(gap, 100*(1-max(g.Ends[0]/g.Ends[1], g.Ends[1]/g.Ends[2])))
	}
	h := out.At("Figure 3b", fmt.Sprintf("three reducers of a machine, R1 before R2 before R3, from %d others",
		senders), "")
	h.Because("the document: almost fully utilized").Row("use of the machine's line until R3 has its input", "%", 0, use)
	h.Because("the document: not perfectly exclusive").Row("R1 slower than with the line to itself by", "%", 0, alone)
	h.Order("runs in which R1 ends before R2 and R2 before R3", experiment.OrderGap, gap)
}

// underPriority is the network of Figures 3a and 3b.
func underPriority() controller.Policy {
	return policy.Compose(new(place.Fair), nil, route.Shortest{}, &share.Priority{Intent: share.FairIntent})
}

// runConcurrency is Figures 3a and 3b.
func runConcurrency(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	all := []concurrency{1, 2, 3, 4, 5, 6}
	got, err := experiment.Grid(ctx, b, all, func(m concurrency) string { return fmt.Sprintf("%d tasks", m) },
		func(ctx context.Context, m concurrency, seed uint64) (float64, error) { return m.use(ctx, seed) })
	if err != nil {
		return nil, err
	}
	senders := []int{5, 8}
	three, err := experiment.Grid(ctx, b, senders,
		func(n int) string { return fmt.Sprintf("three reducers, %d senders", n) },
		func(ctx context.Context, n int, seed uint64) (*ordered, error) { return inPriority(ctx, n, seed) })
	if err != nil {
		return nil, err
	}
	out := b.Result(
		"20 machines of 10 Gb/s, non-blocking; each task receives from five machines drawn at random, and has a priority "+
			"drawn at random among those of its machine",
		"Figure 3b: nine such machines; the three receive 5 GB each, the tasks of the others have no end in sight",
	)
	line := plot.Line{Name: "use of lines"}
	for i, m := range all {
		h := out.At("Figure 3a", fmt.Sprintf("%d receiving tasks a machine", m),
			"the number of machines is not published")
		h.Row("use of all lines", "%", map[concurrency]float64{3: 95}[m], got[i])
		line.X, line.Y = append(line.X, float64(m)), append(line.Y, report.Mean(got[i]))
	}
	for i, n := range senders {
		orderedRows(n, three[i], out)
	}
	out.Pictures = []plot.Chart{{Name: "pushbox-concurrency", Title: "Figure 3a",
		X: "receiving tasks a machine",
		Y: "use of all lines, %", Lines: []plot.Line{line}}}
	return out, nil
}
