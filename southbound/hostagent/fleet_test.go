package hostagent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lightloom/southbound"
	"lightloom/southbound/agent"
	"lightloom/southbound/agent/wire"
	"lightloom/southbound/pki"
)

// machines are agents on machines of their own: each with its clock, its certificate and a part of the
// hosts.
type machines struct {
	t     *testing.T
	ca    *pki.Authority
	hosts int
	net   byte // of 127.0.0.0/8: no two tests of a process have one, since they run beside each other
	key   []byte
	began time.Time
	ahead []atomic.Int64 // by machine: its clock is so far ahead
	addr  []string
	stop  []func()
	// patience is how long leaders wait for a machine that is silent; a machine that is busy is not lost.
	patience time.Duration
	named    []string // by host: names that leaders tell, and the only thing that machines know; nil: they know all
}

var nets atomic.Int32

// newMachines starts n machines of two hosts each.
func newMachines(t *testing.T, n int) *machines { return newMachinesAs(t, n, nil) }

func newMachinesAs(t *testing.T, n int, named []string) *machines {
	t.Helper()
	ca, err := pki.New(time.Hour)
	must(t, err)
	m := &machines{t: t, ca: ca, hosts: 2 * n, net: byte(nets.Add(1)),
		key:   []byte("a key that all of them have"),
		began: time.Now(),
		ahead: make([]atomic.Int64, n), addr: make([]string, n), stop: make([]func(), n), patience: deadline / 4,
		named: named}
	for i := range n {
		m.ahead[i].Store(int64(time.Duration(i) * time.Hour))
		m.start(i)
	}
	t.Cleanup(func() {
		for _, stop := range m.stop {
			stop()
		}
	})
	return m
}

func (m *machines) clock() time.Duration { return time.Since(m.began) }

func (m *machines) start(i int) {
	m.t.Helper()
	cfg := Config{Hosts: m.hosts, Net: loopback{}, Key: m.key, Addr: m.host,
		Local: func(h southbound.HostID) bool { return int(h)/2 == i },
		Now:   func() time.Duration { return m.clock() + time.Duration(m.ahead[i].Load()) }}
	if m.named != nil {
		cfg.Hosts, cfg.Addr, cfg.Local, cfg.Names = 0, nil, nil, m.named[2*i:2*i+2]
	}
	a, err := New(cfg)
	must(m.t, err)
	at := m.addr[i]
	if at == "" {
		at = "127.0.0.1:0"
	}
	ln, err := net.Listen("tcp", at)
	must(m.t, err)
	m.addr[i] = ln.Addr().String()
	id, err := m.ca.Issue(pki.Agent, fmt.Sprintf("machine%d", i))
	must(m.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- a.Serve(ctx, ln, id.Server(pki.Controller)) }()
	m.stop[i] = sync.OnceFunc(func() {
		cancel()
		if err := errors.Join(<-done, a.Close()); err != nil {
			m.t.Error(err)
		}
	})
}

func (m *machines) host(h southbound.HostID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, m.net, byte(os.Getpid()), byte(h + 1)}), 7471)
}

// network is the hosts of the first n machines.
func (m *machines) network(n int) (out wire.Network) {
	for h := range southbound.HostID(2 * n) {
		out = append(out, wire.Host{Name: m.named[h], Addr: m.host(h), Rack: int32(h) / 2, Link: 1e9,
			Packets: 1e9})
	}
	return out
}

// fleet is a leader of all machines.
type fleet struct {
	*agent.Fleet
	t  *testing.T
	mu sync.Mutex
	// what came
	events []southbound.Event
	errors []error
	news   chan struct{}
	end    func() error
}

func (m *machines) lead(high uint64) *fleet { return m.leadSome(high, len(m.addr)) }

// leadSome leads the first n machines.
func (m *machines) leadSome(high uint64, n int) *fleet {
	m.t.Helper()
	id, err := m.ca.Issue(pki.Controller, "controller0")
	must(m.t, err)
	f := &fleet{t: m.t, news: make(chan struct{}, 1)}
	cfg := agent.FleetConfig{Clock: m.clock, Election: func() (uint64, uint64) {
		return high, 1
	}, Probe: 20 * time.Millisecond, Patience: m.patience,
		OnError: func(err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.errors = append(f.errors, err)
		}}
	var net wire.Network
	if m.named != nil {
		net = m.network(n)
	}
	for i, addr := range m.addr[:n] {
		cfg.Members = append(cfg.Members, agent.Member{Config: agent.Config{Addr: addr, Network: net,
			TLS: id.Client(fmt.Sprintf("machine%d", i), pki.Agent)},
			Hosts: []southbound.HostID{southbound.HostID(2 * i), southbound.HostID(2*i + 1)}})
	}
	f.Fleet, err = agent.DialFleet(context.Background(), cfg)
	must(m.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() {
		done <- f.Events(ctx, 0, func(num uint64, e southbound.Event) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if int(num) != len(f.events)+1 {
				m.t.Errorf("event %d came after %d", num, len(f.events))
			}
			f.events = append(f.events, e)
			select {
			case f.news <- struct{}{}:
			default:
			}
		})
	}()
	f.end = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-done, f.Close())
	})
	m.t.Cleanup(func() { _ = f.end() })
	return f
}

// take waits for n events of a kind, and returns all of it.
func (f *fleet) take(kind southbound.EventKind, n int) []southbound.Event {
	f.t.Helper()
	late := time.After(deadline)
	for {
		f.mu.Lock()
		got := slices.Clone(f.events)
		f.mu.Unlock()
		got = slices.DeleteFunc(got, func(e southbound.Event) bool { return e.Kind != kind })
		if len(got) >= n {
			return got
		}
		select {
		case <-f.news:
		case <-late:
			f.t.Fatalf("%d of %d events of kind %d came; errors %v", len(got), n, kind, f.errors)
		}
	}
}

func (f *fleet) complained(of string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.errors, func(err error) bool { return strings.Contains(err.Error(), of) })
}

// TestFleet: three machines whose clocks are hours apart run tasks and carry coflows between them as
// one set of hosts; all instants are of the run's clock, paces too. A clock that jumps is noticed, and
// times are right again.
func TestFleet(t *testing.T) {
	m := newMachines(t, 3)
	f := m.lead(1)
	must(t, f.Run([]southbound.Task{{Task: 1, Host: 0, Compute: 30 * time.Millisecond},
		{Task: 2, Host: 5, Compute: 30 * time.Millisecond}}))
	for _, e := range f.take(southbound.TaskEnded, 2) {
		if e.At < 30*time.Millisecond || e.At > m.clock() {
			t.Errorf("task %d ended at %v of a run of %v", e.Task, e.At, m.clock())
		}
	}
	s := mesh(1, m.hosts, 40_000, southbound.TagDefault)
	must(t, f.Start([]southbound.Start{s}))
	if l, ok := f.Remaining(1); !ok || l.Row(0) != float64(s.Size[0]) {
		t.Errorf("left is %+v, %v", l, ok)
	}
	paced := m.clock() + 400*time.Millisecond
	must(t, f.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 1, Until: paced}}}))
	ended := f.take(southbound.HostFlowEnded, len(s.Src))
	for i, e := range ended {
		if i > 0 && e.At <= ended[i-1].At {
			t.Fatalf("event %d is not after the one before", i)
		}
		if e.Host != s.Dst[e.Row] || e.At < paced-350*time.Millisecond || e.At > m.clock() {
			t.Errorf("row %d ended at %v, paced to %v", e.Row, e.At, paced)
		}
	}
	if err := f.Ack(uint64(2 + len(ended))); err != nil {
		t.Error(err)
	}
	if err := f.Ack(99999); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("an event that was not told was acknowledged: %v", err)
	}
	m.ahead[1].Add(-int64(30 * time.Minute))
	until(t, "the jump is noticed", func() bool { return f.complained("its clock has jumped") })
	must(t, f.Run([]southbound.Task{{Task: 3, Host: 2, Compute: time.Millisecond}}))
	if e := f.take(southbound.TaskEnded, 3)[2]; e.At > m.clock() || e.At < m.clock()-deadline {
		t.Errorf("after the jump a task ended at %v of a run of %v", e.At, m.clock())
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// TestFleetLosesAMachine: when a machine dies its hosts are lost, the others go on and let go of what
// they had with it; when it begins anew its hosts are back, and take new work at the rates in force.
func TestFleetLosesAMachine(t *testing.T) {
	t.Parallel()
	m := newMachines(t, 3)
	m.patience = 2 * time.Second
	f := m.lead(1)
	s := mesh(1, m.hosts, 40_000, southbound.TagDefault)
	must(t, f.SetRates(&southbound.Rates{})) // all hold
	must(t, f.Start([]southbound.Start{s}))
	must(t, f.Run([]southbound.Task{{Task: 7, Host: 1}}))
	f.take(southbound.TaskEnded, 1)
	m.stop[2]()
	lost := f.take(southbound.HostLost, 2)
	if lost[0].Host != 4 || lost[1].Host != 5 {
		t.Fatalf("lost are %+v", lost)
	}
	must(t, f.SetRates(&southbound.Rates{Fair: true}))
	want := 0
	for i := range s.Src {
		if s.Src[i] < 4 && s.Dst[i] < 4 {
			want++
		}
	}
	f.take(southbound.HostFlowEnded, want)
	m.start(2)
	if found := f.take(southbound.HostFound, 2); found[0].Host != 4 || found[1].Host != 5 {
		t.Fatalf("found are %+v", found)
	}
	must(t, f.Start([]southbound.Start{mesh(2, m.hosts, 10_000, southbound.TagDefault)}))
	all := f.take(southbound.HostFlowEnded, want+len(s.Src))
	for _, e := range all[:want] {
		if e.Coflow != 1 || s.Src[e.Row] >= 4 || s.Dst[e.Row] >= 4 {
			t.Errorf("a void host flow ended: %+v", e)
		}
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// TestFleetCannotServe: an agent that answers but cannot listen at its hosts' addresses is lost, says
// why, and is found once it can.
func TestFleetCannotServe(t *testing.T) {
	m := newMachinesAs(t, 2, []string{"a", "b", "c", "d"})
	other, err := net.Listen("tcp", m.host(3).String())
	must(t, err)
	f := m.lead(1)
	if lost := f.take(southbound.HostLost, 2); lost[0].Host != 2 || lost[1].Host != 3 {
		t.Fatalf("lost are %+v", lost)
	}
	how := f.Agents()
	if len(how) != 2 || how[0].Lost || how[0].Err != nil || !how[1].Lost || how[1].Err == nil ||
		!strings.Contains(how[1].Err.Error(), "address already in use") {
		t.Errorf("agents are %+v", how)
	}
	must(t, other.Close())
	f.take(southbound.HostFound, 2)
	must(t, f.Run([]southbound.Task{{Task: 1, Host: 3}}))
	f.take(southbound.TaskEnded, 1)
	if how := f.Agents()[1]; how.Lost || how.Err != nil {
		t.Errorf("the agent is %+v", how)
	}
	if err := f.end(); err != nil {
		t.Error(err)
	}
}

// TestFleetFenced: a newer leader takes the machines over, and receives all events that have not been
// acknowledged.
func TestFleetFenced(t *testing.T) {
	m := newMachines(t, 2)
	f := m.lead(1)
	must(t, f.Run([]southbound.Task{{Task: 1, Host: 0}, {Task: 2, Host: 3}}))
	f.take(southbound.TaskEnded, 2)
	g := m.lead(2)
	g.take(southbound.TaskEnded, 2)
	must(t, f.Run([]southbound.Task{{Task: 3, Host: 0}}))
	until(t, "the older leader is refused", func() bool { return f.complained(southbound.ErrNotLeader.Error()) })
	if err := f.end(); err != nil && !errors.Is(err, southbound.ErrNotLeader) {
		t.Error(err)
	}
}

// TestFleetForeign: the fleet does not talk to an agent with a certificate of another authority or
// role; its hosts count as lost, and the rest goes on.
func TestFleetForeign(t *testing.T) {
	t.Parallel()
	m := newMachines(t, 2)
	m.patience = 2 * time.Second
	ours := m.ca
	for _, foreign := range []bool{true, false} {
		m.stop[1]()
		if foreign {
			other, err := pki.New(time.Hour)
			must(t, err)
			m.ca = other
		} else {
			m.ca = ours
		}
		m.start(1)
		m.ca = ours
		f := m.lead(3)
		if foreign {
			must(t, f.Run([]southbound.Task{{Task: 11, Host: 0}, {Task: 12, Host: 2}}))
			if e := f.take(southbound.TaskEnded, 1)[0]; e.Task != 11 {
				t.Errorf("%+v", e)
			}
			if lost := f.take(southbound.HostLost, 2); lost[0].Host != 2 {
				t.Errorf("%+v", lost)
			}
			if !f.complained("machine") && !f.complained("certificate") && !f.complained(m.addr[1]) {
				t.Errorf("complaints are %v", f.errors)
			}
		} else {
			must(t, f.Run([]southbound.Task{{Task: 13, Host: 2}}))
			f.take(southbound.TaskEnded, 1)
		}
		if err := f.end(); err != nil {
			t.Error(err)
		}
	}
}

// TestFleetGrows: machines that know nothing but the names of their hosts learn the network from the
// leader; a machine that comes later joins, the others reach it, what they send meanwhile goes on, and
// one that begins anew learns it again.
func TestFleetGrows(t *testing.T) {
	t.Parallel()
	names := []string{"a0", "a1", "b0", "b1", "c0", "c1"}
	m := newMachinesAs(t, 3, names)
	m.patience = 2 * time.Second
	f := m.leadSome(1, 2)
	must(t, f.SetRates(&southbound.Rates{})) // all hold
	must(t, f.Start([]southbound.Start{mesh(1, 4, 40_000, southbound.TagDefault)}))
	must(t, f.Run([]southbound.Task{{Task: 1, Host: 3}}))
	f.take(southbound.TaskEnded, 1)
	must(t, f.end())

	f = m.leadSome(2, 3)
	must(t, f.SetRates(&southbound.Rates{Fair: true}))
	s := mesh(2, 6, 10_000, southbound.TagDefault)
	must(t, f.Start([]southbound.Start{mesh(1, 4, 40_000, southbound.TagDefault), s}))
	f.take(southbound.HostFlowEnded, 12+30)
	m.stop[2]()
	f.take(southbound.HostLost, 2)
	m.start(2)
	f.take(southbound.HostFound, 2)
	must(t, f.Start([]southbound.Start{mesh(3, 6, 10_000, southbound.TagDefault)}))
	f.take(southbound.HostFlowEnded, 12+30+30)
	must(t, f.end())

	f = m.leadSome(3, 2) // of a leader that knows less
	until(t, "it is refused", func() bool { return f.complained("4 hosts, and 6 are known: hosts do not go") })
	must(t, f.end())
}

// TestNetworkRefusals: a network that lacks a host of the agent, or whose requests do not follow one
// another, changes nothing.
func TestNetworkRefusals(t *testing.T) {
	m := &machines{net: byte(os.Getpid()), named: []string{"a0", "a1", "b0", "b1"}}
	a := newTestAgent(t, 1, func(c *Config) {
		c.Hosts, c.Addr, c.Names = 0, nil, []string{"b1"}
	})
	if err := a.SetNetwork(m.network(1)); err == nil || !strings.Contains(err.Error(), `no host "b1"`) {
		t.Errorf("without its host: %v", err)
	}
	if err := a.Run([]southbound.Task{{Task: 1}}); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("a task before it knows any host: %v", err)
	}
	must(t, a.SetNetwork(m.network(2)))
	must(t, a.SetNetwork(m.network(2)))
	if n := a.net(); n.hosts() != 4 || n.local(0) || !n.local(3) ||
		n.line(0, 3, southbound.TagDefault) != 1e9 {
		t.Errorf("%+v", n)
	}
}
