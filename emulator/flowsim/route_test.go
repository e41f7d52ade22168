package flowsim

import (
	"slices"
	"testing"

	"lightloom/pathmap"
)

// TestAsked: a route keeps who was asked last, however many they are and were before.
func TestAsked(t *testing.T) {
	all := []pathmap.NodeID{7, 3, 9, 1, 8, 2, 6}
	r := newRoute(pair{0, 1, 0})
	if len(r.asked()) != 0 {
		t.Errorf("a new route has asked %v", r.asked())
	}
	for _, n := range []int{2, 4, 7, 3, 5, 0, 6, 1} {
		if r.ask(all[:n]); !slices.Equal(r.asked(), all[:n]) {
			t.Errorf("asked %v, want %v", r.asked(), all[:n])
		}
	}
}
