package leader

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lightloom/controller/demand"
	"lightloom/controller/loop"
)

// meter fails, hangs, or counts its calls.
type meter struct {
	mu    sync.Mutex
	asked int
	mode  string
}

func (m *meter) Traffic(ctx context.Context) (demand.Sample, error) {
	m.mu.Lock()
	m.asked++
	asked, mode := m.asked, m.mode
	m.mu.Unlock()
	switch mode {
	case "fails":
		return demand.Sample{}, errors.New("no")
	case "hangs":
		<-ctx.Done()
		return demand.Sample{}, ctx.Err()
	}
	return demand.Sample{At: time.Duration(asked)}, nil
}

func (m *meter) be(mode string) {
	m.mu.Lock()
	m.mode = mode
	m.mu.Unlock()
}

// TestPoll: counters are read twice a period; what was read last is at hand, its error too, and a meter
// that hangs is given up.
func TestPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &Leader{cfg: Config{Loop: loop.Config{Demand: demand.Options{Source: demand.FromCounters,
			Period: time.Second}},
			SetTimeout: 3 * time.Second}, counters: newCounters()}
		if _, err := l.counters.latest(); !errors.Is(err, errUnread) {
			t.Errorf("before the first reading: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		m := &meter{}
		ended := make(chan struct{})
		go func() { defer close(ended); l.poll(ctx, m) }()
		wait := func(d time.Duration) {
			<-time.After(d)
			synctest.Wait()
		}
		wait(1700 * time.Millisecond) // at 0, 0.5, 1 and 1.5 s
		if s, err := l.counters.latest(); err != nil || s.At != 4 {
			t.Errorf("after 1.7 s: reading %d, %v; want the fourth", s.At, err)
		}
		m.be("fails")
		wait(500 * time.Millisecond)
		if _, err := l.counters.latest(); err == nil {
			t.Error("a meter that fails is believed")
		}
		m.be("hangs")
		wait(4 * time.Second)
		if _, err := l.counters.latest(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a meter that hangs: %v", err)
		}
		cancel()
		<-ended
	})
}
