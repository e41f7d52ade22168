// Package dissertation repeats the evaluations of chapters 3 to 5 of "Task Scheduling in Modern Data Center: Task
// Placement and Resource Allocation", row by row.
package dissertation

import (
	"fmt"
	"slices"
	"strings"

	"lightloom/lab/experiment"
	"lightloom/lab/experiment/numbers"
)

// Experiments returns the evaluations, by chapter.
func Experiments() []experiment.Experiment {
	var out []experiment.Experiment
	for _, e := range []experiment.Experiment{
		{Name: "tapra", Doc: "places and vCPUs of independent tasks: TaPRA and baselines", Source: "3, figures 3.4 and 3.5",
			Seeds: 50, Run: offlineTaPRA},
		{Name: "tapra-online", Doc: "jobs of independent tasks that arrive: OnTaPRA and other orders",
			Source: "3, figures 3.6 and 3.7", Seeds: 10, Run: onlineTaPRA},
		{Name: "corba", Doc: "routes and rates of one coflow: CoRBA and MinCCT",
			Source: "4, figures 4.3 and 4.4, section 4.8", Seeds: 100, Run: offlineCoRBA},
		{Name: "corba-online", Doc: "coflows that arrive, in RAPIER's order: CoRBA and MinCCT",
			Source: "4, figures 4.5 and 4.6", Seeds: 10, Run: onlineCoRBA},
		{Name: "froba", Doc: "routes and rates of independent flows: FRoBA, ECMP and WCMP",
			Source: "5, figures 5.1 and 5.2", Seeds: 20, Run: offlineFRoBA},
		{Name: "froba-online", Doc: "flows that arrive: OnFRoBA with FRoBA, ECMP and WCMP",
			Source: "5, figures 5.3 to 5.8", Seeds: 10, Run: onlineFRoBA},
		{Name: "quality-over-time", Doc: "TaPRA, CoRBA, FRoBA and searches at equal processor time",
			Source: "3 to 5", Seeds: 5, Run: overTime},
	} {
		e.Source, e.On = "task placement and resource allocation, chapter "+e.Source, []string{experiment.OnFlowsim}
		out = append(out, e)
	}
	return out
}

// of returns the figures of an algorithm, run by run; those of runs that lack it are left out by all callers alike.
func of(runs []numbers.Figures, name string) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		out[i] = r[name]
	}
	return out
}

// over returns, run by run, how many times the one figure is as large as the other.
func over(runs []numbers.Figures, theirs, ours string) []float64 {
	out := make([]float64, len(runs))
	for i, r := range runs {
		out[i] = r[theirs] / r[ours]
	}
	return out
}

// times is a row of by how many per cent one figure is above another: the document's "x % smaller".
func times(figure, setting, what, theirs, ours string, paper float64, runs []numbers.Figures,
	seed uint64) experiment.Row {
	r := experiment.Row{Figure: figure, Setting: setting, Unit: "%",
		Metric: fmt.Sprintf("%s of %s above that of %s", what, bare(theirs), bare(ours))}
	if paper > 0 {
		r.Paper = experiment.Number(100 * (paper - 1))
	}
	v := over(runs, theirs, ours)
	for i := range v {
		v[i] = 100 * (v[i] - 1)
	}
	return r.Measure(v, seed).Judge(0, "")
}

// bare is the name of an algorithm without that of the figure.
func bare(name string) string {
	for _, figure := range []string{"FCT ", "ms ", "Gb/s ", "vCPUs ", "hops "} {
		name = strings.TrimPrefix(name, figure)
	}
	return name
}

// own is a row of ours.
func own(figure, setting, metric, unit string, v []float64, seed uint64, note string) experiment.Row {
	return experiment.Row{Figure: figure, Setting: setting, Metric: metric, Unit: unit}.Measure(v, seed).Judge(0, note)
}

// first is a row of the percentage of runs in which an algorithm is ahead of another by more than 1 %, judged as an
// order.
func first(figure, setting, what, theirs, ours string, runs []numbers.Figures, seed uint64) experiment.Row {
	ahead, gap := make([]float64, len(runs)), make([]float64, len(runs))
	for i, x := range over(runs, theirs, ours) {
		if gap[i] = 100 * (1 - 1/x); gap[i] > 1 {
			ahead[i] = 100
		}
	}
	r := experiment.Row{Figure: figure + ", order", Setting: setting, Unit: "%",
		Metric: fmt.Sprintf("runs in which %s of %s is below that of %s", what, bare(ours), bare(theirs))}
	return r.Measure(ahead, seed).JudgeOrder(experiment.Row{}.Measure(gap, seed))
}

// likeness is by how many per cent two figures that the document calls alike may differ.
const likeness = 5

// alike is a row of by how many per cent one figure is above another where the document sees no difference: a test of
// equivalence.
func alike(figure, setting, what, theirs, ours string, runs []numbers.Figures, seed uint64) experiment.Row {
	r := times(figure, setting, what, theirs, ours, 0, runs, seed)
	r.Paper = experiment.Number(0)
	return judgeAlike(r)
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

// rises is a row of by how many per cent a figure is larger at the end of an axis than at its beginning, where the
// document says that it rises or, with falls, that it falls.
func rises(figure, setting, what string, begin, end []float64, falls bool, seed uint64) experiment.Row {
	v := make([]float64, len(begin))
	for i := range v {
		v[i] = 100 * (end[i]/begin[i] - 1)
	}
	r := experiment.Row{Figure: figure + ", trend", Setting: setting, Metric: "growth of " + what, Unit: "%"}.Measure(v,
		seed)
	return r.JudgeRise(falls)
}

// picture draws the means of all algorithms over an axis.
func picture(name, title, x, y string, at []float64, names []string, points [][]numbers.Figures) experiment.Picture {
	p := experiment.Picture{Name: name, Title: title, X: x, Y: y}
	for _, n := range names {
		line := experiment.Line{Name: n, X: slices.Clone(at)}
		for _, runs := range points {
			line.Y = append(line.Y, numbers.Mean(of(runs, n)))
		}
		p.Lines = append(p.Lines, line)
	}
	return p
}
