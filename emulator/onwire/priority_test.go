package onwire

import (
	"fmt"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestPriorityOnWire: three coflows meet at one port of a switch, each with what the port carries in d,
// and end in the order of their priorities, about d after each other. Priorities can change in
// mid-flow.
func TestPriorityOnWire(t *testing.T) {
	const d = 200 * time.Millisecond
	const rate = 20 * pathmap.Mbps
	for _, tc := range []struct {
		name     string
		src, dst [3]southbound.HostID
		swap     bool // first and last, after half of d
		want     [3]float64
	}{
		{"at the uplink of a rack", [3]southbound.HostID{0, 1, 0}, [3]southbound.HostID{2, 3, 2}, false,
			[3]float64{1, 2, 3}},
		{"at the spine", [3]southbound.HostID{0, 4, 6}, [3]southbound.HostID{2, 3, 2}, false,
			[3]float64{1, 2, 3}},
		{"changed in mid-flow", [3]southbound.HostID{0, 4, 6}, [3]southbound.HostID{2, 3, 2}, true,
			[3]float64{3, 2.5, 1.5}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t, "hybrid:racks=4,hosts=2,spines=1,nic=100Mbps,eps=20Mbps,ocs=200Mbps")
			n := 0
			w.Measure(t, patience, func() error {
				first := southbound.CoflowID(n)
				n += 3
				set := func(top, last southbound.CoflowID) {
					p := []southbound.Priority{{Coflow: first, Priority: 1}, {Coflow: first + 1, Priority: 3},
						{Coflow: first + 2, Priority: 1}}
					p[top].Priority = southbound.MaxPriority
					must(t, w.SetRates(&southbound.Rates{Fair: true, Priority: p}))
				}
				set(0, 2)
				began := w.now()
				var starts []southbound.Start
				for k := range tc.src {
					starts = append(starts, one(first+southbound.CoflowID(k), tc.src[k], tc.dst[k],
						payload(rate, d), 1))
				}
				must(t, w.Start(starts))
				if tc.swap {
					wait(t, d/2)
					set(2, 0)
				}
				ends := [3]float64{}
				for _, e := range w.take(t, n)[n-3:] {
					ends[e.Coflow-first] = float64(e.At-began) / float64(d)
				}
				t.Logf("ended after %.2f times d", ends)
				for k, want := range tc.want {
					// A lower priority has a sixteenth of the link whatever the higher send, so the first end later.
					if ends[k] < want*0.9 || ends[k] > want+0.45 {
						return fmt.Errorf("ended after %.2f times d, want about %v", ends, tc.want)
					}
				}
				return nil
			})
		})
	}
}
