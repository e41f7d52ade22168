package rollout_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

func fabric(t testing.TB, text string, k int) (*topo.Fabric, *rollout.Base) {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(k, 1)
	if err != nil {
		t.Fatal(err)
	}
	return f, rollout.NewBase(f, m)
}

func dark(n int) []southbound.Port { return slices.Repeat([]southbound.Port{southbound.NoPort}, n) }

// tables are what the switches of a fabric hold, and what light passes.
func tables(f *topo.Fabric, b *rollout.Base, circuits []southbound.Port) *rollout.Fabric {
	x := &rollout.Fabric{Fabric: f, Circuits: circuits,
		Rules: make([][]southbound.Rule, len(f.Topology.Nodes()))}
	for _, d := range b.Devices() {
		if !f.IsOCS(d) {
			x.Rules[d] = b.Rules(d, circuits)
		}
	}
	return x
}

// TestBase checks the tables of fabrics, also with paths through other racks' ToRs (k above the number
// of spines).
func TestBase(t *testing.T) {
	for _, tt := range []struct {
		spec string
		k    int
	}{
		{"hybrid:racks=8,hosts=2,spines=2", 2},
		{"hybrid:racks=8,hosts=2,spines=2", 6},
		{"leafspine:racks=5,hosts=1,spines=4", 6},
		{"hybrid:racks=4,hosts=1,spines=1", 6},
		{"crossbar:ports=6,rate=1Gbps", 1},
	} {
		t.Run(tt.spec, func(t *testing.T) {
			f, b := fabric(t, tt.spec, tt.k)
			if err := rollout.Check(tables(f, b, dark(f.Racks))); err != nil {
				t.Error(err)
			}
			circuits := dark(f.Racks)
			if f.HasOCS() {
				circuits[0], circuits[1] = 2, 0
			}
			x := tables(f, b, circuits)
			if err := rollout.Check(x); err != nil {
				t.Error(err)
			}
			if !f.HasOCS() {
				return
			}
			way, err := x.Walk(0, 2, southbound.TagCircuit)
			if err != nil || len(way) != 2 || f.Topology.Link(way[0]).To != f.OCSNode {
				t.Errorf("the circuit's tag takes %v (%v), want ToR, OCS, ToR", way, err)
			}
		})
	}
}

// TestBackupsNeverLoop: where cables go dark, a packet of any path, also through other racks' ToRs,
// arrives or is dropped, and never loops.
func TestBackupsNeverLoop(t *testing.T) {
	for _, spec := range []string{"hybrid:racks=6,hosts=1,spines=2", "leafspine:racks=4,hosts=1,spines=3"} {
		for _, k := range []int{4, 6, 8} {
			f, b := fabric(t, spec, k)
			x := tables(f, b, dark(f.Racks))
			arrived := 0
			for seed := range uint64(50) {
				r := rand.New(rand.NewPCG(seed, 19))
				x.Dark = make([]bool, len(f.Topology.Links()))
				for range 1 + r.IntN(2) {
					l := pathmap.LinkID(r.IntN(len(x.Dark)))
					x.Dark[l], x.Dark[pathmap.Reverse(l)] = true, true
				}
				for s := range southbound.RackID(f.Racks) {
					for d := range southbound.RackID(f.Racks) {
						for i := 0; i < k && s != d; i++ {
							_, err := x.Walk(s, d, southbound.PathTag(i))
							if err == nil {
								arrived++
							} else if strings.Contains(err.Error(), "loop") {
								t.Errorf("%s, %d paths, seed %d: %v", spec, k, seed, err)
							}
						}
					}
				}
			}
			if arrived == 0 {
				t.Errorf("%s, %d paths: no packet arrived", spec, k)
			}
		}
	}
}

// TestPathsAreFollowed checks that tag PathTag(i) takes path i link by link.
func TestPathsAreFollowed(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=6,hosts=1,spines=3", 6)
	m, err := f.PathMap(6, 1)
	if err != nil {
		t.Fatal(err)
	}
	x := tables(f, b, dark(f.Racks))
	for s := range f.Racks {
		for d := range f.Racks {
			for i := range m.Paths(s, d) {
				want := m.AppendPath(nil, s, d, i)
				got, err := x.Walk(southbound.RackID(s), southbound.RackID(d), southbound.PathTag(i))
				if s != d && (err != nil || !slices.Equal(got, want)) {
					t.Fatalf("rack %d to %d by path %d: %v, %v; want %v", s, d, i, got, err, want)
				}
			}
		}
	}
}

func TestCheckFinds(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	tor := f.ToRNode
	spine, _ := f.Topology.Named("spine0")
	for _, tt := range []struct {
		name, want string
		mend       func(*rollout.Fabric)
	}{
		{"output lit twice", "is lit by inputs",
			func(x *rollout.Fabric) { x.Circuits[0], x.Circuits[1] = 2, 2 }},
		{"no rule", "no rule", func(x *rollout.Fabric) { x.Rules[spine] = nil }},
		{"loop", "loop", func(x *rollout.Fabric) {
			x.Rules[spine] = slices.Clone(x.Rules[spine])
			for i := range x.Rules[spine] {
				x.Rules[spine][i].Primary = 0 // every packet back to rack 0
			}
		}},
		{"wrong rack", "the circuit leads to", func(x *rollout.Fabric) {
			x.Circuits[0] = 3
			x.Rules[tor[0]] = b.Rules(tor[0], []southbound.Port{2, -1, -1, -1})
		}},
		{"dark without backup", "has no backup", func(x *rollout.Fabric) {
			x.Dark = make([]bool, len(f.Topology.Links()))
			x.Dark[f.Topology.OutPort(spine, 1)] = true
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := tables(f, b, dark(f.Racks))
			tt.mend(x)
			if err := rollout.Check(x); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestDiff(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 3))
		wanted := b.Rules(f.ToRNode[0], []southbound.Port{2, -1, -1, -1})
		seen := slices.Clone(wanted)
		seen = slices.DeleteFunc(seen, func(southbound.Rule) bool { return r.IntN(3) == 0 })
		for i := range seen {
			if r.IntN(3) == 0 {
				seen[i].Backup = southbound.Port(r.IntN(3))
			}
		}
		if r.IntN(2) == 0 {
			wanted = wanted[r.IntN(len(wanted)):]
		}
		c := rollout.Diff(wanted, seen)
		if got := apply(seen, &c); !slices.Equal(got, wanted) {
			t.Fatalf("seed %d: the difference leads to %v, want %v", seed, got, wanted)
		}
		if c := rollout.Diff(wanted, wanted); !c.Empty() {
			t.Fatalf("the difference of equals is %+v", c)
		}
	}
}

// apply is the plain meaning of a change to a rule table.
func apply(rules []southbound.Rule, c *southbound.Change) []southbound.Rule {
	table := map[southbound.Match]southbound.Rule{}
	for _, r := range rules {
		table[r.Match] = r
	}
	for _, m := range c.Drop {
		delete(table, m)
	}
	for _, r := range c.Rules {
		table[r.Match] = r
	}
	var out []southbound.Rule
	for _, r := range table {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b southbound.Rule) int {
		return (int(a.Dst)-int(b.Dst))*1_000_000 + (int(a.Tag)-int(b.Tag))*1000 + int(a.Src-b.Src)
	})
	return out
}

// world is a fabric whose devices are slow: Sets take effect in the order of one device, otherwise in
// any order, may fail, and a circuit is reported a while after it was asked for.
type world struct {
	t         *testing.T
	r         *rand.Rand
	f         *topo.Fabric
	x         *rollout.Fabric
	m         *rollout.Mover
	now       time.Duration
	queues    map[southbound.DeviceID][]rollout.Set
	due       []southbound.Port // inputs whose circuit is coming: not lit yet
	going     []southbound.Port // their outputs
	inService []southbound.Port // by input: settled as in service, and not displaced since

	removed int // circuits taken away
}

func (w *world) step() {
	sets, settled := w.m.Next(w.now)
	for _, s := range sets {
		w.queues[s.Device] = append(w.queues[s.Device], s)
	}
	for _, d := range w.m.NeedsReread() {
		for in, out := range w.x.Circuits {
			if ocs, _ := w.f.OCSAt(int32(in)); ocs == d && out != southbound.NoPort {
				w.tell(southbound.Port(in), out, southbound.Connected)
			}
		}
	}
	for _, s := range settled {
		if s.OK {
			w.inService[s.In] = s.Out
		}
	}
	w.now += time.Duration(w.r.IntN(3)) * time.Millisecond
	switch n := w.r.IntN(3); {
	case n == 0 && len(w.due) > 0:
		in, out := w.due[0], w.going[0]
		w.due, w.going = w.due[1:], w.going[1:]
		w.x.Circuits[in] = out
		w.tell(in, out, southbound.Connected)
	default:
		ids := make([]southbound.DeviceID, 0, len(w.queues))
		for d, q := range w.queues {
			if len(q) > 0 {
				ids = append(ids, d)
			}
		}
		slices.Sort(ids)
		if len(ids) > 0 {
			w.effect(ids[w.r.IntN(len(ids))])
		}
	}
	if err := rollout.Check(w.x); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) tell(in, out southbound.Port, s southbound.Status) {
	ocs, from := w.f.OCSAt(int32(in))
	_, to := w.f.OCSAt(int32(out))
	w.m.Event(w.now, southbound.DeviceEvent{Device: ocs, Kind: southbound.ConnectionStatus,
		In: southbound.Port(from), Out: southbound.Port(to), Status: s})
}

func (w *world) effect(d southbound.DeviceID) {
	s := w.queues[d][0]
	w.queues[d] = w.queues[d][1:]
	if w.r.IntN(10) == 0 { // the device could not be reached
		w.m.Done(w.now, s.Token, southbound.ErrUnsupported)
		return
	}
	if !w.f.IsOCS(d) {
		w.x.Rules[d] = apply(w.x.Rules[d], &s.Change)
	}
	for _, c := range s.Change.Connect {
		c.In = southbound.Port(w.f.OCSPort(d, int32(c.In)))
		c.Out = southbound.Port(w.f.OCSPort(d, int32(c.Out)))
		w.connect(c)
	}
	w.m.Done(w.now, s.Token, nil)
}

func (w *world) connect(c southbound.CrossConnect) {
	if !c.Off && w.x.Circuits[c.In] == c.Out {
		return
	}
	for i := len(w.due) - 1; i >= 0; i-- {
		if w.due[i] == c.In || (!c.Off && w.going[i] == c.Out) {
			w.due, w.going = slices.Delete(w.due, i, i+1), slices.Delete(w.going, i, i+1)
		}
	}
	for in, out := range w.x.Circuits {
		if out != southbound.NoPort && (southbound.Port(in) == c.In || (!c.Off && out == c.Out)) {
			w.x.Circuits[in] = southbound.NoPort
			w.tell(southbound.Port(in), out, southbound.Disconnected)
		}
	}
	if !c.Off {
		w.due, w.going = append(w.due, c.In), append(w.going, c.Out)
	}
}

// TestMoves throws overlapping moves at slow and failing devices: every intermediate table is free of
// loops, black holes and wrong racks, and once requests stop every circuit is as it was last requested, with
// its rule at its ToR. Each OCS is asked for circuits of its own ports only.
func TestMoves(t *testing.T) {
	for _, spec := range []string{"hybrid:racks=5,hosts=1,spines=2", "hybrid:racks=5,hosts=1,spines=2,ocses=4",
		"hybrid:racks=4,hosts=1,spines=2,ocses=2,wavelengths=2"} {
		removed, seeds := 0, tries.Of[uint64](20, 400)
		for seed := range seeds {
			f, b := fabric(t, spec, 2)
			if seed%2 == 1 {
				b.SteerAll()
			}
			removed += playMoves(t, seed, f, b).removed
		}
		if removed < int(seeds)*2/3 {
			t.Errorf("%s: only %d circuits were removed", spec, removed)
		}
	}
}

// playMoves plays random moves to their end.
func playMoves(t *testing.T, seed uint64, f *topo.Fabric, b *rollout.Base) *world {
	r := rand.New(rand.NewPCG(seed, 9))
	w := &world{t: t, r: r, f: f, x: tables(f, b, dark(f.OCSPorts())),
		queues:    map[southbound.DeviceID][]rollout.Set{},
		inService: dark(f.OCSPorts()),
		m:         rollout.NewMover(f, b, rollout.Options{Drain: time.Millisecond, Retry: time.Millisecond})}
	want := dark(f.OCSPorts())
	for range 60 * f.Spec.Planes() {
		first := southbound.Port(0)
		if n := f.Spec.Planes(); n > 1 {
			first = southbound.Port(r.IntN(n) * f.Racks)
		}
		if in, out := first+southbound.Port(r.IntN(f.Racks)), first+southbound.Port(r.IntN(f.Racks)); r.IntN(4) == 0 &&
			in != out && want[in] != out && !elsewhere(f, want, in, out) {
			var displaced []southbound.CrossConnect
			for k := range want {
				if southbound.Port(k) == in || want[k] == out {
					if w.inService[k] != southbound.NoPort {
						displaced = append(displaced, southbound.CrossConnect{In: southbound.Port(k),
							Out: w.inService[k]})
						w.inService[k] = southbound.NoPort
					}
					want[k] = southbound.NoPort
				}
			}
			want[in] = out
			w.m.Begin(w.now, in, out, displaced)
		}
		if in := r.IntN(f.OCSPorts()); r.IntN(10) == 0 && w.inService[in] != southbound.NoPort &&
			w.inService[in] == want[in] {
			w.m.Remove(southbound.Port(in), want[in])
			w.inService[in], want[in] = southbound.NoPort, southbound.NoPort
			w.removed++
		}
		w.step()
	}
	for n := 0; w.m.Busy() && n < 5000; n++ {
		w.step()
	}
	if w.m.Busy() {
		t.Fatalf("seed %d: moves never end", seed)
	}
	for in, out := range want {
		if out != southbound.NoPort && (w.x.Circuits[in] != out || w.inService[in] != out) {
			t.Fatalf("seed %d: input %d has circuit %d, steered to %d, want %d", seed, in,
				w.x.Circuits[in], w.inService[in],
				out)
		}
		if tor := f.ToRNode[f.OCSRack(int32(in))]; out != southbound.NoPort && !holds(w.x.Rules[tor], b, in, out) {
			t.Fatalf("seed %d: %s has no rule for circuit %d→%d", seed, f.Topology.Node(tor).Name, in, out)
		}
	}
	return w
}

// elsewhere reports whether another plane is to join the racks of two ports.
func elsewhere(f *topo.Fabric, want []southbound.Port, in, out southbound.Port) bool {
	n := southbound.Port(f.Racks)
	for k, to := range want {
		if from := southbound.Port(k); from != in && from%n == in%n && to != southbound.NoPort && to%n == out%n {
			return true
		}
	}
	return false
}

// holds reports whether a ToR has the rules of a circuit.
func holds(rules []southbound.Rule, b *rollout.Base, in int, out southbound.Port) bool {
	for _, r := range b.CircuitRules(southbound.Port(in), out) {
		if !slices.Contains(rules, r) {
			return false
		}
	}
	return true
}
