package api

import (
	"slices"
	"testing"
)

// TestClaims: any replica returns the leader's claims of devices.
func TestClaims(t *testing.T) {
	want := []Claim{{Device: "tor0", State: "fenced"}, {"ocs", "unclaimed", "a larger election id is known"}}
	tc := newTestCluster(t, func(i int, cfg *Config) {
		if i == 1 {
			cfg.Claims = func() []Claim { return want }
		}
	})
	ctx := within(t, hanging)
	tc.lead(1)
	for i := range 3 {
		if got, err := tc.dial(t, i).Claims(ctx); err != nil || !slices.Equal(got, want) {
			t.Errorf("replica %d: %+v, %v", i, got, err)
		}
	}
	tc.lead(2) // which does not report claims
	if got, err := tc.dial(t, 0).Claims(ctx); err != nil || len(got) > 0 {
		t.Errorf("a leader that knows nothing: %+v, %v", got, err)
	}
}
