package experiment

import (
	"context"
	"slices"

	"lightloom/lab/experiment/control"
	"lightloom/lab/replay"
	"lightloom/lab/report"
)

// runCompletion is Figures 12 and 13: improvements of job completion times, job by job, over random placement and
// paths.
func runCompletion(ctx context.Context, b *Bench) (*Result, error) {
	type at struct {
		e    engine
		net  string
		spec string
		sys  system
	}
	fabrics := []struct{ name, spec string }{
		{"Fat-tree", "fattree:k=16,hosts=1000,rate=800Mbps,slots=4,paths=10"},
		{"Jellyfish", "jellyfish:switches=200,degree=10,hosts=1000,rate=800Mbps,slots=4,paths=10"}}
	jobs := map[string]int{"Storm": 60, "Hadoop": 120}
	var settings []at
	for _, e := range []engine{hadoop(), storm()} {
		for _, f := range fabrics {
			for _, s := range []system{systems()[0], systems()[3], systems()[4]} {
				settings = append(settings, at{e, f.name, f.spec, s})
			}
		}
	}
	got, err := Grid(ctx, b, settings, func(s at) string {
		return s.e.name + " on " + s.net + ", " + s.sys.name
	}, func(ctx context.Context, s at, seed uint64) (*gauge, error) {
		n := jobs[s.e.name]
		if b.Quick {
			n = 5
		}
		drawn, err := crowded(s.e).draw(b, n, seed)
		if err != nil {
			return nil, err
		}
		c := replay.Case{On: OnFlowsim, Fabric: s.spec, Policy: s.sys.policy, Jobs: drawn, Seed: seed}
		ran, err := control.Of(ctx, &c)
		if err != nil {
			return nil, err
		}
		g := &gauge{}
		g.Bound, _ = ran.Bound()
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
		"Hadoop, Fat-tree": {34, 38, 27, 20}, "Hadoop, Jellyfish": {34, 38, 18, 20}, "Storm, Fat-tree": {34, 41, 24, 30},
		"Storm, Jellyfish": {34, 41, 16, 30}}
	for i := range settings {
		s, random := settings[i], got[i/3*3]
		if s.sys.name == "random" {
			continue
		}
		figure := map[string]string{"Hadoop": "Figure 12", "Storm": "Figure 13"}[s.e.name]
		name := s.e.name + ", " + s.net
		q := paper[name]
		name += ", " + s.sys.name
		var p50, p75, worse, worst, all []float64
		for k := range got[i] {
			v := gains(got[i][k].JCT, random[k].JCT)
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
		const why = "arrivals, slots and the seed of the network are not published"
		row := func(metric string, theirs float64, v []float64) Row {
			r := Row{Figure: figure, Setting: name, Metric: metric, Unit: "%"}
			if s.sys.name == asPrinted {
				r.Paper = Number(theirs)
			}
			return r.Measure(v, b.First).Judge(0, why)
		}
		slower := row("jobs made worse", q[2], worse)
		most := row("worst job slower by", q[3], worst)
		if most.Paper != nil {
			most = most.JudgeAtMost(&slower, why)
		}
		out.Rows = append(out.Rows, row("improvement, median job", q[0], p50), row("improvement, 75th percentile", q[1], p75),
			slower, most, gaugeBound(name, got[i], b.First))
		slices.Sort(all)
		l := Line{Name: name, StepFunction: true}
		for k, x := range all {
			l.X, l.Y = append(l.X, max(x, -100)), append(l.Y, float64(k+1)/float64(len(all)))
		}
		out.Pictures = append(out.Pictures, Picture{
			Name:  "crosslayer-completion-" + s.e.name + "-" + s.net + "-" + s.sys.policy,
			Title: figure + ": " + name, X: "improvement of a job, %", Y: "share of jobs", Lines: []Line{l}})
	}
	out.Notes = []string{HolmNote(out.Rows)}
	return out, nil
}

// crowded is an engine with arrivals that keep a thousand hosts busy.
func crowded(e engine) *engine {
	e.text = map[string]string{"Storm": "storm:rate=100/min",
		"Hadoop": "hadoop:rate=10/s,maps=20,reduces=10,bytes=100B-10GB"}[e.name]
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

// gaugeBound is the infinite-network control of jobs that do little but send.
func gaugeBound(setting string, got []*gauge, seed uint64) Row {
	var v []float64
	for _, g := range got {
		v = append(v, g.Bound)
	}
	return Row{Figure: "infinite network", Setting: setting, Metric: "mean JCT smaller by, at most", Unit: "%"}.
		Measure(v, seed).Judge(0, SameOrder)
}
