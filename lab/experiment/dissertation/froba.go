package dissertation

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/numbers"
)

func median(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	if len(v) == 0 {
		return 0
	}
	return v[(len(v)-1)/2]
}

func offlineFRoBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: []string{
		"networks and noise as for corba; ECMP and WCMP have the rates of OptBA-TTT", "times are processor time",
	}}
	settings := []routing{{14, 10, false}, {14, 30, false}, {14, 60, false}, {14, 80, false}, {6, 50, false},
		{10, 50, false}, {14, 50, false}, {18, 50, false}, {14, 80, true}, {18, 50, true}}
	if b.Quick { // those that have rows, and smaller ones for pictures
		small := routing{6, 10, false}
		settings[1], settings[2], settings[5], settings[6] = small, small, small, small
		settings[7].k, settings[9].k = 14, 14
	}
	all := numbers.FlowRouters()
	runs, err := experiment.Grid(ctx, b, settings, routing.String,
		func(_ context.Context, s routing, seed uint64) (numbers.Figures, error) {
			return numbers.Routed(seed, s.k, s.flows, s.onHosts, all, (*certified.Plan).VerifyTotal)
		})
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		figure, setting string
		at              int
		paper           map[string]float64
	}{
		{"Figure 5.1", "80 flows, 1,617 nodes", 3, map[string]float64{"ECMP": 2.2, "WCMP": 2.2, "FRoBA-fast": 1.15}},
		{"Figure 5.1", "80 flows, 1,617 nodes, noise on host links too", 8, map[string]float64{"ECMP": 2.2, "WCMP": 2.2,
			"FRoBA-fast": 1.15}},
		{"Figure 5.2", "50 flows, 153 nodes", 4, map[string]float64{"ECMP": 2.5, "WCMP": 2.5, "FRoBA-fast": 1.12}},
		{"Figure 5.2", "50 flows, the largest network", 7, map[string]float64{"ECMP": 2.5, "WCMP": 2.5, "FRoBA-fast": 1.12}},
		{"Figure 5.2", "50 flows, the largest network, noise on host links too", 9, map[string]float64{"ECMP": 2.5,
			"WCMP": 2.5, "FRoBA-fast": 1.12}},
	} {
		r := runs[c.at]
		for _, name := range []string{"ECMP", "WCMP", "FRoBA-fast"} {
			out.Rows = append(out.Rows, times(c.figure, c.setting, "TTT", name, "FRoBA", c.paper[name], r, b.First))
		}
		out.Rows = append(out.Rows, first(c.figure, c.setting, "the TTT", "WCMP", "FRoBA", r, b.First),
			first(c.figure, c.setting, "the TTT", "ECMP", "FRoBA", r, b.First),
			times(c.figure, c.setting, "running time", "ms FRoBA", "ms FRoBA-fast", map[int]float64{3: 4.9}[c.at], r, b.First),
			times(c.figure, c.setting, "TTT", "FRoBA", "ours", 0, r, b.First),
			times(c.figure, c.setting, "bandwidth", "Gb/s FRoBA", "Gb/s ECMP",
				cmp.Or(map[int]float64{3: 1.85, 8: 1.85}[c.at], 1.6), r, b.First),
			own(c.figure, c.setting, "proven gap of FRoBA", "%", of(r, "gap FRoBA"), b.First, ""),
			own(c.figure, c.setting, "proven gap of ours", "%", of(r, "gap ours"), b.First, ""))
	}
	for _, g := range []struct {
		name  string
		paper float64
	}{{"FRoBA", 200}, {"FRoBA-fast", 200}, {"ECMP", 400}, {"WCMP", 400}} {
		v := of(runs[3], g.name)
		for i := range v {
			v[i] = (v[i] - runs[0][i][g.name]) / 70
		}
		out.Rows = append(out.Rows, experiment.Row{Figure: "Figure 5.1", Setting: "10 to 80 flows", Unit: "s a flow",
			Metric: "growth of the TTT of " + g.name, Paper: experiment.Number(g.paper)}.Measure(v, b.First).Judge(0, ""))
	}
	for _, name := range []string{"ECMP", "WCMP"} {
		out.Rows = append(out.Rows, rises("Figure 5.1", "10 to 80 flows", "the TTT of "+name+" over FRoBA's",
			over(runs[0], name, "FRoBA"), over(runs[3], name, "FRoBA"), false, b.First))
	}
	for _, name := range numbers.Names(all) {
		out.Rows = append(out.Rows, own("Figure 5.1d", "80 flows, 1,617 nodes", "running time of "+name, "ms",
			of(runs[3], "ms "+name), b.First, ""))
	}
	out.Pictures = append(out.Pictures,
		picture("froba-5-1", "Figure 5.1: TTT, 1,617 nodes", "flows", "s", []float64{10, 30, 60, 80}, numbers.Names(all),
			runs[:4]),
		picture("froba-5-2", "Figure 5.2: TTT, 50 flows", "k", "s", []float64{6, 10, 14, float64(settings[7].k)},
			numbers.Names(all), runs[4:8]))
	return out, nil
}

func onlineFRoBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: []string{
		"k = 10, scheduling every 10 s, 4 noise flows a second on fabric links, cut to what is free when they begin; a " +
			"path needs more than 1 % of a link to be valid; a local search tries 60 routings",
		"FCFS schedules at arrivals and ends, each flow alone", "times are processor time",
	}}
	var settings []numbers.Flowing
	for _, preempt := range []bool{false, true} {
		for _, drb := range []bool{true, false} {
			for _, sel := range []online.Selection{online.VFF, online.SFF, online.SVF, online.InTurn} {
				for _, by := range []string{"FRoBA", "FRoBA-fast", "ECMP", "WCMP"} {
					if sel == online.InTurn && by != "ECMP" && by != "WCMP" {
						continue // the document has FCFS with these two alone
					}
					settings = append(settings, numbers.Flowing{Select: sel, By: by, DRB: drb, Preempt: preempt})
				}
			}
		}
	}
	for _, preempt := range []bool{false, true} { // the other noise model, where sections claim most
		on := numbers.Flowing{Select: online.SVF, DRB: true, Preempt: preempt, OnHosts: true}
		for _, on.By = range []string{"FRoBA", "ECMP", "WCMP"} {
			settings = append(settings, on)
		}
		on.Select = online.InTurn
		settings = append(settings, on)
	}
	until := 1200.0
	if b.Quick {
		until = 40
	}
	grid, err := experiment.Grid(ctx, b, settings, numbers.Flowing.String,
		func(_ context.Context, s numbers.Flowing, seed uint64) (numbers.Figures, error) {
			return s.Run(seed, until)
		})
	if err != nil {
		return nil, err
	}
	runs := make([]numbers.Figures, len(grid[0]))
	for k := range runs {
		runs[k] = numbers.Figures{}
		for i, s := range settings {
			for what, v := range grid[i][k] {
				runs[k][what+" "+s.String()] = v
			}
		}
	}
	out.Rows = append(out.Rows, onlineFlowRows(runs, b.First)...)
	return out, nil
}

// onlineFlowRows are the claims of sections 5.6.2.4 and 5.6.2.5.
func onlineFlowRows(runs []numbers.Figures, seed uint64) (out []experiment.Row) {
	row := func(figure, setting, theirs, ours string, paper float64) {
		out = append(out, times(figure, setting, "mean FCT", "FCT "+theirs, "FCT "+ours, paper, runs, seed))
	}
	kept, dropped := "online, not preemptive", "online, preemptive"
	for _, sel := range []string{"VFF", "SFF", "SLF"} {
		for _, by := range []string{"ECMP", "WCMP"} {
			row("Figure 5.3a", kept, sel+" with "+by, sel+" with FRoBA", 1.2)
			row("Figure 5.3b", kept, sel+" with "+by+", no DRB", sel+" with FRoBA, no DRB", 1.8)
			row("Figure 5.6a", dropped, sel+" with "+by+", preemptive", sel+" with FRoBA, preemptive", 1.85)
			row("Figure 5.6b", dropped, sel+" with "+by+", no DRB, preemptive", sel+" with FRoBA, no DRB, preemptive", 1.8)
		}
		row("Figure 5.3a", kept, sel+" with FRoBA-fast", sel+" with FRoBA", 1.05)
	}
	row("Figure 5.3a", kept, "FCFS with WCMP", "SLF with FRoBA", 1.25)
	row("Figure 5.6a", dropped, "FCFS with WCMP, preemptive", "SLF with FRoBA, preemptive", 1.65)
	row("Figure 5.3", kept, "SLF with FRoBA, no DRB", "SLF with FRoBA", 1.4)
	row("Figure 5.3", kept, "SLF with ECMP, no DRB", "SLF with ECMP", 1.6)
	row("Figure 5.6", dropped, "SLF with FRoBA, no DRB, preemptive", "SLF with FRoBA, preemptive", 1.1)
	row("Figure 5.6", dropped, "SLF with ECMP, no DRB, preemptive", "SLF with ECMP, preemptive", 1.2)
	for _, sel := range []string{"SFF", "SLF"} {
		out = append(out, alike("Figure 5.3a", kept, "mean FCT", "FCT "+sel+" with FRoBA", "FCT VFF with FRoBA", runs, seed),
			alike("Figure 5.6a", dropped, "mean FCT", "FCT "+sel+" with FRoBA, preemptive",
				"FCT VFF with FRoBA, preemptive", runs, seed))
	}
	for _, by := range []string{"ECMP", "WCMP"} {
		out = append(out, first("Figure 5.3a", kept, "the mean FCT", "FCT SLF with "+by, "FCT SLF with FRoBA", runs, seed),
			first("Figure 5.6a", dropped, "the mean FCT", "FCT SLF with "+by+", preemptive",
				"FCT SLF with FRoBA, preemptive", runs, seed))
	}
	for _, by := range []string{"ECMP", "WCMP"} { // FCFS has the smallest waiting time when flows are preemptive
		out = append(out, waits(dropped, by+", preemptive", ", preemptive", runs, seed))
	}
	const hosts = ", noise on host links too"
	for _, x := range []struct {
		figure, setting, how string
		paper                float64
	}{{"Figure 5.3a", kept, "", 1.2}, {"Figure 5.6a", dropped, ", preemptive", 1.85}} {
		for _, by := range []string{"ECMP", "WCMP"} {
			row(x.figure, x.setting+hosts, "SLF with "+by+x.how+hosts, "SLF with FRoBA"+x.how+hosts, x.paper)
		}
		for _, noise := range []string{"", hosts} {
			out = append(out, own(x.figure, x.setting+noise, "proven gap of FRoBA's decisions under SLF", "%",
				of(runs, "gap SLF with FRoBA"+x.how+noise), seed, ""))
		}
	}
	return append(out, waits(dropped+hosts, "WCMP, preemptive"+hosts, ", preemptive"+hosts, runs, seed),
		times("Figure 5.5", kept, "running time", "ms SLF with FRoBA", "ms SLF with FRoBA-fast", 8.5, runs, seed),
		times("Figure 5.8", dropped, "running time", "ms SLF with FRoBA, preemptive",
			"ms SLF with FRoBA-fast, preemptive", 8.5, runs, seed))
}

// waits is a row of how much longer flows wait under FCFS than under SLF with FRoBA.
func waits(setting, by, how string, runs []numbers.Figures, seed uint64) experiment.Row {
	v := make([]float64, len(runs))
	for i, r := range runs {
		v[i] = r["FWT FCFS with "+by] - r["FWT SLF with FRoBA"+how]
	}
	name, _, _ := strings.Cut(by, ",")
	return experiment.Row{Figure: "Figure 5.7", Setting: setting, Metric: "mean waiting time of FCFS with " + name +
		" less that of SLF with FRoBA", Unit: "s", Paper: experiment.Number(0)}.Measure(v, seed).
		JudgeAtMost(nil, "FCFS waits longer here")
}
