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
	files, err = plot.WriteFiles(dir, r.figures(circuits))
	if err != nil {
		return files, &DiskError{dir, err}
	}
	return files, nil
}

// figures returns the charts for which the report has values.
func (r *Report) figures(circuits [][]string) []plot.Chart {
	var out []plot.Chart
	add := func(c plot.Chart) {
		if slices.ContainsFunc(c.Lines, func(l plot.Line) bool { return len(l.X) > 0 }) {
			out = append(out, c)
		}
	}
	seed := fmt.Sprintf(", seed %d", r.Seed)
	add(distribution("cct-distribution", "Completion times of coflows"+seed, "CCT", "share of coflows",
		r.each(func(p *Policy) plot.Line { return curve(p.Name, took(p.Coflows)) })))
	add(distribution("jct-distribution", "Completion times of jobs"+seed, "JCT", "share of jobs",
		r.each(func(p *Policy) plot.Line { return curve(p.Name, took(p.Jobs)) })))
	add(plot.Chart{Name: "coflows-over-time", Title: "Coflows under way" + seed, X: "time, s", Y: "coflows",
		Lines: r.each(func(p *Policy) plot.Line {
			return overTime(p, circuits, func(u underWay) int { return u.coflows })
		})})
	if len(circuits) > 0 {
		add(plot.Chart{Name: "circuits-over-time", Title: "Circuits in service" + seed, X: "time, s", Y: "circuits",
			Lines: r.each(func(p *Policy) plot.Line {
				return overTime(p, circuits, func(u underWay) int { return u.service })
			})})
	}
	if r.repeated() {
		add(plot.Chart{Name: "cct-by-seed", Title: "Mean completion time of coflows, run by run",
			X: "seed", Y: "mean CCT, s", Lines: r.Repeat.bySeed()})
	}
	return out
}

// each returns a line for every policy.
func (r *Report) each(of func(*Policy) plot.Line) (lines []plot.Line) {
	for i := range r.Policies {
		lines = append(lines, of(&r.Policies[i]))
	}
	return lines
}

// overTime is how much of something was under way at evenly spaced instants.
func overTime(p *Policy, circuits [][]string, of func(underWay) int) plot.Line {
	l := plot.Line{Name: p.Name, StepFunction: true}
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
