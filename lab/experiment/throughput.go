package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"lightloom/lab/replay"
	"lightloom/lab/report"
)

// point is one setting of the throughput figures.
type point struct {
	net   network
	net2  int
	hosts int
	rate  string
	sys   system
	on    string
	slots int // of a server; 0: slotsEach
}

func (p point) String() string {
	return fmt.Sprintf("%s, %d hosts, %s, on %s", p.net.name, p.hosts, p.sys.name, p.on)
}

// gauge holds the figures read from a run.
type gauge struct {
	Throughput float64 // mean of jobs, MB/s of the fabric before it was scaled
	JCT        []float64
	Bound      float64 // per cent of the mean JCT that an infinite network saves; not on packets
}

// divided holds the divisors of a run on packets and of its twin on the simulator: scale for rates and sizes, so that
// two cores carry them, and speedup for arrivals and sizes, so that the run ends in seconds.
type divided struct{ scale, speedup float64 }

func (e *engine) divided(b *Bench) divided {
	if b.On == OnNetns {
		return divided{32, e.speedup}
	}
	return divided{1, 1}
}

func runPoint(ctx context.Context, b *Bench, e engine, p point, jobs int, seed uint64) (*gauge, error) {
	drawn, err := e.draw(b, jobs, seed)
	if err != nil {
		return nil, err
	}
	by := e.divided(b)
	fabric := p.net.fabric(p.hosts, p.rate, cmp.Or(p.slots, slotsEach), pathsOn(b))
	c := replay.Case{On: p.on, Fabric: fabric, Policy: p.sys.policy, Jobs: drawn, Seed: seed, Scale: by.scale,
		Speedup: by.speedup}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	g := &gauge{}
	n := 0
	for i := range ran.Jobs {
		g.JCT = append(g.JCT, (ran.Jobs[i].End - ran.Jobs[i].Arrival).Seconds())
		if t := ran.Jobs[i].Throughput(); t > 0 {
			g.Throughput += t / 8e6 * by.scale
			n++
		}
	}
	g.Throughput /= float64(max(n, 1))
	return g, nil
}

// onPackets is how many systems run on packets: not those as printed.
const onPackets = 4

// throughputPoints are the settings of the figures: on packets those at 30 hosts, each beside the same on the
// simulator. The four systems of one network are next to each other.
func throughputPoints(b *Bench, e *engine) []point {
	hosts, fabrics, who := []int{10, 20, 30}, []string{OnFlowsim}, e.systems()
	if b.On == OnNetns {
		hosts, fabrics, who = []int{30}, []string{OnFlowsim, OnNetns}, systems()[:onPackets]
	}
	if b.Quick {
		hosts = []int{10}
	}
	var points []point
	for _, rate := range []string{"800Mbps", "100Mbps"} {
		for ni, n := range networks() {
			for _, h := range hosts {
				if rate == "100Mbps" && (h == 20 || b.On == OnNetns) {
					continue // the second reading at the ends of the range, and on the simulator, is enough to compare
				}
				for _, on := range fabrics {
					for _, s := range who {
						points = append(points, point{n, ni, h, rate, s, on, 0})
					}
				}
			}
		}
	}
	return points
}

func runThroughput(ctx context.Context, b *Bench, e engine) (*Result, error) {
	points, jobs := throughputPoints(b, &e), e.jobs
	if b.On == OnNetns {
		jobs = e.packets
	}
	if b.Quick {
		jobs = 10
	}
	got, err := Grid(ctx, b, points, point.String, func(ctx context.Context, p point, seed uint64) (*gauge, error) {
		return runPoint(ctx, b, e, p, jobs, seed)
	})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: assumedCrosslayer(b)}
	if b.On == OnNetns {
		out.Rows = besideRows(e, points, got, b)
	} else {
		out.Rows = throughputRows(e, points, got, b)
	}
	out.Pictures = throughputPictures(e, points, got)
	out.Notes = append([]string{HolmNote(out.Rows)}, b.failures()...)
	return out, nil
}

// at is the network of a point.
func (p point) at() string {
	at := fmt.Sprintf("%s, %d hosts", p.net.name, p.hosts)
	if p.rate == "100Mbps" {
		at += " at 100 Mb/s"
	}
	return at
}

// setting describes a point in its row.
func (p point) setting() string { return p.at() + ", " + p.sys.name }

const (
	whyThroughput  = "offered load, slots and what shares a server are not published"
	whyImprovement = "slots, arrivals and the annealer's steps are not published; a server that takes several tasks of " +
		"a job gains more by placement"
)

// throughputRow is the throughput of a point.
func throughputRow(e engine, p point, got []*gauge, b *Bench) Row {
	r := Row{Figure: e.figures[p.net2], Setting: p.setting(), Metric: "throughput", Unit: "MB/s"}
	if p.sys.name == "random" && p.net2 == 0 && p.hosts == 10 && p.rate == "800Mbps" {
		r.Paper = Number(20)
	}
	return r.Measure(column2(got), b.First).Judge(0, whyThroughput)
}

// improvementRow is a point's gain over random.
func improvementRow(e engine, p point, got, base []*gauge, b *Bench) Row {
	r := Row{Figure: e.figures[p.net2], Setting: p.setting(), Metric: "improvement over random", Unit: "%"}
	if v, ok := e.paper[fmt.Sprintf("%s, %d hosts, %s", p.net.name, p.hosts, p.sys.compared)]; ok {
		r.Paper = Number(v)
	}
	r = r.Measure(Improvement(column2(got), column2(base)), b.First)
	return r.Judge(0, whyImprovement+asked(r))
}

// throughputRows are the rows of one fabric.
func throughputRows(e engine, points []point, got [][]*gauge, b *Bench) (out []Row) {
	per := len(e.systems())
	for i := 0; i < len(points); i += per {
		for k := range per {
			out = append(out, throughputRow(e, points[i+k], got[i+k], b))
		}
		for k := 1; k < per; k++ {
			out = append(out, improvementRow(e, points[i+k], got[i+k], got[i], b))
		}
	}
	overHosts(out)
	return out
}

// overHosts judges the trend of each series over the number of hosts. Series differ in network, rate and system.
func overHosts(rows []Row) {
	series := map[string][]*Row{}
	for i := range rows {
		at, hosts, _ := strings.Cut(rows[i].Setting, ", ")
		_, system, _ := strings.Cut(hosts, " hosts")
		name := at + system + rows[i].Metric
		series[name] = append(series[name], &rows[i])
	}
	for _, s := range series {
		JudgeTrend(s, "hosts")
	}
}

// besideRows are the rows of both fabrics side by side: each figure at flow level and on packets, then what packets
// give more or less.
func besideRows(e engine, points []point, got [][]*gauge, b *Bench) (out []Row) {
	per := onPackets
	word := map[string]string{OnFlowsim: ", flow level", OnNetns: ", packets"}
	for i := 0; i < len(points); i += 2 * per {
		flow, packets := i, i+per
		for k := range per {
			for _, at := range []int{flow, packets} {
				r := throughputRow(e, points[at+k], got[at+k], b)
				r.Setting += word[points[at+k].on]
				out = append(out, r)
			}
			r := Row{Figure: e.figures[points[i].net2], Setting: points[i+k].setting(),
				Metric: "throughput on packets above flow level", Unit: "%"}
			out = append(out, r.Measure(Improvement(column2(got[packets+k]), column2(got[flow+k])), b.First).Judge(0, "by seed"))
		}
		for k := 1; k < per; k++ {
			for _, at := range []int{flow, packets} {
				r := improvementRow(e, points[at+k], got[at+k], got[at], b)
				r.Setting += word[points[at+k].on]
				out = append(out, r)
			}
		}
	}
	return out
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
		p := Picture{Name: "crosslayer-" + e.name + "-" + n.name, Title: e.figures[ni] + ": " + e.name + ", " + n.name,
			X: "hosts", Y: "throughput, MB/s"}
		lines := map[string]int{}
		for i, at := range points {
			if at.net2 != ni || at.rate != "800Mbps" {
				continue
			}
			name := at.sys.name
			if at.on == OnNetns {
				name += ", packets"
			}
			k, known := lines[name]
			if !known {
				k, lines[name] = len(p.Lines), len(p.Lines)
				p.Lines = append(p.Lines, Line{Name: name})
			}
			l, ci := &p.Lines[k], report.Bootstrap(column2(got[i]), 1)
			l.X, l.Y, l.Low, l.High = append(l.X, float64(at.hosts)), append(l.Y, ci.Mean), append(l.Low, ci.Low),
				append(l.High, ci.High)
		}
		out = append(out, p)
	}
	return out
}

// pathsOn is how many paths between two racks are known: the document's number, or on packets as many as tags can name.
func pathsOn(b *Bench) int { return cmp.Or(map[string]int{OnNetns: tagPaths}[b.On], kPaths) }
