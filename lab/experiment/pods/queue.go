package pods

import (
	"container/heap"
	"fmt"

	"lightloom/controller/torus"
)

// Queue is how jobs wait for a place.
type Queue struct {
	Rule torus.Rule
	// Move lets running slices move where that makes room for the first job of the queue.
	Move bool
	// Backfill starts any job that fits, in the order of arrival. Otherwise none starts before those that came earlier.
	Backfill bool
}

// Waits is what a queue did to jobs.
type Waits struct {
	Utilisation float64 // of all nodes, until the last arrival
	Waited      []int64 // by job, seconds
	Moved       int     // slices that were moved
	MovedNodes  int     // their nodes
}

// Mean returns the mean time that a job waited, in seconds.
func (w *Waits) Mean() float64 {
	sum := int64(0)
	for _, x := range w.Waited {
		sum += x
	}
	return float64(sum) / float64(len(w.Waited))
}

// Run lets jobs, which are in the order of arrival, wait for places of a free pod until all have ended. At each
// instant ends come first, then arrivals, and then jobs start.
func (q Queue) Run(pod *torus.Pod, jobs []Job) (*Waits, error) {
	for i, j := range jobs {
		if err := pod.Check(j.Shape); err != nil {
			return nil, fmt.Errorf("job %d: %w", i, err)
		}
	}
	s := &run{Queue: q, pod: pod.Clone(), jobs: jobs, out: &Waits{Waited: make([]int64, len(jobs))},
		at: make([]*torus.Placement, len(jobs))}
	if len(jobs) > 0 {
		s.last = jobs[len(jobs)-1].Arrive
	}
	for next := 0; next < len(jobs) || len(s.running) > 0; {
		now := int64(0)
		if next < len(jobs) {
			now = jobs[next].Arrive
		}
		if len(s.running) > 0 && (next == len(jobs) || s.running[0].at < now) {
			now = s.running[0].at
		}
		s.until(now)
		for len(s.running) > 0 && s.running[0].at == now {
			s.end(heap.Pop(&s.running).(ending).job)
		}
		for ; next < len(jobs) && jobs[next].Arrive == now; next++ {
			s.waiting = append(s.waiting, next)
		}
		s.start()
	}
	if len(s.waiting) > 0 {
		return nil, fmt.Errorf("place job %d, a slice of %s: %s finds no place for it in the whole pod", s.waiting[0],
			jobs[s.waiting[0]].Shape, q.Rule.Name)
	}
	if s.last > 0 {
		s.out.Utilisation = s.nodeSeconds / float64(s.last) / float64(pod.Nodes())
	}
	return s.out, nil
}

// run is a queue under way.
type run struct {
	Queue
	pod     *torus.Pod
	jobs    []Job
	at      []*torus.Placement // of jobs that run
	waiting []int
	running endings
	out     *Waits

	now, last   int64
	busy        int // nodes
	nodeSeconds float64
	failed      map[torus.Shape]bool // shapes that do not fit since the last end
}

// until counts what is busy until an instant, at most until the last arrival.
func (s *run) until(now int64) {
	if to := min(now, s.last); to > s.now {
		s.nodeSeconds += float64(s.busy) * float64(to-s.now)
	}
	s.now = now
}

func (s *run) end(job int) {
	s.pod.Give(s.at[job].Parts)
	s.at[job] = nil
	s.busy -= s.jobs[job].Shape.Nodes()
	s.failed = nil
}

// start starts the jobs that can.
func (s *run) start() {
	for i := 0; i < len(s.waiting); {
		job := s.waiting[i]
		if place := s.place(job); place != nil {
			s.pod.Take(place.Parts)
			s.at[job] = place
			s.busy += s.jobs[job].Shape.Nodes()
			s.out.Waited[job] = s.now - s.jobs[job].Arrive
			heap.Push(&s.running, ending{s.now + s.jobs[job].Last, job})
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			continue
		}
		if !s.Backfill {
			return
		}
		i++
	}
}

// place finds a place, once for each shape until something ends.
func (s *run) place(job int) *torus.Placement {
	shape := s.jobs[job].Shape
	if s.failed[shape] {
		return nil
	}
	place := s.Rule.Place(s.pod, shape)
	if place == nil && s.Move {
		place = s.move(shape)
	}
	if place == nil {
		if s.failed == nil {
			s.failed = map[torus.Shape]bool{}
		}
		s.failed[shape] = true
	}
	return place
}

// move moves running slices out of the way.
func (s *run) move(shape torus.Shape) *torus.Placement {
	var there []torus.Named
	byName := map[string]int{}
	for job, place := range s.at {
		if place != nil {
			name := fmt.Sprint(job)
			byName[name] = job
			there = append(there, torus.Named{Name: name, Place: place})
		}
	}
	d := torus.Defragment(s.pod, there, shape, s.Rule)
	if d == nil {
		return nil
	}
	for _, m := range d.Moves {
		s.pod.Give(m.From.Parts)
	}
	for _, m := range d.Moves {
		s.pod.Take(m.To.Parts)
		s.at[byName[m.Name]] = m.To
	}
	s.out.Moved += len(d.Moves)
	s.out.MovedNodes += d.Nodes
	return d.Place
}

// ending is when a job ends.
type ending struct {
	at  int64
	job int
}

// endings is a heap, the first to end first.
type endings []ending

func (e endings) Len() int { return len(e) }

func (e endings) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].job < e[j].job
}

func (e endings) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *endings) Push(x any)   { *e = append(*e, x.(ending)) }

func (e *endings) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}
