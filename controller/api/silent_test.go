package api

import (
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/southbound/guard/guardtest"
)

// TestStatusAmongSilentSockets: silent connections occupy every northbound port, more than there are
// slots, and a caller that reconnects each time is answered by each. LIGHTLOOM_MEASURE=sockets holds
// 10,000 a port, each of which returns 3 s after it was closed; it needs the machine for itself.
func TestStatusAmongSilentSockets(t *testing.T) {
	full := os.Getenv("LIGHTLOOM_MEASURE") == "sockets"
	tc := newTestCluster(t, func(_ int, c *Config) {
		if c.Limits.Open = 32; full {
			c.Limits.Open = 0
		}
	})
	rounds := 5
	if full {
		rounds = 300
	}
	for _, addr := range tc.addrs {
		if full {
			guardtest.Process(t, addr, 10_000, 3*time.Second)
		} else {
			guardtest.Hold(t, addr, 300, time.Second)
		}
	}
	ctx := within(t, time.Duration(1+rounds/100)*hanging)
	var took []time.Duration
	for range rounds {
		for i := range tc.addrs {
			c := tc.dial(t, i)
			begun := time.Now()
			if _, err := c.StatusOf(ctx, 0); err != nil {
				t.Fatal(err)
			}
			took = append(took, time.Since(begun))
			c.Close()
		}
	}
	slices.Sort(took)
	p99 := took[len(took)*99/100]
	t.Logf("%d calls, each over a connection of its own: p50 %v, p99 %v", len(took), took[len(took)/2], p99)
	if full && p99 > 100*time.Millisecond {
		t.Errorf("p99 %v, want at most 100 ms", p99)
	}
}
