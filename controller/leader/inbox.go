package leader

import (
	"slices"
	"sync"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/southbound"
)

// inbox gathers what comes in between two steps.
type inbox struct {
	mu      sync.Mutex
	in      loop.Inputs
	through uint64                      // number of the last host event in it
	jobs    backlog                     // not in it yet
	claims  []opening                   // devices whose read-back is in it
	told    map[southbound.DeviceID]int // events of each device in it
	ready   chan struct{}               // holds one token while something may be in it
}

// backlog is the batches of offers that wait for a step, in their order. They are what callers can fill
// memory with.
type backlog struct {
	step, most int // bytes that one step takes, and that wait at most
	batches    []batch
	bytes      int
}

// batch is offers that came together, and what they take in the log at most.
type batch struct {
	offers []controller.Offer
	bytes  int
}

// opening is a device that may be written to once the loop has what was read back in that life.
type opening struct {
	worker *worker
	life   int
}

func newInbox(step, most int) *inbox {
	return &inbox{jobs: backlog{step: step, most: most}, told: map[southbound.DeviceID]int{},
		ready: make(chan struct{}, 1)}
}

func (b *inbox) put(add func(*loop.Inputs)) {
	b.offer(func(in *loop.Inputs) bool { add(in); return true })
}

// offer is put for inputs that can be without effect: add reports whether the loop must wake up.
func (b *inbox) offer(add func(*loop.Inputs) bool) {
	b.mu.Lock()
	any := add(&b.in)
	b.mu.Unlock()
	if any {
		b.wake()
	}
}

func (b *inbox) wake() {
	select {
	case b.ready <- struct{}{}:
	default:
	}
}

// submit adds a batch to the backlog, or reports that the backlog is full.
func (b *inbox) submit(offers []controller.Offer, bytes int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := &b.jobs
	if j.bytes+bytes > j.most {
		return false
	}
	j.batches, j.bytes = append(j.batches, batch{offers, bytes}), j.bytes+bytes
	b.wake()
	return true
}

// Backlog returns how many jobs wait to be written to the log, and their bytes there at most. A nil
// Leader has none.
func (l *Leader) Backlog() (jobs, bytes int) {
	if l == nil {
		return 0, 0
	}
	l.inbox.mu.Lock()
	defer l.inbox.mu.Unlock()
	for _, b := range l.inbox.jobs.batches {
		jobs += len(b.offers)
	}
	return jobs, l.inbox.jobs.bytes
}

func (b *inbox) event(num uint64, e southbound.Event) {
	b.put(func(in *loop.Inputs) {
		in.Events = append(in.Events, e)
		b.through = max(b.through, num)
	})
}

// maxTold bounds the events of one device that wait for a step: several for each port of the largest.
const maxTold = 1 << 16

// device adds an event of a device, or reports that too many of its events wait already.
func (b *inbox) device(e southbound.DeviceEvent) (fits bool) {
	b.offer(func(in *loop.Inputs) bool {
		if fits = b.told[e.Device] < maxTold; fits {
			in.Devices = append(in.Devices, e)
			b.told[e.Device]++
		}
		return fits
	})
	return fits
}

// renumber forgets the numbers of a stream of events that has ended: the next one has its own.
func (b *inbox) renumber() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.through = 0
}

// claimed notes that a device has been claimed and read back.
func (b *inbox) claimed(w *worker, life int, s loop.DeviceSeen) {
	b.put(func(in *loop.Inputs) {
		in.Seen = append(in.Seen, s)
		b.claims = append(b.claims, opening{w, life})
	})
}

// take empties the inbox but for offers that one step does not take. through is the number of the last
// host event taken, 0 if there is none. Workers whose read-back is taken may write from here on.
func (b *inbox) take() (loop.Inputs, uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	in, through := b.in, b.through
	b.in, b.through = loop.Inputs{}, 0
	for _, o := range b.claims {
		o.worker.opened(o.life)
	}
	b.claims = nil
	clear(b.told)
	if in.Jobs = b.jobs.take(); len(b.jobs.batches) > 0 {
		b.wake()
	}
	slices.SortStableFunc(in.Events, func(x, y southbound.Event) int {
		return compareTime(x.At, y.At)
	})
	return in, through
}

// take returns the offers of the first batches that fit one step.
func (j *backlog) take() (out []controller.Offer) {
	n, bytes := 0, 0
	for n < len(j.batches) && (n == 0 || bytes+j.batches[n].bytes <= j.step) {
		out, bytes = append(out, j.batches[n].offers...), bytes+j.batches[n].bytes
		n++
	}
	j.batches, j.bytes = slices.Delete(j.batches, 0, n), j.bytes-bytes
	return out
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
