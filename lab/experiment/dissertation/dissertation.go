// Package dissertation repeats the evaluations of chapters 3 to 5 of "Task Scheduling in Modern Data
// Center: Task Placement and Resource Allocation", row by row. Single runs are on plain numbers: they
// draw jobs, networks and noise as the chapters say, have an algorithm solve them, and return figures
// by its name.
package dissertation

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lightloom/lab/experiment"
	"lightloom/lab/report"
	"lightloom/lab/report/plot"
)

// Experiments returns the evaluations, by chapter.
func Experiments() []experiment.Experiment {
	all := []experiment.Experiment{
		{Name: "tapra", Doc: "places and vCPUs of independent tasks: TaPRA and baselines",
			Source: "3, figures 3.4 and 3.5",
			Seeds:  50, Run: offlineTaPRA},
		{Name: "tapra-online", Doc: "jobs of independent tasks that arrive: OnTaPRA and other orders",
			Source: "3, figures 3.6 and 3.7", Seeds: 10, Run: onlineTaPRA},
		{Name: "corba", Doc: "routes and rates of one coflow: CoRBA and MinCCT",
			Source: "4, figures 4.3 and 4.4, section 4.8", Seeds: 100, Run: offlineCoRBA},
		{Name: "corba-online", Doc: "coflows that arrive, in RAPIER's order: CoRBA and MinCCT",
			Source: "4, figures 4.5 and 4.6", Seeds: 10, Run: onlineCoRBA},
		{Name: "froba", Doc: "routes and rates of independent flows: FRoBA, ECMP and WCMP",
			Source: "5, figures 5.1 and 5.2", Run: offlineFRoBA},
		{Name: "froba-online", Doc: "flows that arrive: OnFRoBA with FRoBA, ECMP and WCMP",
			Source: "5, figures 5.3 to 5.8", Seeds: 10, Run: onlineFRoBA},
		{Name: "quality-over-time", Doc: "TaPRA, CoRBA, FRoBA and searches at equal processor time",
			Source: "3 to 5", Seeds: 5, Run: overTime},
	}
	for i := range all {
		all[i].Only = "it computes on plain numbers and sends nothing; its policies run everywhere by their names"
		all[i].Alone = experiment.TimesThis // their processor time
		all[i].Source = "task placement and resource allocation, chapter " + all[i].Source
	}
	return all
}

// bySetting runs each setting with all seeds. The figures of an algorithm are named as numbers names them.
func bySetting[S comparable](ctx context.Context, b *experiment.Bench, settings []S,
	run func(s S, seed uint64) (experiment.Figures, error)) (map[S]experiment.Runs, error) {
	got, err := experiment.Grid(ctx, b, settings, func(s S) string { return fmt.Sprint(s) },
		func(_ context.Context, s S, seed uint64) (experiment.Figures, error) { return run(s, seed) })
	if err != nil {
		return nil, err
	}
	out := map[S]experiment.Runs{}
	for i, s := range settings {
		out[s] = got[i]
	}
	return out, nil
}

// joined are the runs of all systems as if each were one: with figures named "FIGURE SYSTEM".
func joined(at experiment.Systems) (out experiment.Runs) {
	for system, runs := range at {
		for k, figures := range runs {
			if k == len(out) {
				out = append(out, experiment.Figures{})
			}
			for name, v := range figures {
				out[k][name+" "+system] = v
			}
		}
	}
	return out
}

// figure is a figure of the document: its head, and the runs of the setting that its rows are of.
type figure struct {
	experiment.Head
	runs experiment.Runs
}

// times adds by how many per cent one figure is above another, where the document has it so many times
// as large ("x % smaller"). 0: it does not say.
func (f figure) times(metric string, times float64, v []float64) *experiment.Row {
	r := f.Row(metric, "%", 0, v)
	if times > 0 {
		r.Paper = experiment.Number(100 * (times - 1))
		*r = r.Judge(0, f.Why)
	}
	return r
}

// above is times of two algorithms' figures.
func (f figure) above(what, theirs, ours string, times float64) *experiment.Row {
	return f.times(fmt.Sprintf("%s of %s above that of %s", what, bare(theirs), bare(ours)), times,
		compare(f.runs, theirs, ours, experiment.Above))
}

// compare compares two algorithms' figures, run by run.
func compare(runs experiment.Runs, first, second string, by experiment.Comparison) []float64 {
	return experiment.Compare(runs.Of(first), runs.Of(second), by)
}

// bare is the name of an algorithm without that of the figure.
func bare(name string) string {
	for _, figure := range []string{"JCT ", "CCT ", "FCT ", "ms ", "Gb/s ", "vCPUs ", "hops "} {
		name = strings.TrimPrefix(name, figure)
	}
	return name
}

// own adds a figure of ours.
func (f figure) own(metric, unit, name string) { f.Row(metric, unit, 0, f.runs.Of(name)) }

// first adds the percentage of runs in which an algorithm is ahead of another by more than 1 %, judged
// as an order.
func (f figure) first(what, theirs, ours string) {
	metric := fmt.Sprintf("runs in which the %s of %s is below that of %s", what, bare(ours), bare(theirs))
	smaller := func(ours, theirs float64) float64 { return 100 * (1 - 1/(theirs/ours)) } // rounded as what is committed is
	f.Order(metric, experiment.OrderGap, compare(f.runs, ours, theirs, smaller))
}

// likeness is by how many per cent two figures that the document calls alike may differ.
const likeness = 5

// alike adds by how many per cent one figure is above another where the document sees no difference: a
// test of equivalence.
func (f figure) alike(what, theirs, ours string) {
	r := f.above(what, theirs, ours, 1)
	*r = judgeAlike(*r)
}

func judgeAlike(r experiment.Row) experiment.Row {
	switch {
	case *r.Low >= -likeness && *r.High <= likeness:
		r.Verdict = experiment.Reproduced
	case *r.Low > likeness || *r.High < -likeness:
		r.Verdict = experiment.Differs
	default:
		r.Verdict = experiment.TooWeak
	}
	r.Note = fmt.Sprintf("alike means within %d %%", likeness)
	return r
}

// grows adds by how many per cent a figure is larger at the end of an axis than at its beginning.
func (f figure) grows(what string, falls bool, begin, end []float64) {
	f.Trend("growth of "+what, falls, experiment.Compare(end, begin, experiment.Above))
}

// picture draws the mean times of algorithms over an axis of settings.
func picture[S comparable](name, title, axis string, at []float64, names []string, settings []S,
	runs map[S]experiment.Runs) plot.Chart {
	p := plot.Chart{Name: name, Title: title, X: axis, Y: "s"}
	for _, n := range names {
		line := plot.Line{Name: n, X: slices.Clone(at)}
		for _, s := range settings {
			line.Y = append(line.Y, report.Mean(runs[s].Of(n)))
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}
