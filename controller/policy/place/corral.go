package place

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Corral places maps, reduces and one copy of the input of a recurring job on the same few racks, so
// that its shuffle stays there (Jalaparti et al., "Network-Aware Scheduling for Data-Parallel Jobs:
// Plan When You Can", SIGCOMM 2015). Its number of racks r minimises the latency response: waves of
// maps, a shuffle whose part between racks is (r − 1)/r and leaves over r uplinks, waves of reduces,
// beginning when r racks have the slots. Jobs that do not recur are Fair's, as in the paper.
//
// The paper plans all recurring jobs beforehand, by predicted arrivals: see PlanCorral. Without such a
// plan each is planned when it arrives, on the racks that then are free soonest: what comes later no
// scheduler of this house knows.
type Corral struct {
	Plan map[string][]int32 // racks by the name of a job; nil: none was made beforehand

	cache blockCache
	last  fruitless
	jobs  jobMemory
}

// Wants implements the part's list of events.
func (*Corral) Wants() controller.KindSet { return incrementalWants() }

// Fill places jobs.
func (c *Corral) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	spread(incremental(v, p, &c.jobs, &c.last, c.data, (*slotAllocator).corral), p)
}

// data gives a planned job one copy of each block on its racks, and the others anywhere.
func (c *Corral) data(y *slotAllocator, w *work) []southbound.RackID {
	if w.job.Predicted == nil {
		return c.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) })
	}
	if !w.kept {
		if w.policyState = c.Plan[w.job.Name]; w.policyState == nil {
			w.policyState = y.planCorral(w.job.Predicted)
		}
	}
	blocks := slices.Clone(c.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) }))
	for i := range w.job.Tasks() {
		blocks[i*guideline.Replicas] = southbound.RackID(w.policyState[i%len(w.policyState)])
	}
	return named(w.job, blocks)
}

// planCorral chooses the racks of a job.
func (y *slotAllocator) planCorral(j *controller.Prediction) []int32 {
	order, free := y.soonest()
	best, _ := fewest(j, order, free, rackSlots(y.v), rackUplink(y.v))
	return slices.Clone(order[:best])
}

// fewest is on how many racks of an order a job ends first, and when. free is by rack, from when it is.
func fewest(j *controller.Prediction, order []int32, free []time.Duration, slots int,
	uplink pathmap.BitsPerSecond) (best int, least time.Duration) {
	least = -1
	for r := 1; r <= len(order); r++ {
		cross := pathmap.Bytes(float64(j.Shuffle) * float64(r-1) / float64(r))
		end := free[order[r-1]] + guideline.Waves(j.Maps, slots*r, j.MapTime) +
			min(cross.Over(uplink*pathmap.BitsPerSecond(r)),
				southbound.Never/8) + guideline.Waves(j.Reduces, slots*r, j.RedTime)
		if least < 0 || end < least {
			best, least = r, end
		}
	}
	return best, least
}

// PlanCorral plans all recurring jobs of a workload beforehand, in order of their arrivals, which the
// paper takes as predicted: each on the racks that the jobs before it leave first, which are then its
// until its predicted end.
func PlanCorral(jobs []controller.Job, racks, slots int, uplink pathmap.BitsPerSecond) map[string][]int32 {
	plan := map[string][]int32{}
	free, order := make([]time.Duration, racks), make([]int32, racks)
	for i := range order {
		order[i] = int32(i)
	}
	for i := range jobs {
		j := &jobs[i]
		if j.Predicted == nil {
			continue
		}
		from := make([]time.Duration, racks)
		for r := range from {
			from[r] = max(free[r], j.Arrival)
		}
		slices.SortFunc(order, func(a, b int32) int {
			return cmp.Or(cmp.Compare(free[a], free[b]),
				cmp.Compare(a, b))
		})
		n, end := fewest(j.Predicted, order, from, slots, uplink)
		plan[j.Name] = slices.Clone(order[:n])
		for _, r := range order[:n] {
			free[r] = end
		}
	}
	return plan
}

// soonest are the racks by when half of their slots are free, the soonest first, and by rack when that
// is. Jobs are planned before any task is placed, so that it holds for all of a decision.
func (y *slotAllocator) soonest() ([]int32, []time.Duration) {
	if y.order != nil {
		return y.order, y.half
	}
	for _, free := range y.releases() {
		y.order = append(y.order, int32(len(y.half)))
		y.half = append(y.half, median(free))
	}
	slices.SortFunc(y.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(y.half[a], y.half[b]), cmp.Compare(y.rack[b], y.rack[a]), cmp.Compare(a, b))
	})
	return y.order, y.half
}

// median is when half of a rack's slots are free.
func median(free []time.Duration) time.Duration {
	if len(free) == 0 {
		return southbound.Never / 4
	}
	return free[len(free)/2]
}

// rackSlots is how many tasks the rack with the most hosts runs at once.
func rackSlots(v *controller.View) int { return v.Fabric.HostsPerRack * v.Fabric.Spec.Slots }

// rackUplink is what the first rack's links to the packet network carry together.
func rackUplink(v *controller.View) pathmap.BitsPerSecond {
	f := v.Fabric
	sum := pathmap.BitsPerSecond(0)
	for _, l := range f.Topology.Out(f.ToRNode[0]) {
		link := f.Topology.Link(l)
		if !f.IsOCS(link.To) && f.Topology.Node(link.To).Role != pathmap.Host &&
			(v.Down == nil || !v.Down[l]) {
			sum += link.Capacity
		}
	}
	return max(sum, 1)
}

// releases is, by rack, when each slot is estimated to come free, from now.
func (y *slotAllocator) releases() guideline.Releases {
	y.fleeting = true
	f := y.v.Fabric
	out := make(guideline.Releases, f.Racks)
	for r := range out {
		out[r] = make([]time.Duration, max(y.rack[r], 0), f.HostsOf(r)*f.Spec.Slots)
	}
	known := y.estimates()
	for _, w := range y.works {
		for i := range w.tasks {
			if t := &w.tasks[i]; t.Host != controller.NoHost && t.Ended < 0 {
				r := f.HostRack[t.Host]
				out[r] = append(out[r], y.remaining(w, known, i))
			}
		}
	}
	for r := range out {
		slices.Sort(out[r])
	}
	return out
}

func (y *slotAllocator) corral() {
	y.serve(func(u *user) bool {
		for _, w := range u.works {
			if w.policyState == nil && y.hadoopJob(w) || w.policyState != nil && y.corralJob(w) {
				return true
			}
		}
		return false
	})
}

// corralJob places a task of a planned job on its racks; elsewhere once the job has waited for Delay.
func (y *slotAllocator) corralJob(w *work) bool {
	for k := range w.open {
		task, ok := w.task(k)
		source := w.source(k)
		if !ok || !source && (!w.early(k) || !y.mayPlaceReduces(w)) {
			continue
		}
		if source && y.nearAmong(w, k, w.policyState) {
			return true
		}
		if h, ok := y.among(w.policyState); ok {
			y.put(w, k, task, h)
			return true
		}
		if y.v.Now-w.last < Delay {
			y.fleeting = y.fleeting || !source
			continue
		}
		if source && y.sourceTask(w, k) || !source && y.anywhere(w, k, task) {
			return true
		}
	}
	return false
}

// nearAmong places a task of a stage on one of some racks that holds a copy of its block.
func (y *slotAllocator) nearAmong(w *work, stage int, racks []int32) bool {
	for i := w.next[stage]; i < w.first[stage+1]; i++ {
		if w.hosts != nil && w.hosts[i] != controller.NoHost {
			continue
		}
		for _, r := range w.copies(i) {
			if !slices.Contains(racks, int32(r)) {
				continue
			}
			if h, ok := y.host(int(r)); ok {
				y.put(w, stage, i, h)
				return true
			}
		}
	}
	return false
}

// among returns a host with a free slot on the one of some racks that has the most.
func (y *slotAllocator) among(racks []int32) (southbound.HostID, bool) {
	best := racks[0]
	for _, r := range racks {
		if y.rack[r] > y.rack[best] {
			best = r
		}
	}
	return y.host(int(best))
}
