package hostagent

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent"
	"lightloom/southbound/guard"
	"lightloom/southbound/guard/guardtest"
	"lightloom/southbound/pki"
)

// site is an agent behind its server, and what leaders need to reach it.
type site struct {
	*Agent
	addr   string
	ca     *pki.Authority
	leader pki.Identity
	stop   func() // ends the server
}

func newSite(t *testing.T, hosts int) *site { return newSiteWith(t, hosts, nil) }

func newSiteWith(t *testing.T, hosts int, change func(*Config)) *site {
	t.Helper()
	ca, err := pki.New(time.Hour)
	must(t, err)
	me, err := ca.Issue(pki.Agent, "agent")
	must(t, err)
	leader, err := ca.Issue(pki.Controller, "replica0")
	must(t, err)
	s := &site{Agent: newTestAgent(t, hosts, change), ca: ca, leader: leader}
	s.addr, s.stop = serve(t, s.Agent, "127.0.0.1:0", me.Server(pki.Controller))
	return s
}

func serve(t *testing.T, a *Agent, at string, conf *tls.Config) (addr string, stop func()) {
	t.Helper()
	lis, err := net.Listen("tcp", at)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := a.Serve(ctx, lis, conf); err != nil {
			t.Error(err)
		}
	})
	stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(stop)
	return lis.Addr().String(), stop
}

// cable is a network path that can be cut: connections over it break, and no new ones are made.
type cable struct {
	mu    sync.Mutex
	isCut bool
	conns []net.Conn
	dials int
}

func (c *cable) dial(ctx context.Context, addr string) (net.Conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		return nil, errors.New("cable is cut")
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err == nil {
		c.conns = append(c.conns, conn)
		c.dials++
	}
	return conn, err
}

func (c *cable) cut(forGood bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.isCut = forGood
	for _, conn := range c.conns {
		conn.Close()
	}
	c.conns = nil
}

// leader is a driver with all that a test wants to know of it.
type leader struct {
	*agent.Client
	cable *cable
	high  atomic.Uint64
	errs  chan error
}

func (s *site) lead(t *testing.T, high uint64) *leader {
	t.Helper()
	l := &leader{cable: &cable{}, errs: make(chan error, 100)}
	l.high.Store(high)
	c, err := agent.Dial(context.Background(), agent.Config{Addr: s.addr, Dialer: l.cable.dial,
		TLS: s.leader.Client("agent", pki.Agent), Election: func() (uint64, uint64) { return l.high.Load(), 1 },
		OnError: func(err error) { l.errs <- err }, Interval: 5 * time.Millisecond})
	must(t, err)
	l.Client = c
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// watch collects events from a number on until stop is called, which returns them and the watch's error.
func (l *leader) watch(from uint64) (got func() []southbound.Event, stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	var events []southbound.Event
	var err error
	var wg sync.WaitGroup
	wg.Go(func() {
		next := max(from, 1)
		err = l.Events(ctx, from, func(num uint64, e southbound.Event) {
			mu.Lock()
			defer mu.Unlock()
			if num != next {
				panic("events out of order")
			}
			next++
			events = append(events, e)
		})
	})
	got = func() []southbound.Event {
		mu.Lock()
		defer mu.Unlock()
		return append([]southbound.Event(nil), events...)
	}
	return got, func() error { cancel(); wg.Wait(); return err }
}

func testContext(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func TestLeaderDrivesAgent(t *testing.T) {
	s := newSite(t, 4)
	l := s.lead(t, 1)
	got, stop := l.watch(0)
	defer stop()
	const size = 400_000
	co := mesh(3, 4, size, southbound.TagHold)
	must(t, l.Run([]southbound.Task{{Task: 9, Host: 1}}))
	must(t, l.Start([]southbound.Start{co}))
	must(t, l.SetRates(&southbound.Rates{Fair: true}))
	must(t, l.Flush(testContext(t)))
	if left, ok := l.Remaining(3); !ok || left.Row(0) != float64(co.Size[0]) {
		t.Errorf("left of a held coflow: %v, %v", left, ok)
	}
	if n := len(got()); n > 1 {
		t.Errorf("%d events of held host flows", n)
	}
	var steers []southbound.Steer
	for row := range co.Src {
		steers = append(steers, southbound.Steer{HostFlowKey: southbound.HostFlowKey{Coflow: 3,
			Row: int32(row)}, Tag: 1})
	}
	must(t, l.Steer(steers))
	until(t, "all events come", func() bool { return len(got()) == 1+len(co.Src) })
	until(t, "nothing is left", func() bool {
		left, _ := l.Remaining(3)
		for _, b := range left.Base {
			if b != 0 {
				return false
			}
		}
		return true
	})
	must(t, l.Ack(uint64(len(got()))))
	must(t, l.Flush(testContext(t)))
	st, err := l.Status(testContext(t))
	must(t, err)
	if st.FirstEvent != st.NextEvent || st.FirstEvent != uint64(2+len(co.Src)) ||
		st.Stats.HostFlowsEnded != int64(len(co.Src)) {
		t.Errorf("status %+v", st)
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if err := l.Events(testContext(t), 1, nil); !errors.Is(err, agent.ErrRestarted) {
		t.Errorf("watch of forgotten events: %v", err)
	}
}

// TestSilentSockets: connections that say nothing stand at the agent, more than it lets into
// handshakes, and a leader that comes after them drives it.
func TestSilentSockets(t *testing.T) {
	s := newSite(t, 2)
	guardtest.Hold(t, s.addr, 2*guard.DefaultOpen, time.Minute)
	must(t, s.lead(t, 1).Start([]southbound.Start{mesh(0, 2, 1000, 0)}))
	until(t, "the coflow's host flows", func() bool { return s.Agent.Status().LiveHostFlows == 2 })
}

// TestNewLeader cuts a leader off in mid-flow. Another one with a larger id repeats what the log holds
// and goes on: every host flow arrives once, the events are complete, and the old leader is kept out.
func TestNewLeader(t *testing.T) {
	const hosts, size, coflows = 5, 500_000, 3
	s := newSite(t, hosts)
	first := s.lead(t, 1)
	var starts []southbound.Start
	want, sum := 0, pathmap.Bytes(0)
	for id := range southbound.CoflowID(coflows) {
		co := mesh(id, hosts, size, 0)
		starts = append(starts, co)
		want += len(co.Src)
		for _, n := range co.Size {
			sum += n
		}
	}
	got1, stop1 := first.watch(0)
	must(t, first.Start(starts[:2]))
	var pairs []southbound.PairRate
	for src := range southbound.HostID(hosts) {
		for dst := range southbound.HostID(hosts) {
			pairs = append(pairs, southbound.PairRate{Src: src, Dst: dst,
				Rate: pathmap.BitsPerSecond(40+30*src) * pathmap.Mbps})
		}
	}
	must(t, first.SetRates(&southbound.Rates{Pairs: pairs}))
	until(t, "the first host flows end", func() bool { return len(got1()) >= 3 })
	first.cable.cut(true)

	second := s.lead(t, 2)
	_, err := second.Status(testContext(t))
	must(t, err)
	must(t, second.Start(starts)) // as the log says: two are known
	must(t, second.SetRates(&southbound.Rates{Fair: true}))
	before := got1()
	got2, stop2 := second.watch(uint64(len(before)) + 1)
	until(t, "all events come", func() bool { return len(before)+len(got2()) >= want })
	must(t, stop2())
	all := append(before, got2()...)
	seen := map[southbound.HostFlowKey]bool{}
	for _, e := range all {
		if seen[e.HostFlowKey] {
			t.Errorf("host flow %+v ended twice", e.HostFlowKey)
		}
		seen[e.HostFlowKey] = true
	}
	if len(all) != want {
		t.Errorf("%d events, want %d", len(all), want)
	}
	until(t, "senders hear of the end", func() bool { return s.Status().LiveHostFlows == 0 })
	if st := s.Stats(); st.BytesReceived != sum || st.HostFlowsEnded != int64(want) {
		t.Errorf("stats %+v, want %d bytes", st, sum)
	}

	// The old leader comes back, and everything it says is refused.
	first.cable.mu.Lock()
	first.cable.isCut = false
	first.cable.mu.Unlock()
	must(t, first.SetRates(&southbound.Rates{}))
	select {
	case err := <-first.errs:
		if !errors.Is(err, southbound.ErrNotLeader) {
			t.Errorf("old leader: %v", err)
		}
	case <-time.After(deadline):
		t.Error("the old leader was not told")
	}
	if err := stop1(); err != nil && !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("watch of the old leader: %v", err)
	}
	// It wins again.
	first.high.Store(3)
	must(t, first.SetRates(&southbound.Rates{Fair: true}))
	must(t, first.Flush(testContext(t)))
	if _, err := second.Status(testContext(t)); !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("status for the second leader: %v", err)
	}
}

// TestFenceEndsStreams: a watch of an old leader ends as soon as a new one speaks, without a call of
// the old one.
func TestFenceEndsStreams(t *testing.T) {
	s := newSite(t, 2)
	first := s.lead(t, 5)
	_, err := first.Status(testContext(t))
	must(t, err)
	ended := make(chan error, 1)
	ctx := testContext(t)
	go func() { ended <- first.Events(ctx, 0, func(uint64, southbound.Event) {}) }()
	must(t, s.Run([]southbound.Task{{Task: 1}}))
	take(t, s.Agent, 1)
	_, err = s.lead(t, 6).Status(ctx)
	must(t, err)
	if err := <-ended; !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("watch ended with %v", err)
	}
}

// TestFlakyConnection breaks a leader's connection again and again; nothing is lost or comes twice.
func TestFlakyConnection(t *testing.T) {
	s := newSite(t, 4)
	l := s.lead(t, 1)
	got, stop := l.watch(0)
	const coflows = 30
	must(t, l.SetRates(&southbound.Rates{Fair: true}))
	for id := range southbound.CoflowID(coflows) {
		must(t, l.Start([]southbound.Start{mesh(id, 4, 20_000, 0)}))
		must(t, l.Run([]southbound.Task{{Task: southbound.TaskID(id), Host: 1,
			Compute: time.Duration(id) * time.Millisecond}}))
		if id%3 == 0 {
			l.cable.cut(false)
		}
		seen := len(got())
		until(t, "something more comes", func() bool { return len(got()) > seen })
	}
	want := coflows * (4*3 + 1)
	until(t, "all events come", func() bool { return len(got()) >= want })
	must(t, stop())
	if n := len(got()); n != want {
		t.Errorf("%d events, want %d", n, want)
	}
	if l.cable.dials < 2 {
		t.Error("the connection never broke")
	}
}

// TestServerRestart: the server goes and comes again at the same address; the agent goes on meanwhile.
func TestServerRestart(t *testing.T) {
	s := newSite(t, 2)
	l := s.lead(t, 1)
	got, stop := l.watch(0)
	must(t, l.SetRates(&southbound.Rates{Fair: true}))
	must(t, l.Start([]southbound.Start{one(1, 1000, 0)}))
	until(t, "the first event comes", func() bool { return len(got()) == 1 })
	s.stop()
	must(t, l.Start([]southbound.Start{one(2, 1000, 0)})) // waits in the queue
	must(t, s.Start([]southbound.Start{one(3, 1000, 0)})) // the agent is alive
	take(t, s.Agent, 2)
	ca, err := pki.New(time.Hour)
	must(t, err)
	foreign, err := ca.Issue(pki.Agent, "agent")
	must(t, err)
	_, stopForeign := serve(t, s.Agent, s.addr, foreign.Server(pki.Controller)) // of another run: not trusted
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	if _, err := l.Status(ctx); err == nil {
		t.Error("an agent of another authority was believed")
	}
	stopForeign()
	if n := len(got()); n != 1 {
		t.Errorf("%d events from a stranger", n-1)
	}
	must(t, stop())
}

// TestLargeStart sends 100,000 held rows, in chunks, and steers and paces some.
func TestLargeStart(t *testing.T) {
	const hosts = 400
	co := southbound.Start{Coflow: 8}
	for d := range southbound.HostID(hosts) {
		for src := range southbound.HostID(251) {
			if src != d {
				co.Src, co.Dst, co.Size, co.Tag = append(co.Src, src), append(co.Dst, d), append(co.Size,
					1), append(co.Tag, 0)
			}
		}
	}
	s := newSite(t, hosts)
	l := s.lead(t, 1)
	began := time.Now()
	must(t, l.Start([]southbound.Start{one(1, 10, 0), co, one(2, 10, 0)}))
	must(t, l.Start([]southbound.Start{co}))
	must(t, l.Flush(testContext(t)))
	t.Logf("%d rows started twice in %v", len(co.Src), time.Since(began))
	if n := s.Status().LiveHostFlows; n != int64(len(co.Src))+2 {
		t.Errorf("%d host flows, want %d", n, len(co.Src)+2)
	}
	must(t, l.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 1, Until: 1},
		{Coflow: 2, Until: 1}}}))
	take(t, s.Agent, 2)
	if left, ok := l.Remaining(8); !ok || len(left.Base) != len(co.Src) {
		t.Errorf("left of %d rows, %v", len(left.Base), ok)
	}
}

func TestServeNeedsCertificates(t *testing.T) {
	s := newSite(t, 2)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	if err := s.Serve(context.Background(), lis, &tls.Config{}); err == nil {
		t.Error("served without asking for certificates")
	}
	if err := s.Serve(context.Background(), lis, nil); err == nil {
		t.Error("served without TLS")
	}
	conn, err := tls.Dial("tcp", s.addr, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err == nil {
		_ = conn.SetReadDeadline(time.Now().Add(deadline))
		_, err = conn.Read(make([]byte, 1))
		conn.Close()
	}
	if err == nil {
		t.Error("let in without a certificate")
	}
}
