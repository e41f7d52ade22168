package state

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Jobs that read what others write: docs/decisions/0097-parents-by-name.md.

// ErrParents marks a job that is refused for the jobs that it would read from.
var ErrParents = errors.New("what it reads is refused")

// Blocked returns the jobs that wait for what they read, by id. Borrowed.
func (s *State) Blocked() []controller.JobID { return s.blocked }

// blocks reports whether something that a job reads is not there: it has not been written, or its host
// is lost.
func (s *State) blocks(j *Job) bool {
	return slices.ContainsFunc(j.Edges, func(e controller.Edge) bool {
		return e.Reads != nil && (!e.Reads.Ready || slices.ContainsFunc(e.Reads.Hosts, s.Lost))
	})
}

// noteUnplaced lists a job among those that wait for slots, or for what they read, or takes it off both
// lists.
func (s *State) noteUnplaced(j *Job) {
	unplaced := j.Placed == Unset && j.Ended == Unset
	blocked := unplaced && s.blocks(j)
	s.pinned = s.pinned || j.Pinned()
	s.sliced = s.sliced || j.Slice != ""
	s.staged = s.staged || len(j.Job.Stages) > 0
	list(&s.waiting, j.ID, unplaced && !blocked)
	list(&s.blocked, j.ID, blocked)
}

// list has a sorted list hold an id, or not.
func list(ids *[]controller.JobID, id controller.JobID, holds bool) {
	i, held := slices.BinarySearch(*ids, id)
	switch {
	case holds && !held:
		*ids = slices.Insert(*ids, i, id)
	case held && !holds:
		*ids = slices.Delete(*ids, i, i+1)
	}
}

// noteReaders lists the jobs anew that wait and read: a host has gone or come.
func (s *State) noteReaders() {
	for _, id := range slices.Concat(s.waiting, s.blocked) {
		if j := s.Job(id); j.Reading() {
			s.noteUnplaced(j)
		}
	}
}

// findParents links what a new job reads to the jobs that write it.
func (s *State) findParents(j *Job) {
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Reads == nil {
			continue
		}
		r := controller.Read{Job: e.Reads.Job, Kind: e.Reads.Kind, Ready: true}
		if r.Job == "" {
			r.Hosts = slices.Clone(e.Reads.Hosts)
		} else {
			r.Ready = false
			s.link(&r, s.named(j.User, r.Job))
		}
		e.Reads = &r
	}
}

// named returns the newest job of a name that was not cancelled; nil if there is none.
func (s *State) named(user, name string) *Job {
	for i := len(s.d.Jobs) - 1; i >= 0; i-- {
		if j := s.d.Jobs[i]; j.Name == name && j.User == user && !j.failed() {
			return j
		}
	}
	return nil
}

// failed reports whether a job will not write its output any more.
func (j *Job) failed() bool { return j.Cancelled && !j.Expired }

// link has a job read from a parent, which can be nil.
func (s *State) link(r *controller.Read, of *Job) {
	if of == nil {
		return
	}
	r.Known, r.Parent = true, of.ID
	if r.Ready = of.Ended != Unset && !of.failed(); r.Ready {
		r.Hosts, r.Since = of.outputs(), of.Ended
	}
}

// outputs returns the hosts that hold what a job has written, by part.
func (j *Job) outputs() []southbound.HostID {
	var out []southbound.HostID
	for _, i := range j.Outputs() {
		if h := j.hosts()[i]; h != controller.NoHost {
			out = append(out, h)
		}
	}
	return out
}

// orphan reports whether a read has no parent that could still write it.
func (s *State) orphan(r *controller.Read) bool {
	if r == nil || r.Ready {
		return false
	}
	of := s.Job(r.Parent)
	return !r.Known || of == nil || of.failed()
}

// findChildren links jobs to a new one that they wait for.
func (s *State) findChildren(j *Job) {
	s.relink(j, func(of *Job, r *controller.Read) bool {
		return of.ID != j.ID && of.User == j.User && r.Job == j.Name && s.orphan(r)
	})
}

// deliver lets jobs read what one that has ended has written.
func (s *State) deliver(j *Job) {
	s.relink(j, func(_ *Job, r *controller.Read) bool { return r.Known && !r.Ready && r.Parent == j.ID })
}

// relink renews the links of waiting jobs to one that they read from.
func (s *State) relink(to *Job, which func(*Job, *controller.Read) bool) {
	for _, id := range slices.Clone(s.blocked) {
		for i := range s.Job(id).Edges {
			of := s.Job(id)
			if r := of.Edges[i].Reads; r == nil || !which(of, r) {
				continue
			}
			s.own(id)
			of = s.Job(id)
			r := *of.Edges[i].Reads
			s.link(&r, to)
			of.Edges[i].Reads = &r
			s.noteUnplaced(of)
		}
	}
}

// CheckParents returns what is wrong with what jobs would read that are accepted together, or nil: some
// would wait for each other in a circle.
func (s *State) CheckParents(jobs []*controller.Job) error {
	if !slices.ContainsFunc(jobs, (*controller.Job).Reading) {
		return nil // those that wait already do not wait in a circle
	}
	if _, err := controller.ParentsFirst(jobs); err != nil {
		return fmt.Errorf("%w: %w", ErrParents, err)
	}
	all := slices.Clone(jobs)
	for _, id := range s.blocked {
		all = append(all, &s.Job(id).Job)
	}
	next := make([][]int, len(all))
	for i, j := range all {
		for k := range j.Edges {
			if r := j.Edges[k].Reads; r != nil && r.Job != "" {
				next[i] = append(next[i], s.readsFrom(all, len(jobs), i, r)...)
			}
		}
	}
	if _, circle := controller.Depend(next); circle != nil {
		return fmt.Errorf("%w: %w", ErrParents, controller.InCircle(circle,
			func(i int) string { return all[i].Name }))
	}
	return nil
}

// readsFrom returns which of some jobs, the first n of which are not accepted yet, a read of one of
// them waits for.
func (s *State) readsFrom(all []*controller.Job, n, reader int, r *controller.Read) (out []int) {
	for i, j := range all {
		accepted := i >= n
		switch {
		case reader >= n && accepted && !s.orphan(r): // it is linked
			if r.Known && !r.Ready && r.Parent == j.ID {
				out = append(out, i)
			}
		case reader >= n && (accepted || !s.orphan(r)):
		case j.User == all[reader].User && j.Name == r.Job:
			out = append(out, i)
		}
	}
	return out
}

// awaitsParents says which of the things that a job reads is not there; "" if all are.
func (s *State) awaitsParents(j *Job, name func(southbound.HostID) string) string {
	for i := range j.Edges {
		r := j.Edges[i].Reads
		switch {
		case r == nil:
		case s.orphan(r) && r.Known:
			return fmt.Sprintf("it reads what job %q writes, which was cancelled: cancel this one too, or submit a job of "+
				"that name again", r.Job)
		case s.orphan(r):
			return fmt.Sprintf("it reads what job %q writes, which has not been submitted", r.Job)
		case !r.Ready:
			return fmt.Sprintf("it reads what job %q (%d) writes, which has not ended", r.Job, r.Parent)
		}
		for k := 0; r != nil && k < len(r.Hosts); k++ {
			if h := r.Hosts[k]; s.Lost(h) {
				return "what it reads lies on host " + name(h) + ", which is lost: it begins when that is back"
			}
		}
	}
	return ""
}

// checkReads checks what the jobs of a snapshot read.
func checkReads(j *Job, f *topo.Fabric) error {
	for k, e := range j.Edges {
		r := e.Reads
		if r == nil {
			continue
		}
		if e.Kind != controller.Fixed || e.To < 0 || e.To >= len(j.Stages) || r.Parent < 0 {
			return fmt.Errorf("has an edge %d that reads into no stage", k)
		}
		for _, h := range r.Hosts {
			if h < 0 || int(h) >= f.Hosts() {
				return fmt.Errorf("reads from host %d of %d", h, f.Hosts())
			}
		}
	}
	return nil
}
