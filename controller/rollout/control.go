package rollout

import (
	"slices"
	"time"

	"lightloom/pathmap/topo"
)

// Control is what one step of the controller takes beside what devices take: for the simulator and for
// the δ that schedules assume. The figures are medians of the demo's three replicas on two cores.
type Control struct {
	Commit, RPC, Drain time.Duration
}

// DefaultControl is the time that control takes if it was not measured.
func DefaultControl() Control {
	return Control{Commit: 2 * time.Millisecond, RPC: time.Millisecond, Drain: 3 * time.Millisecond}
}

// Delta is the reconfiguration delay that a circuit move should take where the device takes that long:
// the intent is committed, ToRs forget the old circuit, its port drains, the OCS moves, the ToR learns
// of the new one, and the outcome is committed.
func (c Control) Delta(device time.Duration) time.Duration {
	return 2*c.Commit + 3*c.RPC + c.Drain + device
}

// Deltas returns the reconfiguration delay of the slowest OCS of a fabric, by its spec, and those of each;
// nil where all are as fast.
func (c Control) Deltas(spec topo.Spec) (most time.Duration, each []time.Duration) {
	if !spec.OwnDelays() {
		return c.Delta(spec.Dark), nil
	}
	for ocs := range spec.ParallelOCSes() {
		sum := spec.Dark
		if dark, own := spec.OwnDelay("dark", ocs); own {
			sum = dark
		}
		apply, _ := spec.OwnDelay("apply", ocs)
		lock, _ := spec.OwnDelay("lock", ocs)
		each = append(each, c.Delta(apply+sum+lock))
	}
	return slices.Max(each), each
}

// Options returns the options of moves with a target reconfiguration delay of delta: a move is given up
// after three times as long, and at least 5 s.
func (c Control) Options(delta time.Duration) Options {
	return Options{Drain: c.Drain, Timeout: max(5*time.Second, 3*delta), Retry: 50 * time.Millisecond}
}
