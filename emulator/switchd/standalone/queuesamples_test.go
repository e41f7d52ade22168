package standalone

import (
	"testing"

	"lightloom/emulator/target"
)

// TestQueueSamples: the most of all samples, and their mean, stand beside what else was counted; before the
// first there is nothing.
func TestQueueSamples(t *testing.T) {
	var l queueSamples
	counts := []target.PortCount{{OutPkts: 1}, {OutPkts: 2}}
	if l.put(counts); counts[0].Looks != (target.QueueSamples{}) {
		t.Errorf("before any look: %+v", counts)
	}
	for _, waits := range [][]uint64{{0, 10}, {3000, 20}, {0, 0}} {
		l.add(waits)
	}
	l.put(counts)
	for i, want := range []target.PortCount{{OutPkts: 1,
		Looks: target.QueueSamples{Number: 3, Most: 3000, Mean: 1000}},
		{OutPkts: 2, Looks: target.QueueSamples{Number: 3, Most: 20, Mean: 10}}} {
		if counts[i] != want {
			t.Errorf("port %d: %+v, want %+v", i, counts[i], want)
		}
	}
}
