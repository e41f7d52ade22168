package loop

import (
	"testing"

	"lightloom/southbound"
)

// TestPortsBits: a word of bits adds the inputs that it stands for, and no others.
func TestPortsBits(t *testing.T) {
	var p ports
	p.addBits(16, 1<<0|1<<5)
	p.addBits(112, 1<<15)
	want := map[southbound.Port]bool{16: true, 21: true, 127: true}
	for in := range southbound.Port(200) {
		if p.has(in) != want[in] {
			t.Errorf("has input %d: %v", in, p.has(in))
		}
	}
	if p.clear(); p.any || p.has(21) {
		t.Error("it is not empty once cleared")
	}
}

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
