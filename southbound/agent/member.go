package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"lightloom/southbound"
)

// member is one agent of a fleet, followed.
type member struct {
	fleet  *Fleet
	index  int
	client *Client
	hosts  []southbound.HostID

	mu      sync.Mutex
	clock   clockOffset
	number  uint64 // its incarnation; 0: not known
	lost    bool
	heardAt time.Duration // when it answered last, by the run's clock
}

// translated is r with instants by the agent's clock. The rest is shared.
func (m *member) translated(r *southbound.Rates) *southbound.Rates {
	if len(r.Pace) == 0 {
		return r
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	out := *r
	out.Pace = append([]southbound.Pace(nil), r.Pace...)
	for i := range out.Pace {
		if out.Pace[i].Until > 0 {
			out.Pace[i].Until = max(m.clock.toAgent(out.Pace[i].Until), 1) // 0 would hold
		}
	}
	return &out
}

func (m *member) runInstant(t time.Duration) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.clock.toRun(t)
}

// run follows a member until ctx ends (nil), or a larger election id is known.
func (m *member) run(ctx context.Context) error {
	first, err := m.meet(ctx)
	if err != nil || ctx.Err() != nil {
		return err
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	for ctx.Err() == nil {
		life, end := context.WithCancel(ctx)
		wg.Go(func() { m.probe(life, end) })
		err := m.client.Events(life, first, m.event)
		end()
		wg.Wait()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, southbound.ErrNotLeader):
			return err
		case err != nil && !errors.Is(err, ErrRestarted):
			return err
		}
		// It has begun anew, or has been silent for too long.
		m.lose(err)
		if first, err = m.find(ctx); err != nil {
			return err
		}
	}
	return nil
}

// meet waits for a member's first answer, and returns which of its events comes next: all that it keeps.
func (m *member) meet(ctx context.Context) (first uint64, err error) {
	for ctx.Err() == nil {
		st, err := m.ask(ctx)
		switch {
		case err == nil:
			m.mu.Lock()
			m.number = st.Incarnation
			m.mu.Unlock()
			return st.FirstEvent, nil
		case errors.Is(err, southbound.ErrNotLeader):
			return 0, err
		case m.silentFor() > m.fleet.cfg.Patience && !m.isLost():
			m.lose(err)
		}
		pause(ctx, m.fleet.cfg.Probe)
		if m.isLost() {
			return m.find(ctx)
		}
	}
	return 0, nil
}

// ask reads a member's status and clock.
func (m *member) ask(ctx context.Context) (Status, error) {
	ctx, cancel := context.WithTimeout(ctx, m.fleet.cfg.Patience)
	defer cancel()
	clock := m.fleet.cfg.Clock
	sent := clock()
	st, err := m.client.Status(ctx)
	if err != nil {
		return st, err
	}
	got := clock()
	m.mu.Lock()
	jumped := m.clock.take(sent, got, st.Now)
	m.heardAt = got
	offset := m.clock.offset
	m.mu.Unlock()
	if jumped {
		m.fleet.cfg.OnError(fmt.Errorf("agent %q: its clock has jumped: it is now %v ahead of this one's; what it timed "+
			"meanwhile is off", m.client.cfg.Addr, offset))
	}
	return st, nil
}

func (m *member) silentFor() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fleet.cfg.Clock() - m.heardAt
}

func (m *member) isLost() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.lost
}

// probe reads a member's clock again and again, and ends its stream when it has been silent for too long.
func (m *member) probe(ctx context.Context, end func()) {
	for {
		pause(ctx, m.fleet.cfg.Probe)
		if ctx.Err() != nil {
			return
		}
		st, err := m.ask(ctx)
		m.mu.Lock()
		other := err == nil && m.number != 0 && st.Incarnation != m.number
		m.mu.Unlock()
		if other || m.silentFor() > m.fleet.cfg.Patience {
			end()
			return
		}
	}
}

// lose tells of the loss of a member's hosts, and the other members to let go of them.
func (m *member) lose(why error) {
	m.mu.Lock()
	was := m.lost
	m.lost = true
	m.mu.Unlock()
	if was {
		return
	}
	m.client.queue.drop()
	m.fleet.cfg.OnError(fmt.Errorf("agent %q is lost, and %d hosts with it: %w", m.client.cfg.Addr, len(m.hosts),
		errors.Join(why, errSilent)))
	for _, h := range m.hosts {
		m.fleet.emit(m, 0, southbound.Event{At: m.fleet.cfg.Clock(), Kind: southbound.HostLost, Host: h})
	}
	m.fleet.regard(m, false)
}

var errSilent = errors.New("it does not answer, or has begun anew")

// find waits until a lost member answers, lets it forget what it did for its hosts, and tells that they are back. It
// returns which of its events comes next: those from before are void.
func (m *member) find(ctx context.Context) (next uint64, err error) {
	for ctx.Err() == nil {
		st, err := m.ask(ctx)
		if errors.Is(err, southbound.ErrNotLeader) {
			return 0, err
		}
		if err == nil {
			err = m.renew(ctx, st)
		}
		if err == nil {
			st, err = m.ask(ctx)
		}
		if err == nil {
			m.mu.Lock()
			m.number, m.lost = st.Incarnation, false
			m.mu.Unlock()
			if err := m.client.SetRates(m.translated(m.fleet.standing())); err != nil {
				return 0, err
			}
			m.fleet.regard(m, true)
			for _, h := range m.hosts {
				m.fleet.emit(m, 0, southbound.Event{At: m.fleet.cfg.Clock(), Kind: southbound.HostFound, Host: h})
			}
			return st.NextEvent, nil
		}
		pause(ctx, m.fleet.cfg.Probe)
	}
	return 0, nil
}

// renew makes a member that was only out of reach what one is that has begun anew.
func (m *member) renew(ctx context.Context, st Status) error {
	m.mu.Lock()
	same := st.Incarnation == m.number
	m.mu.Unlock()
	if !same {
		return nil
	}
	if err := m.client.Regard(ctx, m.hosts, false); err != nil {
		return err
	}
	return m.client.Regard(ctx, m.hosts, true)
}

// event takes one event of a member.
func (m *member) event(num uint64, e southbound.Event) {
	e.At = m.runInstant(e.At)
	m.fleet.emit(m, num, e)
}
