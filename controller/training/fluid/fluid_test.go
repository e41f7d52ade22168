package fluid

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"lightloom/controller/training"
	"lightloom/controller/training/astrasim"
	"lightloom/controller/training/schedule"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

const (
	nic     = 400_000_000_000 // bit/s, 50 bytes/ns
	latency = 1000            // ns
)

// serial is the time of bytes on a NIC that has nothing else to do, in ns.
func serial(bytes float64) float64 { return bytes / 50 }

// collective returns a workload in which some ranks of n join one collective.
func collective(n int, op training.Op, bytes pathmap.Bytes) *training.Workload {
	w := training.NewWorkload(op.String(), n)
	for r := range n {
		w.Add(r, training.Node{Kind: training.Collective, Op: op, Bytes: bytes})
	}
	return w
}

func outcome(t *testing.T, w *training.Workload, o Options) *training.Outcome {
	t.Helper()
	if o.Network == nil {
		o.Network = Star(len(w.Ranks), nic, latency)
	}
	out, err := Run(t.Context(), w, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// near checks a time in ns: the model is exact, and outcomes are whole ns.
func near(t *testing.T, what string, got time.Duration, want float64) {
	t.Helper()
	if math.Abs(float64(got)-want) > 1 {
		t.Errorf("%s: %d ns, want %.1f", what, got, want)
	}
}

// TestBounds: each collective takes what the alpha-beta model says. With S bytes, n ranks and T(m) = m/B + L.
func TestBounds(t *testing.T) {
	const s = 80_000_000
	step := func(bytes float64) float64 { return serial(bytes) + latency }
	for _, c := range []struct {
		op     training.Op
		method schedule.Method
		want   float64
	}{
		{training.AllReduce, schedule.Ring, 14 * step(s/8)},
		{training.ReduceScatter, schedule.Ring, 7 * step(s/8)},
		{training.AllGather, schedule.Ring, 7 * step(s)},
		{training.AllReduce, schedule.HalvingDoubling, 2 * (step(s/2) + step(s/4) + step(s/8))},
		{training.AllReduce, schedule.Direct, 2 * step(s*7/8)}, // all at once, then all at once
		{training.AllToAll, schedule.Direct, step(s * 7 / 8)},
		{training.AllReduce, schedule.BidirectionalRing, 14 * (serial(s/8) + latency)}, // one NIC for both ways: no gain
	} {
		out := outcome(t, collective(8, c.op, s), Options{Methods: map[training.Op]schedule.Method{c.op: c.method}})
		near(t, c.op.String()+" by "+c.method.String(), out.End(), c.want)
	}
}

// TestBidirectionalOnRing: on a ring of links both ways, two rings are twice as fast as one.
func TestBidirectionalOnRing(t *testing.T) {
	net := Dimensions(&astrasim.Network{Topology: []string{"Ring"}, NPUs: []int{8}, Bandwidth: []float64{50},
		Latency: []float64{0}})
	for m, want := range map[schedule.Method]float64{schedule.Ring: 14 * serial(1e7), schedule.BidirectionalRing: 7 *
		serial(1e7)} {
		out := outcome(t, collective(8, training.AllReduce, 8e7), Options{Network: net,
			Methods: map[training.Op]schedule.Method{training.AllReduce: m}})
		near(t, m.String(), out.End(), want)
	}
}

// TestTree: no faster than 2·S/B, which each NIC carries, and no slower than twice that: chunks share links.
func TestTree(t *testing.T) {
	out := outcome(t, collective(16, training.AllReduce, 6.4e8), Options{
		Methods: map[training.Op]schedule.Method{training.AllReduce: schedule.Tree}})
	if bound := 2 * serial(6.4e8); float64(out.End()) < bound*.99 || float64(out.End()) > bound*2 {
		t.Errorf("%v, and the bound is %.0f ns", out.End(), bound)
	}
}

// all2all measures a direct all-to-all: n−1 flows of S/n leave every rank at once, so it takes (n−1)/n·S/B + L.
func all2all(t *testing.T, n int) {
	t.Helper()
	bytes := pathmap.Bytes(n) * 100_000
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	out := outcome(t, collective(n, training.AllToAll, bytes), Options{})
	runtime.ReadMemStats(&after)
	t.Logf("%d ranks: %v, %d MB allocated, %d MB from the system", n, time.Since(began).Round(time.Millisecond),
		(after.TotalAlloc-before.TotalAlloc)>>20, after.Sys>>20)
	near(t, "all-to-all", out.End(), serial(float64(n-1)*100_000)+latency)
}

func TestDirectAllToAll(t *testing.T) {
	all2all(t, tries.Of(256, 2048)) // 2,048 take seconds
}

// TestUnequalGroups: communicators of 4 and 6 ranks, which share nothing.
func TestUnequalGroups(t *testing.T) {
	w := training.NewWorkload("groups", 10)
	w.Groups = append(w.Groups, training.Group{Name: "four", Ranks: []int32{0, 1, 2, 3}},
		training.Group{Name: "six", Ranks: []int32{4, 5, 6, 7, 8, 9}})
	for r := range 10 {
		g := int32(1)
		if r > 3 {
			g = 2
		}
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllReduce, Bytes: 12e6, Group: g})
	}
	out := outcome(t, w, Options{})
	near(t, "four", out.Ranks[0].End, 6*(serial(3e6)+latency))
	near(t, "six", out.Ranks[9].End, 10*(serial(2e6)+latency))
}

// TestTwoCommunicators: ranks 2 to 5 of 8 join an all-reduce of two communicators at once, and each of their NICs
// carries both: every step takes twice the time.
func TestTwoCommunicators(t *testing.T) {
	w := training.NewWorkload("two", 8)
	w.Groups = append(w.Groups, training.Group{Name: "a", Ranks: []int32{2, 3, 4, 5}},
		training.Group{Name: "b", Ranks: []int32{2, 3, 4, 5}})
	for r := 2; r < 6; r++ {
		for g := range int32(2) {
			w.Add(r, training.Node{Kind: training.Collective, Op: training.AllReduce, Bytes: 4e6, Group: 1 + g})
		}
	}
	out := outcome(t, w, Options{})
	near(t, "both", out.Ranks[3].End, 6*(2*serial(1e6)+latency))
	near(t, "a rank outside", out.Ranks[0].End, 0)
}

// TestDelayedRank: what the last rank contributes still has to go round.
func TestDelayedRank(t *testing.T) {
	const late = 5 * time.Millisecond
	out := outcome(t, collective(8, training.AllGather, 1e6), Options{Delay: map[int32]time.Duration{3: late}})
	near(t, "all-gather", out.End(), float64(late)+7*(serial(1e6)+latency))
}

// TestMessages: all ranks of a ring send before they receive, as traces of algorithms do; nobody waits for a receiver.
func TestMessages(t *testing.T) {
	w := training.NewWorkload("round", 4)
	for r := range int32(4) {
		a := w.Add(int(r), training.Node{Kind: training.Send, Peer: (r + 1) % 4, Bytes: 1e6})
		w.Add(int(r), training.Node{Kind: training.Receive, Peer: (r + 3) % 4, Bytes: 1e6, After: []int32{a}})
	}
	near(t, "round", outcome(t, w, Options{}).End(), serial(1e6)+latency)
}

// TestMoE: an iteration of a mixture-of-experts layer on 64 nodes, an expert each, of which the first gets an eighth
// of all tokens. Each rank computes for C, sends S·w(j) to expert j, waits until its expert has computed for E·64·w(j),
// and gets the answers back. The first expert's link is never idle, so the all-to-all takes 63·S·w(0)/B + L, both ways.
func TestMoE(t *testing.T) {
	const (
		n      = 64
		bytes  = 64e6
		before = 3 * time.Millisecond
		expert = 2 * time.Millisecond
	)
	shares := make([]float64, n)
	for j := range shares {
		shares[j] = (1 - 1.0/8) / (n - 1)
	}
	shares[0] = 1.0 / 8
	w := training.NewWorkload("moe", n)
	w.Skews = [][]float64{shares}
	for r := range n {
		a := w.Add(r, training.Node{Kind: training.Compute, Duration: before})
		b := w.Add(r, training.Node{Kind: training.Collective, Op: training.AllToAll, Bytes: bytes, Skew: 1,
			After: []int32{a}})
		c := w.Add(r, training.Node{Kind: training.Compute, After: []int32{b},
			Duration: time.Duration(float64(expert) * n * shares[r])})
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllToAll, Bytes: bytes, Skew: 1, Combine: true,
			After: []int32{c}})
	}
	out := outcome(t, w, Options{})
	hot := serial(63*bytes/8) + latency
	near(t, "iteration", out.End(), float64(before)+hot+float64(expert)*n/8+hot)
	near(t, "exposed", out.Ranks[1].Exposed(), float64(out.End())-float64(before)-float64(out.Ranks[1].Compute-before))
}

// TestLate: hours into a run, a step of the clock is wider than the instant that rounding leaves of a flow.
func TestLate(t *testing.T) {
	const late = 10 * time.Hour
	w := training.NewWorkload("late", 3)
	for r := range 3 {
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllReduce, Bytes: 1_000_003})
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllToAll, Bytes: 7_654_321})
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := Run(ctx, w, Options{Network: Star(3, 399_999_999_999, latency), Delay: map[int32]time.Duration{1: late}})
	if err != nil {
		t.Fatal(err)
	}
	if d := out.End() - late; d < time.Microsecond || d > time.Millisecond {
		t.Errorf("it ends %v after the last rank began", d)
	}
}

// TestTooLong: a time that cannot be counted is an error, and not a short one.
func TestTooLong(t *testing.T) {
	slow := Options{Network: Star(2, 1, latency)}
	for _, o := range []Options{slow, {Network: Star(2, nic, latency), Delay: map[int32]time.Duration{1: math.MaxInt64}}} {
		if out, err := Run(t.Context(), collective(2, training.AllReduce, 4<<40), o); !errors.Is(err, training.ErrTooLong) {
			t.Errorf("%v, %v", out, err)
		}
	}
}

// TestTooMany: what would take all memory is refused before it is planned, and says which degree to lower.
func TestTooMany(t *testing.T) {
	w := collective(4096, training.AllReduce, 1<<20)
	for r := range w.Ranks {
		w.Ranks[r].Nodes[0].Phase = training.TensorParallel
	}
	_, err := Run(t.Context(), w, Options{Network: Star(4096, nic, latency)})
	if err == nil || !strings.Contains(err.Error(), "takes 33546240: lower the degree of tensor parallelism (--tensor)") {
		t.Errorf("%v", err)
	}
	for _, x := range []struct {
		op     training.Op
		method schedule.Method
	}{{training.AllToAll, schedule.Auto}, {training.AllReduce, schedule.Tree}} {
		o := Options{Methods: map[training.Op]schedule.Method{x.op: x.method}}
		if err := fits(collective(4096, x.op, 1<<20), o); err != nil {
			t.Error(err)
		}
	}
}
