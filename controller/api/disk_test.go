package api

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/controller"
)

// TestDiskHasACodeOfItsOwn: a replica whose disk takes no writes reports so if it can neither execute
// nor forward a call, and if a call's outcome is not known. While another replica leads it forwards
// calls as before.
func TestDiskHasACodeOfItsOwn(t *testing.T) {
	t.Parallel()
	var full atomic.Bool
	tc := newTestCluster(t, func(_ int, c *Config) {
		c.Disk = func() error {
			if full.Load() {
				return errors.New("no space left on device")
			}
			return nil
		}
	})
	c := tc.dial(t, 0)
	// A deadline of the caller's could end an attempt, whose outcome nobody knows then; patience ends
	// between two.
	const short, long = 300 * time.Millisecond, time.Minute
	submit := func(patience time.Duration) error {
		c.Patience = patience
		_, err := c.Submit(t.Context(), NewRequestID(), []*controller.Job{coflow("a")})
		return err
	}
	tc.lead(-1)
	if err := submit(short); CodeOf(err) != NoLeader {
		t.Errorf("without a leader: %v", err)
	}
	full.Store(true)
	if err := submit(short); CodeOf(err) != Disk || Disk.ExitStatus() != 8 ||
		!strings.Contains(err.Error(), "no space left") {
		t.Errorf("without room: code %q, %v", CodeOf(err), err)
	}
	tc.lead(1)
	if err := submit(long); err != nil {
		t.Errorf("while another leads: %v", err)
	}
	tc.lead(0)
	tc.mu.Lock()
	tc.fate = []error{ErrUncertain}
	tc.mu.Unlock()
	if err := submit(long); err != nil {
		t.Errorf("a second attempt at what was uncertain: %v", err)
	}
	full.Store(false)
}
