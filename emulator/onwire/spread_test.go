package onwire

import (
	"fmt"
	"maps"
	"os/exec"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// TestSpreadOnWire sends at what a spread and extras say: each host flow's bytes are what its rate
// carries in the same time, so that all end together.
func TestSpreadOnWire(t *testing.T) {
	w := newWorld(t, demo)
	const d = 400 * time.Millisecond
	id := southbound.CoflowID(0)
	w.Measure(t, patience, func() error {
		id++
		return w.spread(t, id, d)
	})
}

func (w *world) spread(t *testing.T, id southbound.CoflowID, d time.Duration) error {
	t.Helper()
	co := southbound.Start{Coflow: id, Src: []southbound.HostID{0, 2, 4}, Dst: []southbound.HostID{14, 14, 14},
		Tag: []southbound.Tag{1, 2, 1},
		// From 0 at its source's 6 Mb/s, from 2 at the destination's 10, from 4 at 10 and an extra of 8.
		Size: []pathmap.Bytes{payload(6*pathmap.Mbps, d), payload(10*pathmap.Mbps, d),
			payload(18*pathmap.Mbps, d)}}
	must(t, w.Start([]southbound.Start{co}))
	began := w.now()
	must(t, w.SetRates(&southbound.Rates{
		Spread: []southbound.Spread{{Coflow: id, From: []southbound.HostRate{{Host: 0, Rate: 6 * pathmap.Mbps},
			{Host: 2, Rate: 30 * pathmap.Mbps}, {Host: 4, Rate: 12 * pathmap.Mbps}},
			To: []southbound.HostRate{{Host: 14, Rate: 10 * pathmap.Mbps}}}},
		Extra: []southbound.Extra{{HostFlowKey: southbound.HostFlowKey{Coflow: id, Row: 2},
			Rate: 8 * pathmap.Mbps}}}))
	return w.endTogether(t, int(id), len(co.Src), began, d)
}

// TestTrafficOnWire: all bytes sent by hosts are counted: those of host flows exactly, and those of a
// program that was not announced.
func TestTrafficOnWire(t *testing.T) {
	w := newWorld(t, demo)
	if got, err := w.Traffic(); err != nil || len(got) > 0 {
		t.Fatalf("nothing has been sent, and %+v is counted, %v", got, err)
	}
	must(t, w.SetRates(&southbound.Rates{Fair: true}))
	const size = 3_000_000
	most := map[[2]southbound.HostID]pathmap.Bytes{}
	look := func() {
		got, err := w.Traffic()
		must(t, err)
		for _, m := range got {
			pair := [2]southbound.HostID{m.Src, m.Dst}
			if m.Bytes < most[pair] {
				t.Errorf("%v: %d after %d", pair, m.Bytes, most[pair])
			}
			most[pair] = m.Bytes
		}
	}
	n := 0
	w.Measure(t, patience, func() (unseen error) {
		id := southbound.CoflowID(2 * n)
		n++
		before := maps.Clone(most)
		must(t, w.Start([]southbound.Start{one(id, 0, 2, size, 1), one(id+1, 3, 0, size, 1)}))
		for len(ended(t, w)) < 2*n {
			look()
			wait(t, 10*time.Millisecond)
		}
		for _, pair := range [2][2]southbound.HostID{{0, 2}, {3, 0}} {
			got := most[pair] - before[pair]
			if got > size+10_000 {
				t.Errorf("%v: %d bytes, %d were sent", pair, got, size)
			}
			if got < size*8/10 { // what came after the last look is not seen
				unseen = fmt.Errorf("%v: %d bytes, %d were sent", pair, got, size)
			}
		}
		return unseen
	})
	if _, err := exec.LookPath("iperf3"); err != nil {
		t.Logf("no iperf3 for bytes that are not announced: %v", err)
		return
	}
	server, client := exec.Command("iperf3", "-s", "-1"), exec.Command("iperf3", "-c",
		w.net.Addr(5).String(), "-t", "1")
	must(t, w.net.Start(5, server))
	defer server.Process.Kill()
	for tries := 0; ; tries++ { // until the server listens
		must(t, w.net.Start(1, client))
		wait(t, 300*time.Millisecond)
		look()
		if most[[2]southbound.HostID{1, 5}] > 0 {
			break
		}
		if err := client.Wait(); tries == 100 {
			t.Fatalf("iperf3 sends nothing: %v", err)
		}
		client = exec.Command("iperf3", client.Args[1:]...)
	}
	over := make(chan error, 1)
	go func() { over <- client.Wait() }()
	for tick := time.NewTicker(10 * time.Millisecond); ; look() { // what is sent after the last look is not seen
		select {
		case err := <-over:
			tick.Stop()
			must(t, err)
		case <-tick.C:
			continue
		}
		break
	}
	must(t, server.Wait())
	// At 50 Mb/s for a second, the most of it seen; acknowledgements are no payload.
	if got := most[[2]southbound.HostID{1, 5}]; got < 2e6 || most[[2]southbound.HostID{5, 1}] > 1e5 {
		t.Errorf("1→5: %d bytes, 5→1: %d", got, most[[2]southbound.HostID{5, 1}])
	}
}

// ended returns the events so far.
func ended(t testing.TB, w *world) []southbound.Event {
	_, ev, err := w.Events(0, wire.EventBatch)
	must(t, err)
	return ev
}
