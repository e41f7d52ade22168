package hostagent

import (
	"math"
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

func TestGrant(t *testing.T) {
	const ms = time.Millisecond
	cl := func(tag southbound.Tag) class { return class{0, 1, tag} }
	rates := func(tag southbound.Tag, r pathmap.BitsPerSecond, pace ...southbound.Pace) *southbound.Rates {
		return &southbound.Rates{Pace: pace, Pairs: []southbound.PairRate{{Src: 0, Dst: 1, Tag: tag, Rate: r}}}
	}
	mbps := payload(pathmap.Mbps) // 1e6/8*1448/1514 = 119,550.9 bytes a second
	for _, tc := range []struct { // tags 6 and 7 are circuits'
		name string
		said []*southbound.Rates
		tag  southbound.Tag
		line float64
		want float64
	}{
		{"nothing said", nil, 0, 0, 0},
		{"fair", []*southbound.Rates{{Fair: true}}, 0, 7, 7},
		{"fair, no line known", []*southbound.Rates{{Fair: true}}, 0, 0, math.Inf(1)},
		{"fair, held by its tag", []*southbound.Rates{{Fair: true}}, southbound.TagHold, 7, 0},
		{"class", []*southbound.Rates{rates(3, 5*pathmap.Mbps)}, 3, 0, 5 * mbps},
		{"class above the line", []*southbound.Rates{rates(3, 5*pathmap.Mbps)}, 3, 7, 7},
		{"another class", []*southbound.Rates{rates(3, 5*pathmap.Mbps)}, 2, 0, 0},
		{"pairs merge", []*southbound.Rates{rates(3, 5*pathmap.Mbps), rates(2, pathmap.Mbps)}, 3, 0, 5 * mbps},
		{"pairs outlive fair", []*southbound.Rates{rates(3, 5*pathmap.Mbps), {Fair: true}, {}}, 3, 0, 5 * mbps},
		// now is 100 ms
		{"pace", []*southbound.Rates{{Pace: []southbound.Pace{{Coflow: 9, Until: 600 * ms}}}}, 0, 0, 1e6 / 0.5},
		{"pace of another", []*southbound.Rates{{Pace: []southbound.Pace{{Coflow: 8,
			Until: 600 * ms}}}}, 0, 0, 0},
		{"pace 0 holds", []*southbound.Rates{rates(0, pathmap.Mbps, southbound.Pace{Coflow: 9})}, 0, 0, 0},
		{"pace before class", []*southbound.Rates{rates(0, pathmap.Mbps,
			southbound.Pace{Coflow: 9, Until: 600 * ms})}, 0, 0,
			2e6},
		{"a circuit is not paced", []*southbound.Rates{rates(7, pathmap.Mbps,
			southbound.Pace{Coflow: 9, Until: 600 * ms})},
			7, 0, mbps},
		{"nor is another circuit", []*southbound.Rates{rates(6, pathmap.Mbps,
			southbound.Pace{Coflow: 9, Until: 600 * ms})}, 6, 0, mbps},
		{"late: at the line", []*southbound.Rates{{Pace: []southbound.Pace{{Coflow: 9,
			Until: 50 * ms}}}}, 0, 1e8, 1e8},
		{"spread: the slower end", []*southbound.Rates{spreading(5, 3)}, 0, 0, 3 * mbps},
		{"spread: a host that is not named", []*southbound.Rates{spreading(5, 0)}, 0, 0, 0},
		{"even spread: the slower end", []*southbound.Rates{evenly(5, 3)}, 0, 0, 3 * mbps},
		{"even spread: a host without a rate", []*southbound.Rates{evenly(5, 0)}, 0, 0, 0},
		{"even spread and extra", []*southbound.Rates{topped(evenly(5, 3), 4)}, 0, 0, 7 * mbps},
		{"spread and extra", []*southbound.Rates{topped(spreading(5, 3), 4)}, 0, 0, 7 * mbps},
		{"spread and extra above the line", []*southbound.Rates{topped(spreading(5, 3), 4)}, 0, 9, 9},
		{"extra of another row", []*southbound.Rates{{Spread: spreading(5, 3).Spread,
			Extra: []southbound.Extra{{HostFlowKey: southbound.HostFlowKey{Coflow: 9, Row: 1},
				Rate: 1}}}}, 0, 0, 3 * mbps},
		{"a circuit has no extra", []*southbound.Rates{topped(rates(7, pathmap.Mbps,
			southbound.Pace{Coflow: 9, Until: 600 * ms}), 4)}, 7, 0, mbps},
		{"pace and extra", []*southbound.Rates{topped(
			&southbound.Rates{Pace: []southbound.Pace{{Coflow: 9, Until: 600 * ms}}}, 4)}, 0, 0, 2e6 + 4*mbps},
		{"held, but for its extra", []*southbound.Rates{topped(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 9}}}, 4)},
			0, 0, 4 * mbps},
		{"spreads and extras are replaced", []*southbound.Rates{topped(spreading(5, 3), 4), {}}, 0, 0, 0},
		{"paces are replaced", []*southbound.Rates{{Pace: []southbound.Pace{{Coflow: 9,
			Until: 600 * ms}}}, {}}, 0, 0, 0},
	} {
		table := newRateTable()
		for _, r := range tc.said {
			table.set(r, false)
		}
		if got := table.grant(southbound.HostFlowKey{Coflow: 9}, cl(tc.tag), tc.tag >= 6, 1e6, 100*ms, tc.line).
			rate; math.Abs(got-tc.want) > 1e-6 && got != tc.want {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestPaceEndsInTime runs a host flow by steps of its pace, on a path that sometimes carries less than
// requested: it ends in time, or late by what the path refused, and never requests more than catchUp
// allows.
func TestPaceEndsInTime(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		left := 1e3 + rng.Float64()*1e7
		until := time.Duration(50+rng.IntN(1000)) * time.Millisecond
		table := newRateTable()
		table.set(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 1, Until: until}}}, false)
		g := table.grant(southbound.HostFlowKey{Coflow: 1}, class{}, false, left, 0, 0)
		refused := rng.IntN(2) == 0
		now, lost := time.Duration(0), 0.0
		for rate := g.rate; left > 0 && now < 10*until; rate = g.follow(left, now) {
			if rate > g.rate*catchUp*(1+1e-9) {
				t.Fatalf("seed %d: asks %v, granted %v", seed, rate, g.rate)
			}
			sent := rate * defaultTick.Seconds()
			if refused && rng.IntN(10) == 0 {
				lost += sent / 2
				sent /= 2
			}
			left -= sent
			now += defaultTick
		}
		allowed := until + 2*defaultTick + time.Duration(lost/(g.rate*(catchUp-1))*1e9)
		if left > 0 || now < until-2*defaultTick || now > allowed {
			t.Fatalf("seed %d: %v bytes left at %v, until %v, allowed %v", seed, left, now, until, allowed)
		}
	}
}

func TestGateSizes(t *testing.T) {
	for _, tc := range []struct {
		name     string
		w        want
		measured float64
		check    func(g sendLimits) bool
	}{
		{"hold", want{}, 0, func(g sendLimits) bool { return !g.open }},
		{"10 Mb/s", want{rate: 1.25e6}, 0, func(g sendLimits) bool {
			return g.pacing == 1.25e6 && !g.gap && g.unsent == 15_000 && g.chunk == 5_000
		}},
		{"80 kb/s by the loop", want{rate: 1e4}, 0, func(g sendLimits) bool {
			return g.gap && g.rate == 1e4 && g.chunk == framePayload && g.pacing == slowest
		}},
		{"fair and unlimited", want{rate: math.Inf(1), fair: true}, 0, func(g sendLimits) bool {
			return math.IsInf(g.pacing, 1) && g.unsent == leastFair && !g.gap
		}},
		{"fair and fast", want{rate: 1e9, fair: true}, 1e12, func(g sendLimits) bool {
			return g.unsent == mostUnsent && g.chunk == maxChunk
		}},
		{"fair on a slow line", want{rate: 1e5, fair: true}, 0, func(g sendLimits) bool {
			return g.pacing == 1e5 && g.unsent == 2*framePayload
		}},
	} {
		if g := sendLimitsFor(tc.w, tc.measured); !tc.check(g) {
			t.Errorf("%s: %+v", tc.name, g)
		}
	}
}

// spreading is a spread of coflow 9 from host 0 to host 1, in Mb/s; 0 leaves the destination out.
func spreading(from, to pathmap.BitsPerSecond) *southbound.Rates {
	s := southbound.Spread{Coflow: 9, From: []southbound.HostRate{{Host: 0, Rate: from * pathmap.Mbps}}}
	if to > 0 {
		s.To = []southbound.HostRate{{Host: 1, Rate: to * pathmap.Mbps}}
	}
	return &southbound.Rates{Spread: []southbound.Spread{s}}
}

// evenly is an even spread of coflow 9 from host 0 to host 1, in Mb/s.
func evenly(from, to pathmap.BitsPerSecond) *southbound.Rates {
	return &southbound.Rates{Even: southbound.EvenSpread{Coflows: []southbound.CoflowID{9},
		From: []pathmap.BitsPerSecond{from * pathmap.Mbps}, To: []pathmap.BitsPerSecond{0, to * pathmap.Mbps}}}
}

// topped adds an extra of row 0 of coflow 9, in Mb/s.
func topped(r *southbound.Rates, extra pathmap.BitsPerSecond) *southbound.Rates {
	r.Extra = append(r.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: 9},
		Rate: extra * pathmap.Mbps})
	return r
}

// TestExtraFixesPace: a host flow with an extra does not follow its pace, so that it keeps what it was
// given on top.
func TestExtraFixesPace(t *testing.T) {
	table := newRateTable()
	table.set(topped(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 9, Until: time.Second}}}, 4), false)
	if g := table.grant(southbound.HostFlowKey{Coflow: 9}, class{0, 1, 0}, false, 1e6, 0, 0); g.until != 0 {
		t.Errorf("%+v follows", g)
	}
	if g := table.grant(southbound.HostFlowKey{Coflow: 9, Row: 1}, class{0, 1, 0}, false, 1e6, 0,
		0); g.until != time.Second {
		t.Errorf("%+v does not follow", g)
	}
}

// TestAnyCircuit: host flows over any circuit of a fabric are paced as over TagCircuit, also once a leader has told
// of the fabric: what a pace of their coflow holds goes on there.
func TestAnyCircuit(t *testing.T) {
	spec, err := topo.ParseSpec("pod:cubes=2,side=2,spines=1,nic=1Gbps,eps=20Mbps,ocs=100Mbps,dark=10ms")
	must(t, err)
	f, err := topo.New(spec)
	must(t, err)
	fab := ForFabric(f)
	a := newTestAgent(t, f.Hosts(), func(c *Config) { c.Line, c.IsCircuit = fab.Line, fab.IsCircuit })
	start := one(1, 1<<20, 1)
	start.Dst[0] = 8
	must(t, a.Start([]southbound.Start{start}))
	must(t, a.SetRates(&southbound.Rates{Pace: []southbound.Pace{{Coflow: 1}},
		Pairs: []southbound.PairRate{{Src: 0, Dst: 8, Tag: 2, Rate: 10}}}))
	key := southbound.HostFlowKey{Coflow: 1}
	granted := func() want {
		a.mu.Lock()
		defer a.mu.Unlock()
		b := a.table.row(key)
		a.pass(b, b.granted.rate)
		return b.passed
	}
	for _, told := range []bool{false, true} {
		if told {
			must(t, a.SetNetwork(NetworkOf(f)))
		}
		for _, tc := range []struct {
			tag  southbound.Tag
			rate float64
		}{{2, payload(10)}, {1, 0}, {2, payload(10)}, {southbound.TagHold, 0}} {
			must(t, a.Steer([]southbound.Steer{{HostFlowKey: key, Tag: tc.tag}}))
			if got := granted(); got.rate != tc.rate || got.circuit != (tc.tag == 2) {
				t.Errorf("told %v, tag %d: %+v, want %v bytes a second", told, tc.tag, got, tc.rate)
			}
		}
	}
}

// asked is a connection that notes whether it was asked what is on its way.
type asked struct {
	syscall.RawConn
	yes bool
}

func (a *asked) Control(func(uintptr)) error {
	a.yes = true
	return nil
}

// TestOvertakes: what is on its way is overtaken by what goes to any circuit from packets, and by nothing else.
func TestOvertakes(t *testing.T) {
	packets, first, other := want{tag: 1}, want{tag: southbound.TagCircuit, circuit: true}, want{tag: 2, circuit: true}
	for _, tc := range []struct {
		old, next want
		asks      bool
	}{{packets, first, true}, {packets, other, true}, {first, other, false}, {other, first, false},
		{other, packets, false}, {packets, packets, false}} {
		var conn asked
		s := &sender{raw: &conn, want: tc.next}
		if s.overtakes(tc.old); conn.yes != tc.asks {
			t.Errorf("from tag %d to %d: asks %v, want %v", tc.old.tag, tc.next.tag, conn.yes, tc.asks)
		}
	}
}
