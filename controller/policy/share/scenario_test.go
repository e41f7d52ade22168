package share

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/policytest"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// flow is megabytes from one port of a crossbar to another: at 1 Gb/s one takes 8 ms.
type flow struct {
	src, dst southbound.HostID
	mb       pathmap.Bytes
}

// crossbar returns a view of a crossbar of six ports with coflows that started at the instants of their
// places.
func crossbar(t testing.TB, coflows ...[]flow) *controller.View {
	t.Helper()
	return crossbarOf(t, 6, coflows...)
}

// manyHosts is enough ports for sets of hosts of three words, the last of them not full.
const manyHosts = 131

func crossbarOf(t testing.TB, ports int, coflows ...[]flow) *controller.View {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Crossbar, Racks: ports})
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	v := &controller.View{Fabric: f, Paths: m, Now: time.Second}
	for i, flows := range coflows {
		v.Coflows = append(v.Coflows, coflowOf(i, flows))
	}
	return v
}

func coflowOf(i int, flows []flow) controller.CoflowView {
	n := len(flows)
	c := controller.CoflowView{ID: southbound.CoflowID(i), Job: controller.JobID(i), Arrival: time.Duration(i),
		Generation: 1, Start: time.Duration(i), Weight: 1, Started: true,
		Routed: true, Ended: make([]bool, n), Tag: make([]southbound.Tag,
			n), Remaining: southbound.Remaining{F: 1}}
	for _, x := range flows { // rows are given sorted by destination, then source
		c.Src, c.Dst, c.Size = append(c.Src, x.src), append(c.Dst, x.dst), append(c.Size, x.mb*1e6)
		c.Remaining.Base = append(c.Remaining.Base, float64(x.mb)*1e6)
	}
	return c
}

// part is what every part of this package is.
type part interface {
	Fill(*controller.View, []controller.Event, *controller.Plan)
}

// say returns a part's plan in words: each coflow's finish in ms from now or its hold, its spread, its
// extras in Mb/s.
func say(t testing.TB, p part, v *controller.View) []string {
	t.Helper()
	plan := controller.Plan{Wake: southbound.Never}
	p.Fill(v, nil, &plan)
	if err := policytest.Check(v, &plan); err != nil {
		t.Errorf("%v", err)
	}
	out := make([]string, len(v.Coflows))
	for _, x := range plan.Share.Pace {
		out[x.Coflow] = "holds"
		if x.Until > 0 {
			out[x.Coflow] = fmt.Sprintf("%.0f ms", float64(x.Until-v.Now)/1e6)
		}
	}
	for _, x := range plan.Share.Spread {
		out[x.Coflow] = "spread"
		for _, r := range x.From {
			out[x.Coflow] += fmt.Sprintf(" %d:%.0f", r.Host, math.Round(float64(r.Rate)/1e6))
		}
	}
	for _, x := range plan.Share.Extra {
		out[x.Coflow] += fmt.Sprintf(" +%d:%.0f", x.Row, math.Round(float64(x.Rate)/1e6))
	}
	return out
}

// TestScenarios shows how the orders differ: each scenario has two coflows that meet at a port. The
// first to be served ends as if alone, while the other holds or gets what is left.
func TestScenarios(t *testing.T) {
	parts := map[string]func() part{
		"fifo": func() part {
			return NewFIFO()
		}, "scf": func() part { return NewSCF() }, "ncf": func() part { return NewNCF() },
		"lcf": func() part {
			return NewLCF()
		}, "sebf": func() part { return NewSEBF() }, "bssi": func() part { return NewBSSI() },
		"dclas": func() part { return NewDCLAS() },
	}
	// Three host flows into port 5, 6 MB together, against one of 4 MB into it.
	incast := [][]flow{{{0, 5, 2}, {1, 5, 2}, {2, 5, 2}}, {{3, 5, 4}}}
	// Four ports of 3 MB each, 12 MB together, against one of 5 MB: the heavy one has the smaller bottleneck.
	wide := [][]flow{{{0, 1, 5}}, {{0, 1, 3}, {1, 2, 3}, {2, 3, 3}, {3, 4, 3}}}
	// The first has sent 30 of its 31 MB, so Aalo has it in the second queue.
	sent := func(v *controller.View) { v.Coflows[0].Remaining.Base[0] = 1e6 }
	for _, tc := range []struct {
		part    string
		flows   [][]flow
		change  func(*controller.View)
		want    [2]string
		because string
	}{
		{"fifo", incast, nil, [2]string{"48 ms", "holds"}, "the first came first"},
		{"scf", incast, nil, [2]string{"48 ms", "holds"}, "its largest host flow has 2 MB, the other's 4"},
		{"ncf", incast, nil, [2]string{"holds", "32 ms"}, "one host flow is narrower than three"},
		{"lcf", incast, nil, [2]string{"holds", "32 ms"}, "4 MB are lighter than 6"},
		{"sebf", incast, nil, [2]string{"holds", "32 ms"}, "port 5 takes 4 MB sooner than 6"},
		{"fifo", wide, nil, [2]string{"40 ms", "holds +1:1000 +2:1000 +3:1000"},
			"the first came first; three host flows find idle ports"},
		{"lcf", wide, nil, [2]string{"40 ms", "holds +1:1000 +2:1000 +3:1000"}, "5 MB are lighter than 12"},
		{"sebf", wide, nil, [2]string{"holds", "24 ms"}, "3 MB at any port are sooner than 5"},
		{"bssi", wide, nil, [2]string{"holds", "24 ms"},
			"on the bottleneck the first has 5 MB for the same weight, so it " +
				"comes last"},
		{"bssi", wide, func(v *controller.View) {
			v.Coflows[0].Weight = 2
		}, [2]string{"40 ms", "holds +1:1000 +2:1000 +3:1000"},
			"with twice the weight it has 2.5 MB for one, the other 3"},
		{"dclas", [][]flow{{{0, 1, 31}}, {{0, 1, 5}}}, nil, [2]string{"spread 0:1000", "spread"},
			"none has sent anything, and the first came first"},
		{"dclas", [][]flow{{{0, 1, 31}}, {{0, 1, 5}}}, sent, [2]string{"spread", "spread 0:1000"},
			"the first has sent 30 MB and sinks, though 1 MB is left"},
	} {
		t.Run(tc.part+": "+tc.because, func(t *testing.T) {
			v := crossbar(t, tc.flows...)
			if tc.change != nil {
				tc.change(v)
			}
			got := say(t, parts[tc.part](), v)
			if [2]string(got) != tc.want {
				t.Errorf("says %q, want %q", got, tc.want)
			}
		})
	}
}

// TestDCLASWakes: Aalo sets its wake-up for when the first coflow has sent enough for the next queue at
// its rate, and no sooner than a coordination interval from now.
func TestDCLASWakes(t *testing.T) {
	const ms = time.Millisecond
	for _, tc := range []struct {
		name  string
		flows [][]flow
		sent  float64 // bytes of the first coflow
		want  time.Duration
	}{
		{"10 MB at 1 Gb/s", [][]flow{{{0, 1, 31}}}, 0, 80 * ms},
		{"10 MB at 2 Gb/s", [][]flow{{{0, 1, 31}, {2, 3, 31}}}, 0, 40 * ms},
		{"half are sent", [][]flow{{{0, 1, 31}}}, 5e6, 40 * ms},
		{"the second queue ends at 100 MB", [][]flow{{{0, 1, 310}}}, 10e6, 720 * ms},
		{"nearly there", [][]flow{{{0, 1, 31}}}, 9.9e6, coordination},
		{"the second has nothing", [][]flow{{{0, 1, 31}}, {{0, 1, 31}}}, 5e6, 40 * ms},
		{"the second is slower", [][]flow{{{0, 1, 31}, {0, 2, 31}}, {{0, 3, 31}, {4, 5, 31}}}, 0, 80 * ms},
		{"the last queue", [][]flow{{{0, 1, 3e9}}}, 2e15, southbound.Never - time.Second},
	} {
		v := crossbar(t, tc.flows...)
		v.Coflows[0].Remaining.Base[0] -= tc.sent
		p := controller.Plan{Wake: southbound.Never}
		NewDCLAS().Fill(v, nil, &p)
		if got := p.Wake - v.Now; got != tc.want {
			t.Errorf("%s: wakes in %v, want %v", tc.name, got, tc.want)
		}
	}
}

// TestRoutesOfThePlan: a coflow that this very plan routes is served by its planned tags, even if it is
// the only one; a coflow without a route is not served.
func TestRoutesOfThePlan(t *testing.T) {
	for routed := range 3 {
		v := crossbar(t, []flow{{0, 1, 10}}, []flow{{2, 3, 10}})
		p := controller.Plan{Wake: southbound.Never}
		for i := range v.Coflows {
			v.Coflows[i].Tag = nil
			if i < routed {
				p.Route = append(p.Route, controller.Routing{Coflow: v.Coflows[i].ID,
					Tags: make([]southbound.Tag, 1)})
			}
		}
		NewSEBF().Fill(v, nil, &p)
		if len(p.Share.Pace) != routed {
			t.Errorf("%d coflows are routed: %+v", routed, p.Share.Pace)
		}
		for _, x := range p.Share.Pace {
			if x.Until != v.Now+80*time.Millisecond {
				t.Errorf("%d coflows are routed: %+v, want it to end in 80 ms", routed, x)
			}
		}
	}
}

// TestCoflowsimShares shows coflowsim's own rules: a coflow that finds a port taken shares what is left
// instead of holding, and the order is kept from the start although less is left now.
func TestCoflowsimShares(t *testing.T) {
	p := NewCoflowsim("sebf")
	v := crossbar(t, []flow{{0, 1, 3}}, []flow{{0, 1, 4}, {0, 2, 4}, {3, 2, 4}})
	if got, want := say(t, p, v), [2]string{"24 ms", "spread 3:1000"}; [2]string(got) != want {
		t.Errorf("says %q, want %q: port 0 is taken, ports 3 and 2 are not", got, want)
	}
	v.Coflows[1].Remaining.Base = []float64{1, 1, 1}
	if got := say(t, p, v); got[0] != "24 ms" {
		t.Errorf("says %q: an order once made is kept", got)
	}
	if NewCoflowsim("tcp") != nil {
		t.Error("coflowsim has no rule tcp")
	}
}

// TestPFPLists: a receiver's list is in the order of what is left, a new host flow behind those that
// have as much left, and the first whose sender no receiver before it has taken has both ports whole.
func TestPFPLists(t *testing.T) {
	v := crossbar(t, []flow{{0, 4, 5}, {1, 4, 3}, {2, 4, 5}, {3, 4, 9}, {1, 5, 1}},
		[]flow{{3, 4, 3}, {0, 5, 2}})
	p := NewCoflowsimPFP()
	say(t, p, v)
	key := func(coflow southbound.CoflowID, row int32) southbound.HostFlowKey {
		return southbound.HostFlowKey{Coflow: coflow, Row: row}
	}
	want := [][]southbound.HostFlowKey{{key(0, 1), key(1, 0), key(0, 0), key(0, 2), key(0, 3)},
		{key(0, 4), key(1, 1)}}
	for r, list := range want {
		var got []southbound.HostFlowKey
		for _, l := range p.receivers[4+r].list {
			got = append(got, key(l.of.c.ID, l.row))
		}
		if !slices.Equal(got, list) {
			t.Errorf("receiver %d has %v, want %v", 4+r, got, list)
		}
	}
	plan := controller.Plan{Wake: southbound.Never}
	p.Fill(v, nil, &plan)
	extra := plan.Share.Extra
	if len(extra) != 2 || extra[0].HostFlowKey != key(0, 1) || extra[1].HostFlowKey != key(1, 1) {
		t.Errorf("rates %+v, want one for the shortest to port 4 and the shortest of another sender to port 5", extra)
	}
}

// pfpTwin is PFP by its rule, with lists that are walked whole at each decision.
type pfpTwin [][]southbound.HostFlowKey

func (p *pfpTwin) took(v *controller.View) (out []southbound.HostFlowKey) {
	of := func(k southbound.HostFlowKey) *controller.CoflowView {
		return &v.Coflows[slices.IndexFunc(v.Coflows,
			func(c controller.CoflowView) bool { return c.ID == k.Coflow })]
	}
	known := map[southbound.HostFlowKey]bool{}
	for r := range *p {
		(*p)[r] = slices.DeleteFunc((*p)[r], func(k southbound.HostFlowKey) bool {
			return !slices.ContainsFunc(v.Coflows, func(c controller.CoflowView) bool {
				return c.ID == k.Coflow && !c.Ended[k.Row]
			})
		})
		for _, k := range (*p)[r] {
			known[k] = true
		}
	}
	for i := range v.Coflows {
		c := &v.Coflows[i]
		for row := range c.Src {
			k := southbound.HostFlowKey{Coflow: c.ID, Row: int32(row)}
			if known[k] || c.Ended[row] {
				continue
			}
			list := (*p)[c.Dst[row]]
			at := 0
			for at < len(list) && of(list[at]).Remaining.Row(list[at].Row) <= c.Remaining.Row(k.Row)*(1+tie) {
				at++
			}
			(*p)[c.Dst[row]] = slices.Insert(list, at, k)
		}
	}
	taken := map[southbound.HostID]bool{}
	for _, list := range *p {
		for _, k := range list {
			if src := of(k).Src[k.Row]; !taken[src] {
				taken[src] = true
				out = append(out, k)
				break
			}
		}
	}
	return out
}

// TestPFPTwin: while coflows come and host flows get on and end, those that are served are those of the
// rule.
func TestPFPTwin(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		const ports = 7
		v, p, twin := crossbarOf(t, ports), NewCoflowsimPFP(), make(pfpTwin, ports)
		for step, id := 0, 0; step < 80; step++ {
			for range r.IntN(3) {
				var flows []flow
				for dst := range southbound.HostID(ports) {
					for src := range southbound.HostID(ports) {
						if src != dst && r.IntN(5) == 0 {
							flows = append(flows, flow{src, dst, pathmap.Bytes(1 + r.IntN(6))})
						}
					}
				}
				if len(flows) > 0 && len(v.Coflows) < 6 {
					v.Coflows = append(v.Coflows, coflowOf(id, flows))
					id++
				}
			}
			var got []southbound.HostFlowKey
			for range 2 { // the second has nothing new to look at
				plan := controller.Plan{Wake: southbound.Never}
				p.Fill(v, nil, &plan)
				got = got[:0]
				for _, x := range plan.Share.Extra {
					got = append(got, x.HostFlowKey)
				}
				slices.SortFunc(got, byKeyOf)
				want := twin.took(v)
				slices.SortFunc(want, byKeyOf)
				if !slices.Equal(got, want) {
					t.Fatalf("seed %d, step %d: %v are served, want %v", seed, step, got, want)
				}
			}
			for _, k := range got {
				c := &v.Coflows[slices.IndexFunc(v.Coflows,
					func(c controller.CoflowView) bool { return c.ID == k.Coflow })]
				if left := &c.Remaining.Base[k.Row]; r.IntN(2) == 0 {
					c.Ended[k.Row], *left = true, 0
				} else {
					*left *= r.Float64()
				}
			}
			v.Coflows = slices.DeleteFunc(v.Coflows, func(c controller.CoflowView) bool {
				return !slices.Contains(c.Ended, false)
			})
		}
	}
}

func byKeyOf(a, b southbound.HostFlowKey) int {
	return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.Row, b.Row))
}

// TestCoflowsimDark: by coflowsim's Aalo a coflow sinks once it has sent more than its queue holds, to
// the end of the next one, and only when it is asked.
func TestCoflowsimDark(t *testing.T) {
	v := crossbar(t, []flow{{0, 1, 31}}, []flow{{0, 2, 31}, {3, 4, 31}})
	p := new(CoflowsimDark)
	for i, step := range []struct {
		sent [2]float64 // of each coflow
		want [2]string
	}{
		{[2]float64{0, 0}, [2]string{"spread 0:1000", "spread 3:1000"}},
		{[2]float64{10e6, 5e6}, [2]string{"spread 0:1000", "spread 3:1000"}},
		{[2]float64{10.1e6, 5e6}, [2]string{"spread", "spread 0:1000 3:1000"}},
		{[2]float64{10.1e6, 9e6}, [2]string{"spread", "spread 0:1000 3:1000"}},
		{[2]float64{10.1e6, 10.1e6}, [2]string{"spread 0:1000", "spread 3:1000"}}, // behind the first, in its queue
	} {
		v.Coflows[0].Remaining.Base[0] = 31e6 - step.sent[0]
		v.Coflows[1].Remaining.Base[0], v.Coflows[1].Remaining.Base[1] = 31e6-step.sent[1]/2, 31e6-step.sent[1]/2
		if got := say(t, p, v); [2]string(got) != step.want {
			t.Errorf("step %d: says %q, want %q", i+1, got, step.want)
		}
	}
}

// TestFair: port 5 has three host flows, so each has a third, and what port 0 could give its one more
// is idle.
func TestFair(t *testing.T) {
	v := crossbar(t, []flow{{0, 4, 1}, {0, 5, 1}, {1, 5, 1}, {2, 5, 1}})
	var plan controller.Plan
	new(Fair).Fill(v, nil, &plan)
	got := map[southbound.HostID]pathmap.BitsPerSecond{}
	for r := range v.Coflows[0].Src {
		rate := atPorts(plan.Share, &v.Coflows[0], r)
		if v.Coflows[0].Dst[r] == 4 {
			got[4] = rate
		} else {
			got[v.Coflows[0].Src[r]] = rate
		}
	}
	third := pathmap.Gbps / 3
	if got[4] != pathmap.Gbps/2 || got[0] != third || got[1] != third || got[2] != third {
		t.Errorf("rates %v: want half for 0→4, where max-min would give two thirds, and thirds into port 5", got)
	}
}

// TestJavaRandom: the first draws of java.util.Random(17), by its specification's arithmetic.
func TestJavaRandom(t *testing.T) {
	r := newJavaRandom(17)
	for i := range 1000 {
		if x := r.float(); x < 0 || x >= 1 {
			t.Fatalf("draw %d is %v", i, x)
		}
	}
	// new Random(42).nextDouble() is documented all over as 0.7275636800328681.
	if r := newJavaRandom(42); math.Abs(r.float()-0.7275636800328681) > 1e-16 {
		t.Error("seed 42 draws something else than Java does")
	}
}

// TestBookReference compares the books with a count, through ends with events and ends without.
func TestBookReference(t *testing.T) {
	for seed := range uint64(300) {
		v := policytest.View(seed)
		var s books
		open := s.open(v, nil, nil)
		for round := range 3 {
			var ev []controller.Event
			for i := range v.Coflows {
				c := &v.Coflows[i]
				left := int32(0)
				for r := range c.Ended {
					if !c.Ended[r] && (uint64(r)+seed+uint64(round))%4 == 0 {
						c.Ended[r] = true
						ev = append(ev, controller.Event{Kind: controller.HostFlowEnded, Coflow: c.ID, Row: int32(r)})
					}
					if !c.Ended[r] {
						left++
					}
				}
				c.Remaining.Live = left
			}
			if seed%2 == 0 {
				ev = nil
			}
			open = s.open(v, ev, open)
			for i := range v.Coflows {
				checkBook(t, seed, &v.Coflows[i], open[i])
			}
		}
	}
}

func checkBook(t *testing.T, seed uint64, c *controller.CoflowView, b *coflowRows) {
	t.Helper()
	live := map[int32]bool{}
	all := []uint64{}
	for range b.words {
		all = append(all, ^uint64(0))
	}
	for i := range b.runs {
		for at := b.next(i, 0, all); at >= 0; at = b.next(i, at+1, all) {
			r := b.row(i, at)
			if c.Src[r] != b.src[at] || c.Dst[r] != b.runs[i].dst {
				t.Fatalf("view %d: row %d is %d→%d, the book has %d→%d", seed, r, c.Src[r], c.Dst[r],
					b.src[at], b.runs[i].dst)
			}
			live[r] = true
		}
	}
	n := 0
	for r := range c.Ended {
		if !c.Ended[r] {
			n++
		}
		if live[int32(r)] == c.Ended[r] {
			t.Fatalf("view %d: row %d: ended %v, in the book %v", seed, r, c.Ended[r], live[int32(r)])
		}
	}
	if int(b.left) != n {
		t.Fatalf("view %d: %d rows are left, the book has %d", seed, n, b.left)
	}
}

// TestBooksForget: the books of many coflows that are gone are not kept, and those of the others are.
func TestBooksForget(t *testing.T) {
	var s books
	v := crossbar(t, []flow{{0, 1, 1}})
	for id := range southbound.CoflowID(60) {
		c := coflowOf(1, []flow{{1, 2, 1}})
		c.ID = 1 + id
		v.Coflows = append(v.Coflows, c)
	}
	s.open(v, nil, nil)
	first := s.At(0)
	v.Coflows = v.Coflows[:2]
	s.open(v, nil, nil)
	if s.Len() != 2 || s.At(0) != first {
		t.Errorf("%d books for two coflows, the first kept: %v", s.Len(), s.At(0) == first)
	}
	v.Coflows = v.Coflows[:1]
	s.open(v, nil, nil)
	if s.Len() != 2 {
		t.Errorf("%d books: a few are kept for coflows that come back", s.Len())
	}
}

// TestPFPForgets: coflows that are over are not remembered.
func TestPFPForgets(t *testing.T) {
	p := NewCoflowsimPFP()
	v := crossbar(t, []flow{{0, 1, 1}}, []flow{{1, 2, 1}}, []flow{{2, 3, 1}})
	for n := 3; n > 0; n-- {
		v.Coflows = v.Coflows[:n]
		if say(t, p, v); p.known.Len() != n {
			t.Errorf("%d coflows are remembered, and %d are there", p.known.Len(), n)
		}
	}
}
