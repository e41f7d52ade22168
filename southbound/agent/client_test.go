package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/pki"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const deadline = 2 * time.Minute

// peer is a fake agent under a test's control: it records calls, and can refuse, hang or lie.
type peer struct {
	agentpb.UnimplementedAgentServer
	mu       sync.Mutex
	calls    []string
	answer   func(name string) error // of the next calls; nil: yes
	watch    []*agentpb.WatchReply   // told by each watch, then the stream stays open
	progress []*agentpb.ProgressReply
	moved    *agentpb.TrafficReply // nil: it tells of no traffic
	told     chan struct{}
	follow   func() error // of the next streams of progress; nil: yes
	ended    bool         // all coflows have ended before they are started here
	acked    uint64       // the last number that was acknowledged
}

func (p *peer) note(name string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, name)
	if p.answer == nil {
		return nil
	}
	return wire.ToStatus(p.answer(name))
}

func (p *peer) noted() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.calls, " ")
}

func (p *peer) Run(context.Context, *agentpb.RunRequest) (*agentpb.RunReply, error) {
	return &agentpb.RunReply{}, p.note("run")
}

func (p *peer) Start(_ context.Context, m *agentpb.StartRequest) (*agentpb.StartReply, error) {
	reply := &agentpb.StartReply{}
	status := agentpb.StartStatus_START_STATUS_STARTED
	if p.ended {
		status = agentpb.StartStatus_START_STATUS_ENDED
	}
	for range m.GetChunks() {
		reply.Status = append(reply.Status, status)
	}
	return reply, p.note("start")
}

func (p *peer) Ack(_ context.Context, m *agentpb.AckRequest) (*agentpb.AckReply, error) {
	p.mu.Lock()
	p.acked = m.GetThrough()
	p.mu.Unlock()
	return &agentpb.AckReply{}, nil
}

func (p *peer) Steer(context.Context, *agentpb.SteerRequest) (*agentpb.SteerReply, error) {
	return &agentpb.SteerReply{}, p.note("steer")
}

func (p *peer) SetRates(context.Context, *agentpb.SetRatesRequest) (*agentpb.SetRatesReply, error) {
	return &agentpb.SetRatesReply{}, p.note("rates")
}

func (p *peer) Status(context.Context, *agentpb.StatusRequest) (*agentpb.StatusReply, error) {
	return &agentpb.StatusReply{Incarnation: 1, NowNs: 1, FirstEvent: 1, NextEvent: 1}, p.note("status")
}

func (p *peer) Traffic(context.Context, *agentpb.TrafficRequest) (*agentpb.TrafficReply, error) {
	if p.moved == nil {
		return nil, wire.ToStatus(southbound.ErrUnsupported)
	}
	return p.moved, nil
}

func (p *peer) Regard(_ context.Context, m *agentpb.RegardRequest) (*agentpb.RegardReply, error) {
	return &agentpb.RegardReply{}, p.note(fmt.Sprintf("regard%v%v", m.GetHost(), m.GetUp()))
}

func (p *peer) Watch(_ *agentpb.WatchRequest, stream grpc.ServerStreamingServer[agentpb.WatchReply]) error {
	if err := p.note("watch"); err != nil {
		return err
	}
	p.mu.Lock()
	watch := p.watch
	p.mu.Unlock()
	for _, m := range watch {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	<-stream.Context().Done()
	return nil
}

func (p *peer) Progress(_ *agentpb.ProgressRequest,
	stream grpc.ServerStreamingServer[agentpb.ProgressReply]) error {
	if p.follow != nil {
		if err := p.follow(); err != nil {
			return err
		}
	}
	for _, m := range p.progress {
		if err := stream.Send(m); err != nil {
			return err
		}
	}
	if p.told != nil {
		close(p.told)
	}
	<-stream.Context().Done()
	return nil
}

// start serves p and returns a client of it and the errors that the client reports.
func start(t *testing.T, p *peer, change func(*Config)) (*Client, chan error) {
	t.Helper()
	cfg := serve(t, p)
	errs := make(chan error, 100)
	cfg.OnError = func(err error) { errs <- err }
	if change != nil {
		change(&cfg)
	}
	c, err := Dial(context.Background(), cfg)
	must(t, err)
	t.Cleanup(func() { must(t, c.Close()) })
	return c, errs
}

// serve serves p until the test ends, and returns how to reach it.
func serve(t *testing.T, p *peer) Config {
	t.Helper()
	ca, err := pki.New(time.Hour)
	must(t, err)
	server, err := ca.Issue(pki.Agent, "agent")
	must(t, err)
	leader, err := ca.Issue(pki.Controller, "replica0")
	must(t, err)
	lis, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	srv := grpc.NewServer(grpc.Creds(credentials.NewTLS(server.Server(pki.Controller))))
	agentpb.RegisterAgentServer(srv, p)
	var wg sync.WaitGroup
	wg.Go(func() { _ = srv.Serve(lis) })
	t.Cleanup(func() {
		srv.Stop()
		wg.Wait()
	})
	return Config{Addr: lis.Addr().String(), TLS: leader.Client("agent", pki.Agent),
		Election: func() (uint64, uint64) { return 1, 1 }}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	t.Cleanup(cancel)
	return ctx
}

func hostFlow(id southbound.CoflowID) []southbound.Start {
	return []southbound.Start{{Coflow: id, Src: []southbound.HostID{0}, Dst: []southbound.HostID{1},
		Size: []pathmap.Bytes{100}, Tag: []southbound.Tag{0}}}
}

func TestCallsComeInOrder(t *testing.T) {
	p := &peer{}
	c, _ := start(t, p, nil)
	for range 20 {
		must(t, c.Run([]southbound.Task{{}}))
		must(t, c.Start(hostFlow(1)))
		must(t, c.Steer([]southbound.Steer{{}}))
		must(t, c.SetRates(&southbound.Rates{}))
	}
	must(t, c.Flush(within(t)))
	if got, want := p.noted(), strings.TrimSpace(strings.Repeat("run start steer rates ", 20)); got != want {
		t.Errorf("calls came as %s", got)
	}
}

func TestCallsAreTriedUntilAnswered(t *testing.T) {
	var fails atomic.Int32
	fails.Store(3)
	p := &peer{answer: func(string) error {
		if fails.Add(-1) >= 0 {
			return wire.ErrUnavailable
		}
		return nil
	}}
	c, errs := start(t, p, nil)
	must(t, c.Run([]southbound.Task{{}}))
	must(t, c.Start(hostFlow(1)))
	must(t, c.Flush(within(t)))
	if got := p.noted(); got != "run run run run start" || len(errs) != 0 {
		t.Errorf("calls %s, %d errors", got, len(errs))
	}
}

func TestRefusedCallIsReportedAndTheNextGoesOn(t *testing.T) {
	p := &peer{answer: func(name string) error {
		if name == "run" {
			return southbound.ErrRefused
		}
		return nil
	}}
	c, errs := start(t, p, nil)
	must(t, c.Run([]southbound.Task{{}}))
	must(t, c.SetRates(&southbound.Rates{}))
	must(t, c.Flush(within(t)))
	if err := <-errs; !errors.Is(err, southbound.ErrRefused) ||
		!strings.HasPrefix(err.Error(), "run tasks at agent") {
		t.Errorf("reported %v", err)
	}
	if got := p.noted(); got != "run rates" {
		t.Errorf("calls %s", got)
	}
}

func TestNotLeaderDropsTheQueue(t *testing.T) {
	entered, leave := make(chan struct{}), make(chan struct{})
	p := &peer{answer: func(name string) error {
		if name == "run" {
			close(entered)
			<-leave
			return southbound.ErrNotLeader
		}
		return nil
	}}
	c, errs := start(t, p, nil)
	must(t, c.Run([]southbound.Task{{}}))
	<-entered
	must(t, c.Start(hostFlow(1)))
	must(t, c.SetRates(&southbound.Rates{}))
	close(leave)
	must(t, c.Flush(within(t)))
	if err := <-errs; !errors.Is(err, southbound.ErrNotLeader) {
		t.Errorf("reported %v", err)
	}
	must(t, c.Steer([]southbound.Steer{{}})) // a new chance
	must(t, c.Flush(within(t)))
	if got := p.noted(); got != "run steer" && got != "run start rates steer" {
		t.Errorf("calls %s", got)
	}
}

// TestHangingAgent: a call does not wait for an agent that never answers, and Close does not either.
func TestHangingAgent(t *testing.T) {
	hang := make(chan struct{})
	p := &peer{answer: func(string) error { <-hang; return nil }}
	c, _ := start(t, p, func(c *Config) { c.CallTimeout = 20 * time.Millisecond })
	for range 1000 {
		must(t, c.SetRates(&southbound.Rates{Fair: true}))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := c.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("flush: %v", err)
	}
	must(t, c.Close())
	close(hang)
	if err := c.SetRates(&southbound.Rates{}); err == nil {
		t.Error("a closed client takes calls")
	}
	if err := c.Flush(within(t)); err == nil {
		t.Error("a closed client can be flushed")
	}
}

func event(task int32) *agentpb.Event {
	return &agentpb.Event{Kind: uint32(southbound.TaskEnded), Task: task}
}

func TestLyingWatch(t *testing.T) {
	for _, tc := range []struct {
		name string
		from uint64
		tell []*agentpb.WatchReply
		want []southbound.TaskID
		err  string
	}{
		{"told twice", 0, []*agentpb.WatchReply{{First: 1, Events: []*agentpb.Event{event(1), event(2)}},
			{First: 2, Events: []*agentpb.Event{event(2), event(3)}}, {First: 9}}, []southbound.TaskID{1, 2, 3},
			"event 9 came where 4 was due"},
		{"gap", 5, []*agentpb.WatchReply{{First: 6, Events: []*agentpb.Event{event(1)}}}, nil,
			"event 6 came where 5 was due"},
		{"unknown kind", 1, []*agentpb.WatchReply{{First: 1, Events: []*agentpb.Event{event(1), {Kind: 77}}}},
			[]southbound.TaskID{1}, "kind 77 is unknown"},
		{"another process", 0, []*agentpb.WatchReply{{First: 1, Events: []*agentpb.Event{event(1)},
			Incarnation: 5},
			{First: 2, Events: []*agentpb.Event{event(2)},
				Incarnation: 6}}, []southbound.TaskID{1}, ErrRestarted.Error()},
		{"number wraps", 0, []*agentpb.WatchReply{{First: 1<<64 - 1,
			Events: []*agentpb.Event{event(1), event(2)}}}, nil,
			"number"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := start(t, &peer{watch: tc.tell}, nil)
			var got []southbound.TaskID
			err := c.Events(within(t), tc.from, func(_ uint64, e southbound.Event) { got = append(got, e.Task) })
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("error %v, want %q", err, tc.err)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("events %v, want %v", got, tc.want)
			}
			for i := range got {
				if got[i] != tc.want[i] {
					t.Errorf("events %v, want %v", got, tc.want)
				}
			}
		})
	}
}

// TestProgress: the valid parts of an agent's report of remaining bytes are used, the rest is ignored.
func TestProgress(t *testing.T) {
	told := make(chan struct{})
	p := &peer{told: told, progress: []*agentpb.ProgressReply{
		{AtNs: 7, Backlogs: []*agentpb.Backlog{
			{Coflow: 1, Rows: 1, Row: []int32{0, 5, -1}, Left: []int64{40, 3, 3}},
			{Coflow: 2, Rows: 3, Row: []int32{1}, Left: []int64{9}}, // started by an earlier leader
			{Coflow: 3, Rows: -1}, {Coflow: 4, Rows: 1 << 30}, {Coflow: 5, Rows: 1, Row: []int32{0}},
			{Coflow: 6, Rows: 1, Ended: true},
		}},
		{AtNs: 8, Backlogs: []*agentpb.Backlog{{Coflow: 1, Rows: 1, Row: []int32{0}, Left: []int64{-5}}}},
		{AtNs: 9, Backlogs: []*agentpb.Backlog{{Coflow: 8, Rows: 1, Ended: true}}},
	}}
	c, _ := start(t, p, nil)
	must(t, c.Start(append(hostFlow(1), append(hostFlow(8), hostFlow(9)...)...)))
	<-told
	for _, tc := range []struct {
		id   southbound.CoflowID
		want []float64
	}{{1, []float64{0}}, {2, []float64{0, 9, 0}}, {8, []float64{0}}, {9, []float64{100}}} {
		awaitLeft(t, c, tc.id, tc.want...)
	}
	for _, id := range []southbound.CoflowID{3, 4, 5, 6} {
		if l, ok := c.Remaining(id); ok {
			t.Errorf("left of coflow %d: %+v", id, l)
		}
	}
}

// awaitLeft returns once that is left of a coflow.
func awaitLeft(t *testing.T, c *Client, id southbound.CoflowID, want ...float64) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for timeout := time.After(deadline); ; {
		l, ok := c.Remaining(id)
		if ok && l.F == 1 && equal(l.Base, want) {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("left of coflow %d: %+v, %v, want %v", id, l, ok, want)
		}
	}
}

// TestEndedBefore: nothing is left of a coflow of which the agent says that it has ended.
func TestEndedBefore(t *testing.T) {
	c, _ := start(t, &peer{ended: true}, nil)
	must(t, c.Start(hostFlow(1)))
	awaitLeft(t, c, 1, 0)
}

// TestProgressComesBack: progress is asked for again, without a word, where its stream broke because
// the agent was away for a moment; an agent that knows a later leader is not asked again before a call
// has gone through.
func TestProgressComesBack(t *testing.T) {
	for _, tc := range []struct {
		name  string
		err   error
		asked bool
	}{{"away", wire.ErrUnavailable, true}, {"another leads", southbound.ErrNotLeader, false}} {
		t.Run(tc.name, func(t *testing.T) {
			answered := make(chan struct{})
			p := &peer{progress: []*agentpb.ProgressReply{{Backlogs: []*agentpb.Backlog{
				{Coflow: 1, Rows: 1, Row: []int32{0}, Left: []int64{40}}}}}}
			var broken sync.Once
			p.follow = func() (err error) {
				broken.Do(func() {
					close(answered)
					err = wire.ToStatus(tc.err)
				})
				return err
			}
			c, errs := start(t, p, nil)
			must(t, c.Start(hostFlow(1)))
			<-answered
			if !tc.asked {
				must(t, c.Start(hostFlow(2)))
			}
			awaitLeft(t, c, 1, 40)
			select {
			case err := <-errs:
				t.Error(err)
			default:
			}
		})
	}
}

func equal(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestDialRefuses(t *testing.T) {
	good := Config{Addr: "127.0.0.1:1", TLS: &tls.Config{}, Election: func() (uint64, uint64) { return 0, 0 }}
	for name, change := range map[string]func(*Config){
		"no address":  func(c *Config) { c.Addr = "" },
		"no TLS":      func(c *Config) { c.TLS = nil },
		"no election": func(c *Config) { c.Election = nil },
	} {
		cfg := good
		change(&cfg)
		if c, err := Dial(context.Background(), cfg); err == nil {
			c.Close()
			t.Errorf("%s: no error", name)
		}
	}
}

// TestNobodyThere: a status of an agent that is not there ends with its context and says why.
func TestNobodyThere(t *testing.T) {
	c, _ := start(t, &peer{}, func(c *Config) { c.Addr = "127.0.0.1:1" }) // no agent listens on this port
	for long := 100 * time.Millisecond; ; long *= 2 {                     // a busy machine may not have asked in that time
		ctx, cancel := context.WithTimeout(context.Background(), long)
		_, err := c.Status(ctx)
		cancel()
		if errors.Is(err, wire.ErrUnavailable) && strings.Contains(err.Error(), "connection refused") {
			return
		}
		if !errors.Is(err, wire.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded) || long > deadline {
			t.Fatalf("status: %v", err)
		}
	}
}

// TestCloseEndsEvents: a client that is closed ends its stream of events, and that is no error.
func TestCloseEndsEvents(t *testing.T) {
	p := &peer{watch: []*agentpb.WatchReply{{First: 1, Events: []*agentpb.Event{event(1)}}}}
	c, err := Dial(context.Background(), serve(t, p))
	must(t, err)
	came, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- c.Events(context.Background(), 0, func(uint64, southbound.Event) { close(came) })
	}()
	<-came
	must(t, c.Close())
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
