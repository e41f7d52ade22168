package astrasim

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"lightloom/controller/training"
	"lightloom/pathmap"
)

// same returns a workload in which all ranks do the same nodes.
func same(n int, nodes ...training.Node) *training.Workload {
	w := training.NewWorkload("same", n)
	for r := range n {
		for _, x := range nodes {
			w.Add(r, x)
		}
	}
	return w
}

func collective(op training.Op, bytes pathmap.Bytes) training.Node {
	return training.Node{Kind: training.Collective, Op: op, Bytes: bytes}
}

// TestDimensions: a 2×4 network without latency of its own, one chunk at a time of one chunk. T(m) = m/B + L is what a
// message takes; B is 50 GiB/s, and endpoints cost e = 10, and memory reduces at 1,600 GB/s.
func TestDimensions(t *testing.T) {
	sys := chunks4("ring")
	sys.Splits = 1
	sys.AllReduce = []string{"ring", "ring"}
	sys.AllGather, sys.ReduceScatter, sys.AllToAll = sys.AllReduce, sys.AllReduce, sys.AllReduce
	net := &Network{Topology: []string{"Ring", "Switch"}, NPUs: []int{2, 4}, Bandwidth: []float64{50, 25},
		Latency: []float64{500, 700}}
	const s = 1 << 20
	first := func(m int64) int64 { return int64(500 + float64(m)/net.rate(0)) }
	second := func(m int64) int64 { return int64(2*700 + float64(m)/net.rate(1)) }
	r := sys.reduction
	for _, c := range []struct {
		op   training.Op
		want int64
	}{
		// reduce-scatter among 2, all-reduce of s/2 among 4, all-gather of s/2 among 2
		{training.AllReduce, first(s/2) + r(s/2) + 2*10 + 6*second(s/8) + 7*10 + 3*r(s/8) + first(s/2) + 2*10},
		{training.ReduceScatter, first(s/2) + r(s/2) + 2*10 + 3*(second(s/8)+r(s/8)) + 4*10},
		{training.AllGather, 3*second(s) + 4*10 + first(4*s) + 2*10}, // the last dimension first
		{training.AllToAll, first(s/2) + 2*10 + 6*second(s/4) + 7*10},
	} {
		if got := end(t, same(8, collective(c.op, s)), Options{System: sys, Network: net, Unaware: true}); got != c.want {
			t.Errorf("%v: %d ns, want %d", c.op, got, c.want)
		}
	}
}

// TestOneDimension: oneRing goes round all NPUs of all dimensions; a communicator of some NPUs is one ring, and its
// endpoints take 10 ns, whatever the endpoint delay is.
func TestOneDimension(t *testing.T) {
	sys := chunks4("oneRing")
	sys.Splits, sys.EndpointDelay = 1, 35
	net := &Network{Topology: []string{"FullyConnected", "FullyConnected"}, NPUs: []int{2, 2},
		Bandwidth: []float64{50, 50}, Latency: []float64{500, 500}}
	step := func(m int64) int64 { return int64(500 + float64(m)/net.rate(0)) }
	got := end(t, same(4, collective(training.AllGather, 4096)), Options{System: sys, Network: net, Unaware: true})
	if want := 3*step(4096) + 4*35; got != want {
		t.Errorf("oneRing: %d ns, want %d", got, want)
	}
	w := training.NewWorkload("group", 4)
	w.Groups = append(w.Groups, training.Group{Name: "1", Ranks: []int32{0, 2, 3}})
	for _, r := range []int{0, 2, 3} {
		w.Add(r, training.Node{Kind: training.Collective, Op: training.AllGather, Bytes: 4096, Group: 1})
	}
	got = end(t, w, Options{System: sys, Network: net, Unaware: true})
	if want := 2*step(4096) + 3*10; got != want {
		t.Errorf("communicator of three: %d ns, want %d", got, want)
	}
}

// TestHalvingDoubling: messages of s/2, s/4 … to ranks 1, 2, 4 … away, and back.
func TestHalvingDoubling(t *testing.T) {
	sys := chunks4("halvingDoubling")
	sys.Splits, sys.EndpointDelay = 1, 0
	net := one("FullyConnected", 8, 50, 500)
	step := func(m int64) int64 { return int64(500 + float64(m)/net.rate(0)) }
	const s = 1 << 20
	// A reduction is of the size of the next message, and there is none before the way back: as in the tool.
	want := step(s/2) + sys.reduction(s/4) + step(s/4) + sys.reduction(s/8) + step(s/8) + step(s/8) + step(s/4) +
		step(s/2)
	got := end(t, same(8, collective(training.AllReduce, s)), Options{System: sys, Network: net})
	if got != want {
		t.Errorf("%d ns, want %d", got, want)
	}
}

// TestTree: a double binary tree of 4: the leaf's sum goes up over two ranks, and the result comes down.
func TestTree(t *testing.T) {
	sys := chunks4("doubleBinaryTree")
	sys.Splits = 1
	net := one("FullyConnected", 4, 50, 500)
	const s = 1 << 16
	step, r := int64(500+float64(s)/net.rate(0)), sys.reduction(s)
	// leaf e, T, inner e + R (both sums at once), T, root e + R, T, inner e + R, T, leaf e
	want := 10 + step + 10 + r + step + 10 + r + step + 10 + r + step + 10
	got := end(t, same(4, collective(training.AllReduce, s)), Options{System: sys, Network: net})
	if got != want {
		t.Errorf("%d ns, want %d", got, want)
	}
}

// TestMessages: a rank that computes, then sends; the other receives, then computes.
func TestMessages(t *testing.T) {
	w := training.NewWorkload("pair", 2)
	a := w.Add(0, training.Node{Kind: training.Compute, Duration: 3 * time.Microsecond})
	w.Add(0, training.Node{Kind: training.Send, Peer: 1, Bytes: 1 << 20, After: []int32{a}})
	b := w.Add(1, training.Node{Kind: training.Receive, Bytes: 1 << 20})
	w.Add(1, training.Node{Kind: training.Compute, After: []int32{b}})
	net := one("Ring", 2, 50, 500)
	want := 3000 + int64(500+float64(1<<20)/net.rate(0)) + 1 // a node without a duration takes 1 ns
	if got := end(t, w, Options{System: chunks4("ring"), Network: net}); got != want {
		t.Errorf("%d ns, want %d", got, want)
	}
}

// TestReplay: with replay-only every node takes what its trace says, and nothing is sent.
func TestReplay(t *testing.T) {
	sys := chunks4("ring")
	sys.Replay = 1
	long := collective(training.AllReduce, 1<<20)
	long.Duration = 9 * time.Microsecond
	if got := end(t, same(4, long, collective(training.AllGather, 1)), Options{System: sys,
		Network: one("Ring", 4, 50, 500)}); got != 9001 {
		t.Errorf("%d ns, want 9000 and 1", got)
	}
}

// TestChunks: 1,000,003 bytes in 4 splits are 5 chunks of 250,000; two collectives of a rank follow each other.
func TestChunks(t *testing.T) {
	net := one("Ring", 2, 50, 500)
	sys := chunks4("ring")
	one := int64(500+float64(250_000)/net.rate(0)) + 2*10
	node := collective(training.AllGather, 1_000_003)
	if got := end(t, same(2, node, node), Options{System: sys, Network: net}); got != 10*one {
		t.Errorf("%d ns, want %d", got, 10*one)
	}
}

func TestRefused(t *testing.T) {
	ringOf := one("Ring", 4, 50, 500)
	for _, c := range []struct {
		name string
		w    *training.Workload
		mend func(*System)
		net  *Network
		want string
	}{
		{"ranks", same(3, collective(training.AllReduce, 1)), nil, ringOf, "it has 3 ranks, and the network has 4 NPUs"},
		{"implementation", same(4, collective(training.AllReduce, 1)), func(s *System) { s.AllReduce = nil }, ringOf,
			"node 0 of rank 0: the system file has no all-reduce-implementation"},
		{"barrier", same(4, collective(training.Barrier, 0)), nil, ringOf, "the reference tool has no barrier"},
		{"halving", same(4, collective(training.AllToAll, 1)), func(s *System) { s.AllToAll = []string{"halvingDoubling"} },
			ringOf, "halvingDoubling has no all-to-all"},
		{"tree", same(6, collective(training.AllReduce, 1)), func(s *System) { s.AllReduce = []string{"doubleBinaryTree"} },
			one("Ring", 6, 50, 500), "doubleBinaryTree needs 2, 4, 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			sys := chunks4("ring")
			if c.mend != nil {
				c.mend(sys)
			}
			_, err := Run(t.Context(), c.w, Options{System: sys, Network: c.net})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v does not say %q", err, c.want)
			}
		})
	}
}

// TestNeverEnds: two ranks begin two collectives in opposite orders, and each waits for the other.
func TestNeverEnds(t *testing.T) {
	w := training.NewWorkload("opposite", 2)
	w.Groups = append(w.Groups, training.Group{Name: "a", Ranks: []int32{0, 1}}, training.Group{Name: "b",
		Ranks: []int32{0, 1}})
	for r := range 2 {
		for g := range int32(2) {
			n := collective(training.AllReduce, 1024)
			n.Group = 1 + (g+int32(r))%2
			w.Add(r, n)
		}
	}
	_, err := Run(t.Context(), w, Options{System: chunks4("ring"), Network: one("Ring", 2, 50, 500)})
	if err == nil || !strings.Contains(err.Error(), "node 0 of rank 0: it never ends") {
		t.Errorf("%v", err)
	}
}

const (
	systemText = `{"scheduling-policy": "LIFO", "endpoint-delay": 10, "active-chunks-per-dimension": 1,
 "preferred-dataset-splits": 4, "all-reduce-implementation": ["ring", "direct8"], "collective-optimization":
 "localBWAware", "local-mem-bw": 1600, "boost-mode": 0, "roofline-enabled": 0, "peak-perf": 900}`
	networkText = "topology: [ Ring, Switch ]\nnpus_count: [ 4, 2 ]\nbandwidth: [ 50.0, 25 ]  # GB/s\n" +
		"latency: [ 500.0, 1 ]\n"
)

func TestReadFiles(t *testing.T) {
	s, err := ReadSystem("s.json", []byte(systemText))
	if err != nil || s.Splits != 4 || s.Memory != 1600 || len(s.AllReduce) != 2 || s.endpoint() != 10 {
		t.Errorf("%+v, %v", s, err)
	}
	n, err := ReadNetwork("n.yml", []byte(networkText))
	if err != nil || n.Size() != 8 || n.Latency[1] != 1 {
		t.Errorf("%+v, %v", n, err)
	}
	for from, want := range map[string]string{
		`"LIFO"`:                        "s.json:1:23: there is no policy",
		`"preferred-dataset-splits": 4`: "preferred",
		`"local-mem-bw": 1600`:          "local",
		`["ring", "direct8"]`:           "there is no implementation",
		`"endpoint-delay": 10`:          "endpoint",
		`"active-chunks-per-dimension"`: "unknown field",
		`"collective-optimization":`:    "",
		`"boost-mode": 0`:               "model-shared",
	} {
		to := map[string]string{`"LIFO"`: `"best"`, `"preferred-dataset-splits": 4`: `"preferred-dataset-splits": 0`,
			`"local-mem-bw": 1600`: `"local-mem-bw": -1`, `["ring", "direct8"]`: `["star"]`,
			`"endpoint-delay": 10`: `"endpoint-delay": -1`, `"active-chunks-per-dimension"`: `"active-chunks"`,
			`"boost-mode": 0`: `"model-shared-bus": 1`}[from]
		if to == "" {
			continue
		}
		_, err := ReadSystem("s.json", []byte(strings.Replace(systemText, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), "s.json:") {
			t.Errorf("%s: %v does not say %q", to, err, want)
		}
	}
	for from, to := range map[string]string{"Ring": "Torus", "[ 4, 2 ]": "[ 4 ]", "50.0": "0", "500.0": "-1",
		"4, 2": "1, 2", "[ Ring, Switch ]": "[]"} {
		_, err := ReadNetwork("n.yml", []byte(strings.Replace(networkText, from, to, 1)))
		if err == nil || !strings.Contains(err.Error(), "n.yml:") {
			t.Errorf("%s: %v", to, err)
		}
	}
}

func FuzzReadSystem(f *testing.F) {
	f.Add([]byte(systemText))
	f.Fuzz(func(_ *testing.T, text []byte) { _, _ = ReadSystem("x", text) })
}

func FuzzReadNetwork(f *testing.F) {
	f.Add([]byte(networkText))
	f.Fuzz(func(t *testing.T, text []byte) {
		n, err := ReadNetwork("x", text)
		if err == nil && (n.Size() < 2 || n.Size() > MostNPUs) {
			t.Error(n)
		}
	})
}

// TestTooLong: a time that cannot be counted is an error, and not a short one.
func TestTooLong(t *testing.T) {
	const size = 4 << 40
	send := training.NewWorkload("send", 2)
	send.Add(0, training.Node{Kind: training.Send, Peer: 1, Bytes: size})
	send.Add(1, training.Node{Kind: training.Receive, Bytes: size})
	roofline := chunks4("ring")
	roofline.Roofline, roofline.Peak = 1, 1e-12
	ops := training.Node{Kind: training.Compute, Ops: math.MaxInt64, Tensor: 1}
	for name, c := range map[string]struct {
		w       *training.Workload
		o       Options
		network *Network
	}{
		"aware":    {send, Options{System: chunks4("ring")}, one("Switch", 2, 1e-6, 500)},
		"unaware":  {send, Options{System: chunks4("ring"), Unaware: true}, one("Switch", 2, 1e-6, 500)},
		"roofline": {same(2, ops), Options{System: roofline}, one("Switch", 2, 50, 500)},
		"computing": {same(2, training.Node{Kind: training.Compute, Duration: math.MaxInt64}, ops),
			Options{System: chunks4("ring")}, one("Switch", 2, 50, 500)},
	} {
		c.o.Network = c.network
		c.o.Network.Bandwidth[0] /= 1e6
		if out, err := Run(t.Context(), c.w, c.o); !errors.Is(err, training.ErrTooLong) {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
	text := "topology: [ Ring ]\nnpus_count: [ 4 ]\nbandwidth: [ 1.0e-9 ]\nlatency: [ 500.0 ]\n"
	if _, err := ReadNetwork("n.yml", []byte(text)); err == nil || !strings.Contains(err.Error(), "at least 1e-06") {
		t.Error(err)
	}
}
