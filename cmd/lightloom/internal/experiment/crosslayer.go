package experiment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/cmd/lightloom/internal/run"
	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
)

// The evaluation of the cross-layer document (section 4): streams and batch jobs on fat-trees and Jellyfishes under four
// systems, random, routing only, application only, and both.

func crosslayerExperiments() []Experiment {
	const source = "Cross-Layer Scheduling in Cloud Computing Systems, section 4"
	both := []string{OnFlowsim, OnNetns}
	return []Experiment{
		{Name: "crosslayer-storm", Doc: "throughput of streams at 10 to 30 hosts", Source: source + ".1, Figures 4 and 5", Seeds: 20, On: both,
			Run: func(ctx context.Context, b *Bench) (*Result, error) { return runThroughput(ctx, b, storm()) }},
		{Name: "crosslayer-hadoop", Doc: "throughput of batch jobs at 10 to 30 hosts", Source: source + ".2, Figures 7 and 8", Seeds: 20, On: both,
			Run: func(ctx context.Context, b *Bench) (*Result, error) { return runThroughput(ctx, b, hadoop()) }},
		{Name: "crosslayer-failure", Doc: "10 % of the links fail at 500 s and come back", Source: source + ".1 and 4.2, Figures 6 and 9", Seeds: 20, On: []string{OnFlowsim}, Run: runFailure},
		{Name: "crosslayer-decision", Doc: "time to schedule a new job at 200 to 1,000 hosts", Source: source + ".3, Figures 10 and 11", Seeds: 20, On: []string{OnFlowsim}, Run: runDecision},
		{Name: "crosslayer-completion", Doc: "job completion times at 1,000 hosts", Source: source + ".3, Figures 12 and 13", Seeds: 20, On: []string{OnFlowsim}, Run: runCompletion},
	}
}

// engine is Storm or Hadoop as the document sets it.
type engine struct {
	name    string
	text    string // of workload.ParseDrawn
	figures [2]string
	jobs    int
	swim    bool // sizes from the SWIM trace where its folder is known
	paper   map[string]float64
}

func storm() engine {
	return engine{name: "Storm", text: "storm:rate=10/min", figures: [2]string{"Figure 4", "Figure 5"}, jobs: 100, paper: map[string]float64{
		"Fat-tree, 10 hosts, application": 7.5, "Fat-tree, 10 hosts, routing": 9.1, "Fat-tree, 10 hosts, both": 13.0,
		"Fat-tree, 30 hosts, application": 21.1, "Fat-tree, 30 hosts, routing": 22.7, "Fat-tree, 30 hosts, both": 30.0,
		"Jellyfish, 10 hosts, application": 10.9, "Jellyfish, 10 hosts, routing": 14.5, "Jellyfish, 10 hosts, both": 18.1,
		"Jellyfish, 30 hosts, application": 21.2, "Jellyfish, 30 hosts, routing": 23.1, "Jellyfish, 30 hosts, both": 34.1,
	}}
}

func hadoop() engine {
	return engine{name: "Hadoop", text: "hadoop:rate=1/s,bytes=100B-10GB", figures: [2]string{"Figure 7", "Figure 8"}, jobs: 300, swim: true, paper: map[string]float64{
		"Fat-tree, 10 hosts, application": 7.5, "Fat-tree, 10 hosts, routing": 9.0, "Fat-tree, 10 hosts, both": 22.3,
		"Fat-tree, 30 hosts, both":         26.0,
		"Jellyfish, 30 hosts, application": 18.8, "Jellyfish, 30 hosts, routing": 25.5, "Jellyfish, 30 hosts, both": 31.9,
	}}
}

// draw makes the jobs of one run.
func (e *engine) draw(b *Bench, n int, seed uint64) ([]controller.Job, error) {
	d, err := workload.ParseDrawn(e.text)
	if err != nil {
		return nil, err
	}
	var sizes []workload.Size
	if e.swim && b.Data != "" {
		all, err := records(b)
		if err != nil {
			return nil, err
		}
		sizes = shuffled(all, seed)
	}
	return d.Jobs(seed, n, sizes)
}

// shuffled are the shuffles of a SWIM trace in an order drawn from the seed.
func shuffled(all []swim.Record, seed uint64) []workload.Size {
	sizes := make([]workload.Size, 0, len(all))
	for _, r := range all {
		sizes = append(sizes, workload.Size{Shuffle: r.Shuffle, Output: r.Output})
	}
	rand.New(rand.NewPCG(seed, 0x7377)).Shuffle(len(sizes), func(i, k int) { sizes[i], sizes[k] = sizes[k], sizes[i] })
	return sizes
}

// system is one of the four, or the document's own annealer beside ours.
type system struct{ name, policy string }

func systems() []system {
	return []system{{"random", "random+anypath"}, {"routing", "random+anneal"}, {"application", "application"}, {"both", "crosslayer"},
		{"both, as printed", "crosslayer-paper"}}
}

// network is one of the document's two.
type network struct {
	name   string
	fabric func(hosts int, rate string, slots int, paths int) string
}

// networks are a fat-tree of 6-port switches, since 5-port ones cannot make one, pruned to the hosts, and a Jellyfish with
// a switch for each host and four links to others, as many as a 5-port router has left.
func networks() []network {
	return []network{
		{"Fat-tree", func(hosts int, rate string, slots, paths int) string {
			return fmt.Sprintf("fattree:k=6,hosts=%d,rate=%s,slots=%d,paths=%d", hosts, rate, slots, paths)
		}},
		{"Jellyfish", func(hosts int, rate string, slots, paths int) string {
			return fmt.Sprintf("jellyfish:switches=%d,degree=4,hosts=%d,rate=%s,slots=%d,paths=%d", hosts, hosts, rate, slots, paths)
		}},
	}
}

// point is one setting of the throughput figures.
type point struct {
	net   network
	net2  int
	hosts int
	rate  string
	sys   system
}

func (p point) String() string {
	return fmt.Sprintf("%s, %d hosts, %s", p.net.name, p.hosts, p.sys.name)
}

const (
	slotsEach = 4  // tasks that a server runs at once, so that a job's 12 cannot all share one
	kPaths    = 10 // of the document
	tagPaths  = 6  // that packets can name
)

func assumedCrosslayer(b *Bench) []string {
	out := []string{
		"fat-trees of 5-port routers do not exist: k = 6, pruned to the hosts; Jellyfish: a switch a host, four links to others",
		"“100 MBps” is read as 100 MB/s (800 Mb/s), and as 100 Mb/s beside it",
		fmt.Sprintf("%d slots a server, which the document does not give: fewer spread tasks more; bytes between tasks of one server are free, at the rate of its link", slotsEach),
		"throughput of a job: bytes received by its sinks ÷ the time it ran; of a run: the mean over jobs",
		"random: uniform slots, and paths uniform among the k shortest; ours anneals by the default mode, “as printed” by the document's own",
		"flows share links max-min, as many TCP connections do roughly",
	}
	if b.On == OnNetns {
		out = append(out, fmt.Sprintf("on packets: rates, sizes and arrivals divided so that two cores carry them; %d paths, as many as tags name", tagPaths))
	}
	return out
}

// gauge is what is read of a run.
type gauge struct {
	Throughput float64 // mean of jobs, MB/s
	JCT        []float64
}

func runPoint(ctx context.Context, b *Bench, e engine, p point, jobs int, seed uint64) (*gauge, error) {
	drawn, err := e.draw(b, jobs, seed)
	if err != nil {
		return nil, err
	}
	paths := kPaths
	c := run.Case{On: b.On, Policy: p.sys.policy, Jobs: drawn, Seed: seed}
	if b.On == OnNetns {
		paths, c.Scale, c.Speedup = tagPaths, 16, 20
	}
	c.Fabric = p.net.fabric(p.hosts, p.rate, slotsEach, paths)
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	g := &gauge{}
	n := 0
	for i := range ran.Jobs {
		g.JCT = append(g.JCT, (ran.Jobs[i].End - ran.Jobs[i].Arrival).Seconds())
		if t := ran.Jobs[i].Throughput(); t > 0 {
			g.Throughput += t / 8e6
			n++
		}
	}
	g.Throughput /= float64(max(n, 1))
	return g, nil
}

func runThroughput(ctx context.Context, b *Bench, e engine) (*Result, error) {
	var points []point
	hosts := []int{10, 20, 30}
	if b.On == OnNetns {
		hosts = []int{30}
	}
	jobs := e.jobs
	if b.Quick {
		hosts, jobs = []int{10}, 10
	}
	for _, rate := range []string{"800Mbps", "100Mbps"} {
		for ni, n := range networks() {
			for _, h := range hosts {
				if rate == "100Mbps" && h == 20 || rate == "100Mbps" && b.On == OnNetns {
					continue // the second reading at the ends of the range, and on the simulator, is enough to compare
				}
				for _, s := range systems() {
					points = append(points, point{n, ni, h, rate, s})
				}
			}
		}
	}
	got, err := Grid(ctx, b, points, point.String, func(ctx context.Context, p point, seed uint64) (*gauge, error) {
		return runPoint(ctx, b, e, p, jobs, seed)
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: assumedCrosslayer(b)}
	per := len(systems())
	for i := 0; i < len(points); i += per {
		p := points[i]
		base := column2(got[i])
		at := fmt.Sprintf("%s, %d hosts", p.net.name, p.hosts)
		if p.rate == "100Mbps" {
			at += " at 100 Mb/s"
		}
		for k, s := range systems() {
			r := Row{Figure: e.figures[p.net2], Setting: at + ", " + s.name, Metric: "throughput", Unit: "MB/s"}
			if k == 0 && p.net2 == 0 && p.hosts == 10 && p.rate == "800Mbps" {
				r.Paper = Number(20)
			}
			out.Rows = append(out.Rows, r.Measure(column2(got[i+k]), b.First).Judge(2, "offered load, slots and what shares a server are not published"))
		}
		for k, s := range systems()[1:] {
			r := Row{Figure: e.figures[p.net2], Setting: at + ", " + s.name, Metric: "improvement over random", Unit: "%"}
			if v, ok := e.paper[at+", "+s.name]; ok {
				r.Paper = Number(v)
			}
			r = r.Measure(Improvement(column2(got[i+k+1]), base), b.First)
			out.Rows = append(out.Rows, r.Judge(3, "slots, arrivals and the annealer's steps are not published; a server that takes several tasks of a job gains more by placement"+asked(r)))
		}
	}
	out.Pictures = throughputPictures(e, points, got)
	out.Notes = []string{holmNote(out.Rows)}
	return out, nil
}

func column2(g []*gauge) []float64 {
	out := make([]float64, len(g))
	for i := range g {
		out[i] = g[i].Throughput
	}
	return out
}

func throughputPictures(e engine, points []point, got [][]*gauge) []Picture {
	var out []Picture
	for ni, n := range networks() {
		p := Picture{Name: "crosslayer-" + e.name + "-" + n.name, Title: e.figures[ni] + ": " + e.name + ", " + n.name, X: "hosts", Y: "throughput, MB/s"}
		for _, s := range systems() {
			l := Line{Name: s.name}
			for i, at := range points {
				if at.net2 != ni || at.sys.name != s.name || at.rate != "800Mbps" {
					continue
				}
				ci := report.Bootstrap(column2(got[i]), 1)
				l.X, l.Y, l.Low, l.High = append(l.X, float64(at.hosts)), append(l.Y, ci.Mean), append(l.Low, ci.Low), append(l.High, ci.High)
			}
			p.Lines = append(p.Lines, l)
		}
		out = append(out, p)
	}
	return out
}

// runCompletion is Figures 12 and 13: improvements of job completion times, job by job, over random placement and paths.
func runCompletion(ctx context.Context, b *Bench) (*Result, error) {
	type at struct {
		e    engine
		net  string
		spec string
		sys  system
	}
	fabrics := []struct{ name, spec string }{
		{"Fat-tree", "fattree:k=16,hosts=1000,rate=800Mbps,slots=4,paths=10"}, {"Jellyfish", "jellyfish:switches=200,degree=10,hosts=1000,rate=800Mbps,slots=4,paths=10"}}
	jobs := map[string]int{"Storm": 60, "Hadoop": 120}
	var settings []at
	for _, e := range []engine{hadoop(), storm()} {
		for _, f := range fabrics {
			for _, s := range []system{systems()[0], systems()[3]} {
				settings = append(settings, at{e, f.name, f.spec, s})
			}
		}
	}
	got, err := Grid(ctx, b, settings, func(s at) string { return s.e.name + " on " + s.net + ", " + s.sys.name }, func(ctx context.Context, s at, seed uint64) (*gauge, error) {
		n := jobs[s.e.name]
		if b.Quick {
			n = 5
		}
		drawn, err := crowded(s.e).draw(b, n, seed)
		if err != nil {
			return nil, err
		}
		c := run.Case{On: OnFlowsim, Fabric: s.spec, Policy: s.sys.policy, Jobs: drawn, Seed: seed}
		ran, err := c.Run(ctx)
		if err != nil {
			return nil, err
		}
		g := &gauge{}
		for i := range ran.Jobs {
			g.JCT = append(g.JCT, (ran.Jobs[i].End - ran.Jobs[i].Arrival).Seconds())
		}
		return g, nil
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: append(assumedCrosslayer(b),
		"1,000 hosts: fat-tree of 16-port switches, Jellyfish of 200 switches with ten links each and five hosts (15 ports)",
		"arrivals are not published: Storm a topology every 600 ms, Hadoop a job every 100 ms with 20 maps and 10 reduces",
		"improvement of a job: 1 − its time ÷ its time under random, the run with the same seed")}
	paper := map[string][4]float64{ // p50, p75, share worse, worst
		"Hadoop, Fat-tree": {34, 38, 27, 20}, "Hadoop, Jellyfish": {34, 38, 18, 20}, "Storm, Fat-tree": {34, 41, 24, 30}, "Storm, Jellyfish": {34, 41, 16, 30}}
	for i := 0; i < len(settings); i += 2 {
		s := settings[i]
		figure := map[string]string{"Hadoop": "Figure 12", "Storm": "Figure 13"}[s.e.name]
		name := s.e.name + ", " + s.net
		var p50, p75, worse, worst, all []float64
		for k := range got[i] {
			v := gains(got[i+1][k].JCT, got[i][k].JCT)
			bad, least := 0, 0.0
			for _, x := range v {
				if x < -0.5 {
					bad++
				}
				least = min(least, x)
			}
			p50, p75 = append(p50, report.Percentile(v, .5)), append(p75, report.Percentile(v, .75))
			worse, worst = append(worse, 100*float64(bad)/float64(max(len(v), 1))), append(worst, -least)
			all = append(all, v...)
		}
		q := paper[name]
		const why = "arrivals, slots and the seed of the network are not published"
		out.Rows = append(out.Rows,
			Row{Figure: figure, Setting: name, Metric: "improvement, median job", Unit: "%", Paper: Number(q[0])}.Measure(p50, b.First).Judge(3, why),
			Row{Figure: figure, Setting: name, Metric: "improvement, 75th percentile", Unit: "%", Paper: Number(q[1])}.Measure(p75, b.First).Judge(3, why),
			Row{Figure: figure, Setting: name, Metric: "jobs made worse", Unit: "%", Paper: Number(q[2])}.Measure(worse, b.First).Judge(3, why+"; worse by more than half a percent is counted"),
			Row{Figure: figure, Setting: name, Metric: "worst job slower by", Unit: "%", Paper: Number(q[3])}.Measure(worst, b.First).JudgeAtMost(why))
		slices.Sort(all)
		l := Line{Name: name, StepFunction: true}
		for k, x := range all {
			l.X, l.Y = append(l.X, max(x, -100)), append(l.Y, float64(k+1)/float64(len(all)))
		}
		out.Pictures = append(out.Pictures, Picture{Name: "crosslayer-completion-" + s.e.name + "-" + s.net, Title: figure + ": " + name, X: "improvement of a job, %", Y: "share of jobs", Lines: []Line{l}})
	}
	out.Notes = []string{holmNote(out.Rows)}
	return out, nil
}

// crowded is an engine with arrivals that keep a thousand hosts busy.
func crowded(e engine) *engine {
	e.text = map[string]string{"Storm": "storm:rate=100/min", "Hadoop": "hadoop:rate=10/s,maps=20,reduces=10,bytes=100B-10GB"}[e.name]
	return &e
}

// gains are the improvements of jobs in percent, ascending.
func gains(ours, theirs []float64) []float64 {
	var out []float64
	for i := range min(len(ours), len(theirs)) {
		if theirs[i] > 0 {
			out = append(out, 100*(1-ours[i]/theirs[i]))
		}
	}
	slices.Sort(out)
	return out
}

// runDecision is Figures 10 and 11. The document's seconds are of another machine: they are shown, and judged against.
func runDecision(ctx context.Context, b *Bench) (*Result, error) {
	out := &Result{Assumptions: []string{
		"wall time of one decision on the machine to itself, the first of a fabric thrown away; 20 jobs run",
		"fat-tree of 16-port switches and Jellyfish with ten links a switch and five hosts, pruned or built for the hosts",
		"the document's times are of a 4-core machine of 2014: a ratio to them is no gain of the algorithm",
	}}
	paper := map[string]float64{"Storm, Jellyfish, 200": 0.28, "Storm, Jellyfish, 1000": 0.74, "Storm, Fat-tree, 200": 0.20, "Storm, Fat-tree, 1000": 0.53,
		"Hadoop, Jellyfish, 200": 0.23, "Hadoop, Jellyfish, 1000": 0.67, "Hadoop, Fat-tree, 200": 0.17, "Hadoop, Fat-tree, 1000": 0.48}
	for _, e := range []engine{storm(), hadoop()} {
		for _, net := range []string{"Fat-tree", "Jellyfish"} {
			for _, policy := range []string{"crosslayer", "crosslayer-paper"} {
				for _, hosts := range []int{200, 400, 600, 800, 1000} {
					v, err := decisionTimes(ctx, b, e, net, hosts, policy)
					if err != nil {
						return nil, err
					}
					name := fmt.Sprintf("%s, %s, %d", e.name, net, hosts)
					r := Row{Figure: map[string]string{"Storm": "Figure 10", "Hadoop": "Figure 11"}[e.name], Setting: name + " hosts, " + policy, Metric: "time of a decision", Unit: "s"}
					if p, ok := paper[name]; ok {
						r.Paper = Number(p)
					}
					out.Rows = append(out.Rows, r.Measure(v, b.First).Judge(0, "another machine, and moves are valued by what they change"))
				}
			}
		}
	}
	return out, nil
}

func decisionTimes(ctx context.Context, b *Bench, e engine, net string, hosts int, policy string) ([]float64, error) {
	spec := fmt.Sprintf("fattree:k=16,hosts=%d,rate=800Mbps,slots=4,paths=10", hosts)
	if net == "Jellyfish" {
		spec = fmt.Sprintf("jellyfish:switches=%d,degree=10,hosts=%d,rate=800Mbps,slots=4,paths=10", hosts/5, hosts)
	}
	var out []float64
	b.more(b.Seeds)
	for i := range b.Seeds { // one at a time: the annealer is parallel itself
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		jobs, err := crowded(e).draw(b, 21, b.Seed(i))
		if err != nil {
			return nil, err
		}
		took, err := run.DecisionTime(spec, policy, jobs, b.Seed(i))
		if err != nil {
			return nil, err
		}
		out = append(out, took.Seconds())
		b.step()
	}
	return out, nil
}
