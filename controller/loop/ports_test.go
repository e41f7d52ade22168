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
	for one := range southbound.Port(200) {
		var q ports
		q.add(one)
		for in := range southbound.Port(200) {
			if q.has(in) != (in == one) || q.word(int(in/64))>>(in%64)&1 == 1 != (in == one) {
				t.Errorf("of input %d alone, has input %d: %v", one, in, q.has(in))
			}
		}
	}
	if p.clear(); p.any || p.has(21) {
		t.Error("it is not empty once cleared")
	}
}
