package run

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/controller/workload/swim"
)

// modelled makes the jobs of --workload: a file of jobs, or what a generator draws.
func (s *setup) modelled() ([]controller.Job, error) {
	if strings.HasSuffix(s.opt.Workload, ".yaml") || strings.HasSuffix(s.opt.Workload, ".yml") {
		s.source = filepath.Base(s.opt.Workload)
		return s.ownJobs()
	}
	d, err := workload.ParseDrawn(s.opt.Workload)
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(d.Text, ":")
	s.source, s.model = d.Text, kind+"-v1"
	var sizes []workload.Size
	if d.Trace() != "" {
		s.source = strings.ReplaceAll(d.Text, swimPart+d.Trace(), swimPart+filepath.Base(d.Trace()))
		if sizes, err = swimSizes(d.Trace()); err != nil {
			return nil, err
		}
	}
	jobs, err := d.Jobs(s.opt.Seed, s.opt.Coflows, sizes)
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		if err := s.fits(&jobs[i]); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

func swimSizes(path string) ([]workload.Size, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read trace: %w", err)
	}
	defer f.Close()
	records, err := swim.Read(f, path)
	if err != nil {
		return nil, err
	}
	sizes := make([]workload.Size, len(records))
	for i, r := range records {
		sizes[i] = workload.Size{Shuffle: r.Shuffle, Output: r.Output}
	}
	return sizes, nil
}

// ownJobs reads a file of jobs. A job that cannot be is left out and said so; the others do not suffer.
func (s *setup) ownJobs() ([]controller.Job, error) {
	all, err := workload.ReadJobFile(s.opt.Workload)
	if err != nil {
		return nil, err
	}
	var jobs []controller.Job
	var wrong []error
	for i := range all {
		j := &all[i]
		err := j.Problem
		if err == nil {
			if err = s.fits(&j.Job); err != nil {
				err = j.At(err)
			}
		}
		if err != nil {
			wrong = append(wrong, err)
			continue
		}
		if s.opt.Coflows == 0 || len(jobs) < s.opt.Coflows {
			jobs = append(jobs, j.Job)
		}
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("read jobs: none can be run: %w", errors.Join(wrong...))
	}
	for _, err := range wrong {
		note := "left out: " + err.Error()
		s.notes = append(s.notes, strings.ReplaceAll(note, s.opt.Workload, s.source))
		fmt.Fprintln(s.opt.Stderr, note)
	}
	sortByArrival(jobs)
	return jobs, nil
}

func (s *setup) fits(j *controller.Job) error {
	return j.Check(s.fabric.Hosts(), s.fabric.Hosts()*s.fabric.Spec.Slots)
}

// sortByArrival keeps the order of those that arrive together.
func sortByArrival(jobs []controller.Job) {
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
}
