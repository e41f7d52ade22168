package scenario

import (
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound/hint"
)

// ending removes jobs that arrive after the run's end, and refuses jobs that would keep the run from ending.
func (s *Prepared) ending(jobs []controller.Job) ([]controller.Job, error) {
	if s.Options.Until == 0 {
		for i := range jobs {
			if j := &jobs[i]; j.GoesOn() && j.Lifetime == 0 {
				return nil, hint.New(fmt.Sprintf("job %q has a stream that goes on and on, and so would this run", j.Name),
					"add --until 60s, at which what still runs is cancelled, or give the job a lifetime")
			}
		}
		return jobs, nil
	}
	all := len(jobs)
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j controller.Job) bool {
		return time.Duration(float64(j.Arrival)/s.Options.Speedup) >= s.Options.Until
	})
	switch n := all - len(jobs); {
	case len(jobs) == 0:
		return nil, hint.New(fmt.Sprintf("--until %v: no job arrives before it", s.Options.Until),
			"write a later time, or leave it away")
	case n > 0:
		s.Notes = append(s.Notes, fmt.Sprintf("--until %v: %d jobs arrive later and are left out.",
			s.Options.Until, n))
	}
	return jobs, nil
}
