package leader

import (
	"context"
	"errors"
	"sync"

	"lightloom/controller"
	"lightloom/controller/loop"
)

// ErrVacant means that this replica does not lead.
var ErrVacant = errors.New("this replica does not lead")

// Seat is where a replica's leadership sits while it lasts, so that whoever takes jobs from users finds it. The zero
// value is vacant.
type Seat struct {
	mu  sync.Mutex
	now *Leader
}

// Sit runs a leadership and keeps the seat for it meanwhile.
func (s *Seat) Sit(ctx context.Context, term uint64, l *Leader) error {
	s.set(l)
	defer s.set(nil)
	return l.Run(ctx, term)
}

func (s *Seat) set(l *Leader) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = l
}

// Leader returns who sits, nil for nobody.
func (s *Seat) Leader() *Leader {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Submit hands jobs to the leadership of this replica, or returns ErrVacant.
func (s *Seat) Submit(ctx context.Context, offers []loop.Offer) error {
	l := s.Leader()
	if l == nil {
		return ErrVacant
	}
	return l.Submit(ctx, offers)
}

// Ready says whether the leadership of this replica has brought every device into its state.
func (s *Seat) Ready() bool {
	l := s.Leader()
	if l == nil {
		return false
	}
	select {
	case <-l.Ready():
		return true
	default:
		return false
	}
}

// Links returns what the leadership of this replica knows of links, by id; nil where it knows nothing.
func (s *Seat) Links() []controller.LinkRate {
	if l := s.Leader(); l != nil {
		return l.Links()
	}
	return nil
}
