package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// member is one agent of a fleet, followed.
type member struct {
	fleet  *Fleet
	index  int
	client *Client
	hosts  []southbound.HostID

	mu       sync.Mutex
	clock    clockOffset
	number   uint64 // its incarnation; 0: not known
	lost     bool
	why      error         // it is lost
	heardAt  time.Duration // when it answered last, by the run's clock
	next     uint64        // of its events
	refusals int           // in a row, of a larger election id
	foreign  uint64        // events of hosts that are not its own
	moved    []wire.Moved  // its last report of traffic
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

// run follows a member until ctx ends. Whatever it answers is the affair of its own hosts: they are
// lost, and found again once it answers as it should.
func (m *member) run(ctx context.Context) {
	next, ok := m.meet(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	for wait := time.Duration(0); ok; {
		m.mu.Lock()
		m.next = next
		m.mu.Unlock()
		began := m.fleet.cfg.Clock()
		life, end := context.WithCancel(ctx)
		wg.Go(func() { m.probe(life, end) })
		err := m.client.Events(life, next, m.event)
		end()
		wg.Wait()
		if ctx.Err() != nil {
			return
		}
		if m.spared(err) {
			pause(ctx, m.fleet.cfg.Probe)
			m.mu.Lock()
			next = m.next
			m.mu.Unlock()
			continue
		}
		m.lose(errors.Join(m.client.unserved(), err))
		if m.fleet.cfg.Clock()-began > m.fleet.cfg.Patience {
			wait = 0 // it did well for a while
		}
		pause(ctx, wait)
		wait = min(max(2*wait, m.fleet.cfg.Probe), mostProbes*m.fleet.cfg.Probe)
		next, ok = m.find(ctx)
	}
}

// mostProbes is how many times Probe the pause grows to after which a member is believed that answers
// and then fails.
const mostProbes = 64

// spared reports whether a member that knows a larger election id is not lost yet: most likely a new
// leader has taken over, and this one must not report its hosts as lost. A member that keeps reporting
// a larger id while this leadership lasts is faulty.
func (m *member) spared(err error) bool {
	if !errors.Is(err, southbound.ErrNotLeader) {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refusals++
	return time.Duration(m.refusals)*m.fleet.cfg.Probe < m.fleet.cfg.Patience
}

// meet waits for a member's first answer, and returns which of its events comes next: all that it
// keeps. false: ctx has ended.
func (m *member) meet(ctx context.Context) (first uint64, ok bool) {
	for ctx.Err() == nil {
		st, err := m.ask(ctx)
		switch {
		case err == nil:
			m.mu.Lock()
			m.number = st.Incarnation
			m.mu.Unlock()
			return st.FirstEvent, true
		case m.silentFor() > m.fleet.cfg.Patience && !m.spared(err):
			m.lose(err)
			return m.find(ctx)
		}
		pause(ctx, m.fleet.cfg.Probe)
	}
	return 0, false
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
	m.heardAt, m.refusals = got, 0
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
		if other || m.silentFor() > m.fleet.cfg.Patience || m.client.unserved() != nil {
			end()
			return
		}
	}
}

// lose emits the loss of a member's hosts, and makes the other members drop their transfers with them.
func (m *member) lose(why error) {
	m.mu.Lock()
	was := m.lost
	if why == nil {
		why = errSilent
	}
	m.lost, m.why = true, why
	m.mu.Unlock()
	if was {
		return
	}
	m.client.queue.drop()
	m.fleet.cfg.OnError(fmt.Errorf("agent %q is lost, and %d hosts with it: %w", m.client.cfg.Addr,
		len(m.hosts), why))
	for _, h := range m.hosts {
		m.fleet.emit(m, 0, southbound.Event{At: m.fleet.cfg.Clock(), Kind: southbound.HostLost, Host: h})
	}
	m.fleet.regard(m, false)
}

var errSilent = errors.New("it does not answer, or has begun anew")

// find waits until a lost member answers, resets its hosts, and emits that they are back. It returns
// the number of the member's next event: earlier ones are void. It returns false if ctx has ended.
func (m *member) find(ctx context.Context) (next uint64, ok bool) {
	for ctx.Err() == nil {
		st, err := m.ask(ctx)
		if err == nil {
			err = m.introduce(ctx)
		}
		if err == nil {
			err = m.renew(ctx, st)
		}
		if err == nil {
			st, err = m.ask(ctx)
		}
		if err != nil {
			pause(ctx, m.fleet.cfg.Probe)
			continue
		}
		m.mu.Lock()
		m.number, m.lost, m.why = st.Incarnation, false, nil
		m.mu.Unlock()
		if err := m.client.SetRates(m.translated(m.fleet.standing())); err != nil {
			m.fleet.cfg.OnError(err)
		}
		m.fleet.regard(m, true)
		for _, h := range m.hosts {
			m.fleet.emit(m, 0, southbound.Event{At: m.fleet.cfg.Clock(), Kind: southbound.HostFound, Host: h})
		}
		return st.NextEvent, true
	}
	return 0, false
}

// introduce tells a lost member which hosts there are, and returns why it cannot serve its own, or nil.
func (m *member) introduce(ctx context.Context) error {
	m.client.trouble.clear()
	if err := m.client.introduce(); err != nil {
		m.fleet.cfg.OnError(err)
	}
	if err := m.client.Flush(ctx); err != nil {
		return err
	}
	err := m.client.unserved()
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.why = err
	}
	return err
}

// renew treats a member that was only out of reach like one that has restarted.
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

// event takes one event of a member. What it says of hosts that are not its own is dropped.
func (m *member) event(num uint64, e southbound.Event) {
	m.mu.Lock()
	m.next = num + 1
	mine := m.fleet.of[e.Host] == m
	if !mine {
		m.foreign++
	}
	n := m.foreign
	m.mu.Unlock()
	if !mine {
		m.fleet.cfg.OnForeign(m.client.cfg.Addr)
		if n&(n-1) == 0 { // a repeating agent is reported ever less often
			m.fleet.cfg.OnError(fmt.Errorf("agent %q tells of host %d, which is not its own (%d such events): it is dropped",
				m.client.cfg.Addr, e.Host, n))
		}
		return
	}
	e.At = m.runInstant(e.At)
	m.fleet.emit(m, num, e)
}

// traffic returns the member's counts of what its own hosts have sent to others of the fleet, or its last
// report. A member that restarts counts from zero.
func (m *member) traffic(ctx context.Context) []wire.Moved {
	if m.isLost() {
		return nil
	}
	t, err := m.client.Traffic(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		f := m.fleet
		m.moved = slices.DeleteFunc(t.Moved, func(x wire.Moved) bool {
			return f.of[x.Src] != m ||
				f.of[x.Dst] == nil
		})
	}
	return m.moved
}
