package state

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"lightloom/controller"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// jobPrefix begins the names of slices that are made for jobs. Users cannot take such names.
const jobPrefix = "job-"

// JobSliceName is what the slice of a job is called.
func JobSliceName(id controller.JobID) string { return fmt.Sprintf("%s%d", jobPrefix, id) }

// IsJobSliceName reports whether a name is kept for the slices of jobs.
func IsJobSliceName(name string) bool {
	digits, ok := strings.CutPrefix(name, jobPrefix)
	_, err := strconv.ParseUint(digits, 10, 31)
	return ok && err == nil
}

// ofName returns the job whose slice a name is kept for; false for other names.
func ofName(name string) (controller.JobID, bool) {
	if !IsJobSliceName(name) {
		return 0, false
	}
	id, _ := strconv.ParseUint(name[len(jobPrefix):], 10, 31)
	return controller.JobID(id), JobSliceName(controller.JobID(id)) == name
}

// CheckSliceNames returns which slice is in the way of a job that asks for one, or nil: users may have named theirs so
// before jobs had any, and what has such a name now would be taken for a job's that is to come.
func (s *State) CheckSliceNames(j *controller.Job) error {
	for i := range s.d.Slices {
		name := s.d.Slices[i].Name
		if id, ok := ofName(name); ok && j.Slice != "" && id >= s.d.Next.Job {
			return fmt.Errorf("job %q: slice %q has a name that is kept for slices of jobs: delete that slice first", j.Name,
				name)
		}
	}
	return nil
}

// JobOf returns the job that a slice was made for; nil where a user asked for it, or the job has ended.
func (s *State) JobOf(x *Slice) *Job {
	id, ok := ofName(x.Name)
	j := s.Job(id)
	if !ok || x.Request != x.Name || j == nil || j.Slice == "" || j.Ended != Unset || j.Cancelled && j.Placed == Unset {
		return nil
	}
	return j
}

// OfJob reports whether a slice was made for a job, which perhaps has ended, or has left the state. A user's has the
// name of no job, or of one that asks for no slice.
func (s *State) OfJob(x *Slice) bool {
	id, ok := ofName(x.Name)
	if !ok || x.Request != x.Name || id >= s.d.Next.Job {
		return false
	}
	j := s.Job(id)
	return j == nil || j.Slice != ""
}

// SliceWaiters are the jobs that wait to be placed on a slice or have lost hosts of one, by id.
func (s *State) SliceWaiters() (out []*Job) {
	if s.slicing.want == nil || !s.sliced {
		return nil
	}
	for _, all := range [2][]controller.JobID{s.waiting, s.evicted} {
		for _, id := range all {
			if j := s.Job(id); j.Slice != "" {
				out = append(out, j)
			}
		}
	}
	slices.SortFunc(out, func(a, b *Job) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// sliceHosts returns the hosts of a placed slice: all of its racks, or cube by cube, and within a cube by their number.
func (s *State) sliceHosts(x *torus.Slice) (out []southbound.HostID) {
	for _, r := range x.Ring {
		for h := s.fabric.FirstHost[r]; h < s.fabric.FirstHost[r+1]; h++ {
			out = append(out, southbound.HostID(h))
		}
	}
	side := s.fabric.Spec.Side
	if x.Place == nil {
		return out
	}
	for _, q := range x.Place.Parts {
		for left := q.Nodes; left != 0; left &= left - 1 {
			n := bits.TrailingZeros64(left) // 16x + 4y + z
			at := (n/16*side+n/4%4)*side + n%4
			out = append(out, southbound.HostID(s.fabric.FirstHost[q.Cube]+int32(at)))
		}
	}
	slices.Sort(out)
	return out
}

// jobSliceHosts are the hosts of all slices of jobs: nothing else is placed there.
func (s *State) jobSliceHosts() (out []southbound.HostID) {
	for i := range s.d.Slices {
		if x := &s.d.Slices[i]; s.OfJob(x) {
			out = append(out, s.sliceHosts(&x.Slice)...)
		}
	}
	return out
}

// OnSlice places the tasks of a job that have no host on the nodes of its slice in turn; others keep theirs. It
// returns false while the slice is not Ready, or its nodes have no room for all.
func (s *State) OnSlice(j *Job) (*controller.Placement, bool) {
	x, ok := s.Slice(JobSliceName(j.ID))
	if !ok || x.State != torus.Ready || s.JobOf(&x) == nil {
		return nil, false
	}
	hosts := slices.DeleteFunc(s.sliceHosts(&x.Slice), func(h southbound.HostID) bool {
		return slices.Contains(s.d.Lost, h) || s.isDrained(h)
	})
	p := &controller.Placement{Job: j.ID, Hosts: slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())}
	copy(p.Hosts, j.Hosts)
	held, at := map[southbound.HostID]int32{}, 0
	for i, h := range p.Hosts {
		if h != controller.NoHost {
			continue
		}
		size, found := s.size(j, i), false
		for range hosts {
			h = hosts[at%len(hosts)]
			at++
			if found = held[h]+size <= s.free[h]; found {
				break
			}
		}
		if !found {
			return nil, false
		}
		held[h] += size
		p.Hosts[i] = h
	}
	return p, s.CheckPlacement(p, alone()) == nil
}
