package server

import (
	"testing"
	"time"
)

// TestClock: a leadership begins at its wall clock, or at the last entry if that is later, and never
// goes back.
func TestClock(t *testing.T) {
	epoch := time.Unix(1_700_000_000, 0)
	wall := epoch.Add(time.Hour)
	c := newClock(epoch, func() time.Time { return wall })
	for _, tt := range []struct {
		name    string
		wall    time.Duration
		last    time.Duration
		atLeast time.Duration
	}{
		{"on time", time.Hour, 59 * time.Minute, time.Hour},
		{"an hour behind", 0, time.Hour, time.Hour},
		{"a day ahead", 24 * time.Hour, time.Hour, 24 * time.Hour},
		{"back again", time.Hour, 24 * time.Hour, 24 * time.Hour},
		{"before the epoch", -time.Hour, 0, 0},
		{"ten years ahead", 87_600 * time.Hour, time.Hour, 87_600 * time.Hour},
		{"ten years behind", -87_600 * time.Hour, 2 * time.Hour, 2 * time.Hour},
	} {
		wall = epoch.Add(tt.wall)
		c.begin(epoch, tt.last)
		first := c.now()
		wall = epoch // steps of the wall clock later on mean nothing
		if next := c.now(); first < tt.atLeast || first > tt.atLeast+time.Minute || next < first {
			t.Errorf("%s: %v, then %v, want %v", tt.name, first, next, tt.atLeast)
		}
	}
}
