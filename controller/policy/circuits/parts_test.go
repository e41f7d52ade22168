package circuits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

type filler interface {
	Fill(*controller.View, []controller.Event, *controller.Plan)
}

// parts are all that this package has but Sunflow, by name.
func parts(t testing.TB) map[string]filler {
	t.Helper()
	s, err := schedule.Parse(strings.NewReader("ports 4\nnight 10ms\nday 90ms 0>1 1>0 2>3\nnight 10ms\nday 90ms 0>2 2>0 "+
		"3>1\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]filler{"bvn": BvN(), "solstice": Solstice(), "eclipse": Eclipse(), "edmonds": Edmonds(),
		"edmonds-backlog": Edmonds().FromBacklog(),
		"rotor":           Rotor(), "rotor-vlb": RotorVLB{}, "static": Static{}, "phases": &Phases{},
		"topology": &Topology{}, "topology-balanced": &Topology{Groups: 2}, "schedule": FromFile(s), "parallel": &Parallel{}}
}

func ask(f filler, v *controller.View) *controller.Plan {
	var p controller.Plan
	p.Reset()
	f.Fill(v, nil, &p)
	return &p
}

// circuits writes reservations down, from now on, in milliseconds.
func circuits(v *controller.View, p *controller.Plan) string {
	all := slices.Clone(p.Reserve)
	slices.SortFunc(all, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.NotBefore, b.NotBefore), cmp.Compare(a.In, b.In))
	})
	var out []string
	for _, r := range all {
		out = append(out, fmt.Sprintf("%d>%d %d-%d", r.In, r.Out, (r.NotBefore-v.Now).Milliseconds(),
			(r.NotAfter-v.Now).
				Milliseconds()))
	}
	return strings.Join(out, ", ")
}

// crossbar is a view of four ports of 1 Gb/s at δ 10 ms and instant 0, one coflow with these
// milliseconds to send.
func crossbar(t testing.TB, ms [4][4]int) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 4, EPS: pathmap.Gbps,
		Dark: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	c := controller.CoflowView{ID: 0, Generation: 1, Started: true, Routed: true,
		Remaining: southbound.Remaining{F: 1}}
	for dst := range 4 {
		for src := range 4 {
			if d := ms[src][dst]; d > 0 {
				size := pathmap.Gbps.In(time.Duration(d) * time.Millisecond)
				c.Src, c.Dst, c.Size = append(c.Src, southbound.HostID(src)), append(c.Dst, southbound.HostID(dst)),
					append(c.Size, size)
				c.Remaining.Base, c.Ended, c.Tag = append(c.Remaining.Base, float64(size)), append(c.Ended,
					false), append(c.Tag, 0)
			}
		}
	}
	return &controller.View{Fabric: f, Delta: 10 * time.Millisecond, Coflows: []controller.CoflowView{c}}
}

// TestSameDemand shows what each makes of one demand: 0 has 40 ms for 1 and 80 ms for 2, 1 has 80 ms
// for 2. T(C) is 180 ms, at output 2.
func TestSameDemand(t *testing.T) {
	demand := [4][4]int{{0, 40, 80, 0}, {0, 0, 80, 0}}
	for name, want := range map[string]string{
		// No pair is taken from its ports before the matching's shortest is done, and stuffing has made that
		// 80 ms.
		"bvn": "0>1 0-90, 1>2 0-90, 0>2 90-180",
		// Stuffing has made every entry 80 ms or 40 ms on the diagonal, and a slot lasts the least of its
		// matching.
		"solstice": "0>1 0-90, 1>2 0-90, 0>2 90-180",
		// 40 ms each in a slot of 50 are more a time than 120 in 90; then 0>2 has most, and 1>2 is taken up again.
		"eclipse": "0>1 0-50, 1>2 0-50, 0>2 50-140, 1>2 140-190",
		// The heaviest matching, for a slot of ten reconfiguration delays, then it looks again.
		"edmonds": "0>1 0-100, 1>2 0-100",
		// By one, by two, by three, ten reconfiguration delays each, as often as it takes.
		"rotor": "0>1 0-100, 1>2 0-100, 0>2 100-200",
		// The heaviest matching, for an hour.
		"static": "0>1 0-3600000, 1>2 0-3600000",
		// The longest matching first, the others as soon as both of their ports are free.
		"parallel": "0>2 0-90, 0>1 90-140, 1>2 90-180",
		// As static: the least is left without a circuit.
		"topology": "0>1 0-3600000, 1>2 0-3600000",
		// 1>2 is never due.
		"schedule": "0>1 0-100, 0>2 100-200",
	} {
		t.Run(name, func(t *testing.T) {
			v := crossbar(t, demand)
			p := ask(parts(t)[name], v)
			if got := circuits(v, p); got != want {
				t.Errorf("reserves %s\nwant %s", got, want)
			}
			for _, r := range p.Reserve {
				if r.Coflow != controller.AnyCoflow {
					t.Errorf("%+v is for one coflow", r)
				}
			}
		})
	}
}

// TestEpochsWait: what arrives during an epoch waits for its end, and a circuit that is lit goes on without
// reconfiguration delay.
func TestEpochsWait(t *testing.T) {
	for _, name := range []string{"bvn", "solstice", "eclipse", "edmonds", "parallel"} {
		v := crossbar(t, [4][4]int{{0, 40}})
		v.Reserved = []controller.CircuitReservation{{NotAfter: 50 * time.Millisecond, In: 2, Out: 3,
			Coflow: controller.AnyCoflow}}
		if p := ask(parts(t)[name], v); len(p.Reserve) > 0 || p.Wake != 50*time.Millisecond {
			t.Errorf("%s reserves %s in an epoch that is on, and wakes at %v", name, circuits(v, p), p.Wake)
		}
		v.Reserved = nil
		v.Circuits = slices.Repeat([]controller.CircuitView{{Out: southbound.NoPort}}, 4)
		v.Circuits[0] = controller.CircuitView{Out: 1, Phase: controller.InService}
		want := "0>1 0-40"
		if name == "edmonds" {
			want = "0>1 0-100"
		}
		if got := circuits(v, ask(parts(t)[name], v)); got != want {
			t.Errorf("%s reserves %s for a circuit that is lit, want %s", name, got, want)
		}
	}
}

// TestEpochEnds: an epoch is a hundred reconfiguration delays at most, however much there is.
func TestEpochEnds(t *testing.T) {
	v := crossbar(t, [4][4]int{{0, 50_000, 9}, {7, 0, 300, 2000}, {50, 0, 0, 1}})
	for _, name := range []string{"bvn", "solstice", "eclipse", "edmonds", "parallel"} {
		p := ask(parts(t)[name], v)
		if len(p.Reserve) == 0 || p.Wake > time.Second {
			t.Errorf("%s: %s until %v", name, circuits(v, p), p.Wake)
		}
	}
}

// TestTurnsKeepTime: a cycle is bound to instants: late in a turn what is left of it is used, unless it
// is no longer than its reconfiguration delay.
func TestTurnsKeepTime(t *testing.T) {
	for _, tc := range []struct {
		now  time.Duration
		want string
	}{
		{40 * time.Millisecond, "0>1 0-60"},
		{95 * time.Millisecond, "0>1 205-305"},
		{12*300*time.Millisecond + 150*time.Millisecond, "0>1 150-250"},
	} {
		v := crossbar(t, [4][4]int{{0, 40}})
		v.Now = tc.now
		if got := circuits(v, ask(Rotor(), v)); got != tc.want {
			t.Errorf("at %v rotor reserves %s, want %s", tc.now, got, tc.want)
		}
	}
}

// TestTurnsCountWhatStands: only what is reserved for everybody on the very pair counts as its turns.
func TestTurnsCountWhatStands(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name  string
		needs int // ms
		in    southbound.Port
		out   southbound.Port
		of    southbound.CoflowID
		want  string
	}{
		{"the pair", 40, 0, 1, controller.AnyCoflow, ""},
		{"the pair, for as long as it carries", 90, 0, 1, controller.AnyCoflow, ""},
		{"the pair, a little too short", 91, 0, 1, controller.AnyCoflow, "0>1 0-100"},
		{"the pair, for one coflow", 40, 0, 1, 0, "0>1 0-100"},
		{"the same input", 40, 0, 2, controller.AnyCoflow, "0>1 0-100"},
		{"the same output", 40, 3, 1, controller.AnyCoflow, "0>1 0-100"},
	} {
		v := crossbar(t, [4][4]int{{0, tc.needs}})
		v.Reserved = []controller.CircuitReservation{{NotBefore: 300 * ms, NotAfter: 400 * ms,
			In: tc.in, Out: tc.out,
			Coflow: tc.of}}
		if got := circuits(v, ask(Rotor(), v)); got != tc.want {
			t.Errorf("%s: reserves %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestVLBOfTwoRacks: two racks have one matching, which stands in every slot; one rack has none.
func TestVLBOfTwoRacks(t *testing.T) {
	for racks, want := range map[int]int{1: 0, 2: rotorAhead} {
		f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: racks, EPS: pathmap.Gbps,
			Dark: 10 * time.Millisecond})
		if err != nil {
			t.Log(err)
			continue
		}
		c := controller.CoflowView{Generation: 1, Started: true, Routed: true, Src: []southbound.HostID{0},
			Dst: []southbound.HostID{southbound.HostID(racks - 1)}, Size: []pathmap.Bytes{1e9}, Ended: make([]bool, 1),
			Tag: make([]southbound.Tag, 1), Remaining: southbound.Remaining{F: 1, Base: []float64{1e9}, Live: 1}}
		v := &controller.View{Fabric: f, Delta: 10 * time.Millisecond, Coflows: []controller.CoflowView{c}}
		n := 0
		for _, r := range ask(RotorVLB{}, v).Reserve {
			if r.In == 0 && r.Out == 1 {
				n++
			}
		}
		if n != want {
			t.Errorf("%d racks: 0>1 has %d slots, want %d", racks, n, want)
		}
		v.Traffic = &controller.Traffic{} // who sends is not known: racks could not keep bytes for each other
		if got := circuits(v, ask(RotorVLB{}, v)); got != "" {
			t.Errorf("%d racks, by an estimate: reserves %s", racks, got)
		}
	}
}

// TestStaticStays: later demands get what is left of the ports.
func TestStaticStays(t *testing.T) {
	v := crossbar(t, [4][4]int{{0, 0, 90}, {0, 0, 0, 20}, {0, 0, 0, 90}})
	v.Reserved = []controller.CircuitReservation{{NotAfter: time.Hour, In: 0, Out: 1,
		Coflow: controller.AnyCoflow},
		{NotAfter: time.Minute, In: 2, Out: 0, Coflow: controller.AnyCoflow}}
	p := ask(Static{}, v)
	if got := circuits(v, p); got != "1>3 0-3600000" || p.Wake != time.Minute {
		t.Errorf("reserves %s and wakes at %v", got, p.Wake)
	}
}

// TestSolsticeTrustsPackets: beside a packet network half as fast as its circuits the small change
// stays there.
func TestSolsticeTrustsPackets(t *testing.T) {
	v := view(t, []southbound.HostID{0, 0}, []southbound.HostID{2, 4}, []pathmap.Bytes{50e6, 3e6},
		func(s *topo.Spec) {
			s.EPS = 250 * pathmap.Mbps
		})
	if got := ask(Solstice(), v); len(got.Reserve) != 1 || got.Reserve[0].Out != 1 {
		t.Errorf("solstice reserves %s, want 0>1 alone", circuits(v, got))
	}
	if got := ask(BvN(), v); len(got.Reserve) < 2 {
		t.Errorf("bvn reserves %s, want both", circuits(v, got))
	}
}

// TestAskedAgain: once its plan stands, no part has anything to add.
func TestAskedAgain(t *testing.T) {
	view := policytest.Remembering(policytest.View)
	for name, part := range parts(t) {
		tried := 0
		for seed := range tries.Of[uint64](300, 2000) {
			its := *view(seed)
			v := &its
			v.Reserved, v.Waiting, v.Circuits = nil, nil, slices.Clone(v.Circuits)
			for i := range v.Circuits {
				v.Circuits[i].Held = false
			}
			p := ask(part, v)
			if v.Reserved = p.Reserve; len(p.Reserve) > 0 {
				tried++
			}
			if again := ask(part, v); len(again.Reserve) > 0 {
				t.Errorf("%s, view %d: reserves %s and then %s", name, seed, circuits(v, p), circuits(v, again))
			}
		}
		if tried < 50 {
			t.Errorf("%s: only %d views had anything to reserve", name, tried)
		}
	}
}

// TestBacklogIsBlind: of two host flows with more to send than a socket holds, the larger is not known
// to be so; the oracle goes for it.
func TestBacklogIsBlind(t *testing.T) {
	v := crossbar(t, [4][4]int{{0, 100, 900}})
	if got := circuits(v, ask(Edmonds(), v)); got != "0>2 0-100" {
		t.Errorf("with the oracle edmonds reserves %s", got)
	}
	if got := circuits(v, ask(Edmonds().FromBacklog(), v)); got != "0>1 0-100" && got != "0>2 0-100" {
		t.Errorf("from backlog edmonds reserves %s", got)
	}
	v.Coflows[0].Remaining.Base[0], v.Coflows[0].Remaining.Base[1] = 11e6, 9e6
	if got := circuits(v, ask(Edmonds().FromBacklog(), v)); got != "0>1 0-100" {
		t.Errorf("from backlog edmonds reserves %s, want the fuller socket's", got)
	}
}

// TestLasts: a circuit's time for estimated bytes is bound by the circuit, or by what all hosts of a
// rack do together; bytes of a rate that lasts come from one host each, but for no longer than they are
// estimated for.
func TestLasts(t *testing.T) {
	const ms = time.Millisecond
	v := crossbar(t, [4][4]int{})
	v.Fabric.HostsPerRack = 2
	for _, tt := range []struct {
		name             string
		bytes            pathmap.Bytes
		circuit, out, in pathmap.BitsPerSecond
		ahead, want      time.Duration
	}{
		{"the circuit binds", 1e6, 1e9, 1e9, 1e9, 0, 8 * ms},
		{"senders bind", 1e6, 1e9, 1e8, 1e9, 0, 40 * ms},
		{"receivers bind", 1e6, 1e9, 1e9, 2e8, 0, 20 * ms},
		{"a rate of one host, long", 1e6, 1e9, 1e8, 1e9, time.Second, 80 * ms},
		{"a rate of one receiver, long", 1e6, 1e9, 1e9, 1e8, time.Second, 80 * ms},
		{"a rate, for as long as it is estimated", 1e6, 1e9, 1e8, 1e9, 50 * ms, 50 * ms},
		{"a rate, shorter than two hosts take", 1e6, 1e9, 1e8, 1e9, 10 * ms, 40 * ms},
		{"for ever", 1 << 60, 1, 1, 1, 0, longest},
	} {
		v.Traffic = &controller.Traffic{Ahead: tt.ahead}
		if got := lasts(v, tt.bytes, tt.circuit, tt.out, tt.in); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestLay: pairs that share a port get their circuits one after the other, each for as long as its
// bytes take, however long those before it are.
func TestLay(t *testing.T) {
	const ms = time.Millisecond
	x := NewScratch(crossbar(t, [4][4]int{}))
	pairs := []Pair{{In: 0, Out: 1, Need: 900 * ms}, {In: 0, Out: 2, Need: 400 * ms}, {In: 1, Out: 3},
		{In: 3, Out: 2,
			Need: 600 * ms}}
	x.rank(pairs)
	x.Lay(pairs, 0)
	for i, p := range pairs {
		if p.Need > 0 && p.End-p.Begin != p.Need || p.Need == 0 && p.Begin != southbound.Never {
			t.Errorf("pair %d: %+v", i, p)
		}
	}
	first, second := pairs[0], pairs[1]
	if first.Begin > second.Begin {
		first, second = second, first
	}
	if second.Begin < first.End+10*ms {
		t.Errorf("%+v and %+v share an input, and δ is 10 ms", pairs[0], pairs[1])
	}
}

// TestCheckAsked: the circuits that a program asks for are of ports that there are, and at times to come.
func TestCheckAsked(t *testing.T) {
	const ms = time.Millisecond
	v := crossbar(t, [4][4]int{})
	v.Now = 5 * ms
	at := func(in, out southbound.Port, from, to time.Duration) AskedPlan {
		return AskedPlan{Reserve: []controller.CircuitReservation{{In: in, Out: out, NotBefore: from,
			NotAfter: to}}}
	}
	for _, tc := range []struct {
		name string
		p    AskedPlan
		want string // in the error; empty: none
	}{
		{"nothing", AskedPlan{}, ""}, {"first and last port", at(0, 3, 5*ms, 6*ms), ""},
		{"last and first port", at(3, 0, 5*ms, 6*ms), ""},
		{"below the first input", at(-1, 0, 5*ms, 6*ms), "ports are 0 to 3"},
		{"below the first output", at(0, -1, 5*ms, 6*ms), "ports are 0 to 3"},
		{"beyond the last input", at(4, 0, 5*ms, 6*ms), "ports are 0 to 3"},
		{"beyond the last output", at(0, 4, 5*ms, 6*ms), "ports are 0 to 3"},
		{"before now", at(0, 1, 4*ms, 6*ms), "it is 5ms"}, {"no time", at(0, 1, 5*ms, 5*ms), "it is 5ms"},
		{"preempt the first and the last", AskedPlan{Preempt: []southbound.Port{0, 3}}, ""},
		{"preempt below the first", AskedPlan{Preempt: []southbound.Port{-1}}, "preempt input -1"},
		{"preempt beyond the last", AskedPlan{Preempt: []southbound.Port{4}}, "preempt input 4"},
		{"wake later", AskedPlan{Wake: 6 * ms}, ""}, {"wake now", AskedPlan{Wake: 5 * ms}, "wake at 5ms"},
	} {
		err := checkAsked(v, &tc.p)
		if tc.want == "" && err != nil || tc.want != "" &&
			(err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// planes is a view of five racks under two OCSes of 1 Gb/s at δ 10 ms and instant 0, in which each rack has these
// milliseconds for the next ones.
func planes(t *testing.T, ms ...int) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: 5, EPS: pathmap.Gbps, Dark: 10 * time.Millisecond, OCSes: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := controller.CoflowView{ID: 0, Generation: 1, Started: true, Routed: true, Remaining: southbound.Remaining{F: 1}}
	for dst := range 5 {
		for src := range 5 {
			k := (dst - src + 5) % 5
			if k == 0 || k > len(ms) || ms[k-1] == 0 {
				continue
			}
			size := pathmap.Gbps.In(time.Duration(ms[k-1]) * time.Millisecond)
			c.Src, c.Dst = append(c.Src, southbound.HostID(src)), append(c.Dst, southbound.HostID(dst))
			c.Size, c.Remaining.Base = append(c.Size, size), append(c.Remaining.Base, float64(size))
			c.Ended, c.Tag = append(c.Ended, false), append(c.Tag, 0)
		}
	}
	return &controller.View{Fabric: f, Delta: 10 * time.Millisecond, Coflows: []controller.CoflowView{c}}
}

// TestRotorsAreShifted: each of two switches turns through half of the matchings, ten reconfiguration delays each, the
// second half a slot after the first. Ports of rack 0 are 0 and 5.
func TestRotorsAreShifted(t *testing.T) {
	v := planes(t, 80, 80, 80, 80)
	var got []string
	for _, r := range ask(Rotor(), v).Reserve {
		if r.In == 0 || r.In == 5 {
			got = append(got, fmt.Sprintf("%d>%d %v-%v", r.In, r.Out, r.NotBefore, r.NotAfter))
		}
	}
	// By one and by three on the first, by two and by four on the second, whose last turn of before has half a slot left.
	want := "0>1 0s-100ms, 0>3 100ms-200ms, 5>9 0s-50ms, 5>7 50ms-150ms, 5>9 150ms-250ms"
	if strings.Join(got, ", ") != want {
		t.Errorf("rack 0 has %s\nwant %s", strings.Join(got, ", "), want)
	}
}

// TestStaticFillsPlanes: the first switch has the heaviest matching, the second that of what is left.
func TestStaticFillsPlanes(t *testing.T) {
	p := ask(Static{}, planes(t, 20, 80, 50))
	for _, r := range p.Reserve {
		by, want := (r.Out-r.In+5)%5, southbound.Port(2)
		if r.In >= 5 {
			want = 3
		}
		if by != want {
			t.Errorf("%d→%d goes by %d, want %d", r.In, r.Out, by, want)
		}
	}
	if len(p.Reserve) != 10 {
		t.Errorf("%d circuits, want all ten", len(p.Reserve))
	}
}

// TestEpochsDealPairs: with two switches an epoch is shorter than the 200 ms that one takes, for pairs of racks are
// dealt out.
func TestEpochsDealPairs(t *testing.T) {
	for _, name := range []string{"bvn", "solstice", "eclipse", "parallel"} {
		v := planes(t, 40, 40, 40, 40)
		p := ask(parts(t)[name], v)
		end := [2]time.Duration{}
		for _, r := range p.Reserve {
			end[r.In/5] = max(end[r.In/5], r.NotAfter)
		}
		// Each rack has four pairs of 40 ms, in 50 ms each: two for each switch, or three where others were dealt before.
		if max(end[0], end[1]) > 150*time.Millisecond || min(end[0], end[1]) < 100*time.Millisecond || len(p.Reserve) != 20 {
			t.Errorf("%s: switches end at %v, want 100 to 150 ms: %s", name, end, circuits(v, p))
		}
	}
}

// TestEpochsBesideSlice: a slice has ports of the first switch for ever. Other racks, and other ports of its own racks,
// have epochs beside it. Its own pairs have no other circuits.
func TestEpochsBesideSlice(t *testing.T) {
	for _, name := range []string{"bvn", "solstice", "eclipse", "edmonds", "parallel"} {
		for ocses, want := range map[int][][2]southbound.Port{
			1: {{3, 4}}, 2: {{0, 2}, {1, 0}, {3, 4}},
		} {
			v := underOCSes(t, 5, ocses, map[[2]southbound.HostID]int{{0, 1}: 900, {0, 2}: 80, {1, 0}: 70, {3, 4}: 60})
			for i := range southbound.Port(3) {
				hold(v, i, (i+1)%3, southbound.Never)
			}
			_, ends := withoutSlices(v)
			joined, got := newWavelengthAssignment(v), map[[2]southbound.Port]bool{}
			p := ask(parts(t)[name], v)
			for _, r := range p.Reserve {
				if !ends[r.In].ok || !ends[r.Out].ok || !joined.may(r.In, r.Out) {
					t.Errorf("%s, %d OCSes: reserves %d→%d beside the slice", name, ocses, r.In, r.Out)
				}
				got[[2]southbound.Port{r.In % 5, r.Out % 5}] = true
			}
			for _, pair := range want {
				if !got[pair] && name != "edmonds" || len(got) == 0 { // Edmonds reserves one matching
					t.Errorf("%s, %d OCSes: nothing for %v: %s", name, ocses, pair, circuits(v, p))
				}
			}
			if p.Wake == southbound.Never || p.Wake <= v.Now {
				t.Errorf("%s, %d OCSes: wakes at %v", name, ocses, p.Wake)
			}
		}
	}
}
