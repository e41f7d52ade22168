package leader

import (
	"slices"
	"testing"

	"lightloom/controller/loop"
	"lightloom/southbound"
)

// TestCountBuffer: what comes later takes the place of what is known of a port, whichever ports come
// first; a device that counts anew begins with what comes then. What is taken is sorted, and gone.
func TestCountBuffer(t *testing.T) {
	of := func(in uint64, ports ...southbound.Port) (out []southbound.PortCounters) {
		for _, p := range ports {
			out = append(out, southbound.PortCounters{Port: p, InOctets: in})
		}
		return out
	}
	var b countBuffer
	b.put(5, of(1, 0, 3, 7), false)
	b.put(2, of(2, 1), false)
	b.put(5, of(3, 3, 5), false)
	b.put(5, of(4, 2, 7), false)
	b.put(2, of(5, 0), true)
	want := []loop.DeviceCounts{{Device: 2, Anew: true, Ports: of(5, 0)},
		{Device: 5, Ports: slices.Concat(of(1, 0), of(4, 2), of(3, 3, 5), of(4, 7))}}
	got := b.take()
	if !slices.EqualFunc(got, want, func(x, y loop.DeviceCounts) bool {
		return x.Device == y.Device && x.Anew == y.Anew && slices.Equal(x.Ports, y.Ports)
	}) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := b.take(); len(got) != 0 {
		t.Errorf("taken twice: %+v", got)
	}
}
