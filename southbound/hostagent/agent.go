package hostagent

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// Agent runs the tasks and moves the bytes of its hosts. It implements southbound.Hosts for callers in
// its own process; Serve lets leaders in. All methods can be called by several goroutines.
type Agent struct {
	cfg     Config
	pattern *pattern
	ctx     context.Context // ends with Close
	stop    context.CancelFunc
	done    sync.WaitGroup
	known   atomic.Pointer[network]
	meeting sync.Mutex // by who makes another network known
	bounds  bounds
	number  uint64    // this incarnation
	buffers sync.Pool // of *buffer
	mss     int       // of senders; 0: as the route says. Set by tests, where the route is the loopback's

	mu     sync.Mutex
	closed bool
	table  table
	rates  rateTable
	events eventLog
	tasks  tasks
	lost   map[southbound.HostID]bool
	active []*hostFlow // those with a sender
	fence  fence

	odometer *odometer
	stats    counters
}

// bounds is what all connections and senders share.
type bounds struct {
	greet chan struct{} // incoming connections that have not sent their header
	doors chan struct{} // threads that are inside hosts
	sum   *bucket       // what all hosts here send, in payload bytes; nil: nothing bounds it
}

type counters struct {
	ended, received, connections, redials, refused, corrupt, retransmissions, reordered, marked, tasks atomic.Int64
}

var _ southbound.Hosts = (*Agent)(nil)

const (
	maxGreeting = 1024 // incoming connections whose header has not come
	maxDoors    = 4    // a section takes microseconds, and a thread
	// sumSaved is how long hosts may have sent nothing and still catch up with the bound of their sum:
	// less than a queue of the fabric takes at its rate (netns: 5 ms), more than a timer is late.
	sumSaved = 4 * time.Millisecond
)

// New makes an agent that listens at each of its hosts. Close ends it.
func New(cfg Config) (*Agent, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	a := &Agent{cfg: cfg, pattern: newPattern(),
		bounds: bounds{greet: make(chan struct{}, maxGreeting), doors: make(chan struct{}, maxDoors),
			sum: newBucket(payload(cfg.MaxRate), sumSaved)},
		table: newTable(), rates: newRateTable(), events: newEventLog(),
		tasks: tasks{last: map[southbound.TaskID]running{}, vcpus: cfg.VCPUs, log: cfg.Log},
		lost:  map[southbound.HostID]bool{}}
	if a.fence, err = newFence(cfg.FenceFile); err != nil {
		return nil, fmt.Errorf("make agent: %w", err)
	}
	a.buffers.New = func() any { return new(buffer) }
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("make agent: draw incarnation: %w", err)
	}
	a.number = binary.BigEndian.Uint64(b[:])
	a.ctx, a.stop = context.WithCancel(context.Background())
	first := &network{line: cfg.bound(cfg.Line), isCircuit: cfg.IsCircuit, local: cfg.Local}
	var mine []southbound.HostID
	for h := range southbound.HostID(cfg.Hosts) {
		if first.addr = append(first.addr, cfg.Addr(h)); cfg.Local(h) {
			mine = append(mine, h)
		}
	}
	a.odometer = newOdometer(first)
	listeners, err := a.listen(first, mine)
	if err != nil {
		a.stop()
		return nil, err
	}
	a.known.Store(first)
	for _, ln := range listeners {
		a.done.Go(func() { a.accept(ln) })
	}
	a.done.Go(a.tick)
	return a, nil
}

// Close ends every connection and task and waits for all that the agent started.
func (a *Agent) Close() error {
	a.mu.Lock()
	a.closed = true
	a.tasks.stop()
	a.mu.Unlock()
	a.stop()
	a.done.Wait()
	a.odometer.close()
	return nil
}

// errClosed: the agent has ended.
var errClosed = errors.New("the agent is closed")

// Run starts tasks; known ones are left alone.
func (a *Agent) Run(tasks []southbound.Task) error {
	for _, t := range tasks {
		if err := wire.CheckTask(t, a.net().hosts()); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return fmt.Errorf("run tasks: %w", errClosed)
	}
	var errs []error
	for _, t := range tasks {
		if a.isLocal(t.Host) {
			errs = append(errs, a.tasks.begin(t, a.lost[t.Host], func() { a.taskEnded(t) }))
		}
	}
	return errors.Join(errs...)
}

func (a *Agent) taskEnded(t southbound.Task) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed || !a.tasks.end(t) {
		return
	}
	a.stats.tasks.Add(1)
	a.events.add(southbound.Event{At: a.cfg.Now(), Kind: southbound.TaskEnded, Task: t.Task,
		Try: t.Try, Host: t.Host})
}

// Start declares host flows; known coflows are left alone. They send as the rates in force say.
func (a *Agent) Start(starts []southbound.Start) error {
	for i := range starts {
		if err := wire.CheckStart(&starts[i], a.net().hosts()); err != nil {
			return err
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range starts {
		if err := a.startLocked(&starts[i]); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) startLocked(s *southbound.Start) error {
	if a.closed {
		return fmt.Errorf("start coflow %d: %w", s.Coflow, errClosed)
	}
	if known, _ := a.table.known(s.Coflow); known {
		return nil
	}
	a.table.reading++
	c := a.table.start(s, a.isLocal)
	if c.busy == 0 {
		a.table.end(c) // nothing of it is here
		return nil
	}
	if len(a.lost) > 0 {
		a.voidRows(c, a.isLost)
	}
	now := a.cfg.Now()
	for i := range c.rows {
		a.show(now, &c.rows[i])
		a.settle(&c.rows[i], now)
	}
	return nil
}

// Steer moves host flows to other tags; those that are over are skipped.
func (a *Agent) Steer(steers []southbound.Steer) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	now := a.cfg.Now()
	for _, s := range steers {
		if !wire.ValidTag(s.Tag) {
			return fmt.Errorf("steer row %d of coflow %d: tag %d: %w", s.Row, s.Coflow, s.Tag,
				southbound.ErrRefused)
		}
		if b := a.table.row(s.HostFlowKey); b != nil && b.tag != s.Tag {
			b.tag = s.Tag
			a.settle(b, now)
			a.show(now, b)
		}
	}
	return nil
}

// SetRates sets the rates at which host flows send.
func (a *Agent) SetRates(r *southbound.Rates) error { return a.setRates(r, false) }

func (a *Agent) setRates(r *southbound.Rates, onlyPairs bool) error {
	if err := wire.CheckRates(r); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.rates.set(r, onlyPairs)
	a.settleAll()
	return nil
}

func (a *Agent) settleAll() {
	a.table.reading++
	now := a.cfg.Now()
	for _, c := range a.table.order {
		paced := a.rates.paces(c.id)
		for i := range c.rows {
			b := &c.rows[i]
			if paced {
				a.read(c, b)
			}
			a.settle(b, now)
		}
	}
}

// Remaining returns what is left of a coflow, as last read from the sockets. Base is the caller's.
func (a *Agent) Remaining(id southbound.CoflowID) (southbound.Remaining, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.table.leftOf(id, a.cfg.Now())
}

// Events returns at most n events from number `from` on (0: the oldest kept), and the number of the first.
func (a *Agent) Events(from uint64, n int) (first uint64, events []southbound.Event, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.events.from(from, n)
}

// Changed returns a channel that is closed when the next event is added.
func (a *Agent) Changed() <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.events.changed
}

// Ack forgets events up to and including number through.
func (a *Agent) Ack(through uint64) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.events.ack(through)
}

// Status returns how the agent is.
func (a *Agent) Status() wire.Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := wire.Status{Incarnation: a.number, Now: a.cfg.Now(), FirstEvent: a.events.first,
		NextEvent: a.events.next(),
		LiveTasks: a.tasks.live, Stats: a.Stats()}
	for _, c := range a.table.order {
		s.LiveHostFlows += int64(c.busy)
	}
	return s
}

// Stats returns the counts since New.
func (a *Agent) Stats() wire.Stats {
	s := &a.stats
	return wire.Stats{HostFlowsEnded: s.ended.Load(), BytesReceived: pathmap.Bytes(s.received.Load()),
		Connections: s.connections.Load(), Redials: s.redials.Load(), Refused: s.refused.Load(), Corrupt: s.corrupt.Load(),
		Retransmissions: s.retransmissions.Load(), Reordered: s.reordered.Load(), Marked: s.marked.Load(),
		TasksEnded: s.tasks.Load()}
}

// listen opens the listeners of hosts, each inside its host, and notes where they are.
func (a *Agent) listen(n *network, hosts []southbound.HostID) (out []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(out)
		}
	}()
	for _, h := range hosts {
		var ln net.Listener
		err := a.cfg.Net.InHost(h, func() (err error) {
			ln, err = listenAt(a.ctx, n.addr[h])
			return err
		})
		if err != nil {
			return out, fmt.Errorf("listen in host %d: %w", h, err)
		}
		out = append(out, ln)
		n.addr[h] = ln.Addr().(*net.TCPAddr).AddrPort()
	}
	return out, nil
}
