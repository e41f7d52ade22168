package state

import (
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
		return "it waits for slots"
	case len(s.d.Down) > 0:
		return "no path is whole that its host flows could take"
	}
	return ""
}
