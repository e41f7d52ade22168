package state

import (
	"fmt"

	"lightloom/controller"
	"lightloom/southbound"
)

// Reasons returns what the jobs that have not ended wait for, as far as failures are the reason.
func (s *State) Reasons() map[controller.JobID]string {
	out := map[controller.JobID]string{}
	for _, j := range s.d.Jobs {
		if why := s.Why(j); why != "" {
			out[j.ID] = why
		}
	}
	return out
}

// Why returns what a job waits for that has not ended, as far as slots or failures are the reason; otherwise "".
func (s *State) Why(j *Job) string {
	if j.Ended != Unset {
		return ""
	}
	f := s.fabric
	why := s.Reason(j, func(h southbound.HostID) string { return f.Topology.Node(f.HostNode[h]).Name })
	switch {
	case why != "":
		return why
	case j.Placed == Unset:
		return s.awaitsSlots(j)
	case len(s.d.Down) > 0:
		return "no path is whole that its host flows could take"
	}
	return ""
}

// awaitsSlots says what a job waits for that could begin: slots, of which the hosts that are left can have too few.
func (s *State) awaitsSlots(j *Job) string {
	if !j.Incremental && (len(s.d.Lost) > 0 || s.drains.hosts != nil) {
		if n, left := j.Slots(), s.slotsLeft(); n > left {
			return fmt.Sprintf("it takes %d slots at once, and hosts with %d are left: it waits for those lost or drained", n,
				left)
		}
	}
	return "it waits for slots"
}

// slotsLeft returns how many slots the hosts have that are neither lost nor drained.
func (s *State) slotsLeft() (n int) {
	for h := range southbound.HostID(s.fabric.Hosts()) {
		if !s.Lost(h) && !s.isDrained(h) {
			n += s.fabric.Spec.Slots
		}
	}
	return n
}
