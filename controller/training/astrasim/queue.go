package astrasim

import (
	"container/heap"
	"context"

	"lightloom/controller/training"
)

// queue is the events to come. Those of one instant run in the order in which they were added, also those that are
// added while it runs.
type queue struct {
	now   int64 // ns
	added uint64
	items events
	err   error // the first
}

type event struct {
	at    int64
	order uint64
	run   func()
}

// after returns the instant in so many ns, cut to whole ones. One that is too late to be counted ends the run.
func (q *queue) after(delay float64) int64 {
	if !(delay <= float64(int64(training.MostTime)-q.now)) {
		q.err = training.ErrTooLong
		return q.now
	}
	return q.now + int64(delay)
}

// at adds an event; t is now or later.
func (q *queue) at(t int64, run func()) {
	heap.Push(&q.items, event{t, q.added, run})
	q.added++
}

// patience is how many events run between two looks at the context.
const patience = 1 << 14

// run runs all events.
func (q *queue) run(ctx context.Context) error {
	for n := 0; len(q.items) > 0; n++ {
		if q.err != nil {
			return q.err
		}
		if n%patience == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		e := heap.Pop(&q.items).(event)
		q.now = e.at
		e.run()
	}
	return q.err
}

// events implements heap.Interface.
type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	(*e)[len(*e)-1] = event{}
	*e = (*e)[:len(*e)-1]
	return last
}
