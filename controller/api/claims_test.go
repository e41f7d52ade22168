package api

import (
	"context"
	"fmt"
	"reflect"
	"testing"
	"time"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
)

// TestHealth: any replica returns what the leader tells of devices, agents and tasks.
func TestHealth(t *testing.T) {
	want := Health{Claims: []Claim{{Device: "tor0", State: "fenced", Refused: "table full"}},
		Agents: []Agent{{Address: "a:1", Hosts: []string{"h0-0", "h0-1"}, Lost: true, Error: "no such address"},
			{Address: "b:1", Error: "run tasks: no such host"}},
		Silent: []Silent{{Job: 3, Name: "j", Tasks: 2, Longest: 11 * time.Minute, Host: "h0-1"}}}
	tc := newTestCluster(t, func(i int, cfg *Config) {
		if i == 1 {
			cfg.Claims = func() []Claim { return want.Claims }
			cfg.Agents = func() []Agent { return want.Agents }
			cfg.Silent = func() []Silent { return want.Silent }
		}
	})
	tc.lead(1)
	for i := range 3 {
		if got, err := tc.dial(t, i).Health(within(t, hanging)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("replica %d: %+v, %v", i, got, err)
		}
	}
}

// TestClaims: any replica returns the leader's claims of devices.
func TestClaims(t *testing.T) {
	want := []Claim{{Device: "tor0", State: "fenced",
		Holds: &DeviceHolding{DeviceHolds{3, 0}, DeviceHolds{2, 0}, DeviceHolds{1, 4}}},
		{Device: "ocs", State: "unclaimed", Error: "a larger election id is known"}}
	tc := newTestCluster(t, func(i int, cfg *Config) {
		if i == 1 {
			cfg.Claims = func() []Claim { return want }
		}
	})
	ctx := within(t, hanging)
	tc.lead(1)
	for i := range 3 {
		if got, err := tc.dial(t, i).Claims(ctx); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("replica %d: %+v, %v", i, got, err)
		}
	}
	tc.lead(2) // which does not report claims
	if got, err := tc.dial(t, 0).Claims(ctx); err != nil || len(got) > 0 {
		t.Errorf("a leader that knows nothing: %+v, %v", got, err)
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if got, err := tc.dial(t, 0).Claims(gone); err == nil {
		t.Errorf("of a call that is given up: %+v, and no error", got)
	}
}

// TestWhyHere: any replica returns what the leader's policy has said of a job, and nothing where that
// says nothing.
func TestWhyHere(t *testing.T) {
	tc := newTestCluster(t, func(i int, cfg *Config) {
		cfg.Jobs = anyJob{}
		if i == 1 {
			cfg.Reasons = func(id controller.JobID) []string { return []string{fmt.Sprint("of job ", id)} }
		}
	})
	ctx := within(t, hanging)
	tc.lead(1)
	for i := range 3 {
		if got, err := tc.dial(t, i).WhyHere(ctx, 0); err != nil || len(got) != 1 || got[0] != "of job 0" {
			t.Errorf("replica %d: %q, %v", i, got, err)
		}
	}
	tc.lead(2) // which keeps no reasons
	if got, err := tc.dial(t, 0).WhyHere(ctx, 0); err != nil || len(got) > 0 {
		t.Errorf("a leader that keeps none: %q, %v", got, err)
	}
}

// anyJob knows every job.
type anyJob struct{ JobReader }

func (anyJob) Job(id controller.JobID) (*apiv1.GetJobResponse, error) {
	return &apiv1.GetJobResponse{Job: &apiv1.JobInfo{Id: int32(id)}}, nil
}
