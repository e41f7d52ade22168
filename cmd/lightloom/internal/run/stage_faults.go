package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"lightloom/controller/state"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
)

// failing is what has failed of a stage. Events come from a file and from users alike.
type failing struct {
	striking sync.Mutex // one event at a time
	mu       sync.Mutex
	books    *breakdown
}

// openFaults begins with nothing failed.
func (s *stage) openFaults() {
	s.failing.books = newBreakdown(fault.NewNames(s.fabric, s.order.Replicas))
}

// strike has something of the stage fail, or come back. changed is false where that stood already.
func (s *stage) strike(ctx context.Context, e fault.Event) (changed bool, err error) {
	f := &s.failing
	f.striking.Lock()
	defer f.striking.Unlock()
	f.mu.Lock()
	changes, changed, err := f.books.strike(e, s.clock())
	f.mu.Unlock()
	for _, c := range changes {
		err = errors.Join(err, s.change(ctx, c))
	}
	return changed, err
}

func (s *stage) change(ctx context.Context, c fault.Change) error {
	switch {
	case c.Kind == fault.Controller && c.Up:
		return s.replicas.revive(s.replicas.ids[c.Controller])
	case c.Kind == fault.Controller:
		return s.replicas.kill(ctx, s.replicas.ids[c.Controller])
	case c.Kind == fault.Switch && !c.Up:
		return errors.Join(s.plant.strike(c), s.front[c.Device].off(ctx))
	case c.Kind == fault.Switch:
		return errors.Join(s.plant.strike(c), s.front[c.Device].on())
	}
	return s.plant.strike(c)
}

// failed is what has failed and is not whole again.
func (s *stage) failed() []fault.Fault {
	s.failing.mu.Lock()
	defer s.failing.mu.Unlock()
	return s.failing.books.damage.Failed()
}

// schedule lets the faults of an order come and go, counted from begin.
func (s *stage) schedule(ctx context.Context, begin time.Duration) error {
	for _, e := range s.order.Faults {
		if s.failing.books.names.Check(e.Fault) != nil {
			continue // this row's fabric has no such thing: tell says so
		}
		timer := time.NewTimer(begin + e.At - s.clock())
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
		if _, err := s.strike(ctx, e); err != nil && ctx.Err() == nil {
			return fmt.Errorf("%v: %w", e, err)
		}
	}
	return nil
}

// observe notes when tables change and what has been received, until end is called.
func (s *stage) observe() (end func()) {
	if len(s.order.Faults) == 0 && s.order.Failover == nil {
		return func() {}
	}
	f := &s.failing
	return s.plant.watchTables(func(a device.Applied) {
		now := s.clock()
		f.mu.Lock()
		defer f.mu.Unlock()
		f.books.applied(now, a)
	})
}

// sample notes what has been received.
func (s *stage) sample() {
	if len(s.order.Faults) == 0 {
		return
	}
	now, n := s.clock(), s.plant.agent.Stats().BytesReceived
	s.failing.mu.Lock()
	defer s.failing.mu.Unlock()
	s.failing.books.levels = append(s.failing.books.levels, level{now, n})
}

// ended says whether the instant has come at which the run stops, whatever still runs.
func (s *stage) ended(begin time.Duration) bool {
	return s.order.StopAt > 0 && s.clock() >= begin+s.order.StopAt
}

// stuck says whether nothing will happen any more: the last fault has come or gone, no bytes have been received and no
// task has run for a while, and still something has failed.
func (s *stage) stuck(begin time.Duration) bool {
	const idle = 5 * time.Second
	last := s.order.Jobs[len(s.order.Jobs)-1].Arrival
	if n := len(s.order.Faults); n > 0 {
		last = max(last, s.order.Faults[n-1].At)
	}
	if len(s.failed()) == 0 || s.clock() < begin+last+idle || s.plant.agent.Status().LiveTasks > 0 {
		return false
	}
	s.failing.mu.Lock()
	defer s.failing.mu.Unlock()
	levels := s.failing.books.levels
	if len(levels) == 0 {
		return false
	}
	now := levels[len(levels)-1]
	for i := len(levels) - 1; i >= 0 && levels[i].Bytes == now.Bytes; i-- {
		if now.At-levels[i].At >= idle {
			return true
		}
	}
	return false
}

// tell adds to an outcome what failed, by the run's clock.
func (s *stage) tell(o *outcome, begin time.Duration) {
	if len(s.order.Faults) == 0 {
		return
	}
	s.failing.mu.Lock()
	defer s.failing.mu.Unlock()
	b := s.failing.books
	o.Faults, o.Levels = b.settle(), b.levels
	for i := range o.Faults {
		f := &o.Faults[i]
		for _, t := range []*time.Duration{&f.From, &f.To, &f.Settled, &f.Healed} {
			if *t != state.Unset {
				*t -= begin
			}
		}
	}
	for i := range o.Levels {
		o.Levels[i].At -= begin
	}
	for _, e := range s.order.Faults {
		if !e.Heal && b.names.Check(e.Fault) != nil {
			o.Notes = append(o.Notes, fmt.Sprintf("this row's fabric has no %v: it did not fail.", e.Fault))
		}
	}
	if whole := state.New(s.fabric); o.State != nil {
		if snap, err := json.Marshal(o.State); err == nil && whole.Restore(snap) == nil {
			o.Reasons = reasons(whole)
		}
	}
}
