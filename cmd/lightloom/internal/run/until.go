package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/pathmap"
)

// ending leaves out what arrives after the run, and refuses what would keep it from ever ending.
func (s *setup) ending(jobs []controller.Job) ([]controller.Job, error) {
	if s.opt.Until == 0 {
		for i := range jobs {
			if j := &jobs[i]; j.GoesOn() && j.Lifetime == 0 {
				return nil, &insideError{fmt.Sprintf("job %q has a stream that goes on and on, and so would this run", j.Name),
					"add --until 60s, at which what still runs is cancelled, or give the job a lifetime"}
			}
		}
		return jobs, nil
	}
	all := len(jobs)
	jobs = slices.DeleteFunc(slices.Clone(jobs), func(j controller.Job) bool {
		return time.Duration(float64(j.Arrival)/s.opt.Speedup) >= s.opt.Until
	})
	switch n := all - len(jobs); {
	case len(jobs) == 0:
		return nil, &insideError{fmt.Sprintf("--until %v: no job arrives before it", s.opt.Until), "write a later time, or leave it away"}
	case n > 0:
		s.notes = append(s.notes, fmt.Sprintf("--until %v: %d jobs arrive later and are left out.", s.opt.Until, n))
	}
	return jobs, nil
}

// stop cancels what runs once the run's time is over, and returns when that is. Of a controller that has no leader it is
// asked again.
func (x *simulation) stop(wake time.Duration) time.Duration {
	until := x.setup.opt.Until
	if until == 0 || x.sim.Now() < until {
		if until > 0 {
			wake = min(wake, until)
		}
		return wake
	}
	x.next, x.in.Jobs = len(x.setup.jobs), nil
	if len(x.in.Cancels) > 0 || x.seats.vacant {
		return wake
	}
	for _, j := range x.state.Live().Jobs {
		if j.Ended == state.Unset {
			x.in.Cancels = append(x.in.Cancels, loop.Cancel{Job: j.ID})
		}
	}
	if len(x.in.Cancels) > 0 {
		wake = x.sim.Now()
	}
	return wake
}

// over says whether nothing is left to wait for.
func (x *simulation) over() bool {
	return x.next == len(x.setup.jobs) && len(x.in.Jobs) == 0 && x.state.Finished() == len(x.state.Live().Jobs)
}

// stop cancels what still runs when the run's time is over, until everything has ended.
func (s *stage) stop(ctx context.Context, begin time.Duration) error {
	if s.order.Until == 0 {
		return nil
	}
	timer := time.NewTimer(begin + s.order.Until - s.clock())
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil
	case <-timer.C:
	}
	snap, err := s.client.State(ctx)
	if err != nil {
		return fmt.Errorf("end the run at %v: %w", s.order.Until, err)
	}
	var d state.Data
	if err := json.Unmarshal(snap.JSON, &d); err != nil {
		return fmt.Errorf("end the run at %v: %w", s.order.Until, err)
	}
	for _, j := range d.Jobs {
		if j.Ended != state.Unset {
			continue
		}
		if _, err := s.client.Cancel(ctx, j.ID); err != nil && ctx.Err() == nil {
			return fmt.Errorf("end the run at %v: %w", s.order.Until, err)
		}
	}
	return nil
}

// cancelled says in a note how many jobs did not end by themselves, and what they delivered.
func (o *outcome) cancelled() []string {
	n, expired, sum := 0, 0, pathmap.Bytes(0)
	for _, j := range o.State.Jobs {
		if !j.Cancelled {
			continue
		}
		if n++; j.Expired {
			expired++
		}
		b, _ := o.delivered(j)
		sum += b
	}
	if n == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%d jobs were cancelled, %d of them at the end of their lifetime: their sinks had received %d bytes (as run). They count for throughput, and for no completion time of jobs or coflows", n, expired, sum)}
}
