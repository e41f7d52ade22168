package loop

import (
	"testing"

	"lightloom/southbound"
)

// TestSent: a coflow has the tags that were set last, and none that was never set has any.
func TestSent(t *testing.T) {
	var s sent
	s.set(3, []southbound.Tag{southbound.TagHold})
	for id := range southbound.CoflowID(6) {
		if got := len(s.of(id)); (got == 1) != (id == 3) {
			t.Errorf("coflow %d has %d tags", id, got)
		}
	}
	if s.set(3, nil); s.of(3) != nil {
		t.Error("one that is over has tags")
	}
}
