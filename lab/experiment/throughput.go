package experiment

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"lightloom/controller/policy"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
	"lightloom/lab/scenario"
)

// stand is where systems are compared: an engine's jobs on so many hosts.
type stand struct {
	e        engine
	net      network
	hosts    int
	rate, on string
	slots    int    // of a server
	change   string // of what the document does not give; "" in its figures
}

func (s stand) String() string {
	return fmt.Sprintf("%s, %s%s, on %s", s.e.name, s.at(), s.change, s.on)
}

// at is the network of a stand.
func (s stand) at() string {
	at := fmt.Sprintf("%s, %d hosts", s.net.name, s.hosts)
	if s.rate == "100Mbps" {
		at += " at 100 Mb/s"
	}
	return at
}

// divided holds the divisors of a run on packets and of its twin on the simulator: scale for rates and
// sizes, so that two cores carry them, and speedup for arrivals and sizes, so that the run ends in
// seconds.
type divided struct{ scale, speedup float64 }

func (e *engine) divided(b *Bench) divided {
	if b.On == OnNetns {
		return divided{32, e.speedup}
	}
	return divided{1, 1}
}

// perJobRate is a figure: the mean of jobs, MB/s of the fabric before it was scaled.
const perJobRate = "throughput"

// run measures one run of a system. A quick try has few jobs.
func (s stand) run(ctx context.Context, b *Bench, sys system, seed uint64) (Figures, error) {
	jobs := s.e.jobs
	if b.On == OnNetns {
		jobs = s.e.packets
	}
	if b.Quick {
		jobs = 10
	}
	drawn, err := s.e.draw(b, jobs, seed)
	if err != nil {
		return nil, err
	}
	by := s.e.divided(b)
	c := replay.Case{Options: scenario.Options{
		On: s.on, Fabric: s.net.fabric(s.hosts, s.rate, s.slots, pathsOn(b)),
		Policies: []string{sys.policy}, Given: drawn, Seed: seed, Scale: by.scale,
		Speedup: by.speedup, Parts: policy.Overrides{Migrate: sys.migrate},
	}}
	ran, err := c.Run(ctx)
	if err != nil {
		return nil, err
	}
	var jct, rates []float64
	for i := range ran.Jobs {
		jct = append(jct, ran.Jobs[i].JCT().Seconds())
		if t := ran.Jobs[i].Throughput(); t > 0 {
			rates = append(rates, t/8e6*by.scale)
		}
	}
	f := Figures{perJobRate: report.Mean(rates), meanJCT: report.Mean(jct), tasksMoved: 0, sentAgain: 0}
	if m := ran.State.Migrated; m != nil {
		f[tasksMoved], f[sentAgain] = float64(m.Tasks), float64(m.Bytes)*by.scale*by.speedup/1e9
	}
	return f, nil
}

// onPackets is how many systems run on packets: not those as printed.
const onPackets = 4

// throughputStands are those of the figures: on packets those at 30 hosts, each after the same on the
// simulator.
func throughputStands(b *Bench, e engine) []stand {
	hosts, fabrics, rates := []int{10, 20, 30}, []string{OnFlowsim}, []string{"800Mbps", "100Mbps"}
	if b.On == OnNetns {
		hosts, fabrics, rates = []int{30}, []string{OnFlowsim, OnNetns}, rates[:1]
	}
	if b.Quick {
		hosts = []int{10}
	}
	var all []stand
	for _, rate := range rates {
		for _, n := range networks() {
			for _, h := range hosts {
				if rate == "100Mbps" && h == 20 {
					continue // the second reading at the ends of the range is enough to compare
				}
				for _, on := range fabrics {
					all = append(all, stand{e, n, h, rate, on, slotsEach, ""})
				}
			}
		}
	}
	return all
}

func runThroughput(ctx context.Context, b *Bench, e engine) (*Result, error) {
	places, who := throughputStands(b, e), e.systems()
	if b.On == OnNetns {
		who = who[:onPackets]
	}
	got, err := Cross(ctx, b, places, who, stand.run)
	if err != nil {
		return nil, err
	}
	out := b.Result(assumedCrosslayer(b)...)
	if b.On == OnNetns {
		for i := 0; i < len(places); i += 2 {
			besideRows(places[i:i+2], who, got[i:i+2], out)
		}
	} else {
		for i := range places {
			throughputRows(&places[i], who, got[i], out)
		}
		overHosts(out.Rows)
	}
	out.Pictures = throughputPictures(places, who, got)
	out.Notes = append([]string{HolmNote(out.Rows)}, b.failures()...)
	return out, nil
}

const (
	whyThroughput  = "offered load, slots and what shares a server are not published"
	whyImprovement = "slots, arrivals and the annealer's steps are not published; a server that takes several tasks of " +
		"a job gains more by placement"
)

// throughput is the throughput of a system.
func (s *stand) throughput(out *Result, sys system, got Runs, word string) {
	paper := 0.0
	if sys.name == "random" && s.at() == "Fat-tree, 10 hosts" {
		paper = 20
	}
	h := out.At(s.e.figures[s.net.name], s.at()+", "+sys.name+word, whyThroughput)
	h.Row(perJobRate, "MB/s", paper, got.Of(perJobRate))
}

// improvement is a system's gain over random.
func (s *stand) improvement(out *Result, sys system, setting string, at Systems) *Row {
	paper := s.e.paper[fmt.Sprintf("%s, %d hosts, %s", s.net.name, s.hosts, sys.compared)]
	h := out.At(s.e.figures[s.net.name], setting, whyImprovement)
	return h.asked("improvement over random", paper, at.Against(sys.name, "random", perJobRate, Above))
}

// throughputRows are the rows of one stand.
func throughputRows(s *stand, who []system, at Systems, out *Result) {
	for _, sys := range who {
		s.throughput(out, sys, at[sys.name], "")
	}
	for _, sys := range who[1:] {
		s.improvement(out, sys, s.at()+", "+sys.name, at)
	}
}

// overHosts judges the trend of each series over the number of hosts. Series differ in network, rate
// and system.
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

// besideRows are the rows of both fabrics side by side: each figure at flow level and on packets, then
// what packets give more or less.
func besideRows(fabrics []stand, who []system, got []Systems, out *Result) {
	words := []string{", flow level", ", packets"}
	for _, sys := range who {
		for i := range fabrics {
			fabrics[i].throughput(out, sys, got[i][sys.name], words[i])
		}
		h := out.At(fabrics[0].e.figures[fabrics[0].net.name], fabrics[0].at()+", "+sys.name, "by seed")
		h.Row("throughput on packets above flow level", "%", 0,
			got[1][sys.name].Against(got[0][sys.name], perJobRate, Above))
	}
	for _, sys := range who[1:] {
		for i := range fabrics {
			fabrics[i].improvement(out, sys, fabrics[i].at()+", "+sys.name+words[i], got[i])
		}
	}
}

// throughputPictures draws each network at 100 MB/s over its hosts, a line for each system on each fabric.
func throughputPictures(places []stand, who []system, got []Systems) []plot.Chart {
	var out []plot.Chart
	for _, n := range networks() {
		e := &places[0].e
		p := plot.Chart{Name: "crosslayer-" + e.name + "-" + n.name,
			Title: e.figures[n.name] + ": " + e.name + ", " + n.name,
			X:     "hosts", Y: "throughput, MB/s"}
		for _, on := range []string{OnFlowsim, OnNetns} {
			for _, sys := range who {
				l := plot.Line{Name: systemOn{sys, on}.String()}
				for i, s := range places {
					if s.net.name == n.name && s.rate == "800Mbps" && s.on == on {
						point(&l, float64(s.hosts), got[i][sys.name].Of(perJobRate), 1)
					}
				}
				if len(l.X) > 0 {
					p.Lines = append(p.Lines, l)
				}
			}
		}
		out = append(out, p)
	}
	return out
}

// pathsOn is how many paths between two racks are known: the document's number, or on packets as many
// as tags can name.
func pathsOn(b *Bench) int { return cmp.Or(map[string]int{OnNetns: tagPaths}[b.On], kPaths) }
