package server

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/api"
	"lightloom/southbound/pki"
)

// TestMillionTasks: a million tasks in jobs almost as large as they may be are acknowledged, and small jobs beside
// them; every replica has all of them. How long that takes, and how many elections it costs, is logged.
func TestMillionTasks(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "tasks" {
		t.Skip("it takes a minute: set LIGHTLOOM_MEASURE=tasks")
	}
	const jobs, each = 16, 62_500
	p := newParty(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	all := []string{"c0", "c1", "c2"}
	for _, id := range all {
		p.run(id, all...)
	}
	for _, id := range all {
		p.until(ctx, id, "votes and has a leader", func(st api.Status) bool { return votes(st) && leads(st) })
	}
	c := p.dial(pki.Client, "user", all...)
	before, err := c.StatusOf(ctx, 0)
	must(t, err)
	submit := func(name string, job *controller.Job) time.Duration {
		began := time.Now()
		_, err := c.Submit(ctx, name, []*controller.Job{job})
		must(t, err)
		return time.Since(began)
	}
	var large, small []time.Duration
	for i := range jobs {
		name := fmt.Sprint("large", i)
		large = append(large, submit(name, &controller.Job{Name: name, Incremental: true,
			Stages: []controller.Stage{{Name: "s",
				Tasks: slices.Repeat([]controller.Task{{Compute: time.Hour}}, each)}}}))
		for k := range 20 {
			small = append(small, submit(fmt.Sprint("small", i, "-", k), tinyJob("small")))
		}
	}
	for _, id := range all {
		p.until(ctx, id, "has all jobs", func(st api.Status) bool { return st.Jobs == jobs*21 })
	}
	after, err := c.StatusOf(ctx, 0)
	must(t, err)
	slices.Sort(large)
	slices.Sort(small)
	t.Logf("%d tasks in %d jobs: submit p50 %v, slowest %v; %d small jobs beside them p50 %v, p99 %v, slowest %v; "+
		"term %d, then %d", jobs*each, jobs, large[jobs/2], large[jobs-1], len(small), small[len(small)/2],
		small[len(small)*99/100], small[len(small)-1], before.Term, after.Term)
}
