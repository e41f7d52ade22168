package dissertation

import (
	"context"
	"slices"

	"lightloom/controller/certified"
	"lightloom/controller/certified/online"

	"lightloom/lab/experiment"
	"lightloom/lab/report/plot"
)

func offlineFRoBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	few, many := routing{k: 14, flows: 10}, routing{k: 14, flows: 80}
	k6, largest := routing{k: 6, flows: 50}, routing{k: 18, flows: 50}
	overFlows := []routing{few, {k: 14, flows: 30}, {k: 14, flows: 60}, many}
	overK := []routing{k6, {k: 10, flows: 50}, {k: 14, flows: 50}, largest}
	if b.Quick {
		largest.k = 14
		overFlows[1], overFlows[2], overK[1], overK[2], overK[3] = small(), small(), small(), small(), largest
	}
	all := flowRouters()
	names := routerNames(all)
	runs, err := offline(ctx, b, slices.Concat(overFlows, overK,
		[]routing{many.noisy(), largest.noisy()}), all,
		(*certified.Plan).VerifyTotal)
	if err != nil {
		return nil, err
	}

	out := b.Result(
		"networks and noise as for corba; ECMP and WCMP have the rates of OptBA-TTT", "times are processor time",
	)
	in := func(number, setting string, s routing) figure {
		return figure{out.At("Figure "+number, setting, ""), runs[s]}
	}
	const thousands, size = "80 flows, 1,617 nodes", "50 flows, the largest network"
	in("5.1", thousands, many).flows(2.2, 1.15, 4.9, 1.85)
	in("5.1", thousands+hosts, many.noisy()).flows(2.2, 1.15, 0, 1.85)
	in("5.2", "50 flows, 153 nodes", k6).flows(2.5, 1.12, 0, 1.6)
	in("5.2", size, largest).flows(2.5, 1.12, 0, 1.6)
	in("5.2", size+hosts, largest.noisy()).flows(2.5, 1.12, 0, 1.6)

	growth, d := in("5.1", "10 to 80 flows", many), in("5.1d", thousands, many)
	for _, g := range []struct {
		name  string
		paper float64
	}{{"FRoBA", 200}, {"FRoBA-fast", 200}, {"ECMP", 400}, {"WCMP", 400}} {
		each := func(end, begin float64) float64 { return (end - begin) / 70 }
		growth.Row("growth of the TTT of "+g.name, "s a flow", g.paper,
			runs[many].Against(runs[few], g.name, each))
	}
	for _, name := range []string{"ECMP", "WCMP"} {
		growth.grows("the TTT of "+name+" over FRoBA's", false,
			compare(runs[few], name, "FRoBA", experiment.Ratio),
			compare(runs[many], name, "FRoBA", experiment.Ratio))
	}
	for _, name := range names {
		d.own("running time of "+name, "ms", "ms "+name)
	}
	out.Pictures = []plot.Chart{
		picture("froba-5-1", "Figure 5.1: TTT, 1,617 nodes", "flows", []float64{10, 30, 60, 80}, names,
			overFlows, runs),
		picture("froba-5-2", "Figure 5.2: TTT, 50 flows", "k", []float64{6, 10, 14, float64(largest.k)},
			names, overK, runs),
	}
	return out, nil
}

// flows are the rows of one setting, with how many times FRoBA's TTT those of ECMP and WCMP are in the
// document, and that of FRoBA-fast; FRoBA-fast's running time FRoBA's; and ECMP's bandwidth FRoBA's.
func (f figure) flows(spread, fast, time, rate float64) {
	f.above("TTT", "ECMP", "FRoBA", spread)
	f.above("TTT", "WCMP", "FRoBA", spread)
	f.above("TTT", "FRoBA-fast", "FRoBA", fast)
	f.first("TTT", "WCMP", "FRoBA")
	f.first("TTT", "ECMP", "FRoBA")
	f.above("running time", "ms FRoBA", "ms FRoBA-fast", time)
	f.above("TTT", "FRoBA", "ours", 0)
	f.above("bandwidth", "Gb/s FRoBA", "Gb/s ECMP", rate)
	f.own("proven gap of FRoBA", "%", "gap FRoBA")
	f.own("proven gap of ours", "%", "gap ours")
}

// flowings are the settings of sections 5.6.2.4 and 5.6.2.5.
func flowings() (all []flowing) {
	for _, preempt := range []bool{false, true} {
		for _, drb := range []bool{true, false} {
			for _, sel := range []online.Selection{online.VFF, online.SFF, online.SVF, online.InTurn} {
				for _, by := range []string{"FRoBA", "FRoBA-fast", "ECMP", "WCMP"} {
					if sel == online.InTurn && by != "ECMP" && by != "WCMP" {
						continue // the document has FCFS with these two alone
					}
					all = append(all, flowing{Select: sel, By: by, DRB: drb, Preempt: preempt})
				}
			}
		}
	}
	for _, preempt := range []bool{false, true} { // the other noise model, where sections claim most
		on := flowing{Select: online.SVF, DRB: true, Preempt: preempt, OnHosts: true}
		for _, on.By = range []string{"FRoBA", "ECMP", "WCMP"} {
			all = append(all, on)
		}
		on.Select = online.InTurn
		all = append(all, on)
	}
	return all
}

func onlineFRoBA(ctx context.Context, b *experiment.Bench) (*experiment.Result, error) {
	until := 1200.0
	if b.Quick {
		until = 40
	}
	got, err := experiment.Cross(ctx, b, []string{"online"}, flowings(),
		func(_ string, _ context.Context, _ *experiment.Bench, s flowing,
			seed uint64) (experiment.Figures, error) {
			return s.Run(seed, until)
		})
	if err != nil {
		return nil, err
	}
	out := b.Result(
		"k = 10, scheduling every 10 s, 4 noise flows a second on fabric links, cut to what is free when they begin; a "+
			"path needs more than 1 % of a link to be valid; a local search tries 60 routings",
		"FCFS schedules at arrivals and ends, each flow alone", "times are processor time",
	)
	onlineFlowRows(joined(got[0]), out)
	return out, nil
}

// onlineFlowRows are the claims of sections 5.6.2.4 and 5.6.2.5.
func onlineFlowRows(runs experiment.Runs, out *experiment.Result) {
	in := func(number, setting string) figure {
		return figure{out.At("Figure "+number, setting, ""), runs}
	}
	row := func(number, setting, theirs, ours string, paper float64) {
		in(number, setting).above("mean FCT", "FCT "+theirs, "FCT "+ours, paper)
	}
	const kept, dropped, preempt = "online, not preemptive", "online, preemptive", ", preemptive"
	for _, sel := range []string{"VFF", "SFF", "SLF"} {
		for _, by := range []string{"ECMP", "WCMP"} {
			row("5.3a", kept, sel+" with "+by, sel+" with FRoBA", 1.2)
			row("5.3b", kept, sel+" with "+by+", no DRB", sel+" with FRoBA, no DRB", 1.8)
			row("5.6a", dropped, sel+" with "+by+preempt, sel+" with FRoBA, preemptive", 1.85)
			row("5.6b", dropped, sel+" with "+by+", no DRB, preemptive",
				sel+" with FRoBA, no DRB, preemptive", 1.8)
		}
		row("5.3a", kept, sel+" with FRoBA-fast", sel+" with FRoBA", 1.05)
	}
	row("5.3a", kept, "FCFS with WCMP", "SLF with FRoBA", 1.25)
	row("5.6a", dropped, "FCFS with WCMP, preemptive", "SLF with FRoBA, preemptive", 1.65)
	row("5.3", kept, "SLF with FRoBA, no DRB", "SLF with FRoBA", 1.4)
	row("5.3", kept, "SLF with ECMP, no DRB", "SLF with ECMP", 1.6)
	row("5.6", dropped, "SLF with FRoBA, no DRB, preemptive", "SLF with FRoBA, preemptive", 1.1)
	row("5.6", dropped, "SLF with ECMP, no DRB, preemptive", "SLF with ECMP, preemptive", 1.2)

	a, p := in("5.3a", kept), in("5.6a", dropped)
	for _, sel := range []string{"SFF", "SLF"} {
		a.alike("mean FCT", "FCT "+sel+" with FRoBA", "FCT VFF with FRoBA")
		p.alike("mean FCT", "FCT "+sel+" with FRoBA, preemptive", "FCT VFF with FRoBA, preemptive")
	}
	for _, by := range []string{"ECMP", "WCMP"} {
		a.first("mean FCT", "FCT SLF with "+by, "FCT SLF with FRoBA")
		p.first("mean FCT", "FCT SLF with "+by+preempt, "FCT SLF with FRoBA, preemptive")
	}
	for _, by := range []string{"ECMP", "WCMP"} { // FCFS has the smallest waiting time when flows are preemptive
		in("5.7", dropped).waits(by, preempt)
	}
	for _, x := range []struct {
		number, setting, how string
		paper                float64
	}{{"5.3a", kept, "", 1.2}, {"5.6a", dropped, preempt, 1.85}} {
		for _, by := range []string{"ECMP", "WCMP"} {
			row(x.number, x.setting+hosts, "SLF with "+by+x.how+hosts, "SLF with FRoBA"+x.how+hosts, x.paper)
		}
		for _, noise := range []string{"", hosts} {
			in(x.number, x.setting+noise).own("proven gap of FRoBA's decisions under SLF", "%",
				"gap SLF with FRoBA"+x.how+noise)
		}
	}
	in("5.7", dropped+hosts).waits("WCMP", preempt+hosts)
	in("5.5", kept).above("running time", "ms SLF with FRoBA", "ms SLF with FRoBA-fast", 8.5)
	in("5.8", dropped).above("running time", "ms SLF with FRoBA, preemptive",
		"ms SLF with FRoBA-fast, preemptive", 8.5)
}

// waits adds how much longer flows wait under FCFS than under SLF with FRoBA.
func (f figure) waits(by, how string) {
	f.Because("FCFS waits longer here").AtMost("mean waiting time of FCFS with "+by+" less that of SLF with FRoBA", "s", 0,
		f.runs.Each(func(r experiment.Figures) float64 {
			return r["FWT FCFS with "+by+how] - r["FWT SLF with FRoBA"+how]
		}))
}
