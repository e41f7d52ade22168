package server

import (
	"context"
	"errors"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	apiv1 "lightloom/controller/api/v1"
)

// TestJobsAreTold: a client watches jobs of a replica from their acceptance to their end, and finds
// them in lists, by their numbers and in events, with the times of the day.
func TestJobsAreTold(t *testing.T) {
	m := newMeasured(t, time.Minute)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { ended <- m.replica.run(running) }()
	const jobs = 3
	for n := range jobs {
		m.submit(ctx, n)
	}
	go func() {
		for id := range controller.JobID(jobs) {
			if _, err := m.client.Cancel(ctx, id); err != nil {
				t.Error(err)
			}
		}
	}()
	enough := errors.New("enough")
	over := map[int32]bool{}
	begun := false
	err := m.client.WatchJobs(ctx, &apiv1.WatchJobsRequest{}, func(c *apiv1.JobsChanged) error {
		begun = begun || c.Reset_
		for _, j := range c.Jobs {
			over[j.Id] = j.Phase == apiv1.JobPhase_JOB_PHASE_CANCELLED
		}
		if len(over) == jobs && over[0] && over[1] && over[2] {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !begun {
		t.Errorf("watch: %v, %v, %v", err, begun, over)
	}
	var ids []int32
	ask := &apiv1.ListJobsRequest{PageSize: 2, NewestFirst: true, Filter: &apiv1.JobFilter{Name: "tiny"}}
	if err := m.client.Jobs(ctx, ask, func(j *apiv1.JobInfo) bool {
		ids = append(ids, j.Id)
		since := time.Since(j.Ended.AsTime())
		if since < 0 || since > time.Minute || j.GetDelivered() != 0 || j.Coflows != 1 {
			t.Errorf("%v before now: %v", since, j)
		}
		return true
	}); err != nil || len(ids) != jobs || ids[0] != 2 || ids[2] != 0 {
		t.Errorf("list: %v, %v", ids, err)
	}
	if j, err := m.client.Job(ctx, 1, m.client.Written()); err != nil || j.Job.Id != 1 ||
		len(j.Coflows) != 1 ||
		j.Job.EndedNs == nil {
		t.Errorf("get: %v, %v", j, err)
	}
	if _, err := m.client.Job(ctx, jobs, api.Read{}); api.CodeOf(err) != api.Unknown {
		t.Errorf("get what never was: %v", err)
	}
	if _, err := m.client.Job(ctx, -1, api.Read{}); api.CodeOf(err) != api.Unknown {
		t.Errorf("get what cannot be: %v", err)
	}
	told := 0
	if err := m.client.Events(ctx, 0, func(e api.Event) error {
		if e.Kind == "job-cancelled" {
			if told++; told == jobs {
				return enough
			}
		}
		return nil
	}); !errors.Is(err, enough) {
		t.Errorf("events: %v", err)
	}
	stop()
	must(t, <-ended)
}
