package state

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Reasons returns what the jobs that have not ended wait for, as far as failures are the reason.
func (s *State) Reasons() map[controller.JobID]string {
	f := s.Fabric()
	out := map[controller.JobID]string{}
	for _, j := range s.Data().Jobs {
		if j.Ended != Unset {
			continue
		}
		why := s.Reason(j, func(h southbound.HostID) string { return f.Topology.Node(f.HostNode[h]).Name })
		switch {
		case why != "":
		case j.Placed == Unset:
			why = "it waits for slots"
		case len(s.Data().Down) > 0:
			why = "no path is whole that its host flows could take"
		}
		if why != "" {
			out[j.ID] = why
		}
	}
	return out
}
