package dissertation

import (
	"context"
	"fmt"
	"strings"

	"lightloom/controller/certified/online"

	"lightloom/lab/experiment"
	"lightloom/lab/report/plot"
)

// placing is a setting of Figures 3.4 and 3.5. The genetic baselines also run for that many times the processor time
// of TaPRA; 0: they do not.
type placing struct {
	pods, tasks int
	mmga, gsa   float64
}

// The document's running times give these budgets: at 100 tasks, 4,500 and 180 s beside 6 on 128 servers, and 4,800 and
// 1,000 s beside 33 on 432 (section 3.6.1.4).
const (
	mmga128, gsa128 = 750, 30
	mmga432, gsa432 = 145, 30
)

func (p placing) String() string { return fmt.Sprintf("%d tasks in %d pods", p.tasks, p.pods) }

func offlineTaPRA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	most, largest := placing{8, 200, mmga128, gsa128}, placing{12, 100, mmga432, gsa432}
	overTasks := []placing{{8, 40, 0, 0}, {8, 80, 0, 0}, {8, 120, 0, 0}, {8, 160, 0, 0}, most}
	overServers := []placing{{6, 100, 0, 0}, {8, 100, 0, 0}, {10, 100, 0, 0}, largest}
	if b.Quick { // the two that have rows, and what pictures need
		few := placing{pods: 6, tasks: 10}
		most.mmga, most.gsa, largest.mmga, largest.gsa = 2, 2, 2, 2
		overTasks, overServers = []placing{few, few, few, few, most}, []placing{few, few, few, largest}
	}
	runs, err := bySetting(ctx, b, append(overTasks, overServers...), placing.run)
	if err != nil {
		return nil, err
	}

	out := b.Result(
		"loads in (0, 3600] s, 0 to 10 vCPUs a server, efficiencies from 0.1 to 1; 0.3 of a rack's vCPUs, 0.2 of a pod's "+
			"and of all may be taken, and a server has no limit of its own",
		"baselines share equally what a limit allows (static resources, section 3.2); with OptRA by equation 3.17, as TaPRA",
		"energy from 1 to 1.1 times the load, drawn again while the best servers take more",
		"MM-GA and GSA: 40 placements a generation, 2 % mutations, REC on every placement; the processor time of TaPRA, and "+
			"the document's where they are called long: 750 and 30 times TaPRA's on 128 servers, 145 and 30 times on 432",
		"no network is part of this chapter: an infinite one changes nothing", "times are processor time",
	)
	in := func(number, setting string, p placing) figure {
		return figure{out.At("Figure "+number, setting, ""), runs[p]}
	}
	type times map[string]float64
	in("3.4", "200 tasks, 128 servers", most).placements(times{MinMin: 2, MMGA: 1.5,
		GSA: 1.3}, nil, 0, 0)
	in("3.5", "100 tasks, 432 servers", largest).placements(times{MinMin: 5.3, MMGA: 3.6,
		GSA: 1.8}, times{MinMin: 1 / 1.4, MMGA: 1 / 1.4, GSA: 1 / 1.15}, 142, 2.2)
	vCPUs := func(p placing) []float64 {
		return compare(runs[p], "vCPUs "+TaPRA, "vCPUs "+MinMin, experiment.Ratio)
	}
	in("3.4", "40 to 200 tasks, 128 servers", most).grows("TaPRA's JCT", false,
		runs[overTasks[0]].Of(TaPRA), runs[most].Of(TaPRA))
	in("3.5", "54 to 432 servers, 100 tasks", most).grows("TaPRA's vCPUs over those of Min-Min", false,
		vCPUs(overServers[0]), vCPUs(largest))
	out.Pictures = []plot.Chart{
		picture("tapra-3-4", "Figure 3.4: JCT, 128 servers", "tasks", []float64{40, 80, 120, 160, 200},
			documented(),
			overTasks, runs),
		picture("tapra-3-5", "Figure 3.5: JCT, 100 tasks", "servers", []float64{54, 128, 250, 432},
			documented(),
			overServers, runs),
	}
	return out, nil
}

// placements are the rows of one setting, with how many times TaPRA's the document's JCTs and vCPUs are, Min-Min's
// running time, and TaPRA's over that of TaPRA-fast. The document's figures are of baselines with static resources, and
// of genetic ones with its budget.
func (f figure) placements(jct, vCPUs map[string]float64, minMin, fast float64) {
	judged := []string{MinMin, MMGA + long, GSA + long}
	paper := func(of map[string]float64, name string) float64 {
		return of[strings.TrimSuffix(name, long)]
	}
	for _, name := range judged {
		f.above("JCT", name, TaPRA, paper(jct, name))
	}
	for _, name := range []string{MMGA, GSA, MinMin + shared, MMGA + shared, GSA + shared} {
		f.above("JCT", name, TaPRA, 0)
	}
	f.alike("JCT", Fast, TaPRA)
	f.above("running time", "ms "+MinMin, "ms "+TaPRA, minMin)
	f.above("running time", "ms "+TaPRA, "ms "+Fast, fast)
	for _, name := range judged {
		f.first("JCT", name, TaPRA)
	}
	for _, name := range judged {
		f.above("vCPUs", "vCPUs "+name, "vCPUs "+TaPRA, paper(vCPUs, name))
	}
	f.Because("every certificate was verified").Row("proven gap of TaPRA", "%", 0, f.runs.Of("gap"))
	for _, name := range placerNames() {
		f.own("running time of "+name, "ms", "ms "+name)
	}
	f.own("energy limits drawn again", "times", "redrawn")
}

// arrivings are the settings of section 3.6.2.4.
func arrivings() (all []arriving) {
	for _, drc := range []bool{true, false} {
		for _, order := range []online.Order{online.SJF, online.FCFS, online.SLF, online.LLF} {
			for _, by := range documented() {
				if order == online.SJF && by != TaPRA && by != Fast {
					continue // the running time of the others is too large for it in the document too
				}
				all = append(all, arriving{Order: order, By: by, DRC: drc})
			}
		}
	}
	return all
}

func onlineTaPRA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	until := 3600.0
	if b.Quick {
		until = 60
	}
	const raw, scaled = "raw task numbers", "scaled task numbers"
	run := func(tasks string, _ context.Context, _ *experiment.Bench, a arriving, seed uint64) (experiment.Figures,
		error) {
		a.Scaled = tasks == scaled
		return a.Run(seed, until)
	}
	out := b.Result(
		"scheduling every 5 s, Max_Percent 0.1; Weibull(0.5, 0.8) tasks, at least 1 (raw), and times 12.5, at most 70 "+
			"(scaled); MM-GA and GSA try 60 placements a job",
		"no network is part of this chapter: an infinite one changes nothing", "times are processor time",
	)
	return experiment.Fill(ctx, b, out, []string{raw, scaled}, arrivings(), run, onlineRows)
}

// onlineRows are the claims of section 3.6.2.4.
func onlineRows(setting string, out *experiment.Result, at experiment.Systems) {
	runs := joined(at)
	in := func(number string) figure {
		return figure{out.At("Figure "+number, setting, ""), runs}
	}
	row := func(number, theirs, ours string, paper float64) {
		in(number).above("mean JCT", "JCT "+theirs, "JCT "+ours, paper)
	}
	best := "OnTaPRA with TaPRA"
	row("3.6a", "SLF with TaPRA", best, 1.6)
	row("3.6a", "FCFS with TaPRA", best, 1.6)
	row("3.6a", "LLF with TaPRA", best, 2.7)
	row("3.6a", "SLF with MM-GA", best, 2.9) // 100 to 280 % over all
	row("3.6a", "FCFS with GSA", best, 2.9)
	row("3.6a", "SLF with MM-GA", "SLF with TaPRA", 1.8)
	row("3.6a", "SLF with GSA", "SLF with TaPRA", 2.4)
	for _, order := range []string{"SLF", "FCFS", "LLF"} { // the document leaves Min-Min out, MM-GA being no worse
		row("3.6a", order+" with Min-Min", order+" with TaPRA", 0)
	}
	a, b := in("3.6a"), in("3.6b")
	a.Because("TaPRA is not worse here under LLF").AtMost("mean JCT of LLF with MM-GA ÷ LLF with TaPRA", "times", 1,
		compare(runs, "JCT LLF with MM-GA", "JCT LLF with TaPRA", experiment.Ratio))
	row("3.6a", "OnTaPRA with TaPRA-fast", best, 1.05)
	for _, theirs := range []string{"SLF", "FCFS", "LLF"} {
		a.first("mean JCT", "JCT "+theirs+" with TaPRA", "JCT "+best)
		b.first("mean JCT", "JCT "+theirs+" with TaPRA, NDRC", "JCT "+best+", NDRC")
	}
	row("3.6b", "SLF with TaPRA, NDRC", best+", NDRC", 1.05)
	row("3.6b", "FCFS with TaPRA, NDRC", best+", NDRC", 1.8)
	row("3.6b", "LLF with TaPRA, NDRC", best+", NDRC", 3.34)
	row("3.6", "OnTaPRA with TaPRA, NDRC", best, 1.7)
	row("3.6", "SLF with TaPRA, NDRC", "SLF with TaPRA", 1.15)
	row("3.6", "FCFS with TaPRA, NDRC", "FCFS with TaPRA", 2.1)
	row("3.6", "LLF with TaPRA, NDRC", "LLF with TaPRA", 2.2)
	in("3.7").above("running time", "ms "+best, "ms OnTaPRA with TaPRA-fast", 10)
	a.own("proven gap of TaPRA's decisions", "%", "gap "+best)
}
