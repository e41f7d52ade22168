package place

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/guideline"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Delay is how long a job waits for a slot in a rack that holds its data before it takes one elsewhere
// (Zaharia et al., "Delay Scheduling", EuroSys 2010, whose rack-level wait is of this size). It is
// counted from the last task that the job has begun, or from its arrival.
const Delay = 5 * time.Second

// SlowStart is the share of a stage's senders that must have ended before its own tasks may take slots
// (Hadoop's mapreduce.job.reduce.slowstart.completedmaps). They then wait in their slots, as Hadoop's
// do; none does while a task of the job that could run waits for a slot.
const SlowStart = 0.05

// sourceTask places a task that receives nothing: in a rack with a copy of its block, the one of them
// with the most free slots; once the job has waited for Delay, or where it reads nothing, in the rack
// with the most free slots.
func (y *slotAllocator) sourceTask(w *work, stage int) bool {
	task, ok := w.task(stage)
	if !ok || y.total() == 0 || w.waits[stage] && !y.mayPlaceReduces(w) {
		return false // it waits for what it reads in its slots
	}
	if w.job.Stages[stage].Tasks[task-w.first[stage]].Input == 0 && w.copies(task) == nil {
		return y.widest(w, stage, task)
	}
	// The first task can find no slot by its data where a later one does.
	for i := task; i < w.first[stage+1] && !w.away; i++ {
		if w.hosts != nil && w.hosts[i] != controller.NoHost {
			continue
		}
		best := -1
		for _, rack := range w.copies(i) {
			if r := int(rack); y.rack[r] > 0 && (best < 0 || y.rack[r] > y.rack[best] ||
				y.rack[r] == y.rack[best] && r < best) {
				best = r
			}
		}
		if best < 0 {
			continue
		}
		if h, ok := y.host(best); ok {
			y.put(w, stage, i, h)
			return true
		}
	}
	w.away = true
	if y.v.Now-w.last < Delay {
		return false
	}
	return y.widest(w, stage, task)
}

// copies returns the racks that hold a task's block.
func (w *work) copies(task int) []southbound.RackID {
	const n = guideline.Replicas
	if len(w.blocks) < n*(task+1) || w.blocks[n*task] < 0 {
		return nil
	}
	return w.blocks[n*task : n*task+n]
}

// widest places a task in the rack with the most free slots.
func (y *slotAllocator) widest(w *work, stage, task int) bool {
	best := 0
	for r := range y.rack {
		if y.rack[r] > y.rack[best] {
			best = r
		}
	}
	h, ok := y.host(best)
	if ok {
		y.put(w, stage, task, h)
	}
	return ok
}

// anywhere places a task on a slot drawn from all free ones: Hadoop gives a reduce to the machine that
// asks first.
func (y *slotAllocator) anywhere(w *work, stage, task int) bool {
	sum := y.total()
	if sum == 0 {
		return false
	}
	n := int32(y.v.Rand("reduce", uint64(w.job.FirstTask)+uint64(task)).IntN(sum))
	for h, f := range y.free {
		if n < f {
			y.put(w, stage, task, southbound.HostID(h))
			return true
		}
		n -= f
	}
	panic("place: no free slot")
}

// reads reports whether a task without a host reads a block.
func (w *work) reads() bool {
	for k, n := range w.open {
		if n > 0 && w.inputs[k] {
			return true
		}
	}
	return false
}

// wake is when the next job has waited long enough to read from afar.
func (y *slotAllocator) wake() time.Duration {
	at := southbound.Never
	for _, w := range y.works {
		if y.v.Now >= w.last+Delay || at <= w.last+Delay {
			continue
		}
		for k := range w.open {
			if w.open[k] > 0 && w.source(k) {
				at = min(at, w.last+Delay)
			}
		}
	}
	return at
}

// early reports whether a receiving stage can take slots by SlowStart.
func (w *work) early(stage int) bool {
	for i := range w.job.Edges {
		e := &w.job.Edges[i]
		if e.Kind == controller.Fixed || e.To != stage {
			continue
		}
		if w.open[e.From] > 0 || float64(w.ended[e.From]) < SlowStart*float64(w.size(e.From)) ||
			w.waits[e.From] {
			return false
		}
	}
	return true
}

// hadoop places a task of a user as Hadoop's fair scheduler does: of the jobs in order of arrival,
// first what could run at once, then what receives.
func (y *slotAllocator) hadoop(u *user) bool {
	for _, w := range u.works {
		if y.hadoopJob(w) {
			return true
		}
	}
	return false
}

func (y *slotAllocator) hadoopJob(w *work) bool {
	for k := range w.open {
		if w.open[k] > 0 && w.source(k) && y.sourceTask(w, k) {
			return true
		}
	}
	for k := range w.open {
		if w.open[k] == 0 || w.source(k) || !w.early(k) || !y.mayPlaceReduces(w) {
			continue
		}
		if task, ok := w.task(k); ok && y.anywhere(w, k, task) {
			return true
		}
	}
	return false
}

// incremental places the tasks of incremental jobs with serve, and returns the view that is left for
// the others. data returns the racks of a job's blocks. With a memory of the last decision it looks at no job
// where nothing can have become possible since; nil: it always looks.
func incremental(v *controller.View, p *controller.Plan, m *jobMemory, last *fruitless,
	data func(y *slotAllocator, w *work) []southbound.RackID,
	serve func(y *slotAllocator)) *controller.View {
	if last.holds(v) {
		p.Wake = min(p.Wake, last.wake)
		return rest(v, usable(v.Free, nil))
	}
	y := newSlotAllocator(v, m)
	if y == nil {
		return v
	}
	for _, w := range y.works {
		if w.reads() {
			w.blocks = data(y, w)
		} else if w.chained {
			w.blocks = readBlocks(v, w.job)
		}
	}
	serve(y)
	before, wake := len(p.Place), y.wake()
	y.places(p)
	p.Wake = min(p.Wake, wake)
	if last != nil {
		*last = fruitless{}
		if len(p.Place) == before && !y.fleeting {
			*last = fruitless{v.TaskChanges, v.Fabric, v.Delta, v.ElephantThreshold, wake}
		}
	}
	return rest(v, y.free)
}

// fruitless is a decision in which no task of an incremental job could be placed, by all that it rested on.
type fruitless struct {
	changes  uint64 // View.TaskChanges; 0: there was none such
	fabric   *topo.Fabric
	delta    time.Duration
	elephant pathmap.Bytes
	wake     time.Duration // when a job has waited long enough to read from afar
}

// holds reports whether the same decision would be fruitless now.
func (f *fruitless) holds(v *controller.View) bool {
	return f != nil && f.changes != 0 && v.Now < f.wake &&
		*f == fruitless{v.TaskChanges, v.Fabric, v.Delta, v.ElephantThreshold, f.wake}
}
