package place

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/southbound"
)

// Incremental places incremental jobs for a policy that otherwise uses gang scheduling. Tasks that read
// go near their blocks, with equal shares for users, as in Fair. Tasks that receive wait until all
// their senders have ended. If there is a Finder, as many of them as have slots are then placed at
// once, because a network policy must see their places together.
type Incremental struct {
	cache blockCache
	jobs  jobMemory
}

// Finder returns hosts for tasks of one stage of a job, in their order. hosts is by task of the job;
// that of every task which the stage receives from is known. There are slots enough.
type Finder func(j *controller.Job, hosts []southbound.HostID, tasks []int, free []int32) []southbound.HostID

// Planner returns hosts for all tasks of a job of which none is placed, or nil: then it goes piece by
// piece. There are slots enough. The racks with copies of what its tasks read are controller.Replicas of each;
// nil where they read nothing, or a copy goes where they are placed. Tasks that read go there at once, with one
// copy of what a recurring job reads (as Corral has it); where those that receive would go is kept with the job
// as its policy state, by task.
type Planner func(j *controller.Job, blocks []southbound.RackID, free []int32) []southbound.HostID

// Fill places the incremental jobs of a view, and returns the view that is left for gang-scheduled
// ones. Plan can be nil.
func (x *Incremental) Fill(v *controller.View, p *controller.Plan, find Finder,
	plan Planner) *controller.View {
	data := func(y *slotAllocator, w *work) []southbound.RackID {
		return x.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) })
	}
	return incremental(v, p, &x.jobs, nil, data, func(y *slotAllocator) {
		y.serve(func(u *user) bool {
			return slices.ContainsFunc(u.works, func(w *work) bool {
				return plan != nil && y.planned(w, plan) || y.piece(w, find)
			})
		})
	})
}

// IncrementalWants are the events after which Incremental can place more.
func IncrementalWants() controller.KindSet { return incrementalWants() }

// planned places what reads of a job as it is planned to.
func (y *slotAllocator) planned(w *work, plan Planner) bool {
	if w.hosts != nil || y.total() < w.job.Tasks() {
		return false
	}
	blocks, moves := w.blocks, w.job.Predicted != nil && !w.job.NamesReplicas()
	if moves || !w.job.ReadsBlocks() {
		blocks = nil
	}
	hosts := plan(w.job, blocks, slices.Clone(y.free))
	if hosts == nil {
		return false
	}
	w.blocks = slices.Clone(w.blocks)
	for t, h := range hosts {
		w.policyState = append(w.policyState, int32(h))
		if moves && w.blocks != nil {
			w.blocks[guideline.Replicas*t] = y.v.HostRack(h)
		}
	}
	for s := range w.open {
		for t := w.first[s]; t < w.first[s+1] && w.source(s); t++ {
			y.put(w, s, t, hosts[t])
		}
	}
	return true
}

// piece places one task of a job that reads, or all that it can of a stage that receives.
func (y *slotAllocator) piece(w *work, find Finder) bool {
	for s := range w.open {
		if w.open[s] > 0 && w.source(s) && y.sourceTask(w, s) {
			return true
		}
	}
	for s := range w.open {
		if w.open[s] == 0 || w.source(s) || !w.parentsEnded(s) || !y.mayPlaceReduces(w) {
			continue
		}
		tasks := w.without(s, y.total())
		if len(tasks) == 0 {
			continue
		}
		for i, h := range find(w.job, w.hosts, tasks, slices.Clone(y.free)) {
			y.put(w, s, tasks[i], h)
		}
		return true
	}
	return false
}

// without returns the first tasks of a stage that have no host, at most the given number.
func (w *work) without(stage, most int) []int {
	var out []int
	for t := w.first[stage]; t < w.first[stage+1] && len(out) < most; t++ {
		if w.hosts == nil || w.hosts[t] == controller.NoHost {
			out = append(out, t)
		}
	}
	return out
}
