package leader_test

import (
	"errors"
	"testing"

	"lightloom/controller/policy"
)

// TestNoRelay: nobody leads by a policy that wants of hosts what they cannot do.
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
