package gnmi

import (
	"context"
	"sync"
	"time"

	"lightloom/southbound"
)

// Lazy is a device that is dialled on the first call, and again on the next if that failed, so that a device that does
// not answer does not hold up the others.
type Lazy struct {
	cfg func() (Config, error)

	mu      sync.Mutex
	session *Session
}

// NewLazy returns a device that is dialled when it is first asked for something. How is asked for before each try.
func NewLazy(c func() (Config, error)) *Lazy { return &Lazy{cfg: c} }

func (l *Lazy) get(ctx context.Context) (*Session, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session == nil {
		cfg, err := l.cfg()
		if err != nil {
			return nil, err
		}
		s, err := Dial(ctx, cfg)
		if err != nil {
			return nil, err
		}
		l.session = s
	}
	return l.session, nil
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
func (l *Lazy) Counters(ctx context.Context, every time.Duration, tell func([]southbound.PortCounters)) error {
	s, err := l.get(ctx)
	if err != nil {
		return err
	}
	return s.Counters(ctx, every, tell)
}

// Close ends the session, where there is one.
func (l *Lazy) Close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.session != nil {
		_ = l.session.Close() // nothing is left to lose
	}
}
