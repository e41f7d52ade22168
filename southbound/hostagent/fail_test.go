package hostagent

import (
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestHostFails: a host fails during transfers and tasks. Its transfers and tasks are void, without
// events; the other hosts go on. Calls to it meanwhile have no effect; once back, it takes new work and
// the next try.
func TestHostFails(t *testing.T) {
	const hosts = 4
	a := newTestAgent(t, hosts, nil)
	slow := &southbound.Rates{}
	s := mesh(1, hosts, 4_000_000, southbound.TagDefault) // four seconds, so that none ends before the host fails
	for i := range s.Src {
		slow.Pairs = append(slow.Pairs, southbound.PairRate{Src: s.Src[i], Dst: s.Dst[i],
			Rate: 8 * pathmap.Mbps})
	}
	must(t, a.SetRates(slow))
	must(t, a.Start([]southbound.Start{s}))
	must(t, a.Run([]southbound.Task{{Task: 1, Host: 2, Compute: time.Hour},
		{Task: 2, Host: 1, Compute: time.Millisecond}}))
	until(t, "every host flow is under way", func() bool {
		for i := range s.Src {
			if received(a, southbound.HostFlowKey{Coflow: 1, Row: int32(i)}) == 0 {
				return false
			}
		}
		return true
	})
	must(t, a.Fail(2, false))
	must(t, a.Fail(2, false))
	void := 0
	for i := range s.Src {
		if s.Src[i] == 2 || s.Dst[i] == 2 {
			void++
		}
	}
	if st := a.Status(); st.LiveTasks > 1 || st.LiveHostFlows != int64(len(s.Src)-void) {
		t.Errorf("after the loss: %+v", st)
	}
	must(t, a.Start([]southbound.Start{{Coflow: 2, Src: []southbound.HostID{2}, Dst: []southbound.HostID{0},
		Size: []pathmap.Bytes{10}, Tag: []southbound.Tag{0}}}))
	must(t, a.Run([]southbound.Task{{Task: 3, Host: 2}, {Task: 1, Host: 0, Try: 1}}))
	must(t, a.SetRates(&southbound.Rates{Fair: true}))
	ended := len(s.Src) - void
	var tasks []southbound.Event
	lost := 0
	for _, e := range take(t, a, ended+3) { // two tasks, and the loss
		switch e.Kind {
		case southbound.HostLost:
			lost++
		case southbound.TaskEnded:
			tasks = append(tasks, e)
		case southbound.HostFlowEnded:
			if e.Coflow != 1 || s.Src[e.Row] == 2 || s.Dst[e.Row] == 2 {
				t.Errorf("a void host flow ended: %+v", e)
			}
		}
	}
	// which of two short ones ends first is open
	slices.SortFunc(tasks, func(a, b southbound.Event) int { return int(b.Task - a.Task) })
	if lost != 1 || len(tasks) != 2 || tasks[0].Task != 2 || tasks[1].Task != 1 || tasks[1].Try != 1 ||
		tasks[1].Host != 0 {
		t.Errorf("%d losses, tasks %+v", lost, tasks)
	}
	until(t, "senders hear of the end", func() bool { return a.Status().LiveHostFlows == 0 })

	must(t, a.Fail(2, true))
	must(t, a.Run([]southbound.Task{{Task: 3, Host: 2}, {Task: 3, Host: 2, Try: 1}}))
	must(t, a.Start([]southbound.Start{{Coflow: 3, Src: []southbound.HostID{2}, Dst: []southbound.HostID{0},
		Size: []pathmap.Bytes{10}, Tag: []southbound.Tag{0}}}))
	all := take(t, a, ended+6)
	if all[ended+3].Kind != southbound.HostFound || all[ended+3].Host != 2 {
		t.Errorf("%+v, want that host 2 is back", all[ended+3])
	}
	if err := a.Fail(hosts, false); err == nil {
		t.Error("a host that is none of the agent's failed")
	}
}
