package leader_test

import (
	"errors"
	"testing"

	"lightloom/controller/policy"
)

// TestNoRelay: no replica leads by a policy that requires what hosts cannot do.
func TestNoRelay(t *testing.T) {
	p, err := policy.New("rotor-vlb", policy.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := newLab(t, 1, p)
	if err := l.leader.Run(t.Context(), 1); !errors.Is(err, policy.ErrKeepsOwn) {
		t.Errorf("it leads: %v", err)
	}
}
