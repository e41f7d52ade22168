package onwire

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

const demo = "hybrid:racks=8,hosts=2,spines=2,nic=500Mbps,eps=50Mbps,ocs=1Gbps"

// TestFluid sends host flows at set rates over a fabric that they nearly fill and compares with the
// fluid model. Host flows are never early; where others take the processors they are late, so the test
// is repeated then.
func TestFluid(t *testing.T) {
	w := newWorld(t, "hybrid:racks=4,hosts=2,spines=2,nic=200Mbps,eps=20Mbps,ocs=100Mbps")
	w.ring(t)
	attempt := 0
	w.Measure(t, patience, func() error {
		off := fluidRun(t, w, attempt)
		attempt++
		least, median, most := off[0], off[len(off)/2], off[len(off)-1]
		t.Logf("%d host flows against fluid: least %+.1f %%, median %+.1f %%, most %+.1f %%; %+v",
			len(off), 100*least,
			100*median, 100*most, w.Stats())
		if least < -0.05 {
			t.Fatal("a host flow ended before its last byte could come")
		}
		if median >= 0.05 || most >= 0.3 {
			return fmt.Errorf("median %+.1f %%, most %+.1f %%: it does not agree with the fluid model",
				100*median, 100*most)
		}
		return nil
	})
}

// fluidRun returns by how much host flows missed their fluid time, sorted.
func fluidRun(t *testing.T, w *world, attempt int) []float64 {
	const long = 600 * time.Millisecond
	var pairs []southbound.PairRate
	var starts []southbound.Start
	class := func(src, dst southbound.HostID, tag southbound.Tag, r pathmap.BitsPerSecond) {
		pairs = append(pairs, southbound.PairRate{Src: src, Dst: dst % 8, Tag: tag, Rate: r})
		starts = append(starts, one(southbound.CoflowID(100*attempt+len(starts)), src, dst%8,
			payload(r, long), tag))
	}
	// spine 1's links are full; spine 0's carry every acknowledgement besides, 2 Mb/s
	for r := range southbound.HostID(4) {
		class(2*r, 2*r+4, 1, 12*pathmap.Mbps)
		class(2*r+1, 2*r+4, 1, 4*pathmap.Mbps)
		class(2*r, 2*r+6, 2, 11*pathmap.Mbps)
		class(2*r+1, 2*r+7, 2, 9*pathmap.Mbps)
		class(2*r+1, 2*r+2, southbound.TagCircuit, 40*pathmap.Mbps)
		class(2*r, 2*r+3, southbound.TagCircuit, 20*pathmap.Mbps)
	}
	must(t, w.Start(starts))
	began := w.now()
	must(t, w.SetRates(&southbound.Rates{Pairs: pairs}))
	var off []float64
	for _, e := range w.take(t, len(starts)*(attempt+1))[len(starts)*attempt:] {
		off = append(off, float64(e.At-began)/float64(long)-1)
	}
	slices.Sort(off)
	return off
}

// TestPaceOnWire lets the host flows of a coflow end together.
func TestPaceOnWire(t *testing.T) {
	w := newWorld(t, demo)
	id := southbound.CoflowID(0)
	w.Measure(t, patience, func() error {
		id++
		co := southbound.Start{Coflow: id}
		for src := range southbound.HostID(12) {
			co.Src, co.Dst = append(co.Src, src), append(co.Dst, 14)
			co.Size, co.Tag = append(co.Size, 30_000+20_000*pathmap.Bytes(src)), append(co.Tag,
				southbound.PathTag(int(src)%2))
		}
		must(t, w.Start([]southbound.Start{co}))
		began := w.now()
		const d = 400 * time.Millisecond
		must(t, w.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Coflow: id, Until: began + d}}}))
		return w.endTogether(t, int(id), len(co.Src), began, d)
	})
}

// endTogether waits for the n-th coflow, with the given number of rows, and returns how late its latest
// row ends. No row must end early.
func (w *world) endTogether(t *testing.T, n, rows int, began, d time.Duration) (late error) {
	t.Helper()
	for _, e := range w.take(t, n*rows)[(n-1)*rows:] {
		off := float64(e.At-began)/float64(d) - 1
		if off < -0.15 {
			t.Errorf("row %d: %.1f %% early", e.Row, -100*off)
		}
		if off > 0.5 {
			late = fmt.Errorf("row %d: %.1f %% late", e.Row, 100*off)
		}
	}
	return late
}

// TestSteerOnWire moves a host flow from packets to a circuit in mid-flow and back: it takes the rate
// of its path each time, and its bytes arrive once.
func TestSteerOnWire(t *testing.T) {
	w := newWorld(t, demo)
	w.ring(t)
	// 200 ms at 50, 100 ms at 500 Mb/s (the host's link), then 100 ms at 50.
	size := payload(50*pathmap.Mbps, 300*time.Millisecond) + payload(500*pathmap.Mbps, 100*time.Millisecond)
	must(t, w.SetRates(&southbound.Rates{Fair: true}))
	n := 0
	w.Measure(t, patience, func() error {
		n++
		key := southbound.HostFlowKey{Coflow: southbound.CoflowID(n)}
		began := w.now()
		must(t, w.Start([]southbound.Start{one(key.Coflow, 0, 2, size, 1)}))
		wait(t, 200*time.Millisecond)
		must(t, w.Steer([]southbound.Steer{{HostFlowKey: key, Tag: southbound.TagCircuit}}))
		wait(t, 100*time.Millisecond)
		must(t, w.Steer([]southbound.Steer{{HostFlowKey: key, Tag: 2}}))
		took := w.take(t, n)[n-1].At - began
		if st := w.Stats(); st.BytesReceived != size*pathmap.Bytes(n) || st.Redials != 0 {
			t.Errorf("stats %+v", st)
		}
		// It takes less if the test got no processor when it was to steer, and left the host flow on the
		// circuit for longer.
		if took < 360*time.Millisecond || took > 600*time.Millisecond {
			return fmt.Errorf("took %v, want about 400ms", took)
		}
		return nil
	})
}

// TestSteerFromQueue steers a host flow to a circuit while its last packets wait in a queue of 50 ms:
// it takes the whole circuit at once, over a connection of its own, and its bytes arrive once.
func TestSteerFromQueue(t *testing.T) {
	w := newWorld(t, "hybrid:racks=2,hosts=2,spines=1,nic=100Mbps,eps=10Mbps,ocs=200Mbps")
	w.ring(t)
	const packets = 200 * time.Millisecond
	circuit := payload(100*pathmap.Mbps, 100*time.Millisecond)
	size := payload(5*pathmap.Mbps, packets) + circuit
	must(t, w.SetRates(&southbound.Rates{Fair: true}))
	var sum pathmap.Bytes
	n := 0
	w.Measure(t, patience, func() error {
		id := southbound.CoflowID(n)
		n += 2
		sum += size + payload(10*pathmap.Mbps, packets)
		before := w.Stats()
		must(t, w.Start([]southbound.Start{one(id, 0, 2, size, 1),
			one(id+1, 1, 3, payload(10*pathmap.Mbps, packets), 1)}))
		wait(t, packets)
		began := w.now()
		must(t, w.Steer([]southbound.Steer{{HostFlowKey: southbound.HostFlowKey{Coflow: id},
			Tag: southbound.TagCircuit}}))
		took := time.Duration(0)
		for _, e := range w.take(t, n)[n-2:] {
			if e.Coflow == id {
				took = e.At - began
			}
		}
		if st := w.Stats(); st.BytesReceived != sum || st.Redials != 0 || st.Corrupt != 0 ||
			st.Connections-before.Connections > 3 {
			t.Errorf("stats %+v, want %d bytes", st, sum)
		}
		t.Logf("%v after it was steered, %d connections", took, w.Stats().Connections-before.Connections)
		if took < 80*time.Millisecond || took > 125*time.Millisecond {
			return fmt.Errorf("ended %v after it was steered, want about 100ms", took)
		}
		return nil
	})
}

// wait lets real time pass on a fabric that runs in it.
func wait(t testing.TB, d time.Duration) {
	t.Helper()
	<-time.After(d)
}

// TestHoldOnWire measures how long bytes still leave a host after its host flow has been held, and
// after it has been let go.
func TestHoldOnWire(t *testing.T) {
	w := newWorld(t, demo)
	key := southbound.HostFlowKey{Coflow: 1}
	must(t, w.Start([]southbound.Start{one(1, 0, 2, 1<<30, 1)}))
	must(t, w.SetRates(&southbound.Rates{Pairs: []southbound.PairRate{{Src: 0, Dst: 2, Tag: 1,
		Rate: 40 * pathmap.Mbps}}}))
	w.Measure(t, patience, func() error { return w.holds(t, key) })
}

// holds returns an error if a host flow stops or resumes too late, which other load on the machine can
// cause.
func (w *world) holds(t *testing.T, key southbound.HostFlowKey) error {
	t.Helper()
	var quiet, again []time.Duration
	for range 5 {
		wait(t, 60*time.Millisecond)
		must(t, w.Steer([]southbound.Steer{{HostFlowKey: key, Tag: southbound.TagHold}}))
		quiet = append(quiet, w.lastMove(t, 60*time.Millisecond))
		before := w.sent(t)
		began := w.now()
		must(t, w.Steer([]southbound.Steer{{HostFlowKey: key, Tag: 1}}))
		for w.sent(t) == before {
			if w.now()-began > deadline {
				t.Fatal("a host flow that was let go does not move")
			}
		}
		again = append(again, w.now()-began)
	}
	slices.Sort(quiet)
	slices.Sort(again)
	t.Logf("quiet after %v (median, most %v), again after %v (most %v)", quiet[2], quiet[4],
		again[2], again[4])
	if quiet[2] > 30*time.Millisecond || again[2] > 30*time.Millisecond {
		return fmt.Errorf("quiet after %v, again after %v (medians): that is too long", quiet[2], again[2])
	}
	return nil
}

// sent is how many bytes have left host 0.
func (w *world) sent(t testing.TB) pathmap.Bytes {
	c, err := w.net.Counters()
	must(t, err)
	return c.Links[w.spec.Topology.Out(w.spec.HostNode[0])[0]].Bytes
}

// lastMove watches host 0's link for d and returns when it was last seen to carry bytes.
func (w *world) lastMove(t testing.TB, d time.Duration) time.Duration {
	began, last, bytes := w.now(), time.Duration(0), w.sent(t)
	for w.now()-began < d {
		if n := w.sent(t); n != bytes {
			last, bytes = w.now()-began, n
		}
	}
	return last
}
