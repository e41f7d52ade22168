package state

import (
	"fmt"

	"lightloom/controller"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// room is what hosts have left for tasks.
type room struct {
	free  []int32 // slots, by host
	vcpus []int64 // thousandths of vCPUs, by host
	lent  []int64 // of these, what tasks have until others want it
	drains
}

func newRoom(f *topo.Fabric) room {
	r := room{free: make([]int32, f.Hosts()), vcpus: make([]int64, f.Hosts()),
		lent: make([]int64, f.Hosts())}
	for h := range r.free {
		r.back(f, southbound.HostID(h))
	}
	return r
}

// back gives a host all that it has.
func (r *room) back(f *topo.Fabric, h southbound.HostID) {
	r.free[h], r.vcpus[h], r.lent[h] = int32(f.Spec.Slots), int64(f.VCPUs(int(h)))*controller.MilliVCPUs, 0
}

func (r *room) lose(h southbound.HostID) { r.free[h], r.vcpus[h], r.lent[h] = 0, 0, 0 }

// milli returns the thousandths of vCPUs that a task has on its host.
func (s *State) milli(j *Job, i int) int64 {
	t := s.task(j, i)
	if t.MilliVCPUs > 0 {
		return int64(t.MilliVCPUs)
	}
	return int64(controller.Share(s.fabric, t.Host, s.size(j, i)))
}

// occupy has a task take slots and vCPUs of its host; vacate gives them back.
func (s *State) occupy(j *Job, i int) {
	h := s.task(j, i).Host
	s.free[h] -= s.size(j, i)
	s.vcpus[h] -= s.milli(j, i)
	s.lent[h] += int64(s.task(j, i).ExtraMilli)
}

func (s *State) vacate(j *Job, i int) {
	h := s.task(j, i).Host
	s.free[h] += s.size(j, i)
	s.vcpus[h] += s.milli(j, i)
	s.lent[h] -= int64(s.task(j, i).ExtraMilli)
}

// checkVCPUs returns why a waiting job's tasks cannot have the vCPUs that a placement gives them, or nil. A plan takes
// back first what hosts lend.
func (s *State) checkVCPUs(j *Job, p *controller.Placement, asked *Asked) error {
	if p.MilliVCPUs != nil && len(p.MilliVCPUs) != len(p.Hosts) {
		return fmt.Errorf("place job %d: vCPUs of %d tasks, hosts of %d", p.Job, len(p.MilliVCPUs), len(p.Hosts))
	}
	given := map[southbound.HostID]int64{}
	for i, milli := range p.MilliVCPUs {
		stage, h := s.task(j, i).Stage, p.Hosts[i]
		first, _ := j.StageTasks(int(stage))
		switch {
		case milli < 0 || milli > 0 && (h == controller.NoHost || j.Job.Stages[stage].Tasks[i-first].Load == 0):
			return fmt.Errorf("place job %d: task %d has no load or no host, and is given %d thousandths of a vCPU", p.Job, i,
				milli)
		case milli > 0:
			given[h] += int64(milli)
			if left := s.vcpus[h] - asked.vcpus[h]; given[h] > left {
				return fmt.Errorf("place job %d: host %d has %d thousandths of a vCPU left, and gives %d",
					p.Job, h, left, given[h])
			} else if lent := s.lent[h] + asked.lent[h]; lent > 0 && given[h]+lent > left {
				return fmt.Errorf("place job %d: host %d has %d thousandths of a vCPU left, gives %d, and lends %d", p.Job, h,
					left, given[h], lent)
			}
		}
	}
	s.askVCPUs(j, p, asked)
	return nil
}

// askVCPUs notes what the tasks of a waiting job take of their hosts.
func (s *State) askVCPUs(j *Job, p *controller.Placement, asked *Asked) {
	for i, h := range p.Hosts {
		switch {
		case h == controller.NoHost || asked.vcpus == nil:
		case p.MilliVCPUs != nil && p.MilliVCPUs[i] > 0:
			asked.vcpus[h] += int64(p.MilliVCPUs[i])
		default:
			asked.vcpus[h] += int64(controller.Share(s.fabric, h, s.size(j, i)))
		}
	}
}

// checkMovedVCPUs returns why tasks of a placed job cannot have the vCPUs that a placement gives them beside what hosts
// lend, or nil, and notes what tasks that change hosts take and leave.
func (s *State) checkMovedVCPUs(j *Job, p *controller.Placement, asked *Asked) error {
	if len(p.MilliVCPUs) > len(p.Hosts) {
		return fmt.Errorf("place job %d: vCPUs of %d tasks, hosts of %d", p.Job, len(p.MilliVCPUs), len(p.Hosts))
	}
	given := map[southbound.HostID]int64{}
	for i, milli := range p.MilliVCPUs {
		if h := p.Hosts[i]; milli > 0 && h != controller.NoHost {
			given[h] += int64(milli)
			left, lent := s.vcpus[h]-asked.vcpus[h], s.lent[h]+asked.lent[h]
			if lent > 0 && given[h]+lent > left {
				return fmt.Errorf("place job %d: host %d has %d thousandths of a vCPU left, gives %d, and lends %d", p.Job, h,
					left, given[h], lent)
			}
		}
	}
	if asked.vcpus == nil {
		return nil
	}
	for i, h := range p.Hosts {
		was := j.Hosts[i]
		if h == was { // nearly all of them, whose tasks are not even looked up
			continue
		}
		t := s.task(j, i)
		if t.Ended != Unset {
			continue
		}
		if h != controller.NoHost {
			asked.vcpus[h] += int64(controller.Share(s.fabric, h, s.size(j, i)))
		}
		if was != controller.NoHost && !asked.resized[j.FirstTask+southbound.TaskID(i)] {
			asked.vcpus[was] -= s.milli(j, i)
			asked.lent[was] -= int64(t.ExtraMilli)
		}
	}
	return nil
}

// give notes the vCPUs that a placement gives tasks.
func (s *State) give(j *Job, p *controller.Placement) {
	for i, milli := range p.MilliVCPUs {
		s.task(j, i).MilliVCPUs = milli
	}
}

// size returns how many slots a task takes, by its number within its job.
func (s *State) size(j *Job, i int) int32 {
	stage := int(s.task(j, i).Stage)
	first, _ := j.StageTasks(stage)
	return j.Job.Stages[stage].Tasks[i-first].Size()
}

// take has a task take its slots of a host in held, which counts what others of the same plan take, if
// there are so many.
func (s *State) take(j *Job, i int, h southbound.HostID, held map[southbound.HostID]int32) error {
	size := s.size(j, i)
	if s.isDrained(h) {
		return fmt.Errorf("place job %d: host %d is drained", j.ID, h)
	}
	if held[h] += size; held[h] <= s.free[h] {
		return nil
	}
	if size > 1 {
		return fmt.Errorf("place job %d: host %d has not %d slots left for task %d", j.ID, h, size, i)
	}
	return fmt.Errorf("place job %d: host %d has no slot left", j.ID, h)
}
