package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	"lightloom/controller/loop"
	"lightloom/southbound"
)

// worker is the one queue of Sets and reads of a device. It begins with a claim: nothing is written
// before the device has accepted this leadership's election id, has been read back, and the loop has
// the result. When the device's stream breaks, the worker claims it again, as a restarted device can
// have forgotten the leader.
type worker struct {
	id     southbound.DeviceID
	dev    southbound.Device
	leader *Leader
	jobs   chan func(context.Context)
	broken chan struct{} // holds one token while the device is to be claimed anew
	leave  func()        // ends it

	mu   sync.Mutex
	life int  // how often it was to be claimed anew
	open bool // Sets may go
}

func newWorker(l *Leader, id southbound.DeviceID, d southbound.Device) *worker {
	return &worker{id: id, dev: d, leader: l, jobs: make(chan func(context.Context), 1024),
		broken: make(chan struct{}, 1)}
}

// push queues a call, or reports that it cannot: a full queue means that the device has not answered
// for very long.
func (w *worker) push(f func(context.Context)) bool {
	select {
	case w.jobs <- f:
		return true
	default:
		return false
	}
}

// run claims the device and makes the calls of the queue, until ctx ends. Sets that are left then get an error: moves
// and paths wait for their answers.
func (w *worker) run(ctx context.Context) {
	for w.claim(ctx) {
		w.serve(ctx)
	}
	for {
		select {
		case f := <-w.jobs:
			f(ctx)
		default:
			return
		}
	}
}

// serve makes the calls of the queue until the device must be claimed again.
func (w *worker) serve(ctx context.Context) {
	for {
		select {
		case f := <-w.jobs:
			w.timed(ctx, f)
		case <-w.broken:
			return
		case <-ctx.Done():
			return
		}
	}
}

// claim claims the device and reads it back, as often as it takes; false once ctx has ended.
func (w *worker) claim(ctx context.Context) bool {
	for wait := w.leader.cfg.Retry; ; wait = min(2*wait, mostWaits*w.leader.cfg.Retry) {
		life := w.current()
		seen, state, err := w.takeOver(ctx)
		if ctx.Err() != nil {
			return false
		}
		w.leader.claims.note(w.id, state, err)
		if state != Unclaimed {
			w.leader.ledger.claimed(w.id, &seen)
			w.leader.inbox.claimed(w, life, loop.DeviceSeen{Device: w.id, Seen: seen})
			return true
		}
		pause(ctx, wait)
	}
}

// mostWaits is how many times Retry the pause between two tries grows to.
const mostWaits = 16

// takeOver claims the device and reads it back. With a state other than Unclaimed the error is the
// reason why it is unfenced.
func (w *worker) takeOver(ctx context.Context) (seen southbound.Seen, s ClaimState, err error) {
	s = Fenced
	w.call(ctx, func(ctx context.Context) { err = southbound.Claim(ctx, w.dev) })
	if errors.Is(err, southbound.ErrUnfenced) {
		s = Unfenced
	} else if err != nil {
		return seen, Unclaimed, err
	}
	var unread error
	w.call(ctx, func(ctx context.Context) { seen, unread = w.dev.Read(ctx) })
	if unread != nil {
		return seen, Unclaimed, unread
	}
	return seen, s, err
}

// call makes one call within the time that it may take, and none once ctx has ended: another device can
// be in the place of this one then.
func (w *worker) call(ctx context.Context, f func(context.Context)) {
	if ctx.Err() == nil {
		w.timed(ctx, f)
	}
}

// timed makes a call of the queue within the time that it may take. Once ctx has ended, the call is for its caller's
// sake, and leaves the device alone.
func (w *worker) timed(ctx context.Context, f func(context.Context)) {
	ctx, cancel := context.WithTimeout(ctx, southbound.SetWithin(w.dev, w.leader.cfg.SetTimeout))
	defer cancel()
	f(ctx)
}

// current returns the worker's life, to be handed to opened and holds.
func (w *worker) current() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.life
}

// opened lets Sets go, if the device has not been given up since that life.
func (w *worker) opened(life int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.open = w.open || life == w.life
}

// holds reports whether Sets are allowed, without interruption since that life.
func (w *worker) holds(life int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.open && life == w.life
}

// giveUp has the device claimed again before anything else is written to it.
func (w *worker) giveUp() {
	w.mu.Lock()
	w.open = false
	w.life++
	w.mu.Unlock()
	select {
	case w.broken <- struct{}{}:
	default:
	}
}

// replace goes over to the device that is in the place of this one now. Nothing is written to it before
// it has been claimed: a Set that was meant for the old one fails. The second giveUp is for a claim of
// the old one meanwhile.
func (w *worker) replace() {
	w.giveUp()
	w.leader.redial(w.id)
	w.giveUp()
}

// set makes a Set that was queued in that life.
func (w *worker) set(ctx context.Context, life int, c *southbound.Change) error {
	if ctx.Err() != nil || !w.holds(life) {
		return errUnclaimed
	}
	err := w.dev.Set(ctx, c)
	if err == nil {
		w.leader.ledger.accepted(w.id, c)
		w.leader.claims.changed(w.id, nil)
	}
	if errors.Is(err, southbound.ErrRefused) {
		w.leader.claims.changed(w.id, err)
	}
	if errors.Is(err, southbound.ErrNotLeader) {
		w.leader.claims.note(w.id, Unclaimed, err)
		w.giveUp()
	}
	return err
}

// read asks the device for its whole state; a failure is reported after a pause, so that the next try
// is not at once.
func (w *worker) read(ctx context.Context) {
	if ctx.Err() != nil {
		return
	}
	seen, err := w.dev.Read(ctx)
	if err != nil {
		pause(ctx, w.leader.cfg.Retry)
	} else {
		w.leader.ledger.read(w.id, &seen)
	}
	w.leader.inbox.put(func(in *loop.Inputs) {
		in.Seen = append(in.Seen, loop.DeviceSeen{Device: w.id, Seen: seen, Err: err})
	})
}

// watch keeps the device's stream open.
func (w *worker) watch(ctx context.Context) {
	for ctx.Err() == nil {
		synced := false
		stream, end := context.WithCancelCause(ctx)
		err := w.dev.Watch(stream, func(e southbound.DeviceEvent) {
			e.Device = w.id
			synced = synced || e.Kind == southbound.Synced
			if !w.leader.inbox.device(e) {
				end(errFlood) // the next stream begins with the current state
			}
		})
		if ctx.Err() != nil {
			end(nil)
			return
		}
		wait := w.leader.cfg.Retry
		if context.Cause(stream) != nil {
			err, wait = errFlood, mostWaits*wait
		}
		end(nil)
		if synced { // else the loop knows already
			w.giveUp()
		}
		w.leader.cfg.Logger.Warn("device stream ended", "device", w.id, "error", err)
		w.leader.inbox.put(func(in *loop.Inputs) {
			in.Devices = append(in.Devices, southbound.DeviceEvent{Device: w.id, Kind: southbound.Lost})
		})
		pause(ctx, wait)
	}
}

var errFlood = errors.New("the device tells more than can be taken up")

func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
