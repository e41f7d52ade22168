package controller

import (
	"errors"
	"fmt"

	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
)

// checkSlice returns why the job can never have its slice, or its tasks none of its nodes.
func (j *Job) checkSlice(f *topo.Fabric) error {
	if j.Slice == "" {
		return nil
	}
	racks := RacksOf(f)
	if !f.Spec.Pod() && racks == nil {
		return errors.New("asks for a slice, and this fabric is no pod and has no racks under optical switches: " +
			"leave slice out")
	}
	shape, err := torus.ParseShape(j.Slice)
	if err != nil {
		return fmt.Errorf("asks for a slice: %w", err)
	}
	if racks != nil {
		if err := racks.Check(shape); err != nil {
			return fmt.Errorf("asks for a slice: %w", err)
		}
		least := f.HostsPerRack
		for r := range f.Racks {
			least = min(least, f.HostsOf(r))
		}
		return j.checkNodes(shape.Racks*least, f.Spec.Slots)
	}
	pod, err := torus.Joined(f.Spec.Side, f.Racks)
	if err != nil {
		return err
	}
	if err := pod.Check(shape); err != nil {
		return fmt.Errorf("asks for a slice: %w", err)
	}
	return j.checkNodes(shape.Nodes(), f.Spec.Slots)
}

// RacksOf returns the racks of a fabric under its optical switches, of which slices have nothing; nil where it has no
// such, or is a pod.
func RacksOf(f *topo.Fabric) *torus.Racks {
	if !f.HasOCS() || f.Spec.Pod() || f.Spec.Kind == topo.Crossbar {
		return nil
	}
	cables := make([]uint32, f.Racks)
	for p, port := range f.OCSUplink {
		if port >= 0 {
			cables[p%f.Racks] |= 1 << (p / f.Racks)
		}
	}
	return torus.NewRacks((f.OCSPorts()+f.Racks-1)/f.Racks, cables)
}

func (j *Job) checkNodes(nodes, slots int) error {
	sum, most := 0, 0
	for i := range j.Stages {
		for k := range j.Stages[i].Tasks {
			size := int(j.Stages[i].Tasks[k].Size())
			sum, most = sum+size, max(most, size)
		}
	}
	switch {
	case j.Tasks() == 0:
		return errors.New("asks for a slice, and has no tasks to run there: leave slice out, or create a slice of its own")
	case j.Incremental:
		return errors.New("asks for a slice and is incremental: a slice has all of its nodes at once: leave one out")
	case j.Malleable():
		return errors.New("asks for a slice, and has tasks with loads: a slice gives nodes, and no vCPUs: leave one out")
	case j.Reading():
		return errors.New("asks for a slice, and reads blocks where they lie: leave one out")
	case most > slots:
		return fmt.Errorf("asks for a slice, and a task of it takes %d slots: a node has %d", most, slots)
	case sum > nodes*slots:
		return fmt.Errorf("asks for a slice of %d nodes, and its tasks take %d slots of %d a node: ask for %d nodes or more",
			nodes, sum, slots, (sum+slots-1)/slots)
	}
	return nil
}
