package controller

import (
	"strings"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestDeadline: what Check takes as a deadline, so that arrival plus deadline is an instant before Never.
func TestDeadline(t *testing.T) {
	for _, tc := range []struct {
		name              string
		arrival, deadline time.Duration
		ok                bool
	}{
		{"none", time.Hour, 0, true},
		{"a nanosecond", 0, 1, true},
		{"the last instant", time.Hour, southbound.Never - 1 - time.Hour, true},
		{"beyond it", time.Hour, southbound.Never - time.Hour, false},
		{"below zero", 0, -1, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			j := Job{Name: "j", Arrival: tc.arrival, Deadline: tc.deadline,
				Edges: []Edge{{Flows: []Flow{{Dst: 1, Bytes: 1}}}}}
			err := j.Check(2, 0)
			if (err == nil) != tc.ok || err != nil && !strings.Contains(err.Error(), "is to end") {
				t.Errorf("got %v", err)
			}
		})
	}
}
