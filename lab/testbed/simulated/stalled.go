package simulated

import (
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// progress is what a run had done when it was last seen to have done something.
type progress struct {
	at       time.Duration
	ended    int           // jobs
	received pathmap.Bytes // -1: not known
}

// stalled reports whether a run does nothing any more although its policy asks to be called again and again, or has
// circuits turn: a fault that lasts can leave a host flow without any path. It is asked once in thousands of events. A
// run has stalled if nothing more arrives, fails or computes, and if for longer than anything is waited for no byte has
// been received and no job has ended.
func (x *Testbed) stalled() bool {
	ended := x.State.Finished()
	if ended != x.progress.ended || x.now <= x.planned() || x.Sim.Computing() > 0 {
		x.progress = progress{x.now, ended, -1}
		return false
	}
	if x.now-x.progress.at <= x.patience() {
		return false
	}
	if got := x.Received(); got != x.progress.received {
		x.progress = progress{x.now, ended, got}
		return false
	}
	return true
}

// planned is the last instant for which the scenario itself plans something.
func (x *Testbed) planned() time.Duration {
	s := x.s
	return max(s.LastArrival()+s.Admission, s.LastFault(), s.Until, s.StopAt)
}

// patience is how long a run that goes on can receive nothing: while circuits move, while those stand that others have
// reserved, or until a stream's job is cancelled.
func (x *Testbed) patience() time.Duration {
	longest := max(time.Minute, min(x.control.delta, southbound.Never/200)*100)
	for i := range x.s.Jobs {
		longest = max(longest, x.s.Jobs[i].Lifetime)
	}
	for in := range x.Fabric().OCSPorts() {
		if r := x.State.First(southbound.Port(in)); r != nil {
			longest = max(longest, r.NotAfter-r.NotBefore)
		}
	}
	return longest
}
