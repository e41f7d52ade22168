package api

import (
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
)

// TestJobLimits: what is at a bound is taken, and what is beyond it is refused, each part by itself.
func TestJobLimits(t *testing.T) {
	name := strings.Repeat("n", maxName)
	stages := func(n int) *apiv1.Job { return &apiv1.Job{Stages: make([]*apiv1.Stage, n)} }
	edges := func(n int) *apiv1.Job { return &apiv1.Job{Edges: make([]*apiv1.Edge, n)} }
	tasks := func(n int) *apiv1.Job { return &apiv1.Job{Stages: []*apiv1.Stage{{ComputeNs: make([]int64, n)}}} }
	for _, tt := range []struct {
		what       string
		at, beyond *apiv1.Job
		says       string
	}{
		{"name", &apiv1.Job{Name: name}, &apiv1.Job{Name: name + "n"}, "name or user above 256 bytes"},
		{"user", &apiv1.Job{User: name}, &apiv1.Job{User: name + "n"}, "name or user above 256 bytes"},
		{"stages", stages(maxParts), stages(maxParts + 1), "4097 stages and 0 edges"},
		{"edges", edges(maxParts), edges(maxParts + 1), "0 stages and 4097 edges"},
		{"weight", &apiv1.Job{Weight: 0}, &apiv1.Job{Weight: -math.SmallestNonzeroFloat64},
			"finite number from 0"},
		{"weight", &apiv1.Job{Weight: math.MaxFloat64}, &apiv1.Job{Weight: math.Inf(1)}, "finite number from 0"},
		{"weight", &apiv1.Job{}, &apiv1.Job{Weight: math.NaN()}, "finite number from 0"},
		{"stage's name", &apiv1.Job{Stages: []*apiv1.Stage{{Name: name}}},
			&apiv1.Job{Stages: []*apiv1.Stage{{Name: name + "n"}}}, "stage 0: has a name above 256 bytes"},
		{"tasks", tasks(controller.MaxTasks), tasks(controller.MaxTasks + 1), "more than"},
	} {
		if _, err := jobFromWire(tt.at); err != nil {
			t.Errorf("%s: at the bound: %v", tt.what, err)
		}
		if _, err := jobFromWire(tt.beyond); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: beyond the bound: %v, want %q", tt.what, err, tt.says)
		}
	}
	if _, err := jobFromWire(nil); err == nil {
		t.Error("no job is taken")
	}
}

// TestReserveLimits: the same for a request for bandwidth. A reservation lasts a year at most.
func TestReserveLimits(t *testing.T) {
	with := func(change func(*apiv1.ReserveRequest)) *apiv1.ReserveRequest {
		m := &apiv1.ReserveRequest{RequestId: "r", Owner: "o",
			Pair: &apiv1.HostPair{Src: "a", Dst: "b"}, Rate: 1}
		change(m)
		return m
	}
	year := int64(365 * 24 * time.Hour)
	for _, tt := range []struct {
		what       string
		at, beyond func(*apiv1.ReserveRequest)
		says       string
	}{
		{"lifetime", func(m *apiv1.ReserveRequest) { m.LifetimeNs = year },
			func(m *apiv1.ReserveRequest) { m.LifetimeNs = year + 1 }, "take 0 (until it is released) to 8760h0m0s"},
		{"lifetime", func(m *apiv1.ReserveRequest) { m.LifetimeNs = 0 },
			func(m *apiv1.ReserveRequest) { m.LifetimeNs = -1 }, "take 0"},
		{"rate", func(m *apiv1.ReserveRequest) { m.Rate = 1 }, func(m *apiv1.ReserveRequest) { m.Rate = 0 },
			"take a rate above zero"},
		{"request", func(m *apiv1.ReserveRequest) { m.RequestId = strings.Repeat("r", MaxRequestSize) },
			func(m *apiv1.ReserveRequest) {
				m.RequestId = strings.Repeat("r",
					MaxRequestSize+1)
			}, "request id of 129 bytes"},
		{"request", func(*apiv1.ReserveRequest) {}, func(m *apiv1.ReserveRequest) { m.RequestId = "" },
			"request id of 0 bytes"},
		{"owner", func(m *apiv1.ReserveRequest) { m.Owner = strings.Repeat("o", maxName) },
			func(m *apiv1.ReserveRequest) { m.Owner = strings.Repeat("o", maxName+1) }, "owner above 256 bytes"},
	} {
		w, err := requestFromWire(with(tt.at))
		if m := with(tt.at); err != nil || w.Request != m.RequestId || w.Owner != m.Owner ||
			int64(w.Rate) != m.Rate ||
			int64(w.Lifetime) != m.LifetimeNs || w.Pair != (HostPair{"a", "b"}) {
			t.Errorf("%s: at the bound: %+v, %v", tt.what, w, err)
		}
		if _, err := requestFromWire(with(tt.beyond)); err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: beyond the bound: %v, want %q", tt.what, err, tt.says)
		}
	}
}

// TestBatchLimits: the same for a batch of jobs.
func TestBatchLimits(t *testing.T) {
	batch := func(id, jobs int) *apiv1.SubmitJobsRequest {
		m := &apiv1.SubmitJobsRequest{RequestId: strings.Repeat("r", id)}
		for range jobs {
			m.Jobs = append(m.Jobs, &apiv1.Job{})
		}
		return m
	}
	for _, tt := range []struct {
		what     string
		id, jobs int
		says     string // "": it is taken
	}{
		{"at both bounds", 128, 10_000, ""},
		{"too long an id", 129, 1, "request id of 129 bytes, at most 128 are taken"},
		{"too many jobs", 1, 10_001, "10001 jobs, at most 10000 are taken at once"},
		{"no id", 0, 1, "no request id"},
		{"no jobs", 1, 0, "no jobs"},
	} {
		out, err := offers(batch(tt.id, tt.jobs), false, nil)
		if tt.says == "" {
			if err != nil || len(out) != tt.jobs {
				t.Errorf("%s: %d offers, %v", tt.what, len(out), err)
			}
		} else if err == nil || !strings.Contains(err.Error(), tt.says) {
			t.Errorf("%s: %v, want %q", tt.what, err, tt.says)
		}
	}
}
