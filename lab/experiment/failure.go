package experiment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"lightloom/controller"
	"lightloom/emulator/fault"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// failing is Figure 6 or 9.
type failing struct {
	figure string
	engine engine
	heal   time.Duration
	paper  [2]float64 // percent of the throughput before that are missing after failure, and after recovery
	took   float64    // seconds to route anew
}

// The instants of the document, and the intervals that are compared: from when traffic has settled to
// the next event.
const (
	failAt = 500 * time.Second
	stopAt = 1100 * time.Second
	settle = 20 * time.Second
)

// Arrivals of the failure experiments are this far apart, so that jobs are placed one by one on every
// fabric.
const apart = 5 * time.Second

// lasting makes jobs that send for the whole run at any rate: each has more bytes than a host's link
// can carry.
func lasting(e engine, n int, seed uint64) ([]controller.Job, error) {
	jobs, err := e.draw(&Bench{}, n, seed)
	if err != nil {
		return nil, err
	}
	const much = pathmap.Bytes(1 << 42)
	for i := range jobs {
		jobs[i].Arrival = time.Duration(i) * apart
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
		{"Figure 6", storm(), 800 * time.Second, [2]float64{6.8, 2}, 0.4},
		{"Figure 9", wordCount, 810 * time.Second, [2]float64{4.7, 1.5}, 0.35},
	}
}

// failures returns them: a tenth of the links between switches that the jobs of a case use at that
// instant, drawn from the seed; they fail and recover. The simulator decides which links are in use,
// also for packets.
func (f *failing) failures(ctx context.Context, c replay.Case) ([]fault.Event, error) {
	c.On, c.StopAt = OnFlowsim, failAt
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	cables, err := ran.Used()
	if err != nil {
		return nil, err
	}
	if len(cables) == 0 {
		return nil, errors.New("no link between switches is in use when a tenth of them is to fail")
	}
	r := rand.New(rand.NewPCG(c.Seed, 0xfa11))
	r.Shuffle(len(cables), func(i, k int) { cables[i], cables[k] = cables[k], cables[i] })
	names := fault.NewNames(ran.Fabric(), 1)
	var events []fault.Event
	for _, at := range []struct {
		at   time.Duration
		heal bool
	}{{failAt, false}, {f.heal, true}} {
		for _, l := range cables[:(len(cables)+9)/10] {
			events = append(events, fault.Event{At: at.at,
				Fault: fault.Fault{Kind: fault.Link, Name: names.Cable(l)},
				Heal:  at.heal})
		}
	}
	return events, nil
}

// mended is the result of one run. Its figures are by the metrics of rows, and what is received over time.
type mended struct {
	Figures Figures
	Line    plot.Line
}

// The figures of a run.
const (
	missing  = "throughput missing after the failure"  // per cent of the throughput before
	left     = "throughput missing after the recovery" // likewise
	rerouted = "time to route anew"                    // seconds until the last rule was changed
	broken   = "links that fail"
)

// systemOn is one line of a figure: a system on a fabric.
type systemOn struct {
	system
	on string
}

func (w systemOn) String() string {
	if w.on == OnNetns {
		return w.name + ", packets"
	}
	return w.name
}

// sufferers are the systems whose links fail; on packets each has its twin on the simulator.
func sufferers(b *Bench, e *engine) []systemOn {
	fabrics := []string{OnFlowsim}
	if b.On == OnNetns {
		fabrics = []string{OnFlowsim, OnNetns}
	}
	var out []systemOn
	who := e.whole()
	for _, s := range append(who[1:], who[0]) {
		for _, on := range fabrics {
			out = append(out, systemOn{s, on})
		}
	}
	return out
}

// failureDivided returns the divisors of runs on packets; runs on the simulator beside them are not
// divided, since a sender without pauses gets the same share at any scale. Rates are divided until
// traffic leaves most of two cores to the 30 switches: when links return, some 6,000 rules are set and
// read back, and at four times the traffic that took as long as the interval measured afterwards.
func failureDivided(b *Bench, on string) divided {
	switch {
	case on != OnNetns:
		return divided{1, 1}
	case b.Quick:
		return divided{32, 100}
	}
	return divided{128, 25}
}

func runFailure(ctx context.Context, b *Bench) (*Result, error) {
	out := b.Result(append(assumedCrosslayer(b),
		"30 servers and 30 routers, Jellyfish; of the links between switches that a system uses at 500 s a tenth fails, "+
			"drawn from the seed",
		"five jobs that send all the time; throughput is what all hosts receive",
		fmt.Sprintf("before: 100 s to 500 s; after failure: from %v after it to the recovery; after recovery: from %v "+
			"after it to %v", settle, settle, stopAt))...)
	if b.On == OnNetns {
		out.Assumptions = append(out.Assumptions,
			fmt.Sprintf("on packets, times are divided by %v, and a cable that fails "+
				"is an interface that goes down", failureDivided(b, OnNetns).speedup))
	}
	spec := networks()[1].fabric(30, "800Mbps", slotsEach, pathsOn(b))
	for _, f := range failings() {
		all := sufferers(b, &f.engine)
		got, err := Grid(ctx, b, all, func(w systemOn) string {
			return f.figure + ", " + w.String()
		}, func(ctx context.Context, w systemOn, seed uint64) (*mended, error) {
			return f.run(ctx, b, spec, w, seed)
		})
		if err != nil {
			return nil, err
		}
		picture := plot.Chart{Name: "crosslayer-failure-" + f.engine.name,
			Title: f.figure + ": one run, " + f.engine.name,
			X:     "time, s", Y: "received, MB/s"}
		for k, w := range all {
			var runs Runs
			for _, m := range got[k] {
				runs = append(runs, m.Figures)
			}
			f.rows(w, runs, out)
			l := got[k][0].Line
			l.Name = w.String()
			picture.Lines = append(picture.Lines, l)
		}
		out.Pictures = append(out.Pictures, picture)
	}
	out.Notes = append([]string{HolmNote(out.Rows)}, b.failures()...)
	return out, nil
}

// rows adds one line of the table. On the simulator the time of a call is a constant, so that the time
// to route anew is assumed and not measured.
func (f *failing) rows(w systemOn, got Runs, out *Result) {
	paper := func(v float64) float64 {
		if w.compared != "both" {
			return 0
		}
		return v
	}
	h := out.At(f.figure, w.String(), "the document shows one run, and does not say how near its servers' links are to "+
		"being full")
	h.Row(missing, "%", paper(f.paper[0]), got.Of(missing))
	h.Row(left, "%", paper(f.paper[1]), got.Of(left))
	if w.on == OnNetns {
		h.Because("until the last rule has changed").Row(rerouted, "s", paper(f.took), got.Of(rerouted))
	} else {
		h.Because("the simulator's 2 ms a call are a constant").Row(rerouted+", assumed", "s", 0,
			got.Of(rerouted))
	}
	h.Because("a tenth of those in use").Row(broken, "", 0, got.Of(broken))
}

func (f *failing) run(ctx context.Context, b *Bench, spec string, w systemOn, seed uint64) (*mended, error) {
	jobs, err := lasting(f.engine, 5, seed)
	if err != nil {
		return nil, err
	}
	by := failureDivided(b, w.on)
	c := replay.Case{Options: scenario.Options{
		On: w.on, Fabric: spec, Policies: []string{w.policy}, Given: jobs, Seed: seed, StopAt: stopAt,
	}}
	if c.Events, err = f.failures(ctx, c); err != nil {
		return nil, err
	}
	c.Scale, c.Speedup = by.scale, by.speedup
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	mean := func(from, to time.Duration) float64 {
		return received(ran.Received, by.instant(from), by.instant(to))
	}
	before := mean(100*time.Second, failAt)
	if before == 0 {
		return nil, errors.New("nothing was received before the failure")
	}
	took := 0.0
	for _, x := range ran.PolicyResult.Faults {
		if x.WasRerouted {
			took = max(took, x.Rerouted.Seconds())
		}
	}
	m := &mended{Figures: Figures{
		missing:  100 * (1 - mean(failAt+settle, f.heal)/before),
		left:     100 * (1 - mean(f.heal+settle, stopAt)/before),
		rerouted: took,
		broken:   float64(len(c.Events) / 2),
	}}
	for _, r := range ran.Received {
		m.Line.X = append(m.Line.X, r.To.Seconds()*by.speedup)
		m.Line.Y = append(m.Line.Y, float64(r.Bytes)*by.scale/1e6/(r.To-r.From).Seconds())
	}
	return m, nil
}

// instant converts an instant of the document's clock to one of the run.
func (d divided) instant(at time.Duration) time.Duration {
	return time.Duration(float64(at) / d.speedup)
}

// received is the mean rate of reception in an interval, in bytes a second.
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
