// Package place holds the parts of a policy that decide where tasks run. Random, Packed and others that call Admit
// place all tasks of a job at once, or none, also where the job is incremental. Fair, Corral, CoScheduler, Dawn and
// Packer place incremental jobs task by task.
//
// It uses slots and not the network: package joint weighs both.
package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Patience is how long after its arrival a job that does not fit can still be overtaken. Jobs go in the
// order of acceptance, and a later, smaller job can use slots that are too few for the one before and
// would stand idle. Without a bound a wide job could wait for ever; after Patience no later job is
// placed before it, so that slots become free as tasks end. Jobs without tasks (bare coflows) need no
// slot and never wait. An incremental job of more slots than the fabric has can never be placed whole:
// later jobs are placed before it, however long it has waited.
const Patience = 30 * time.Second

// Admit returns the waiting jobs that are to be placed now, in order of acceptance: a job is among them
// if its tasks fit into the slots that those before it leave.
func Admit(v *controller.View) []*controller.Job {
	if len(v.Waiting) == 0 {
		return nil
	}
	waiting := slices.Clone(v.Waiting)
	slices.SortFunc(waiting, func(a, b *controller.Job) int { return cmp.Compare(a.ID, b.ID) })
	free := Slots(v.Free)
	held := false
	out := waiting[:0]
	for _, j := range waiting {
		n := j.Slots()
		switch {
		case n > 0 && (held || n > free || !Fits(j.Sizes(), v.Free)):
			never := j.Incremental && n > v.Fabric.Hosts()*v.Fabric.Spec.Slots
			held = held || !never && v.Now-j.Arrival >= Patience
		default:
			free -= n
			out = append(out, j)
		}
	}
	return out
}

// Slots returns the sum of the free slots; a host below zero counts as none.
func Slots(free []int32) int {
	n := 0
	for _, f := range free {
		n += int(max(f, 0))
	}
	return n
}

// Wants are the events after which a job can be placed that could not be before.
func Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.SlotsFreed, controller.FabricChanged)
}

// chooser picks a host with enough free slots for the next task of a job; NoHost if there is none.
type chooser interface {
	pick(free []int32, need int32) southbound.HostID
}

// fill places every job that Admit lets in, task by task.
func fill(v *controller.View, p *controller.Plan, choose func(j *controller.Job) chooser) {
	v = reschedule(v, p, choose)
	fillFree(v, p, func(j *controller.Job, free []int32) []southbound.HostID {
		if j.Tasks() == 0 {
			return []southbound.HostID{}
		}
		return spreadJob(choose(j), j, free)
	})
}

// fillFree places every job that Admit lets in where find puts it, with the slots that are left then.
func fillFree(v *controller.View, p *controller.Plan,
	find func(j *controller.Job, free []int32) []southbound.HostID) {
	jobs := Admit(v)
	if len(jobs) == 0 {
		return
	}
	free := slices.Clone(v.Free)
	for _, j := range jobs {
		sizes := j.Sizes()
		if !Fits(sizes, free) {
			continue // those before it have left too little on any one host: it waits
		}
		hosts := find(j, free)
		take(free, hosts, sizes)
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: hosts})
	}
}

// spreadJob has a chooser pick a host for every task.
func spreadJob(c chooser, j *controller.Job, free []int32) []southbound.HostID {
	hosts := slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks())
	choose(c, j.Sizes(), hosts, slices.Clone(free))
	return hosts
}
