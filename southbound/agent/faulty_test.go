package agent

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
	"lightloom/southbound/agent/wire"
)

// pair is a fleet of an agent of hosts 0 and 1, which does as it should, and one of hosts 2 and 3,
// which may not.
type pair struct {
	t       *testing.T
	fleet   *Fleet
	events  chan southbound.Event
	foreign atomic.Int64
	told    atomic.Int64 // errors that tell of foreign hosts
}

func newPair(t *testing.T, good, bad *peer) *pair {
	return newPairWith(t, good, bad, 2*time.Second) // a machine that is busy is not lost
}

func newPairWith(t *testing.T, good, bad *peer, patience time.Duration) *pair {
	return newPairOf(t, patience, Member{serve(t, good), []southbound.HostID{0, 1}},
		Member{serve(t, bad), []southbound.HostID{2, 3}})
}

func newPairOf(t *testing.T, patience time.Duration, members ...Member) *pair {
	p := &pair{t: t, events: make(chan southbound.Event, 1000)}
	began := time.Now()
	cfg := FleetConfig{Clock: func() time.Duration { return time.Since(began) }, Probe: 5 * time.Millisecond,
		Patience:  patience,
		Election:  func() (uint64, uint64) { return 1, 1 },
		OnForeign: func(string) { p.foreign.Add(1) },
		OnError: func(err error) {
			if strings.Contains(err.Error(), "which is not its own") {
				p.told.Add(1)
			}
		},
		Members: members}
	var err error
	p.fleet, err = DialFleet(context.Background(), cfg)
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := p.fleet.Events(ctx, 0, func(_ uint64, e southbound.Event) { p.events <- e }); err != nil {
			t.Errorf("the fleet's events ended: %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		must(t, p.fleet.Close())
	})
	return p
}

// take waits for the next event.
func (p *pair) take() southbound.Event {
	p.t.Helper()
	select {
	case e := <-p.events:
		return e
	case <-time.After(deadline):
		p.t.Fatal("no event came")
		return southbound.Event{}
	}
}

// TestFaultyAgent: whatever one agent answers, its own hosts alone are lost, the others' go on, and its
// own are back once it answers as it should.
func TestFaultyAgent(t *testing.T) {
	event := func(first uint64, kind uint32, host int32) *agentpb.WatchReply {
		return &agentpb.WatchReply{First: first, Incarnation: 1,
			Events: []*agentpb.Event{{Kind: kind, Host: host}}}
	}
	for _, tt := range []struct {
		name  string
		err   error // of its Watch
		watch []*agentpb.WatchReply
	}{
		{"Internal", errors.New("out of order"), nil},
		{"PermissionDenied", southbound.ErrNotLeader, nil},
		{"InvalidArgument", southbound.ErrRefused, nil},
		{"Unimplemented", southbound.ErrUnsupported, nil},
		{"OutOfRange", wire.ErrRestarted, nil},
		{"ResourceExhausted", status.Error(codes.DataLoss, "lost"), nil},
		{"a gap", nil, []*agentpb.WatchReply{event(7, uint32(southbound.TaskEnded), 2)}},
		{"number 0", nil, []*agentpb.WatchReply{event(0, uint32(southbound.TaskEnded), 2)}},
		{"a kind that is none", nil, []*agentpb.WatchReply{event(1, 99, 2)}},
		{"another incarnation", nil, []*agentpb.WatchReply{{First: 1, Incarnation: 1},
			{First: 1, Incarnation: 2}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			good := &peer{watch: []*agentpb.WatchReply{event(1, uint32(southbound.TaskEnded), 1)}}
			bad := &peer{watch: tt.watch, answer: func(name string) error {
				if name == "watch" {
					return tt.err
				}
				return nil
			}}
			p := newPair(t, good, bad)
			for lost := 0; lost < 2; {
				switch e := p.take(); {
				case e.Kind == southbound.TaskEnded && e.Host == 1:
				case e.Kind == southbound.HostLost && e.Host >= 2:
					lost++
				default:
					t.Fatalf("%+v", e)
				}
			}
			must(t, p.fleet.Run([]southbound.Task{{Task: 1, Host: 0}, {Task: 2, Host: 2}}))
			until(t, "the good agent to be told", func() bool { return strings.Contains(good.noted(), "run") })
			until(t, "the good agent to let go of the others", func() bool {
				return strings.Contains(good.noted(), "regard[2 3]false")
			})
			if strings.Contains(bad.noted(), "regard[0") {
				t.Errorf("the others are called lost: %s", bad.noted())
			}
			bad.mu.Lock()
			bad.watch, bad.answer = nil, nil
			bad.mu.Unlock()
			for found := 0; found < 2; { // it can be believed, and fail, a few times before
				e := p.take()
				if e.Host < 2 && e.Kind != southbound.TaskEnded {
					t.Fatalf("%+v", e)
				}
				if found++; e.Kind != southbound.HostFound {
					found = 0
				}
			}
			until(t, "it to be told again", func() bool { // calls between two failures are dropped
				must(t, p.fleet.Run([]southbound.Task{{Task: 3, Host: 3}}))
				return strings.Contains(bad.noted(), "run")
			})
		})
	}
}

// TestSilentAgent: an agent whose stream stands, but which tells its clock no more, is lost after a while.
func TestSilentAgent(t *testing.T) {
	bad := &peer{}
	p := newPairWith(t, &peer{}, bad, 500*time.Millisecond)
	until(t, "the stream", func() bool { return strings.Contains(bad.noted(), "watch") })
	bad.mu.Lock()
	bad.answer = func(name string) error {
		if name == "status" {
			return errors.New("no clock")
		}
		return nil
	}
	bad.mu.Unlock()
	for lost := map[southbound.HostID]bool{}; !lost[2] || !lost[3]; {
		if e := p.take(); e.Kind == southbound.HostLost {
			lost[e.Host] = true // on a busy machine the others too, for a moment
		}
	}
}

// TestRemainingOfFleet: what is left of a coflow is joined from what its senders tell.
func TestRemainingOfFleet(t *testing.T) {
	left := func(rows int32, row int32, bytes int64) *peer {
		return &peer{progress: []*agentpb.ProgressReply{{AtNs: 7,
			Backlogs: []*agentpb.Backlog{{Coflow: 1, Rows: rows,
				Row: []int32{row}, Left: []int64{bytes}}}}}}
	}
	start := []southbound.Start{{Coflow: 1, Src: []southbound.HostID{0, 2}, Dst: []southbound.HostID{2, 0},
		Size: []pathmap.Bytes{100, 100}, Tag: []southbound.Tag{0, 0}}}
	p := newPair(t, left(2, 0, 40), left(2, 1, 60))
	must(t, p.fleet.Start(start))
	until(t, "both to tell", func() bool {
		r, ok := p.fleet.Remaining(1)
		return ok && slices.Equal(r.Base, []float64{40, 60})
	})
	if _, ok := p.fleet.Remaining(2); ok {
		t.Error("something is left of a coflow that never started")
	}
}

// TestFlapping: an agent that answers every question and fails every stream is believed less and less often.
func TestFlapping(t *testing.T) {
	bad := &peer{answer: func(name string) error {
		if name == "watch" {
			return errors.New("out of order")
		}
		return nil
	}}
	p := newPair(t, &peer{}, bad)
	// Twice at once, then after 5, 10, 20, 40, 80, 160 and each 320 ms: ten streams take 955 ms at least.
	began := time.Now()
	until(t, "ten streams", func() bool { return strings.Count(bad.noted(), "watch") >= 10 })
	if took := time.Since(began); took < 955*time.Millisecond {
		t.Errorf("ten streams within %v", took)
	}
	for len(p.events) > 0 {
		if e := p.take(); e.Host < 2 {
			t.Fatalf("%+v", e)
		}
	}
}

// TestForeignHosts: events that an agent reports of hosts that are not its own are dropped and counted;
// its other events are not.
func TestForeignHosts(t *testing.T) {
	tell := &agentpb.WatchReply{First: 1, Incarnation: 1}
	for host := range int32(5) {
		for _, kind := range []southbound.EventKind{southbound.TaskEnded, southbound.HostFlowEnded,
			southbound.HostLost,
			southbound.HostFound} {
			tell.Events = append(tell.Events, &agentpb.Event{Kind: uint32(kind), Host: host})
		}
	}
	p := newPair(t, &peer{}, &peer{watch: []*agentpb.WatchReply{tell}})
	for i := range 8 {
		if e := p.take(); e.Host != southbound.HostID(2+i/4) {
			t.Fatalf("%+v", e)
		}
	}
	until(t, "the others to be counted", func() bool { return p.foreign.Load() == 12 })
	until(t, "the 1st, 2nd, 4th and 8th to be told of", func() bool { return p.told.Load() == 4 })
}

// TestForeignBytes: of what an agent reports that hosts have sent, and have still to send, only that of its
// own hosts to hosts of the fleet counts.
func TestForeignBytes(t *testing.T) {
	agent := func(left ...int64) *peer {
		return &peer{
			moved: &agentpb.TrafficReply{AtNs: 1, Src: []int32{-1, 0, 0, 1, 2, 3, 99},
				Dst: []int32{2, 2, 99, 2, 0, 0, 0}, Bytes: []int64{7, left[0], 7, 7, left[1], 7, 7}},
			progress: []*agentpb.ProgressReply{{AtNs: 7, Backlogs: []*agentpb.Backlog{{Coflow: 1, Rows: 2,
				Row: []int32{0, 1}, Left: left}}}},
		}
	}
	p := newPairOf(t, 2*time.Second, Member{serve(t, agent(1, 60)), []southbound.HostID{2, 3}},
		Member{serve(t, agent(40, 2)), []southbound.HostID{0, 1}})
	must(t, p.fleet.Start([]southbound.Start{{Coflow: 1, Src: []southbound.HostID{0, 2},
		Dst: []southbound.HostID{2, 0}, Size: []pathmap.Bytes{100, 100}, Tag: []southbound.Tag{0, 0}}}))
	until(t, "both to report", func() bool {
		r, ok := p.fleet.Remaining(1)
		return ok && slices.Equal(r.Base, []float64{40, 60})
	})
	got, err := p.fleet.Traffic(within(t))
	must(t, err)
	want := []wire.Moved{{Src: 0, Dst: 2, Bytes: 40}, {Src: 1, Dst: 2, Bytes: 7}, {Src: 2, Dst: 0, Bytes: 60},
		{Src: 3, Dst: 0, Bytes: 7}}
	if !slices.Equal(got.Moved, want) {
		t.Errorf("traffic %v, want %v", got.Moved, want)
	}
}

// until polls what nothing announces.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(deadline); !ok(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("waited too long for %s", what)
		}
	}
}
