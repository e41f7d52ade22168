package api

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
)

// Cancel is of a controller that has nine jobs, of which all from 5 on have ended by themselves.
func (m *member) Cancel(_ context.Context, id controller.JobID) (Ended, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.leader != m.i:
		return Ended{}, fmt.Errorf("replica %d: %w", m.i, ErrNotLeader)
	case id > 8:
		return Ended{}, &Error{Invalid, fmt.Errorf("no job %d", id)}
	}
	return Ended{time.Duration(id+1) * time.Second, id < 5}, nil
}

// TestCancelThroughAnyReplica: each replica forwards to the leader; what comes back is the leader's answer.
func TestCancelThroughAnyReplica(t *testing.T) {
	tc := newTestCluster(t, nil)
	ctx := within(t, hanging)
	tc.lead(1)
	for via := range 3 {
		c := tc.dial(t, via)
		for id, want := range map[controller.JobID]Ended{0: {time.Second, true}, 7: {8 * time.Second, false}} {
			if got, err := c.Cancel(ctx, id); err != nil || got != want {
				t.Errorf("via %d: job %d: %+v, %v; want %+v", via, id, got, err, want)
			}
		}
		for _, id := range []controller.JobID{-1, 99} {
			if _, err := c.Cancel(ctx, id); CodeOf(err) != Invalid {
				t.Errorf("via %d: job %d: %v", via, id, err)
			}
		}
	}
}

// TestNoCanceller: a controller without cancellation returns an error.
func TestNoCanceller(t *testing.T) {
	tc := newTestCluster(t, func(_ int, c *Config) { c.Canceller = nil })
	tc.lead(0)
	if _, err := tc.dial(t, 0).Cancel(within(t, hanging), 0); CodeOf(err) != Missing {
		t.Errorf("%v", err)
	}
}
