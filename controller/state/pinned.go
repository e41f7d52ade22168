package state

import (
	"cmp"
	"slices"

	"lightloom/controller"
)

// PinnedWaiters are the jobs that name their hosts and wait to be placed there, or have lost hosts, by id.
func (s *State) PinnedWaiters() (out []*Job) {
	if !s.pinned {
		return nil
	}
	for _, all := range [2][]controller.JobID{s.waiting, s.evicted} {
		for _, id := range all {
			if j := s.Job(id); j.Pinned() {
				out = append(out, j)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// OnPinned places the tasks of a job that have no host where it says; false while these hosts have no room, are drained
// or lost, or belong to the slice of another job.
func (s *State) OnPinned(j *Job) (*controller.Placement, bool) {
	p, lent := &controller.Placement{Job: j.ID, Hosts: j.PinnedHosts()}, s.jobSliceHosts()
	for i, h := range p.Hosts {
		if j.Hosts != nil && j.Hosts[i] != controller.NoHost {
			p.Hosts[i] = j.Hosts[i] // it stays, perhaps on a host that was lost after its end
			continue
		}
		if s.Lost(h) || slices.Contains(lent, h) {
			return nil, false
		}
	}
	return p, s.CheckPlacement(p, alone()) == nil
}
