package controller

import (
	"errors"
	"fmt"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Pinned reports whether the job says where its tasks run. No policy places it.
func (j *Job) Pinned() bool { return len(j.Stages) > 0 && j.Stages[0].Hosts != nil }

// PinnedHosts returns where the tasks of a pinned job run, by task of the job.
func (j *Job) PinnedHosts() (out []southbound.HostID) {
	for i := range j.Stages {
		out = append(out, j.Stages[i].Hosts...)
	}
	return out
}

// Ranks returns where the ranks of a job run that is one program on some hosts, stage after stage: each stage has as
// many tasks, on the same hosts. It returns nil for other jobs.
func (j *Job) Ranks() []southbound.HostID {
	if !j.Pinned() {
		return nil
	}
	ranks := j.Stages[0].Hosts
	for i := range j.Stages {
		if !sameHosts(ranks, j.Stages[i].Hosts) {
			return nil
		}
	}
	return ranks
}

func sameHosts(a, b []southbound.HostID) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// checkHosts returns why the job's tasks can never run where it says, or nil.
func (j *Job) checkHosts(f *topo.Fabric) error {
	pinned, taken := j.Pinned(), map[southbound.HostID]int32{}
	for i := range j.Stages {
		s := &j.Stages[i]
		switch {
		case (s.Hosts != nil) != pinned:
			return fmt.Errorf("stage %d (%q): name the hosts of all stages, or of none", i, s.Name)
		case pinned && len(s.Hosts) != len(s.Tasks):
			return fmt.Errorf("stage %d (%q) has %d hosts for %d tasks: name one for each", i, s.Name, len(s.Hosts),
				len(s.Tasks))
		}
		for k, h := range s.Hosts {
			if h < 0 || int(h) >= f.Hosts() {
				return fmt.Errorf("stage %d (%q): host %d: the fabric's hosts are 0 to %d", i, s.Name, h, f.Hosts()-1)
			}
			if taken[h] += s.Tasks[k].Size(); int(taken[h]) > f.Spec.Slots {
				return fmt.Errorf("its tasks on host %d take more than the %d slots there: name other hosts, or give hosts more "+
					"slots (slots= in the fabric)", h, f.Spec.Slots)
			}
		}
	}
	switch {
	case !pinned:
		return nil
	case j.Incremental || j.Slice != "" || j.Malleable() || j.ReadsBlocks():
		return errors.New("names its hosts, and is incremental, has a slice, loads or blocks: leave one out")
	}
	return nil
}

// checkPairs checks an edge whose flows are between tasks.
func (j *Job) checkPairs(e *Edge) error {
	from, to := len(j.Stages[e.From].Tasks), len(j.Stages[e.To].Tasks)
	switch {
	case e.Stream || e.Rate != 0 || e.Bytes != 0 || e.Keys != 0:
		return errors.New("has flows between tasks, and is a stream, or has bytes, a rate or keys: leave these out")
	case j.Incremental:
		return errors.New("has flows between tasks, and the job is incremental: leave one out")
	case len(e.Flows) == 0:
		return errors.New("has no flows")
	case len(e.Flows) > MaxFlows:
		return fmt.Errorf("has %d flows, at most %d are taken", len(e.Flows), MaxFlows)
	}
	left := MaxBytes
	for _, f := range e.Flows {
		switch {
		case f.Src < 0 || int(f.Src) >= from || f.Dst < 0 || int(f.Dst) >= to:
			return fmt.Errorf("flow %d→%d: the tasks are 0 to %d and 0 to %d", f.Src, f.Dst, from-1, to-1)
		case f.Bytes <= 0 || f.Bytes > left:
			return fmt.Errorf("flow %d→%d: %d bytes; take 1 at least, and %d for all flows of an edge at most", f.Src, f.Dst,
				f.Bytes, MaxBytes)
		}
		left -= f.Bytes
	}
	return nil
}
