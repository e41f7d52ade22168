package report

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"lightloom/lab/report/plot"
	"lightloom/southbound/hint"
)

// Figures draws a report's figures into a folder, each as SVG and PDF, and returns the files' paths: the
// distributions of the completion times of coflows and of jobs, what was under way over time, and the
// mean CCT of each run of a repetition.
func Figures(path, dir string) (files []string, err error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, reportFile)
	}
	r, err := Read(path)
	if err != nil {
		return nil, hint.Wrong(err)
	}
	circuits, _, err := Tables(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, &DiskError{dir, err}
	}
	for _, f := range r.figures(circuits) {
		drawn, err := f.WriteFiles(filepath.Join(dir, f.name))
		files = append(files, drawn...)
		if err != nil {
			return files, &DiskError{dir, err}
		}
	}
	return files, nil
}

// namedChart is a chart and what its file is called.
type namedChart struct {
	name string
	plot.Chart
}

// figures returns the charts for which the report has values.
func (r *Report) figures(circuits [][]string) []namedChart {
	var out []namedChart
	add := func(name, title, x, y string, log bool, lines []plot.Line) {
		if slices.ContainsFunc(lines, func(l plot.Line) bool { return len(l.X) > 0 }) {
			out = append(out, namedChart{name, plot.Chart{Title: title, X: x, Y: y, LogX: log, Lines: lines}})
		}
	}
	seed := fmt.Sprintf(", seed %d", r.Seed)
	add("cct-distribution", "Completion times of coflows"+seed, "CCT, s", "share of coflows", true,
		r.each(func(p *Policy) plot.Line { return distribution(p.Coflows) }))
	add("jct-distribution", "Completion times of jobs"+seed, "JCT, s", "share of jobs", true,
		r.each(func(p *Policy) plot.Line { return distribution(p.Jobs) }))
	add("coflows-over-time", "Coflows under way"+seed, "time, s", "coflows", false,
		r.each(func(p *Policy) plot.Line {
			return overTime(p, circuits, func(u underWay) int { return u.coflows })
		}))
	if len(circuits) > 0 {
		add("circuits-over-time", "Circuits in service"+seed, "time, s", "circuits", false,
			r.each(func(p *Policy) plot.Line {
				return overTime(p, circuits, func(u underWay) int { return u.service })
			}))
	}
	if r.repeated() {
		add("cct-by-seed", "Mean completion time of coflows, run by run", "seed", "mean CCT, s", false,
			r.Repeat.bySeed())
	}
	return out
}

// each returns a line for every policy, under its name.
func (r *Report) each(of func(*Policy) plot.Line) (lines []plot.Line) {
	for i := range r.Policies {
		l := of(&r.Policies[i])
		l.Name = r.Policies[i].Name
		lines = append(lines, l)
	}
	return lines
}

// distribution is the share of rows that took at most a time; those of cancelled jobs are none.
func distribution(rows []Row) plot.Line {
	var took []float64
	for i := range rows {
		if !rows[i].Cancelled {
			took = append(took, rows[i].Took)
		}
	}
	slices.Sort(took)
	l := plot.Line{StepFunction: true}
	n := len(took)
	if n > 0 {
		l.X, l.Y = append(l.X, took[0]), append(l.Y, 0)
	}
	for k := range min(n, drawn) {
		i := k
		if n > drawn {
			i = k * (n - 1) / (drawn - 1)
		}
		l.X, l.Y = append(l.X, took[i]), append(l.Y, float64(i+1)/float64(n))
	}
	return l
}

// overTime is how much of something was under way at evenly spaced instants.
func overTime(p *Policy, circuits [][]string, of func(underWay) int) plot.Line {
	l := plot.Line{StepFunction: true}
	for _, u := range p.underWay(circuits) {
		l.X, l.Y = append(l.X, u.at), append(l.Y, float64(of(u)))
	}
	return l
}

// bySeed is the mean CCT of each policy in every run that did not fail.
func (r *Repeat) bySeed() (lines []plot.Line) {
	for k := range r.Runs[0].Policies {
		l := plot.Line{Name: r.Runs[0].Policies[k].Name}
		for i := range r.Runs {
			if m := &r.Runs[i].Policies[k]; m.Error == "" {
				l.X, l.Y = append(l.X, float64(r.Runs[i].Seed)), append(l.Y, m.CCT.Mean)
			}
		}
		lines = append(lines, l)
	}
	return lines
}
