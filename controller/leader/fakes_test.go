package leader_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"lightloom/controller/state"
	"lightloom/southbound"
)

// memLog is a log of one replica: what is appended is applied.
type memLog struct {
	mu    sync.Mutex
	m     state.Machine
	index uint64
	gate  func(ctx context.Context) error // asked before an entry is committed; nil: none
	most  int                             // bytes of an entry; 0: any number
}

func (l *memLog) setGate(gate func(ctx context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gate = gate
}

func (l *memLog) View(fn func(uint64)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fn(l.index)
}

func (l *memLog) AppendIn(ctx context.Context, _ uint64, entry []byte) (uint64, error) {
	l.mu.Lock()
	gate := l.gate
	l.mu.Unlock()
	if gate != nil {
		if err := gate(ctx); err != nil {
			return 0, err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.most > 0 && len(entry) > l.most {
		return 0, fmt.Errorf("an entry of %d bytes, at most %d are taken", len(entry), l.most)
	}
	l.index++
	return l.index, l.m.Apply(entry)
}

// memHosts are hosts that need a fixed time for every host flow and every task, and keep events until
// acknowledged.
type memHosts struct {
	takes time.Duration
	clock func() time.Duration

	mu      sync.Mutex
	started map[southbound.CoflowID]int
	ran     map[southbound.TaskID]int
	tags    map[southbound.HostFlowKey]southbound.Tag
	events  []southbound.Event // all of them; numbers begin at 1
	acked   uint64
	more    chan struct{}
	broken  error // of the stream of events
	streams int   // times that the stream was looked at
}

func newHosts(clock func() time.Duration, takes time.Duration) *memHosts {
	return &memHosts{takes: takes, clock: clock, started: map[southbound.CoflowID]int{},
		ran:  map[southbound.TaskID]int{},
		tags: map[southbound.HostFlowKey]southbound.Tag{}, more: make(chan struct{})}
}

// report files an event.
func (h *memHosts) report(e southbound.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	e.At = h.clock()
	h.events = append(h.events, e)
	close(h.more)
	h.more = make(chan struct{})
}

func (h *memHosts) Run(tasks []southbound.Task) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, t := range tasks {
		if h.ran[t.Task]++; h.ran[t.Task] == 1 {
			time.AfterFunc(h.takes, func() {
				h.report(southbound.Event{Kind: southbound.TaskEnded, Task: t.Task,
					Host: t.Host})
			})
		}
	}
	return nil
}

func (h *memHosts) Start(starts []southbound.Start) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range starts {
		if h.started[s.Coflow]++; h.started[s.Coflow] > 1 {
			continue
		}
		for row := range s.Size {
			key := southbound.HostFlowKey{Coflow: s.Coflow, Row: int32(row)}
			h.tags[key] = s.Tag[row]
			dst := s.Dst[row]
			time.AfterFunc(h.takes, func() {
				h.report(southbound.Event{Kind: southbound.HostFlowEnded, HostFlowKey: key, Host: dst})
			})
		}
	}
	return nil
}

func (h *memHosts) Steer(steers []southbound.Steer) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range steers {
		h.tags[s.HostFlowKey] = s.Tag
	}
	return nil
}

func (h *memHosts) SetRates(r *southbound.Rates) error {
	if r == nil {
		panic("no rates are to be set")
	}
	return nil
}

func (h *memHosts) Remaining(southbound.CoflowID) (southbound.Remaining, bool) {
	return southbound.Remaining{}, false
}

func (h *memHosts) Events(ctx context.Context, from uint64, sink func(uint64, southbound.Event)) error {
	if from != 0 { // as a fleet of agents
		return fmt.Errorf("watch events from number %d: %w", from, southbound.ErrUnsupported)
	}
	for {
		h.mu.Lock()
		from = max(from, h.acked+1)
		news, more, broken := slices.Clone(h.events[from-1:]), h.more, h.broken
		h.streams++
		h.mu.Unlock()
		for _, e := range news {
			sink(from, e)
			from++
		}
		if broken != nil {
			return broken
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil
		}
	}
}

func (h *memHosts) Ack(through uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.acked = max(h.acked, through)
	return nil
}

func (h *memHosts) acknowledged() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.acked
}

// reported says whether there has been an event.
func (h *memHosts) reported() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.events) > 0
}

func (h *memHosts) tag(k southbound.HostFlowKey) southbound.Tag {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.tags[k]
}

// mood is how a device behaves.
type mood struct {
	slow   time.Duration // longest time of a call
	fail   float64       // chance that a call is lost, and again that its answer is
	silent bool          // calls are not answered at all
	breaks time.Duration // longest life of a stream; 0: no end
}

var errLost = errors.New("no answer")

// memDevice is a switch: a packet switch takes rules at once, an OCS makes circuits in 10 ms.
type memDevice struct {
	optical bool

	mu      sync.Mutex
	r       *rand.Rand
	mood    mood
	rules   []southbound.Rule
	at      map[southbound.Port]southbound.Connection
	sinks   []*sink
	calls   int // that were answered
	changed chan struct{}
	counter *memCounter // nil: it counts nothing
	counted int         // times it was asked for its counters

	fence  uint64   // largest election id known: that of the term
	reader uint64   // newest term in which it was read
	broken []string // what no leader may do
	sets   []uint64 // terms of the Sets that were accepted
}

// door is a device as the leader of a term reaches it. It fences on Claim and Set, and on nothing else.
type door struct {
	*memDevice
	term uint64
}

var _ southbound.Claiming = door{}

// Claim implements southbound.Claiming.
func (d door) Claim(ctx context.Context) error { return d.admit(ctx, func() {}) }

func (d door) admit(ctx context.Context, f func()) (err error) {
	cerr := d.call(ctx, func() {
		if d.term < d.fence {
			err = southbound.ErrNotLeader
			return
		}
		d.fence = d.term
		f()
	})
	return errors.Join(err, cerr)
}

func (d door) Set(ctx context.Context, c *southbound.Change) error {
	return d.admit(ctx, func() {
		if d.reader != d.term {
			d.broken = append(d.broken, fmt.Sprintf("a Set of term %d, last read in term %d", d.term, d.reader))
		}
		d.sets = append(d.sets, d.term)
		d.set(c)
	})
}

func (d door) Read(ctx context.Context) (seen southbound.Seen, err error) {
	err = d.call(ctx, func() {
		if d.fence < d.term { // a later leader may have claimed it meanwhile: a device does not fence what reads
			d.broken = append(d.broken, fmt.Sprintf("a read of term %d, claimed in term %d", d.term, d.fence))
		}
		seen, d.reader = d.seen(), max(d.reader, d.term)
	})
	return seen, err
}

type sink struct{ tell func(southbound.DeviceEvent) }

func newDevice(optical bool, seed uint64) *memDevice {
	return &memDevice{optical: optical, r: rand.New(rand.NewPCG(seed, 5)),
		at:      map[southbound.Port]southbound.Connection{},
		changed: make(chan struct{})}
}

// become changes the device's mood; calls that hang stay so until their deadline.
func (d *memDevice) become(m mood) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.mood = m
}

// call is a call on its way there and back, as the mood has it.
func (d *memDevice) call(ctx context.Context, f func()) error {
	d.mu.Lock()
	m := d.mood
	lost, answerLost := d.r.Float64() < m.fail, d.r.Float64() < m.fail
	under := time.Duration(d.r.Float64() * float64(m.slow))
	d.mu.Unlock()
	if m.silent {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	if !wait(ctx, under) {
		return context.Cause(ctx)
	}
	if lost {
		return errLost
	}
	d.mu.Lock()
	f()
	d.calls++
	d.mu.Unlock()
	if answerLost {
		return errLost
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) bool {
	if ctx.Err() != nil {
		return false
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// set applies a Set. The caller holds the lock.
func (d *memDevice) set(c *southbound.Change) {
	if !d.optical {
		d.rules = merge(d.rules, c)
		return
	}
	for _, x := range c.Connect {
		d.connect(x)
	}
}

func (d *memDevice) connect(x southbound.CrossConnect) {
	if old, ok := d.at[x.In]; ok && !x.Off && old.Out == x.Out {
		return
	}
	for in := range southbound.Port(8) {
		if old, ok := d.at[in]; ok && (in == x.In || !x.Off && old.Out == x.Out) {
			delete(d.at, in)
			d.tell(southbound.Connection{In: in, Out: old.Out, Status: southbound.Disconnected})
		}
	}
	if x.Off {
		return
	}
	c := southbound.Connection{In: x.In, Out: x.Out, Status: southbound.PendingConnection}
	d.at[x.In] = c
	d.tell(c)
	time.AfterFunc(10*time.Millisecond, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.at[x.In] == c {
			c.Status = southbound.Connected
			d.at[x.In] = c
			d.tell(c)
		}
	})
}

// tell notifies all watchers. The caller holds the lock.
func (d *memDevice) tell(c southbound.Connection) {
	for _, s := range d.sinks {
		s.tell(southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out, Status: c.Status})
	}
}

// seen is the device's current state. The caller holds the lock.
func (d *memDevice) seen() southbound.Seen {
	s := southbound.Seen{Rules: slices.Clone(d.rules)}
	for in := range southbound.Port(8) {
		if c, ok := d.at[in]; ok {
			s.Connections = append(s.Connections, c)
		}
	}
	return s
}

func (d *memDevice) Watch(ctx context.Context, tell func(southbound.DeviceEvent)) error {
	d.mu.Lock()
	if d.mood.silent {
		d.mu.Unlock()
		<-ctx.Done()
		return nil
	}
	life := time.Hour
	if d.mood.breaks > 0 {
		life = time.Duration(d.r.Float64() * float64(d.mood.breaks))
	}
	s := &sink{tell}
	for _, c := range d.seen().Connections {
		tell(southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: c.In, Out: c.Out, Status: c.Status})
	}
	tell(southbound.DeviceEvent{Kind: southbound.Synced})
	d.sinks = append(d.sinks, s)
	d.mu.Unlock()
	defer func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.sinks = slices.DeleteFunc(d.sinks, func(o *sink) bool { return o == s })
	}()
	if wait(ctx, life) {
		return errLost
	}
	return nil
}

// watched reports whether a leader hears of changes.
func (d *memDevice) watched() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.sinks) > 0
}

// claimed returns the term of the last claim.
func (d *memDevice) claimed() uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.fence
}

// holds returns a device's tables as they are.
func (d *memDevice) holds() southbound.Seen {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen()
}

// merge is the plain meaning of a change to a rule table.
func merge(rules []southbound.Rule, c *southbound.Change) []southbound.Rule {
	out := slices.DeleteFunc(slices.Clone(rules), func(r southbound.Rule) bool {
		return slices.Contains(c.Drop, r.Match) || slices.ContainsFunc(c.Rules, func(n southbound.Rule) bool {
			return n.Match == r.Match
		})
	})
	out = append(out, c.Rules...)
	slices.SortFunc(out, func(a, b southbound.Rule) int {
		return (int(a.Dst)-int(b.Dst))*1_000_000 + (int(a.Tag)-int(b.Tag))*1000 + int(a.Src-b.Src)
	})
	return out
}
