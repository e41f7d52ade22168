package api

import (
	"slices"
	"testing"
	"time"

	"lightloom/controller"
)

// TestLinks: any replica returns the link rates that the leader's policies see.
func TestLinks(t *testing.T) {
	tc := newTestCluster(t, func(i int, cfg *Config) {
		if i == 1 {
			cfg.Links = func() []Link {
				return []Link{{ID: 3, From: "tor1", To: "spine0", LinkRate: controller.LinkRate{Rate: 40e6, Drops: 7,
					Span: time.Second, At: 4 * time.Second}}}
			}
		}
	})
	ctx := within(t, hanging)
	tc.lead(1)
	want := []Link{{ID: 3, From: "tor1", To: "spine0", LinkRate: controller.LinkRate{Rate: 40e6, Drops: 7,
		Span: time.Second, At: 4 * time.Second}}}
	for i := range 3 {
		if got, err := tc.dial(t, i).Links(ctx); err != nil || !slices.Equal(got, want) {
			t.Errorf("replica %d: %+v, %v", i, got, err)
		}
	}
	tc.lead(2) // which does not count
	if got, err := tc.dial(t, 0).Links(ctx); err != nil || len(got) > 0 {
		t.Errorf("a leader that knows nothing: %+v, %v", got, err)
	}
}
