package place

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// Fair gives incremental jobs their slots as Hadoop's fair scheduler does, with delay scheduling: users
// run as much as each other, a user's jobs go in order of arrival, maps near their blocks, reduces
// anywhere. Blocks stand on racks drawn at random.
//
// Whole jobs it spreads: each task goes to the host with the most free slots, among equals to the rack
// with the most, among those to the first host from a start drawn for the job.
type Fair struct {
	cache blockCache
	last  fruitless
	jobs  jobMemory
}

// Wants implements the part's list of events.
func (*Fair) Wants() controller.KindSet { return incrementalWants() }

// Fill places jobs.
func (f *Fair) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	spread(incremental(v, p, &f.jobs, &f.last, f.data, (*slotAllocator).fair), p)
}

func (f *Fair) data(y *slotAllocator, w *work) []southbound.RackID {
	return f.cache.of(w.job.ID, func() []southbound.RackID { return scatter(y.v, w.job) })
}

func (y *slotAllocator) fair() { y.serve(y.hadoop) }

// incrementalWants are the events after which an incremental job can be placed further: also when one
// has waited long enough.
func incrementalWants() controller.KindSet { return Wants() | controller.Kinds(controller.WakeReached) }

// spread places jobs all at once (gang scheduling).
func spread(v *controller.View, p *controller.Plan) { fill(v, p, leastLoaded(v)) }

// leastLoaded makes the chooser of a job.
func leastLoaded(v *controller.View) func(j *controller.Job) chooser {
	return func(j *controller.Job) chooser {
		return &least{v: v, start: v.Rand("place", uint64(j.ID)).IntN(max(len(v.Free), 1)),
			rack: make([]int32, v.Fabric.Racks)}
	}
}

type least struct {
	v     *controller.View
	start int
	rack  []int32 // free slots by rack
}

func (l *least) pick(free []int32, need int32) southbound.HostID {
	clear(l.rack)
	for h, f := range free {
		l.rack[l.v.HostRack(southbound.HostID(h))] += max(f, 0)
	}
	best := -1
	for k := range free {
		h := (l.start + k) % len(free)
		if free[h] >= need && (best < 0 || l.before(free, h, best)) {
			best = h
		}
	}
	if best < 0 {
		return controller.NoHost
	}
	return southbound.HostID(best)
}

func (l *least) before(free []int32, a, b int) bool {
	if free[a] != free[b] {
		return free[a] > free[b]
	}
	return l.rack[l.v.HostRack(southbound.HostID(a))] > l.rack[l.v.HostRack(southbound.HostID(b))]
}
