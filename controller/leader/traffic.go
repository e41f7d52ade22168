package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	"lightloom/controller/demand"
	"lightloom/southbound"
)

// Meter is asked of Hosts: what they have sent so far, announced or not, as it is now.
type Meter interface {
	Traffic(ctx context.Context) (demand.Sample, error)
}

// Attended is asked of Hosts how their agents are.
type Attended interface {
	Agents() []southbound.AgentState
}

// Agents returns how the agents of hosts are; nil of a nil Leader, and where there are none.
func (l *Leader) Agents() []southbound.AgentState {
	if l == nil {
		return nil
	}
	if h, ok := l.cfg.Hosts.(Attended); ok {
		return h.Agents()
	}
	return nil
}

// counters is what was last read of a Meter. A step takes it from here, for it must not wait.
type counters struct {
	mu     sync.Mutex
	sample demand.Sample
	err    error
}

var errUnread = errors.New("counters have not been read yet")

func newCounters() *counters { return &counters{err: errUnread} }

func (c *counters) latest() (demand.Sample, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.sample, c.err
}

func (c *counters) set(s demand.Sample, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sample, c.err = s, err
}

// trafficWithin is how long agents may take to tell of their traffic.
const trafficWithin = 5 * time.Second

// poll reads counters twice in each period of the estimates, so that these never use what is older than
// half of one, until ctx ends.
func (l *Leader) poll(ctx context.Context, m Meter) {
	every := l.cfg.Loop.Demand.WithDefaults().Period / 2
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		c, cancel := context.WithTimeout(ctx, min(l.cfg.SetTimeout, trafficWithin))
		s, err := m.Traffic(c)
		cancel()
		if ctx.Err() != nil {
			return
		}
		l.counters.set(s, err)
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}
