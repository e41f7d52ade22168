package controller

import (
	"fmt"
	"slices"

	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Replicas is how many copies of a block there are at most.
const Replicas = 3

// ReadsBlocks reports whether a task of the job reads a block.
func (j *Job) ReadsBlocks() bool {
	for i := range j.Stages {
		if slices.ContainsFunc(j.Stages[i].Tasks, func(t Task) bool { return t.Input > 0 }) {
			return true
		}
	}
	return false
}

// NamesReplicas reports whether the job says where blocks lie.
func (j *Job) NamesReplicas() bool {
	for i := range j.Stages {
		if slices.ContainsFunc(j.Stages[i].Tasks, func(t Task) bool { return t.Replicas != nil }) {
			return true
		}
	}
	return false
}

// checkReplicas returns what is wrong with where the block of a task lies, on a fabric of so many racks, or nil.
func (t *Task) checkReplicas(racks int) error {
	switch {
	case t.Replicas == nil:
		return nil
	case len(t.Replicas) == 0:
		return fmt.Errorf("reads a block that has no replica: name 1 to %d racks, or leave replicas away", Replicas)
	case t.Input == 0:
		return fmt.Errorf("names racks %v for a block, and reads none: give it an input, or leave replicas away", t.Replicas)
	case len(t.Replicas) > Replicas:
		return fmt.Errorf("reads a block with %d replicas: name 1 to %d racks", len(t.Replicas), Replicas)
	}
	for i, r := range t.Replicas {
		if r < 0 || int(r) >= racks {
			return fmt.Errorf("reads a block with a replica on rack %d: the fabric's racks are 0 to %d", r, racks-1)
		}
		if slices.Contains(t.Replicas[:i], r) {
			return fmt.Errorf("reads a block with two replicas on rack %d: name each rack once", r)
		}
	}
	return nil
}

// checkBlocks returns what is wrong with the blocks that the job reads, or nil.
func (j *Job) checkBlocks(f *topo.Fabric) error {
	for i := range j.Stages {
		for k := range j.Stages[i].Tasks {
			if err := j.Stages[i].Tasks[k].checkReplicas(f.Racks); err != nil {
				return fmt.Errorf("task %d of stage %d (%q) %w", k, i, j.Stages[i].Name, err)
			}
		}
	}
	return nil
}

// BlockHost is the host of a rack on which the block of a task lies: the file system deals blocks out over the hosts of
// a rack in turn. NoHost where all of them are lost, which is sorted.
func BlockHost(f *topo.Fabric, task southbound.TaskID, rack southbound.RackID,
	lost []southbound.HostID) southbound.HostID {
	first, n := f.FirstHost[rack], f.HostsOf(int(rack))
	for i := range n {
		h := southbound.HostID(int(first) + (int(task)+i)%n)
		if _, gone := slices.BinarySearch(lost, h); !gone {
			return h
		}
	}
	return NoHost
}
