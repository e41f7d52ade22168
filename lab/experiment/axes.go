package experiment

import (
	"context"
	"fmt"

	"lightloom/lab/report"
)

// The experiment crosslayer-axes changes one thing that the cross-layer document does not give at a time: one of these
// may be why its gains rise with hosts where ours fall.

// axis is one change; an engine that it has no text for does not know it.
type axis struct {
	name   string
	slots  int
	of     string // the engine's name; "": both
	change string // of the engine's text
}

func axes() []axis {
	return []axis{
		{"as the figures", slotsEach, "", ""},
		{"1 slot a server, so that no tasks share one", 1, "", ""},
		{"2 slots a server", 2, "", ""},
		{"12 slots a server, so that a job can share one", 12, "", ""},
		{"streams of ten times the bytes", slotsEach, "Storm", ",bytes=10MB-1GB"},
		{"tuples that go to one child", slotsEach, "Storm", ",forward=split"},
		{"two rounds of map and reduce in a job", slotsEach, "Hadoop", ",rounds=2"},
		{"12 maps and 12 reduces", slotsEach, "Hadoop", ",maps=12,reduces=12"},
	}
}

// jobTasks is how many tasks a job of an engine has at once, at most.
func (a *axis) jobTasks(e *engine) int {
	switch {
	case a.change == ",maps=12,reduces=12":
		return 24
	case a.of == "Hadoop":
		return 16
	case e.name == "Hadoop":
		return 8
	}
	return 12
}

func runAxes(ctx context.Context, b *Bench) (*Result, error) {
	type at struct {
		point
		axis
		e engine
	}
	who := []system{systems()[0], systems()[3], systems()[4]} // random, both, and that as printed
	var settings []at
	for _, e := range []engine{storm(), hadoop()} {
		for _, a := range axes() {
			if a.of != "" && a.of != e.name {
				continue
			}
			own := e
			own.text += a.change
			for ni, n := range networks() {
				for _, hosts := range []int{10, 30} {
					if hosts*a.slots < a.jobTasks(&e) {
						continue // a job does not fit
					}
					for _, s := range who {
						settings = append(settings, at{point{n, ni, hosts, "800Mbps", s, OnFlowsim, a.slots}, a, own})
					}
				}
			}
		}
	}
	name := func(s at) string { return s.e.name + ", " + s.axis.name + ", " + s.point.String() }
	got, err := Grid(ctx, b, settings, name,
		func(ctx context.Context, s at, seed uint64) (*gauge, error) {
			n := s.e.jobs
			if b.Quick {
				n = 10
			}
			return runPoint(ctx, b, s.e, s.point, n, seed)
		})
	if err != nil {
		return nil, err
	}
	out := &Result{Assumptions: append(assumedCrosslayer(b), "one thing is changed at a time, at 100 MB/s")}
	for i := 0; i < len(settings); i += len(who) {
		for k := 1; k < len(who); k++ {
			s := settings[i+k]
			r := Row{Figure: s.e.figures[s.net2], Metric: "improvement over random", Unit: "%",
				Setting: fmt.Sprintf("%s, %d hosts, %s: %s", s.net.name, s.hosts, s.axis.name, s.sys.name)}
			if v, ok := s.e.paper[fmt.Sprintf("%s, %d hosts, %s", s.net.name, s.hosts, s.sys.compared)]; ok {
				r.Paper = Number(v)
			}
			r = r.Measure(Improvement(column2(got[i+k]), column2(got[i])), b.First)
			jct := Row{Figure: r.Figure, Setting: r.Setting, Unit: "%",
				Metric: "mean JCT of all jobs above random's, those within one server included"}
			out.Rows = append(out.Rows, r.Judge(0, whyImprovement+asked(r)),
				jct.Measure(Improvement(meanJCT(got[i+k]), meanJCT(got[i])), b.First).Judge(0, ""))
		}
	}
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

func meanJCT(g []*gauge) []float64 {
	out := make([]float64, len(g))
	for i := range g {
		out[i] = report.Mean(g[i].JCT)
	}
	return out
}
