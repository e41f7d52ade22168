package hostagent

import (
	"io"
	"math/rand/v2"
	"net"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TestCutConnectionsResume breaks the connection of a host flow many times in mid-flow: it goes on
// where the receiver is, and every byte counts once.
func TestCutConnectionsResume(t *testing.T) {
	const size = 6_000_000
	key := southbound.HostFlowKey{Coflow: 1}
	a := newTestAgent(t, 2, nil)
	must(t, a.SetRates(&southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 1,
		Rate: 200 * pathmap.Mbps}}}))
	must(t, a.Start([]southbound.Start{one(1, size, 0)}))
	rng := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		mark := received(a, key) + 1 + rng.Int64N(500_000)
		until(t, "bytes come", func() bool { return received(a, key) >= mark })
		cutReceiver(a, key)
	}
	take(t, a, 1)
	until(t, "the sender hears of the end", func() bool { return a.Status().LiveHostFlows == 0 })
	if st := a.Stats(); st.BytesReceived != size || st.HostFlowsEnded != 1 || st.Redials < 5 ||
		st.Corrupt != 0 {
		t.Errorf("stats %+v", st)
	}
}

func cutReceiver(a *Agent, k southbound.HostFlowKey) {
	a.mu.Lock()
	b := a.table.row(k)
	var r *receiver
	if b != nil {
		r = b.in
	}
	a.mu.Unlock()
	if r == nil {
		return
	}
	r.mu.Lock()
	conn := r.conn
	r.mu.Unlock()
	if conn != nil {
		_ = conn.Close()
	}
}

// stranger opens a connection to a host and writes to it.
func stranger(t *testing.T, a *Agent, to southbound.HostID, b []byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", a.net().addr[to].String())
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(deadline)))
	_, err = conn.Write(b)
	must(t, err)
	return conn
}

// TestStrangers: a peer that is not a sender of this run is refused, and disturbs no transfer.
func TestStrangers(t *testing.T) {
	const size = 1000
	a := newTestAgent(t, 3, nil)
	must(t, a.Start([]southbound.Start{one(1, size, 0)})) // held
	good := header{key: southbound.HostFlowKey{Coflow: 1}, size: size, src: 0, dst: 1}
	change := func(f func(h *header)) []byte { h := good; f(&h); return h.appendTo(nil, a.cfg.Key) }
	pat := append([]byte(nil), a.pattern.at(salt(good.key), 0, size)...)
	wrong := append([]byte(nil), pat...)
	wrong[size-1]++
	for _, tc := range []struct {
		name string
		to   southbound.HostID
		msg  []byte
	}{
		{"no header at all", 1, []byte("GET / HTTP/1.1\r\nHost: somewhere.example.org\r\nAccept: */*\r\n\r\n")},
		{"key of another run", 1, good.appendTo(nil, []byte("another"))},
		{"unknown coflow", 1, change(func(h *header) { h.key.Coflow = 5 })},
		{"unknown row", 1, change(func(h *header) { h.key.Row = 1 })},
		{"row below zero", 1, change(func(h *header) { h.key.Row = -1 })},
		{"another size", 1, change(func(h *header) { h.size++ })},
		{"another source", 1, change(func(h *header) { h.src = 2 })},
		{"other bytes", 1, append(change(func(*header) {}), wrong...)},
	} {
		conn := stranger(t, a, tc.to, tc.msg)
		b, _ := io.ReadAll(conn)
		if r, err := readReply(b, size); err == nil && r.verdict != refused {
			t.Errorf("%s: answered %+v", tc.name, r)
		}
	}
	if st := a.Stats(); st.HostFlowsEnded != 0 || st.Corrupt != 1 {
		t.Errorf("stats %+v", st)
	}
	must(t, a.SetRates(&southbound.Rates{Fair: true}))
	take(t, a, 1)
	until(t, "the sender hears of the end", func() bool { return a.Status().LiveHostFlows == 0 })
	// The host flow is over: the receiver answers a query with that, and counts nothing again.
	conn := stranger(t, a, 1, change(func(h *header) { h.ask = true }))
	var b [replyBytes]byte
	_, err := io.ReadFull(conn, b[:])
	must(t, err)
	if r, err := readReply(b[:], size); err != nil || r.verdict != done {
		t.Errorf("answer for an ended host flow: %+v, %v", r, err)
	}
	if st := a.Stats(); st.HostFlowsEnded != 1 || st.BytesReceived != size {
		t.Errorf("stats %+v", st)
	}
}

// TestSilentStranger: a silent connection is closed after a while, and delays no other one meanwhile.
func TestSilentStranger(t *testing.T) {
	t.Parallel()
	a := newTestAgent(t, 2, nil)
	conn := stranger(t, a, 1, nil)
	must(t, a.SetRates(&southbound.Rates{Fair: true}))
	must(t, a.Start([]southbound.Start{one(1, 5000, 0)}))
	take(t, a, 1)
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("not closed: %v", err)
	}
}

// TestTakeOverInMidFlow lets connections take over from each other while bytes flow, which must neither
// block nor count a byte twice.
func TestTakeOverInMidFlow(t *testing.T) {
	const size = 30_000_000
	key := southbound.HostFlowKey{Coflow: 1}
	a := newTestAgent(t, 2, nil)
	must(t, a.SetRates(&southbound.Rates{Fair: true}))
	must(t, a.Start([]southbound.Start{one(1, size, 0)}))
	until(t, "bytes come", func() bool { return received(a, key) > 0 })
	ask := header{key: key, size: size, src: 0, dst: 1, ask: true}.appendTo(nil, a.cfg.Key)
	for range 20 {
		conn := stranger(t, a, 1, ask) // as a sender that was thought dead
		var b [replyBytes]byte
		if _, err := io.ReadFull(conn, b[:]); err == nil {
			if _, err := readReply(b[:], size); err != nil {
				t.Error(err)
			}
		}
		conn.Close()
	}
	take(t, a, 1)
	until(t, "the sender hears of the end", func() bool { return a.Status().LiveHostFlows == 0 })
	if st := a.Stats(); st.BytesReceived != size || st.HostFlowsEnded != 1 {
		t.Errorf("stats %+v", st)
	}
}
