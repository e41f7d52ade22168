package leader

import (
	"context"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/loop"
	"lightloom/controller/state"
)

// watcher waits for something to be so in the state, or to be refused.
type watcher struct {
	met  func(*state.State) bool
	done chan error // holds one; nil: it is so
}

// Reserve asks for bandwidth and returns what was pledged once that is in the log. Asks need a Request.
func (l *Leader) Reserve(ctx context.Context, a loop.Ask) (controller.Pledge, error) {
	got := make(chan controller.Pledge, 1)
	err := l.wish(ctx, a, func(s *state.State) bool {
		p, known, _ := s.Pledge(a.Request)
		if known {
			select {
			case got <- p:
			default:
			}
		}
		return known
	})
	if err != nil {
		return controller.Pledge{}, err
	}
	return <-got, nil
}

// Release gives a pledge back and returns once it is over.
func (l *Leader) Release(ctx context.Context, id controller.PledgeID) error {
	over := func(s *state.State) bool {
		return !slices.ContainsFunc(s.Pledges(), func(p controller.Pledge) bool { return p.ID == id })
	}
	var already bool
	l.cfg.Log.View(func(uint64) { already = over(l.cfg.State) })
	if already {
		return fmt.Errorf("release pledge %d: %w", id, loop.ErrNoPledge)
	}
	return l.wish(ctx, loop.Ask{Release: id}, over)
}

// wish hands an Ask over and waits until it is met or refused. met is called inside Log.View.
func (l *Leader) wish(ctx context.Context, a loop.Ask, met func(*state.State) bool) error {
	w := watcher{met, make(chan error, 1)}
	a.Refused = w.tell
	return l.await(ctx, w, func(in *loop.Inputs) { in.Asks = append(in.Asks, a) })
}

// await hands something in and waits until it is met or refused.
func (l *Leader) await(ctx context.Context, w watcher, hand func(*loop.Inputs)) error {
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return ErrStopped
	}
	l.watchers = append(l.watchers, w)
	l.mu.Unlock()
	l.box.put(hand)
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// tell answers once; who has been answered hears no more.
func (w *watcher) tell(err error) {
	select {
	case w.done <- err:
	default:
	}
}

// answer tells the watchers what has come to be so, and all of them that the leadership has ended. It is called with
// l.mu held, inside Log.View.
func (l *Leader) answer(all bool) {
	l.watchers = slices.DeleteFunc(l.watchers, func(w watcher) bool {
		switch {
		case w.met(l.cfg.State):
			w.tell(nil)
		case all:
			w.tell(ErrStopped)
		default:
			return len(w.done) > 0 // refused
		}
		return true
	})
}

// Reserve asks the leadership of this replica, or returns ErrVacant.
func (s *Seat) Reserve(ctx context.Context, a loop.Ask) (controller.Pledge, error) {
	l := s.Leader()
	if l == nil {
		return controller.Pledge{}, ErrVacant
	}
	return l.Reserve(ctx, a)
}

// Release gives back to the leadership of this replica, or returns ErrVacant.
func (s *Seat) Release(ctx context.Context, id controller.PledgeID) error {
	l := s.Leader()
	if l == nil {
		return ErrVacant
	}
	return l.Release(ctx, id)
}
