package gnmi

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"lightloom/southbound"
)

// Line is an open connection to a device.
type Line interface {
	southbound.Device
	Close() error
}

// Lazy is a device that is dialled on the first call, and again on the next if that failed, so that a
// device that does not answer does not hold up the others.
type Lazy struct {
	dial   func(context.Context) (Line, error)
	within func() time.Duration // of a Set; nil: as long as the caller likes

	mu      sync.Mutex // held while the device is dialled
	line    Line
	dialing atomic.Pointer[context.CancelFunc] // ends the dial under way; nil: there is none
}

// NewLazy returns a device that is dialled when it is first asked for something. within, if not nil,
// returns how long a Set of it may take; 0: as long as the caller likes.
func NewLazy(dial func(context.Context) (Line, error), within func() time.Duration) *Lazy {
	return &Lazy{dial: dial, within: within}
}

// SetWithin implements southbound.Slow.
func (l *Lazy) SetWithin() time.Duration {
	if l.within == nil {
		return 0
	}
	return l.within()
}

func (l *Lazy) get(ctx context.Context) (Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line == nil {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		l.dialing.Store(&cancel)
		line, err := l.dial(ctx)
		l.dialing.Store(nil)
		if err != nil {
			return nil, err
		}
		l.line = line
	}
	return l.line, nil
}

// Set implements southbound.Device.
func (l *Lazy) Set(ctx context.Context, c *southbound.Change) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Set(ctx, c)
}

func (l *Lazy) Read(ctx context.Context) (southbound.Seen, error) {
	s, err := l.get(ctx)
	if err != nil {
		return southbound.Seen{}, err
	}
	return s.Read(ctx)
}

// Watch implements southbound.Device.
func (l *Lazy) Watch(ctx context.Context, sink func(southbound.DeviceEvent)) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Watch(ctx, sink)
}

// Counters implements southbound.Counting.
func (l *Lazy) Counters(ctx context.Context, every time.Duration,
	tell func([]southbound.PortCounters)) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	c, ok := s.(southbound.Counting)
	if !ok {
		return southbound.ErrUnsupported
	}
	return c.Counters(ctx, every, tell)
}

// Claim implements southbound.Claiming.
func (l *Lazy) Claim(ctx context.Context) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return southbound.Claim(ctx, s)
}

// Redial ends the session, where there is one, with all calls on it: the next call dials anew, perhaps
// another device. A dial under way ends too: that of a dead device can take as long as a Set.
func (l *Lazy) Redial() {
	if end := l.dialing.Load(); end != nil {
		(*end)()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.line != nil {
		_ = l.line.Close() // nothing is left to lose
	}
	l.line = nil
}

// Close ends the session, where there is one.
func (l *Lazy) Close() { l.Redial() }
