package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/cmd/lightloom/internal/run"
	"lightloom/controller"
	"lightloom/emulator/fault"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// failing is Figure 6 or 9.
type failing struct {
	figure string
	engine engine
	heal   time.Duration
	paper  [2]float64 // percent of the throughput before that are missing after failure, and after recovery
	took   float64    // seconds to route anew
	jobs   func(seed uint64) ([]controller.Job, error)
}

// The instants of the document, and the intervals that are compared: from when the dust has settled to what comes next.
const (
	failAt = 500 * time.Second
	stopAt = 1100 * time.Second
	settle = 20 * time.Second
)

// lasting makes jobs that send for the whole run, whatever they get: what they carry is more than a host's link does.
func lasting(e engine, n int, seed uint64) ([]controller.Job, error) {
	jobs, err := e.draw(&Bench{}, n, seed)
	if err != nil {
		return nil, err
	}
	const much = pathmap.Bytes(1 << 42)
	for i := range jobs {
		jobs[i].Arrival = 0
		for k := range jobs[i].Edges {
			jobs[i].Edges[k].Bytes = much
		}
	}
	return jobs, nil
}

func failings() []failing {
	wordCount := hadoop()
	wordCount.text = "hadoop:maps=4,reduces=4,jobs=5"
	return []failing{
		{"Figure 6", storm(), 800 * time.Second, [2]float64{6.8, 2}, 0.4, func(seed uint64) ([]controller.Job, error) { return lasting(storm(), 5, seed) }},
		{"Figure 9", wordCount, 810 * time.Second, [2]float64{4.7, 1.5}, 0.35, func(seed uint64) ([]controller.Job, error) { return lasting(wordCount, 5, seed) }},
	}
}

// broken are a tenth of the links between switches, drawn from the seed, which fail and come back. The document draws
// among those that some job uses, and those are others under each system.
func broken(spec string, heal time.Duration, seed uint64) ([]fault.Event, error) {
	s, err := topo.FromArgument(spec)
	if err != nil {
		return nil, err
	}
	f, err := topo.New(s.WithDefaults())
	if err != nil {
		return nil, err
	}
	names := fault.NewNames(f, 1)
	var cables []pathmap.LinkID
	for l, link := range f.Topology.Links() {
		if l%2 == 0 && f.Topology.Node(link.From).Role != pathmap.Host && f.Topology.Node(link.To).Role != pathmap.Host {
			cables = append(cables, pathmap.LinkID(l))
		}
	}
	r := rand.New(rand.NewPCG(seed, 0xfa11))
	r.Shuffle(len(cables), func(i, k int) { cables[i], cables[k] = cables[k], cables[i] })
	var events []fault.Event
	for _, at := range []struct {
		at   time.Duration
		heal bool
	}{{failAt, false}, {heal, true}} {
		for _, l := range cables[:(len(cables)+9)/10] {
			events = append(events, fault.Event{At: at.at, Fault: fault.Fault{Kind: fault.Link, Name: names.Cable(l)}, Heal: at.heal})
		}
	}
	return events, nil
}

// mended is what one run came to.
type mended struct {
	Missing, Left float64 // percent of the throughput before, after failure and after recovery
	Took          float64 // seconds until the last rule was changed
	Line          Line
}

func runFailure(ctx context.Context, b *Bench) (*Result, error) {
	out := &Result{Assumptions: append(assumedCrosslayer(b),
		"30 servers and 30 routers, Jellyfish; a tenth of all links between switches fails: the document draws among used ones, which differ between systems",
		"five jobs that send all the time; throughput is what all hosts receive",
		fmt.Sprintf("before: 100 s to 500 s; after failure: from %v after it to the recovery; after recovery: from %v after it to %v", settle, settle, stopAt))}
	spec := networks()[1].fabric(30, "800Mbps", slotsEach, kPaths)
	for _, f := range failings() {
		who := []system{systems()[3], systems()[0]}
		got, err := Grid(ctx, b, who, func(s system) string { return f.figure + ", " + s.name }, func(ctx context.Context, s system, seed uint64) (*mended, error) {
			return f.run(ctx, spec, s, seed)
		})
		if err != nil {
			return nil, err
		}
		picture := Picture{Name: "crosslayer-failure-" + f.engine.name, Title: f.figure + ": one run, " + f.engine.name, X: "time, s", Y: "received, MB/s"}
		for k, s := range who {
			pick := func(of func(*mended) float64) []float64 {
				var v []float64
				for _, m := range got[k] {
					v = append(v, of(m))
				}
				return v
			}
			rows := []Row{
				Row{Figure: f.figure, Setting: s.name, Metric: "throughput missing after the failure", Unit: "%"}.Measure(pick(func(m *mended) float64 { return m.Missing }), b.First),
				Row{Figure: f.figure, Setting: s.name, Metric: "throughput missing after the recovery", Unit: "%"}.Measure(pick(func(m *mended) float64 { return m.Left }), b.First),
				Row{Figure: f.figure, Setting: s.name, Metric: "time to route anew", Unit: "s"}.Measure(pick(func(m *mended) float64 { return m.Took }), b.First),
			}
			if k == 0 {
				rows[0].Paper, rows[1].Paper, rows[2].Paper = Number(f.paper[0]), Number(f.paper[1]), Number(f.took)
			}
			const why = "the document shows one run, of other links; here a tenth of all links fails, and used ones are most"
			out.Rows = append(out.Rows, rows[0].Judge(2, why), rows[1].Judge(2, why), rows[2].Judge(0.05, "the document's controller took its time to anneal; here backup rules and the controller's model of 5 ms a change"))
			l := got[k][0].Line
			l.Name = s.name
			picture.Lines = append(picture.Lines, l)
		}
		out.Pictures = append(out.Pictures, picture)
	}
	out.Notes = []string{holmNote(out.Rows)}
	return out, nil
}

func (f *failing) run(ctx context.Context, spec string, s system, seed uint64) (*mended, error) {
	jobs, err := f.jobs(seed)
	if err != nil {
		return nil, err
	}
	faults, err := broken(spec, f.heal, seed)
	if err != nil {
		return nil, err
	}
	c := run.Case{On: OnFlowsim, Fabric: spec, Policy: s.policy, Jobs: jobs, Seed: seed, Faults: faults, Until: stopAt}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	before := received(ran.Received, 100*time.Second, failAt)
	if before == 0 {
		return nil, fmt.Errorf("nothing was received before the failure")
	}
	m := &mended{
		Missing: 100 * (1 - received(ran.Received, failAt+settle, f.heal)/before),
		Left:    100 * (1 - received(ran.Received, f.heal+settle, stopAt)/before),
	}
	for _, x := range ran.PolicyResult.Faults {
		if x.WasRerouted {
			m.Took = max(m.Took, x.Rerouted.Seconds())
		}
	}
	for _, r := range ran.Received {
		m.Line.X = append(m.Line.X, r.To.Seconds())
		m.Line.Y = append(m.Line.Y, float64(r.Bytes)/1e6/(r.To-r.From).Seconds())
	}
	return m, nil
}

// received is the mean of what was received in an interval, in bytes a second.
func received(all []report.Received, from, to time.Duration) float64 {
	sum, long := pathmap.Bytes(0), time.Duration(0)
	for _, r := range all {
		if r.From >= from && r.To <= to {
			sum += r.Bytes
			long += r.To - r.From
		}
	}
	if long == 0 {
		return 0
	}
	return float64(sum) / long.Seconds()
}
