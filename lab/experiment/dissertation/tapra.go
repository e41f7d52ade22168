package dissertation

import (
	"context"
	"fmt"

	"lightloom/controller/certified/online"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/numbers"
)

func offlineTaPRA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: []string{
		"loads in (0, 3600] s, 0 to 10 vCPUs a server, efficiencies from 0.1 to 1, 0.3 of a rack, 0.2 of a pod and of all",
		"energy from 1 to 1.1 times the load, drawn again while the best servers take more",
		"MM-GA and GSA: 40 placements a generation, 2 % mutations, resources by OptRA and REC on every placement, and the " +
			"processor time of TaPRA",
		"no network is part of this chapter: an infinite one changes nothing", "times are processor time",
	}}
	type setting struct{ pods, tasks int }
	settings := []setting{{8, 40}, {8, 80}, {8, 120}, {8, 160}, {8, 200}, {6, 100}, {8, 100}, {10, 100}, {12, 100}}
	if b.Quick { // the two that have rows, and what pictures need
		settings = []setting{{6, 10}, {6, 10}, {6, 10}, {6, 10}, {8, 200}, {6, 10}, {6, 10}, {6, 10}, {12, 100}}
	}
	name := func(s setting) string { return fmt.Sprintf("%d tasks in %d pods", s.tasks, s.pods) }
	runs, err := experiment.Grid(ctx, b, settings, name,
		func(_ context.Context, s setting, seed uint64) (numbers.Figures, error) {
			return numbers.Placing(seed, s.pods, s.tasks)
		})
	if err != nil {
		return nil, err
	}
	for _, c := range []struct {
		figure, setting string
		at              int
		paper           map[string]float64
		minMin, fast    float64 // times TaPRA's running time, and TaPRA's over TaPRA-fast's
	}{
		{"Figure 3.4", "200 tasks, 128 servers", 4, map[string]float64{numbers.MinMin: 2, numbers.MMGA: 1.5,
			numbers.GSA: 1.3}, 0, 0},
		{"Figure 3.5", "100 tasks, 432 servers", 8, map[string]float64{numbers.MinMin: 5.3, numbers.MMGA: 3.6,
			numbers.GSA: 1.8}, 142, 2.2},
	} {
		r := runs[c.at]
		for _, name := range []string{numbers.MinMin, numbers.MMGA, numbers.GSA} {
			out.Rows = append(out.Rows, times(c.figure, c.setting, "JCT", name, numbers.TaPRA, c.paper[name], r, b.First))
		}
		out.Rows = append(out.Rows, alike(c.figure, c.setting, "JCT", numbers.Fast, numbers.TaPRA, r, b.First),
			times(c.figure, c.setting, "running time", "ms "+numbers.MinMin, "ms "+numbers.TaPRA, c.minMin, r, b.First),
			times(c.figure, c.setting, "running time", "ms "+numbers.TaPRA, "ms "+numbers.Fast, c.fast, r, b.First))
		for _, name := range []string{numbers.MinMin, numbers.MMGA, numbers.GSA} {
			out.Rows = append(out.Rows, first(c.figure, c.setting, "the JCT", name, numbers.TaPRA, r, b.First))
		}
		for _, name := range []string{numbers.MinMin, numbers.MMGA, numbers.GSA} {
			paper := 0.0
			if c.at == 8 {
				paper = map[string]float64{numbers.MinMin: 1 / 1.4, numbers.MMGA: 1 / 1.4, numbers.GSA: 1 / 1.15}[name]
			}
			out.Rows = append(out.Rows, times(c.figure, c.setting, "vCPUs", "vCPUs "+name, "vCPUs "+numbers.TaPRA, paper, r,
				b.First))
		}
		out.Rows = append(out.Rows, own(c.figure, c.setting, "proven gap of TaPRA", "%", of(r, "gap"), b.First,
			"every certificate was verified"))
		for _, name := range numbers.Placers() {
			out.Rows = append(out.Rows, own(c.figure, c.setting, "running time of "+name, "ms", of(r, "ms "+name), b.First,
				""))
		}
		out.Rows = append(out.Rows, own(c.figure, c.setting, "energy limits drawn again", "times", of(r, "redrawn"), b.First,
			""))
	}
	out.Rows = append(out.Rows, rises("Figure 3.4", "40 to 200 tasks, 128 servers", "TaPRA's JCT",
		of(runs[0], numbers.TaPRA), of(runs[4], numbers.TaPRA), false, b.First),
		rises("Figure 3.5", "54 to 432 servers, 100 tasks", "TaPRA's vCPUs over those of Min-Min",
			over(runs[5], "vCPUs "+numbers.TaPRA, "vCPUs "+numbers.MinMin),
			over(runs[8], "vCPUs "+numbers.TaPRA, "vCPUs "+numbers.MinMin), false, b.First))
	out.Pictures = append(out.Pictures,
		picture("tapra-3-4", "Figure 3.4: JCT, 128 servers", "tasks", "s", []float64{40, 80, 120, 160, 200},
			numbers.Placers(), runs[:5]),
		picture("tapra-3-5", "Figure 3.5: JCT, 100 tasks", "servers", "s", []float64{54, 128, 250, 432}, numbers.Placers(),
			runs[5:]))
	return out, nil
}

func onlineTaPRA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	out := &experiment.Result{Assumptions: []string{
		"scheduling every 5 s, Max_Percent 0.1; Weibull(0.5, 0.8) tasks, at least 1 (raw), and times 12.5, at most 70 " +
			"(scaled); MM-GA and GSA try 60 placements a job",
		"no network is part of this chapter: an infinite one changes nothing", "times are processor time",
	}}
	var settings []numbers.Arriving
	for _, scaled := range []bool{false, true} {
		for _, drc := range []bool{true, false} {
			for _, order := range []online.Order{online.SJF, online.FCFS, online.SLF, online.LLF} {
				for _, by := range numbers.Placers() {
					if order == online.SJF && by != numbers.TaPRA && by != numbers.Fast {
						continue // the running time of the others is too large for it in the document too
					}
					settings = append(settings, numbers.Arriving{Order: order, By: by, DRC: drc, Scaled: scaled})
				}
			}
		}
	}
	until := 3600.0
	if b.Quick {
		until = 60
	}
	grid, err := experiment.Grid(ctx, b, settings, numbers.Arriving.String,
		func(_ context.Context, a numbers.Arriving, seed uint64) (numbers.Figures, error) {
			return a.Run(seed, until)
		})
	if err != nil {
		return nil, err
	}
	for _, scaled := range []bool{false, true} {
		runs := make([]numbers.Figures, len(grid[0]))
		for k := range runs {
			runs[k] = numbers.Figures{}
		}
		for i, a := range settings {
			if a.Scaled != scaled {
				continue
			}
			a.Scaled = false
			for k := range grid[i] {
				f, s := grid[i][k], a.String()
				runs[k][s], runs[k]["ms "+s], runs[k]["gap "+s] = f["JCT"], f["ms"], f["gap"]
			}
		}
		name := "raw task numbers"
		if scaled {
			name = "scaled task numbers"
		}
		out.Rows = append(out.Rows, onlineRows(name, runs, b.First)...)
	}
	return out, nil
}

// onlineRows are the claims of section 3.6.2.4.
func onlineRows(setting string, runs []numbers.Figures, seed uint64) (out []experiment.Row) {
	row := func(figure, theirs, ours string, paper float64) {
		out = append(out, times(figure, setting, "mean JCT", theirs, ours, paper, runs, seed))
	}
	best := "OnTaPRA with TaPRA"
	row("Figure 3.6a", "SLF with TaPRA", best, 1.6)
	row("Figure 3.6a", "FCFS with TaPRA", best, 1.6)
	row("Figure 3.6a", "LLF with TaPRA", best, 2.7)
	row("Figure 3.6a", "SLF with MM-GA", best, 2.9) // 100 to 280 % over all
	row("Figure 3.6a", "FCFS with GSA", best, 2.9)
	row("Figure 3.6a", "SLF with MM-GA", "SLF with TaPRA", 1.8)
	row("Figure 3.6a", "SLF with GSA", "SLF with TaPRA", 2.4)
	for _, order := range []string{"SLF", "FCFS", "LLF"} { // the document leaves Min-Min out, MM-GA being no worse
		row("Figure 3.6a", order+" with Min-Min", order+" with TaPRA", 0)
	}
	out = append(out, experiment.Row{Figure: "Figure 3.6a", Setting: setting, Unit: "times", Paper: experiment.Number(1),
		Metric: "mean JCT of LLF with MM-GA ÷ LLF with TaPRA"}.Measure(over(runs, "LLF with MM-GA", "LLF with TaPRA"), seed).
		JudgeAtMost(nil, "TaPRA is not worse here under LLF"))
	row("Figure 3.6a", "OnTaPRA with TaPRA-fast", best, 1.05)
	for _, theirs := range []string{"SLF", "FCFS", "LLF"} {
		out = append(out, first("Figure 3.6a", setting, "the mean JCT", theirs+" with TaPRA", best, runs, seed),
			first("Figure 3.6b", setting, "the mean JCT", theirs+" with TaPRA, NDRC", best+", NDRC", runs, seed))
	}
	row("Figure 3.6b", "SLF with TaPRA, NDRC", best+", NDRC", 1.05)
	row("Figure 3.6b", "FCFS with TaPRA, NDRC", best+", NDRC", 1.8)
	row("Figure 3.6b", "LLF with TaPRA, NDRC", best+", NDRC", 3.34)
	for _, o := range []struct {
		order string
		paper float64
	}{{"OnTaPRA", 1.7}, {"SLF", 1.15}, {"FCFS", 2.1}, {"LLF", 2.2}} {
		row("Figure 3.6", o.order+" with TaPRA, NDRC", o.order+" with TaPRA", o.paper)
	}
	return append(out, times("Figure 3.7", setting, "running time", "ms "+best, "ms OnTaPRA with TaPRA-fast", 10, runs,
		seed), own("Figure 3.6a", setting, "proven gap of TaPRA's decisions", "%", of(runs, "gap "+best), seed, ""))
}
