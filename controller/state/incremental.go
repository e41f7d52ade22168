package state

import (
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// checkIncremental returns what is wrong with a placement as far as it is incremental, or nil: only an
// incremental job can be placed in part, some task gets a host, and tasks that read from afar are tasks
// that get one, in order.
func (s *State) checkIncremental(j *Job, p *controller.Placement) error {
	if len(p.Hosts) != j.Tasks() {
		return fmt.Errorf("place job %d: %d hosts for %d tasks", p.Job, len(p.Hosts), j.Tasks())
	}
	if !j.Incremental && slices.Contains(p.Hosts, controller.NoHost) {
		return fmt.Errorf("place job %d: task %d has no host, and the job is not placed incrementally", p.Job,
			slices.Index(p.Hosts, controller.NoHost))
	}
	if j.Incremental && len(p.Hosts) > 0 && slices.Equal(p.Hosts, j.hosts()) {
		return ErrStale
	}
	if len(p.PolicyState) > controller.MaxPolicyState {
		return fmt.Errorf("place job %d: a memo of %d numbers, at most %d are kept", p.Job, len(p.PolicyState),
			controller.MaxPolicyState)
	}
	for k, i := range p.NonLocal {
		if i < 0 || int(i) >= len(p.Hosts) || p.Hosts[i] == controller.NoHost || k > 0 && p.NonLocal[k-1] >= i {
			return fmt.Errorf("place job %d: task %d of %d is said to read from afar, and is not placed, or not in order", p.Job,
				i, len(p.Hosts))
		}
	}
	return s.checkReadFrom(j, p)
}

// hosts returns the hosts of a job's tasks, NoHost for each before any is placed.
func (j *Job) hosts() []southbound.HostID {
	if j.Hosts != nil {
		return j.Hosts
	}
	return slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())
}

// awaits returns what an incremental job with unplaced tasks waits for. A receiving stage waits until
// all of its tasks have slots, and failed hosts can have left too few for that.
func (s *State) awaits(j *Job) string {
	slots := s.slotsLeft()
	for k := range j.Job.Stages {
		first, end := j.StageTasks(k)
		receives := slices.ContainsFunc(j.Edges, func(e controller.Edge) bool {
			return e.FollowsTasks() && e.To == k
		})
		if receives && end-first > slots && slices.Contains(j.Hosts[first:end], controller.NoHost) {
			return fmt.Sprintf("stage %q receives, and its %d tasks must all have a slot for that: hosts with %d are left",
				j.Job.Stages[k].Name, end-first, slots)
		}
	}
	return "some of its tasks wait for slots"
}
