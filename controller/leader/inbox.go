package leader

import (
	"slices"
	"sync"
	"time"

	"lightloom/controller/loop"
	"lightloom/southbound"
)

// inbox gathers what comes in between two steps.
type inbox struct {
	mu      *sync.Mutex
	in      *loop.Inputs
	through *uint64       // number of the last host event in it
	ready   chan struct{} // holds one token while something may be in it
}

func newInbox() inbox {
	return inbox{mu: &sync.Mutex{}, in: &loop.Inputs{}, through: new(uint64), ready: make(chan struct{}, 1)}
}

func (b inbox) put(add func(*loop.Inputs)) {
	b.offer(func(in *loop.Inputs) bool { add(in); return true })
}

// offer is put for what may come to nothing: add says whether there is something to wake for.
func (b inbox) offer(add func(*loop.Inputs) bool) {
	b.mu.Lock()
	any := add(b.in)
	b.mu.Unlock()
	if !any {
		return
	}
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

func (b inbox) event(num uint64, e southbound.Event) {
	b.put(func(in *loop.Inputs) {
		in.Events = append(in.Events, e)
		*b.through = num
	})
}

// take empties the mailbox. through is the number of the last host event taken, 0 if there is none.
func (b inbox) take() (loop.Inputs, uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in, through := *b.in, *b.through
	*b.in, *b.through = loop.Inputs{}, 0
	slices.SortStableFunc(in.Events, func(x, y southbound.Event) int {
		return compareTime(x.At, y.At)
	})
	return in, through
}

func compareTime(a, b time.Duration) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
