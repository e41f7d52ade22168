package controller

import (
	"fmt"
	"math"
	"time"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// MilliVCPUs are thousandths of a vCPU, in which vCPUs are given to tasks.
const MilliVCPUs = 1000

// MaxEfficiencies bounds how many hosts in turn a stage has efficiencies for.
const MaxEfficiencies = 1 << 14

// Limits bound the vCPUs that the tasks of a job with loads can have together, each as a part of the vCPUs of a host, a
// rack, a pod or the whole fabric; 0: all of it.
type Limits struct {
	Host   float64 `json:"host,omitempty"`
	Rack   float64 `json:"rack,omitempty"`
	Pod    float64 `json:"pod,omitempty"`
	Center float64 `json:"center,omitempty"`
	// Energy bounds the vCPU time that they take, as a multiple of their loads: a host of efficiency 0.5 takes twice the
	// load. 0: no bound.
	Energy float64 `json:"energy,omitempty"`
}

// Malleable reports whether a task of the job has a load, so that vCPUs decide how long it runs.
func (j *Job) Malleable() bool {
	for i := range j.Stages {
		for k := range j.Stages[i].Tasks {
			if j.Stages[i].Tasks[k].Load > 0 {
				return true
			}
		}
	}
	return false
}

// EfficiencyOn returns what part of a vCPU's work tasks of the stage get done on a host.
func (s *Stage) EfficiencyOn(h southbound.HostID) float64 {
	if len(s.Efficiency) == 0 {
		return 1
	}
	return s.Efficiency[int(h)%len(s.Efficiency)]
}

// Share returns the thousandths of vCPUs that a task has on a host if no policy has given it any: an equal part for
// each slot.
func Share(f *topo.Fabric, h southbound.HostID, slots int32) int32 {
	return int32(int64(f.VCPUs(int(h))) * MilliVCPUs * int64(slots) / int64(f.Spec.Slots))
}

// rate returns how much of a load a task gets done in a second on its host.
func (s *Stage) rate(f *topo.Fabric, task int, t *TaskState) float64 {
	return s.EfficiencyOn(t.Host) * float64(s.VCPUs(f, task, t)) / MilliVCPUs
}

// VCPUs returns the thousandths of vCPUs by which a task with a load runs on its host; 0 for one without, which no
// number of them makes faster.
func (s *Stage) VCPUs(f *topo.Fabric, task int, t *TaskState) int32 {
	if s.Tasks[task].Load == 0 {
		return 0
	}
	milli := t.MilliVCPUs
	if milli == 0 {
		milli = Share(f, t.Host, s.Tasks[task].Size())
	}
	return max(milli+t.ExtraMilli, 1)
}

// Runs returns how long a task runs on its host since it began there or, with a load, since its vCPUs were
// changed last.
func (s *Stage) Runs(f *topo.Fabric, task int, t *TaskState) time.Duration {
	x := &s.Tasks[task]
	if x.Load == 0 {
		return x.Takes(t.Slower())
	}
	if took := float64(x.Load-t.Done) / s.rate(f, task, t); took < float64(Endless) {
		return max(1, time.Duration(math.Round(took)))
	}
	return Endless
}

// Resize changes the vCPUs of a running task with a load. What it has done so far stays done.
type Resize struct {
	Task southbound.TaskID `json:"task"`
	// thousandths for good, and beside them until others want them
	MilliVCPUs int32 `json:"milli_vcpus"`
	ExtraMilli int32 `json:"extra_milli_vcpus,omitempty"`
}

// Resized returns a running task whose vCPUs are changed. It is a try of its own, of what is left of its load: hosts
// void the one before.
func (s *Stage) Resized(f *topo.Fabric, task int, t TaskState, r *Resize, now time.Duration) TaskState {
	load := s.Tasks[task].Load
	done := float64(t.Done) + float64(now-max(t.Started, t.Rated))*s.rate(f, task, &t)
	t.Done = min(time.Duration(math.Round(done)), load)
	t.MilliVCPUs, t.ExtraMilli, t.Rated = r.MilliVCPUs, r.ExtraMilli, now
	t.Try++
	return t
}

// CheckOn is Check on a fabric, vCPUs and efficiencies included.
func (j *Job) CheckOn(f *topo.Fabric) error {
	if err := j.Check(f.Hosts(), f.Hosts()*f.Spec.Slots); err != nil {
		return err
	}
	if err := j.checkBlocks(f); err != nil {
		return fmt.Errorf("job %q: %w", j.Name, err)
	}
	if err := j.checkSlice(f); err != nil {
		return fmt.Errorf("job %q: %w", j.Name, err)
	}
	if err := j.checkHosts(f); err != nil {
		return fmt.Errorf("job %q: %w", j.Name, err)
	}
	if err := j.checkLoads(f); err != nil {
		return fmt.Errorf("job %q: %w", j.Name, err)
	}
	return nil
}

// checkLoads returns why the tasks with loads can never be placed: what they take of energy on the best hosts must be
// allowed.
func (j *Job) checkLoads(f *topo.Fabric) error {
	if err := j.Limits.check(); err != nil {
		return err
	}
	load, least := 0.0, 0.0
	for i := range j.Stages {
		s := &j.Stages[i]
		best, err := s.bestEfficiency(f)
		if err != nil {
			return fmt.Errorf("stage %d (%q) %w", i, s.Name, err)
		}
		for k, t := range s.Tasks {
			switch {
			case t.Load < 0:
				return fmt.Errorf("task %d of stage %d has a load of %v; take times from zero up", k, i, t.Load)
			case t.Load > 0 && (t.Compute > 0 || t.NonLocal > 0 || t.Input > 0 || t.Size() > 1):
				return fmt.Errorf("task %d of stage %d has a load, and computes, reads or takes more than one slot besides: "+
					"leave that out", k, i)
			case t.Load > 0 && j.Incremental:
				return fmt.Errorf("task %d of stage %d has a load, and the job is placed incrementally: its tasks share vCPUs "+
					"and are placed together", k, i)
			case t.Load > 0:
				load, least = load+t.Load.Seconds(), least+t.Load.Seconds()/best
			}
		}
	}
	if l := j.Limits; l != nil && l.Energy > 0 && least > l.Energy*load*(1+1e-9) {
		return fmt.Errorf("its tasks take %.4g s of vCPU time on the most efficient hosts, and its energy limit of %.4g "+
			"times its loads allows %.4g s: raise it", least, l.Energy, l.Energy*load)
	}
	return nil
}

// bestEfficiency is that of the best host.
func (s *Stage) bestEfficiency(f *topo.Fabric) (best float64, err error) {
	if len(s.Efficiency) > MaxEfficiencies {
		return 0, fmt.Errorf("has efficiencies of %d hosts, at most %d are taken", len(s.Efficiency),
			MaxEfficiencies)
	}
	for _, e := range s.Efficiency {
		if !(e > 0 && e <= 1) {
			return 0, fmt.Errorf("has an efficiency of %v; take numbers above 0 and up to 1", e)
		}
	}
	for h := range f.Hosts() {
		best = max(best, s.EfficiencyOn(southbound.HostID(h)))
	}
	return best, nil
}

func (l *Limits) check() error {
	if l == nil {
		return nil
	}
	for _, part := range []struct {
		name string
		of   float64
	}{{"host", l.Host}, {"rack", l.Rack}, {"pod", l.Pod}, {"center", l.Center}} {
		if !(part.of >= 0 && part.of <= 1) {
			return fmt.Errorf("its limit of a %s is %v; take a part from 0 to 1", part.name, part.of)
		}
	}
	if !(l.Energy >= 0) || math.IsInf(l.Energy, 1) {
		return fmt.Errorf("its energy limit is %v; take a multiple of its loads, from 1 up", l.Energy)
	}
	return nil
}
