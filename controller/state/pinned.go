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

// OnPinned places the tasks of a job that have no host where it says; false while these have no room, are drained or
// lost.
func (s *State) OnPinned(j *Job) (*controller.Placement, bool) {
	p := &controller.Placement{Job: j.ID, Hosts: j.PinnedHosts()}
	if j.Hosts != nil {
		for i, h := range j.Hosts {
			if h != controller.NoHost {
				p.Hosts[i] = h
			}
		}
	}
	for _, h := range p.Hosts {
		if slices.Contains(s.d.Lost, h) {
			return nil, false
		}
	}
	return p, s.CheckPlacement(p, alone()) == nil
}
