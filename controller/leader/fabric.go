package leader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// ErrPolicy says that another policy is to decide, or on other cables. The leadership can begin anew at
// once, in the same term.
var ErrPolicy = errors.New("the policy or the cables have changed")

// Watchdog is what becomes of a policy that fails. The zero value lets a panic go on, and waits for ever.
type Watchdog struct {
	// Bar returns the change that follows the one that stands where the policy has failed; false if no
	// other policy is left.
	Bar func(now controller.FabricChange, why string) (controller.FabricChange, bool)
	// A policy that has not answered within Limit cannot be stopped: Stalled, called once and in a
	// goroutine of its own, gets the change that bars it, and false if no other is left. Nothing is
	// applied here any more: it has the process end. 0: no limit.
	Limit   time.Duration
	Stalled func(next controller.FabricChange, ok bool)
}

// watchdog follows the calls of the policy.
type watchdog struct {
	Watchdog
	since atomic.Int64 // instant of the call that is under way, plus one; 0: none is
	seen  atomic.Pointer[controller.FabricChange]
}

// follow has a loop's configuration tell of calls, and contain failures.
func (w *watchdog) follow(c *loop.Config, clock func() time.Duration) {
	c.Contain = w.Bar != nil
	if w.Limit > 0 {
		c.Asked = func(begins bool) {
			w.since.Store(0)
			if begins {
				w.since.Store(int64(clock()) + 1)
			}
		}
	}
}

// watch tells Stalled of a call that lasts too long, until ctx ends.
func (w *watchdog) watch(ctx context.Context, clock func() time.Duration) {
	tick := time.NewTicker(w.Limit / 8)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if since := w.since.Load(); since > 0 && clock()-time.Duration(since-1) > w.Limit {
			next, ok := w.Bar(*w.seen.Load(), fmt.Sprintf("it has not answered for %v", w.Limit))
			w.Stalled(next, ok)
			return
		}
	}
}

// note remembers what stands for when nothing can be read any more.
func (l *Leader) note() (now controller.FabricChange) {
	l.cfg.Log.View(func(uint64) { now = l.cfg.State.Change() })
	l.watchdog.seen.Store(&now)
	return now
}

// bar has another policy decide in place of one that has failed: it returns ErrPolicy, or cause if none
// is left or the cluster's level does not allow it.
func (l *Leader) bar(ctx context.Context, term uint64, cause error) error {
	next, ok := l.watchdog.Bar(l.note(), cause.Error())
	e := state.Entry{Kind: state.FabricChanged, At: l.cfg.Clock(), Cluster: &state.Cluster{Fabric: &next}}
	l.cfg.Log.View(func(uint64) { ok = ok && l.cfg.State.Admits(&e) })
	if !ok {
		return cause
	}
	l.cfg.Logger.Error("policy is barred", "next", next.Policy, "error", cause)
	if err := l.commit(ctx, term, []state.Entry{e}); err != nil {
		return err
	}
	return ErrPolicy
}

// Change changes the fabric and returns once that is in the log. A nil Leader returns ErrVacant.
func (l *Leader) Change(ctx context.Context, c controller.FabricChange) error {
	w := watcher{func(s *state.State) bool { return reflect.DeepEqual(s.Change(), c) }, make(chan error, 1)}
	return l.await(ctx, w, func(in *loop.Inputs) {
		in.Changes = append(in.Changes, loop.ChangeRequest{Change: &c, Refused: w.answer})
	})
}

// changed goes over to the devices that entries which have been applied have put in the place of
// others, and reports whether another policy decides from now on, or on other cables: paths, tables and
// rates are then made anew.
func (l *Leader) changed(ctx context.Context, entries []state.Entry,
	workers map[southbound.DeviceID]*worker) bool {
	if !slices.ContainsFunc(entries, func(e state.Entry) bool { return e.Kind == state.FabricChanged }) {
		return false
	}
	was := l.watchdog.seen.Load()
	now := l.note()
	for _, n := range now.Replaced(was) {
		if w := workers[n]; w != nil {
			l.cfg.Logger.Info("device is replaced", "device", n)
			l.staff.Go(w.replace)
		}
	}
	l.attend(ctx, now.Removed, workers)
	return now.Policy != l.cfg.Policy || !now.Cabling.Equal(was.Cabling)
}

// attend has a worker for every device but those that are removed.
func (l *Leader) attend(ctx context.Context, removed []southbound.DeviceID,
	workers map[southbound.DeviceID]*worker) {
	for id := range l.cfg.Devices {
		w, gone := workers[id], slices.Contains(removed, id)
		switch {
		case gone && w != nil:
			w.leave()
			delete(workers, id)
			l.claims.forget(id)
			l.inbox.device(southbound.DeviceEvent{Device: id, Kind: southbound.Lost})
			l.redial(id)
		case !gone && w == nil:
			l.redial(id) // it can be another by now
			l.claims.expect(id)
			workers[id] = l.employ(ctx, id)
		}
	}
}

// employ begins the work on a device.
func (l *Leader) employ(ctx context.Context, id southbound.DeviceID) *worker {
	d := l.cfg.Devices[id]
	w := newWorker(l, id, d)
	ctx, w.leave = context.WithCancel(ctx)
	l.staff.Go(func() { w.run(ctx) })
	l.staff.Go(func() { w.watch(ctx) })
	if c, ok := d.(southbound.Counting); ok && l.cfg.Sample > 0 {
		l.staff.Go(func() { w.sample(ctx, c) })
	}
	return w
}

func (l *Leader) redial(id southbound.DeviceID) {
	if l.cfg.Redial != nil {
		l.cfg.Redial(id)
	}
}
