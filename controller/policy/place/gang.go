package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/southbound"
)

// gang places jobs whose tasks all get their slots at once. Section VI gives their guidelines: those of maps
// and reduces hold between the stages before and after each shuffle. The bytes of such a job's edges are
// known, in place of a prediction. It waits for enough slots for all of its tasks, so every slot that it can
// have is free now. Stages without a heavy shuffle are spread as by Fair, and so are the tasks that a lost
// host has left.
//
// Fair places jobs with streams, because none of their tasks waits for an earlier stage. Tasks of more than
// one slot count in units of the largest; where a job does not fit in those, Fair places it.
func (k *schedulingPass) gang(v *controller.View, p *controller.Plan) {
	v = reschedule(v, p, leastLoaded(v))
	fillFree(v, p, func(j *controller.Job, free []int32) []southbound.HostID {
		units, size, fits := Units(j, free)
		if !k.guided(v) || !k.shuffles(j) || !fits {
			return spreadJob(leastLoaded(v)(j), j, free)
		}
		by := k
		if size > 1 {
			coarse := *k
			coarse.cluster.Slots = max(1, k.cluster.Slots/int(size))
			by = &coarse
		}
		return by.guide(v, j, units)
	})
}

// heavyEdge reports whether an edge is a shuffle that the guidelines apply to.
func (k *schedulingPass) heavyEdge(e *controller.Edge) bool {
	return e.Kind != controller.Fixed && !e.Stream && k.cluster.Heavy(e.Bytes)
}

// shuffles reports whether a job has a heavy shuffle and no stream.
func (k *schedulingPass) shuffles(j *controller.Job) bool {
	heavy := false
	for i := range j.Edges {
		heavy = heavy || k.heavyEdge(&j.Edges[i])
		if j.Edges[i].Stream {
			return false
		}
	}
	return heavy
}

// guide chooses the hosts of a job, stages after those that they receive from.
func (k *schedulingPass) guide(v *controller.View, j *controller.Job, free []int32) []southbound.HostID {
	g := &guide{by: k, v: v, job: j, free: slices.Clone(free), hosts: make([]southbound.HostID, j.Tasks()),
		other: leastLoaded(v)(j)}
	g.start = v.Rand("place", uint64(j.ID)).IntN(v.Fabric.Racks)
	for _, s := range inOrder(j) {
		switch {
		case g.receives(s):
			g.reduces(s)
		case g.sends(s) != nil:
			g.maps(s)
		default:
			g.spread(s)
		}
	}
	return g.hosts
}

// inOrder lists the stages of a job, each after all that it receives from, the smaller number first
// where that is open. Where streams lead in a circle, they do not count.
func inOrder(j *controller.Job) []int {
	done := make([]bool, len(j.Stages))
	next := func(streams bool) int {
		for s := range done {
			if !done[s] && !slices.ContainsFunc(j.Edges, func(e controller.Edge) bool {
				return e.Kind != controller.Fixed && e.To == s && !done[e.From] && (streams || !e.Stream)
			}) {
				return s
			}
		}
		return -1
	}
	var out []int
	for len(out) < len(done) {
		s := next(true)
		if s < 0 {
			s = next(false) // other edges lead in no circle
		}
		done[s] = true
		out = append(out, s)
	}
	return out
}

// guide is the placement of one job by the guidelines.
type guide struct {
	by    *schedulingPass
	v     *controller.View
	job   *controller.Job
	free  []int32 // slots that are left, by host
	hosts []southbound.HostID
	start int     // rack that is looked at first
	other chooser // of tasks that nothing guides
}

// receives reports whether a heavy shuffle ends at a stage.
func (g *guide) receives(stage int) bool {
	return slices.ContainsFunc(g.job.Edges, func(e controller.Edge) bool {
		return e.To == stage &&
			g.by.heavyEdge(&e)
	})
}

// sends returns the largest heavy shuffle that leaves a stage; nil where none does.
func (g *guide) sends(stage int) *controller.Edge {
	var most *controller.Edge
	for i := range g.job.Edges {
		if e := &g.job.Edges[i]; e.From == stage && g.by.heavyEdge(e) && (most == nil || e.Bytes > most.Bytes) {
			most = e
		}
	}
	return most
}

// put gives a task of a stage a slot of a rack, on the host with the most free.
func (g *guide) put(stage, task, rack int) {
	f := g.v.Fabric
	best := f.FirstHost[rack]
	for h := best; h < f.FirstHost[rack+1]; h++ {
		if g.free[h] > g.free[best] {
			best = h
		}
	}
	first, _ := g.job.StageTasks(stage)
	g.hosts[first+task] = southbound.HostID(best)
	g.free[best]--
}

// spread places a stage that nothing guides.
func (g *guide) spread(stage int) {
	first, end := g.job.StageTasks(stage)
	for t := first; t < end; t++ {
		g.hosts[t] = g.other.pick(g.free, 1)
		g.free[g.hosts[t]]--
	}
}

// slots returns the free slots by rack.
func (g *guide) slots() []int {
	out := make([]int, g.v.Fabric.Racks)
	for h, n := range g.free {
		out[g.v.Fabric.HostRack[h]] += int(max(n, 0))
	}
	return out
}

// shape is the job of the latency response model for a shuffle.
func (g *guide) shape(e *controller.Edge) *guideline.Job {
	from, to := &g.job.Stages[e.From], &g.job.Stages[e.To]
	return &guideline.Job{Shuffle: e.Bytes, Maps: len(from.Tasks), Reduces: len(to.Tasks),
		MapTime: longest(from),
		RedTime: longest(to)}
}

func longest(s *controller.Stage) (most time.Duration) {
	for i := range s.Tasks {
		most = max(most, s.Tasks[i].Compute)
	}
	return most
}

// maps places a stage that sends on R_map racks, the smallest of the green zone: those with the most
// free slots, evenly, and on as many more as it takes to hold it. No three sets of racks are wanted, as
// nothing is read from a file system.
func (g *guide) maps(stage int) {
	zone := g.by.cluster.Zone(g.by.Form, g.shape(g.sends(stage)), g.by.cluster.Racks)
	slots := g.slots()
	order := make([]int, len(slots))
	for i := range order {
		order[i] = (g.start + i) % len(slots)
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(slots[b], slots[a]) })
	n, racks, room := len(g.job.Stages[stage].Tasks), 0, 0
	for racks < len(order) && (racks < max(1, zone[0].Maps) || room < n) {
		room += slots[order[racks]]
		racks++
	}
	used := make([]int, racks)
	for t := range n {
		best := -1
		for i := range racks {
			if used[i] < slots[order[i]] && (best < 0 || used[i] < used[best]) {
				best = i
			}
		}
		used[best]++
		g.put(stage, t, order[best])
	}
}

// reduces places a stage that a heavy shuffle ends at by the best of its possible schedules; where
// there is none, its shuffle goes over packets, and it is spread.
func (g *guide) reduces(stage int) {
	n := len(g.job.Stages[stage].Tasks)
	sm, free := output(g.v.Fabric, g.job, stage, g.hosts), make(guideline.Releases, g.v.Fabric.Racks)
	held := make([]int64, len(sm))
	for r, slots := range g.slots() {
		free[r], held[r] = make([]time.Duration, slots), int64(sm[r])
	}
	best, ok := g.by.cluster.Best(g.by.cluster.Schedules(sm, n, nil), free, held)
	if g.by.NoReduces || !ok {
		g.spread(stage)
		return
	}
	task := 0
	for i, rack := range best.Racks {
		for range best.Tasks[i] {
			g.put(stage, task, rack)
			task++
		}
	}
}
