package scenario

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
func (s *Prepared) modelled() ([]controller.Job, error) {
	if strings.HasSuffix(s.Options.Workload, ".yaml") || strings.HasSuffix(s.Options.Workload, ".yml") {
		s.Source = filepath.Base(s.Options.Workload)
		return s.ownJobs()
	}
	if path, ok := strings.CutPrefix(s.Options.Workload, sparkPart); ok {
		s.Source = sparkPart + filepath.Base(path)
		log, err := workload.ReadSparkFile(path)
		if err != nil {
			return nil, err
		}
		s.Notes, s.Warnings = append(s.Notes, log.Notes...), append(s.Warnings, log.Notes...)
		return log.Jobs, s.allFit(log.Jobs)
	}
	if strings.HasSuffix(strings.TrimSuffix(s.Options.Workload, ".gz"), ".json") {
		s.Source = filepath.Base(s.Options.Workload)
		return s.opened("read workflow", s.Options.Workload, func(f *os.File) ([]controller.Job, error) {
			return workload.ReadWorkflow(f, s.Source, s.Fabric.Hosts(), s.Options.Seed)
		})
	}
	d, err := workload.ParseDrawn(s.Options.Workload)
	if err != nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(d.Text, ":")
	s.Source, s.Model = d.Text, kind+"-v1"
	var sizes []workload.Size
	if d.Trace() != "" {
		s.Source = strings.ReplaceAll(d.Text, swimPart+d.Trace(), swimPart+filepath.Base(d.Trace()))
		if sizes, err = swimSizes(d.Trace()); err != nil {
			return nil, err
		}
	}
	jobs, err := d.Jobs(s.Options.Seed, s.Fabric.Hosts(), s.Options.Coflows, sizes)
	if err != nil {
		return nil, err
	}
	return jobs, s.allFit(jobs)
}

// opened reads the jobs of a file, and checks that they fit.
func (s *Prepared) opened(doing, path string,
	read func(*os.File) ([]controller.Job, error)) ([]controller.Job, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	defer f.Close()
	jobs, err := read(f)
	if err != nil {
		return nil, err
	}
	return jobs, s.allFit(jobs)
}

func (s *Prepared) allFit(jobs []controller.Job) error {
	for i := range jobs {
		if err := s.fits(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
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

// ownJobs reads a file of jobs. It leaves out impossible jobs and reports them; the others are not affected.
func (s *Prepared) ownJobs() ([]controller.Job, error) {
	all, err := workload.ReadJobFile(s.Options.Workload)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if j := &all[i]; j.Problem == nil {
			if err := s.fits(&j.Job); err != nil {
				j.Problem = j.At(err)
			}
		}
	}
	first, wrong := possible(all)
	if n := s.Options.Coflows; n > 0 && len(first) > n {
		var apart []error
		first, apart = possible(first[:n]) // what they read can be the output of jobs that come later in the file
		wrong = append(wrong, apart...)
	}
	wrong = workload.Problems(wrong)
	var jobs []controller.Job
	for i := range first {
		jobs = append(jobs, first[i].Job)
	}
	if len(jobs) == 0 {
		return nil, fmt.Errorf("read jobs: none can be run: %w", errors.Join(wrong...))
	}
	for _, err := range wrong {
		note := "left out: " + err.Error()
		s.Notes = append(s.Notes, strings.ReplaceAll(note, s.Options.Workload, s.Source))
		s.Warnings = append(s.Warnings, note)
	}
	sortByArrival(jobs)
	return jobs, nil
}

// possible returns the jobs without problems, and the problems of the others.
func possible(all []workload.FileJob) (good []workload.FileJob, wrong []error) {
	leaveOrphans(all)
	for i := range all {
		if err := all[i].Problem; err != nil {
			wrong = append(wrong, err)
		} else {
			good = append(good, all[i])
		}
	}
	return good, wrong
}

// leaveOrphans makes it the problem of jobs that they read from jobs which are not in the file, or have
// problems.
func leaveOrphans(all []workload.FileJob) {
	for again := true; again; {
		again = false
		there := map[[2]string]bool{}
		for i := range all {
			there[[2]string{all[i].User, all[i].Name}] = all[i].Problem == nil
		}
		for i := range all {
			for _, name := range all[i].ParentNames() {
				if all[i].Problem == nil && !there[[2]string{all[i].User, name}] {
					all[i].Problem = all[i].At(fmt.Errorf("job %q: it reads what job %q writes, and no such job can be run: write "+
						"one of that name, for the same user", all[i].Name, name))
					again = true
				}
			}
		}
	}
}

func (s *Prepared) fits(j *controller.Job) error {
	return j.CheckOn(s.Fabric)
}

// sortByArrival sorts by arrival and keeps the order of equal arrivals.
func sortByArrival(jobs []controller.Job) {
	slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
}
