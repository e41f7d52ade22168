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

// Reserve reserves bandwidth and returns the reservation once it is in the log. Requests need a
// Request. A nil Leader returns ErrVacant.
func (l *Leader) Reserve(ctx context.Context,
	a loop.BandwidthRequest) (controller.BandwidthReservation, error) {
	got := make(chan controller.BandwidthReservation, 1)
	err := l.requestBandwidth(ctx, a, func(s *state.State) bool {
		p, known, _ := s.BandwidthReservation(a.Request)
		if known {
			select {
			case got <- p:
			default:
			}
		}
		return known
	})
	if err != nil {
		return controller.BandwidthReservation{}, err
	}
	return <-got, nil
}

// Release gives a bandwidth reservation back and returns once it is over. A nil Leader returns ErrVacant.
func (l *Leader) Release(ctx context.Context, id controller.BandwidthReservationID) error {
	if l == nil {
		return ErrVacant
	}
	over := func(s *state.State) bool {
		return !slices.ContainsFunc(s.BandwidthReservations(), func(p controller.BandwidthReservation) bool {
			return p.ID == id
		})
	}
	var already bool
	l.cfg.Log.View(func(uint64) { already = over(l.cfg.State) })
	if already {
		return fmt.Errorf("release bandwidth reservation %d: %w", id, loop.ErrNoBandwidthReservation)
	}
	return l.requestBandwidth(ctx, loop.BandwidthRequest{Release: id}, over)
}

// requestBandwidth hands a BandwidthRequest over and waits until it is met or refused. met is called
// inside Log.View.
func (l *Leader) requestBandwidth(ctx context.Context, a loop.BandwidthRequest,
	met func(*state.State) bool) error {
	w := watcher{met, make(chan error, 1)}
	a.Refused = w.answer
	return l.await(ctx, w, func(in *loop.Inputs) { in.BandwidthRequests = append(in.BandwidthRequests, a) })
}

// await hands something in and waits until it is met or refused.
func (l *Leader) await(ctx context.Context, w watcher, hand func(*loop.Inputs)) error {
	if l == nil {
		return ErrVacant
	}
	l.mu.Lock()
	if l.stopped {
		l.mu.Unlock()
		return ErrStopped
	}
	if len(l.watchers) >= maxWatchers {
		l.mu.Unlock()
		return fmt.Errorf("%d requests wait: %w", maxWatchers, ErrBusy)
	}
	l.watchers = append(l.watchers, w)
	l.mu.Unlock()
	l.inbox.put(hand)
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxWatchers bounds the requests beside jobs that wait for the log.
const maxWatchers = 1 << 12

// answer answers a watcher once.
func (w *watcher) answer(err error) {
	select {
	case w.done <- err:
	default:
	}
}

// answer notifies the watchers whose change is committed, or all of them if the leadership has ended.
// The caller holds l.mu, inside Log.View.
func (l *Leader) answer(all bool) {
	l.watchers = slices.DeleteFunc(l.watchers, func(w watcher) bool {
		switch {
		case w.met(l.cfg.State):
			w.answer(nil)
		case all:
			w.answer(ErrStopped)
		default:
			return len(w.done) > 0 // refused
		}
		return true
	})
}
