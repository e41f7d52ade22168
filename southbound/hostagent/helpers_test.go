package hostagent

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/noise"
)

func TestMain(m *testing.M) {
	noise.Waiting(4)
	goleak.VerifyTestMain(m)
}

// loopback is the twin of a network: every host is 127.0.0.1, with a port of its own.
type loopback struct{}

func (loopback) InHost(_ southbound.HostID, f func() error) error { return f() }

func loopbackAddr(southbound.HostID) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0)
}

// deadline bounds every wait of these tests; none takes a tenth of it.
const deadline = 2 * time.Minute

type testLog struct{ t testing.TB }

func (w testLog) Write(b []byte) (int, error) { w.t.Logf("%s", b); return len(b), nil }

func newTestAgent(t testing.TB, hosts int, change func(*Config)) *Agent {
	t.Helper()
	cfg := Config{Hosts: hosts, Addr: loopbackAddr, Net: loopback{},
		Log: slog.New(slog.NewTextHandler(testLog{t}, nil))}
	if change != nil {
		change(&cfg)
	}
	a, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	a.mss = framePayload // the kernel paces from the eleventh segment on, and the loopback's hold 64 kB
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// take waits for n events from number 1 on.
func take(t testing.TB, a *Agent, n int) []southbound.Event {
	t.Helper()
	timeout := time.After(deadline)
	for {
		changed := a.Changed()
		_, ev, err := a.Events(1, n)
		if err != nil {
			t.Fatal(err)
		}
		if len(ev) == n {
			return ev
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("%d of %d events came: %+v; status %+v", len(ev), n, ev, a.Status())
		}
	}
}

// until polls a condition that no channel signals, once a tick.
func until(t testing.TB, what string, cond func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	timeout := time.After(deadline)
	for !cond() {
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("%s: not within %v", what, deadline)
		}
	}
}

// mesh is a coflow from every host to every other one.
func mesh(id southbound.CoflowID, hosts int, size pathmap.Bytes, tag southbound.Tag) southbound.Start {
	s := southbound.Start{Coflow: id}
	for d := range hosts {
		for src := range hosts {
			if src != d {
				s.Src, s.Dst = append(s.Src, southbound.HostID(src)), append(s.Dst, southbound.HostID(d))
				s.Size, s.Tag = append(s.Size, size+pathmap.Bytes(src)), append(s.Tag, tag)
			}
		}
	}
	return s
}

func one(id southbound.CoflowID, size pathmap.Bytes, tag southbound.Tag) southbound.Start {
	return southbound.Start{Coflow: id, Src: []southbound.HostID{0}, Dst: []southbound.HostID{1},
		Size: []pathmap.Bytes{size}, Tag: []southbound.Tag{tag}}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// received is the payload that has come for a row so far.
func received(a *Agent, k southbound.HostFlowKey) int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.table.row(k)
	if b == nil || b.in == nil {
		return 0
	}
	b.in.mu.Lock()
	defer b.in.mu.Unlock()
	return b.in.received
}
