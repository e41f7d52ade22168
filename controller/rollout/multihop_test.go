package rollout_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/multihop"
	"lightloom/controller/rollout"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// lines is what switches hold while paths over several circuits come and go, rule by rule.
type lines struct {
	t     *testing.T
	f     *topo.Fabric
	b     *rollout.Base
	paths *pathmap.Map
	x     *rollout.Fabric
	laid  map[[2]southbound.RackID]*line
	order [][2]southbound.RackID
	// cables that are dark, by link; checker keeps what tables are wanted from one move to the next
	down    []bool
	checker rollout.Checker
	between int // paths with packets between two circuits
}

type line struct {
	path  multihop.Path
	rules []rollout.Placed
}

func newLines(t *testing.T, text string, rng *rand.Rand) *lines {
	t.Helper()
	spec, err := topo.ParseSpec(text)
	if err != nil {
		t.Fatal(err)
	}
	f, err := topo.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	m, err := f.PathMap(spec.PathsKept(), rng.Uint64())
	if err != nil {
		t.Fatal(err)
	}
	b := rollout.NewBase(f, m)
	return &lines{t: t, f: f, b: b, paths: m, x: tables(f, b, dark(f.OCSPorts())),
		laid: map[[2]southbound.RackID]*line{}, down: make([]bool, len(f.Topology.Links()))}
}

func (l *lines) network(lit []southbound.Port) *multihop.Network {
	return &multihop.Network{Fabric: l.f, Paths: l.paths, Down: l.down, Lit: lit}
}

// wanted reports whether switches hold what they should, given how a checker that has seen it come about sees that.
func (l *lines) wanted(when string) {
	l.t.Helper()
	if err := l.checker.CheckWanted(l.b, l.x.Circuits); err != nil {
		l.t.Fatalf("%s: tables that are wanted: %v", when, err)
	}
	for d, rules := range l.checker.Wanted().Rules {
		if !slices.Equal(rules, l.x.Rules[d]) {
			l.t.Fatalf("%s: %s should hold\n%v, and does\n%v", when, l.f.Topology.Node(pathmap.NodeID(d)).Name, rules,
				l.x.Rules[d])
		}
	}
}

// check walks all packets through the tables as they are.
func (l *lines) check(when string) {
	l.t.Helper()
	if err := rollout.Check(l.x); err != nil {
		l.t.Fatalf("%s: %v", when, err)
	}
}

func (l *lines) put(r rollout.Placed) {
	l.drop(r.Device, r.Rule.Match)
	l.x.Rules[r.Device] = sorted(append(l.x.Rules[r.Device], r.Rule))
}

func (l *lines) drop(d southbound.DeviceID, match southbound.Match) {
	l.x.Rules[d] = slices.DeleteFunc(slices.Clone(l.x.Rules[d]), func(x southbound.Rule) bool { return x.Match == match })
}

func sorted(rules []southbound.Rule) []southbound.Rule {
	slices.SortFunc(rules, func(a, b southbound.Rule) int {
		if a.Dst != b.Dst {
			return int(a.Dst - b.Dst)
		}
		if a.Tag != b.Tag {
			return int(a.Tag) - int(b.Tag)
		}
		return int(a.Src - b.Src)
	})
	return rules
}

// dim takes light from one cable between racks and spines, or gives it back. All tables but the rules of paths are then
// made anew at once, and the paths whose rules would be others are taken away.
func (l *lines) dim(rng *rand.Rand) {
	top := l.f.Topology
	l.down = make([]bool, len(top.Links()))
	if out := top.Out(l.f.ToRNode[rng.IntN(l.f.Racks)]); rng.IntN(4) > 0 {
		if cable := out[rng.IntN(len(out))]; top.Node(top.Link(cable).To).Role == pathmap.Switch {
			l.down[cable], l.down[pathmap.Reverse(cable)] = true, true
		}
	}
	down := l.down
	l.b.Avoid(func(id pathmap.LinkID) bool { return down[id] })
	l.x.Dark = down
	ofPath := func(r southbound.Rule) bool { return r.Tag == southbound.TagCircuit && r.Src != southbound.AnyRack }
	for d := range l.x.Rules {
		held := slices.DeleteFunc(slices.Clone(l.x.Rules[d]), func(r southbound.Rule) bool { return !ofPath(r) })
		rules := slices.DeleteFunc(l.b.Rules(southbound.DeviceID(d), l.x.Circuits), ofPath)
		l.x.Rules[d] = sorted(append(rules, held...))
	}
	l.check("a cable goes dark or comes back")
	for _, pair := range slices.Clone(l.order) {
		x := l.laid[pair]
		if rules, err := l.b.PathRules(&x.path); err != nil || !slices.Equal(rules, x.rules) {
			l.leave(rng, pair)
		}
	}
}

// lay gives a pair of racks one of its paths, part by part, and walks it. One time in so many among, if that is not 0,
// a cable goes dark after a rule.
func (l *lines) lay(rng *rand.Rand, among int) {
	n := l.network(l.x.Circuits)
	s, d := southbound.RackID(rng.IntN(l.f.Racks)), southbound.RackID(rng.IntN(l.f.Racks))
	if all := n.Between(s, d); s != d && len(all) > 0 && l.laid[[2]southbound.RackID{s, d}] == nil && !l.joined(s, d) {
		p := all[rng.IntN(len(all))]
		rules, err := l.b.PathRules(&p)
		if err != nil {
			l.t.Fatal(err)
		}
		if p.Hop(l.f) > 0 {
			l.between++
		}
		x, parts := &line{p, rules}, rollout.Parts(&p, rules)
		for k := len(parts) - 1; k >= 0; k-- {
			l.b.Lead(&p, parts[k])
			for _, i := range rng.Perm(len(parts[k])) {
				l.put(parts[k][i])
				l.check("a path comes")
				if among > 0 && rng.IntN(among) == 0 { // it is given up half laid, as a cable goes dark
					l.laid[[2]southbound.RackID{s, d}] = x
					l.order = append(l.order, [2]southbound.RackID{s, d})
					l.dim(rng)
					if l.laid[[2]southbound.RackID{s, d}] != nil {
						l.leave(rng, [2]southbound.RackID{s, d})
					}
					return
				}
			}
		}
		way, err := l.x.Walk(s, d, southbound.TagCircuit)
		if err != nil || !slices.Equal(way, n.Links(&p)) {
			l.t.Fatalf("%v: packets take %v, want %v: %v", p, way, n.Links(&p), err)
		}
		l.laid[[2]southbound.RackID{s, d}] = x
		l.order = append(l.order, [2]southbound.RackID{s, d})
	}
}

// joined reports whether a circuit leads from one rack to another.
func (l *lines) joined(s, d southbound.RackID) bool {
	for in := int(s); in < len(l.x.Circuits); in += l.f.Racks {
		if out := l.x.Circuits[in]; out != southbound.NoPort && l.f.OCSRack(int32(out)) == int32(d) {
			return true
		}
	}
	return false
}

// leave takes a path away, part by part.
func (l *lines) leave(rng *rand.Rand, pair [2]southbound.RackID) {
	x := l.laid[pair]
	for _, part := range rollout.Parts(&x.path, x.rules) {
		l.b.Unlead(part)
		for _, i := range rng.Perm(len(part)) {
			l.drop(part[i].Device, part[i].Rule.Match)
			l.check("a path goes")
		}
	}
	l.b.Forget(&x.path, x.rules)
	delete(l.laid, pair)
	l.order = slices.DeleteFunc(l.order, func(p [2]southbound.RackID) bool { return p == pair })
}

// move moves a circuit: first its ToR forgets what leads into it, of paths too unless careless, then it is dark, then
// it leads elsewhere, and then paths that went over it are taken away.
func (l *lines) move(rng *rand.Rand, careless bool) error {
	racks := l.f.Racks
	plane := rng.IntN(l.f.OCSPorts() / racks)
	in, out := southbound.Port(plane*racks+rng.IntN(racks)), southbound.Port(plane*racks+rng.IntN(racks))
	if l.f.OCSRack(int32(in)) == l.f.OCSRack(int32(out)) || l.x.Circuits[in] == out ||
		l.joined(southbound.RackID(l.f.OCSRack(int32(in))), southbound.RackID(l.f.OCSRack(int32(out)))) {
		return nil
	}
	circuits := slices.Clone(l.x.Circuits)
	for _, k := range []southbound.Port{in, southbound.Port(slices.Index(circuits, out))} {
		if k < 0 || circuits[k] == southbound.NoPort {
			continue
		}
		tor := l.f.ToRNode[l.f.OCSRack(int32(k))]
		for _, m := range l.b.CircuitMatches(k, circuits[k]) {
			l.drop(tor, m)
		}
		for _, m := range l.b.Through(k) {
			if !careless {
				l.drop(tor, m)
				l.check("a circuit's ToR forgets")
			}
		}
		circuits[k] = southbound.NoPort
	}
	l.x.Circuits = slices.Clone(circuits)
	l.check("circuits are dark")
	circuits[in] = out
	l.x.Circuits = circuits
	if err := rollout.Check(l.x); err != nil {
		return err
	}
	for _, r := range l.b.CircuitRules(in, out) {
		l.put(rollout.Placed{Device: l.f.ToRNode[l.f.OCSRack(int32(in))], Rule: r})
	}
	l.check("a circuit's ToR knows it")
	for _, pair := range slices.Clone(l.order) {
		if n := l.network(circuits); !n.Stands(&l.laid[pair].path) || l.joined(pair[0], pair[1]) {
			l.leave(rng, pair)
		}
	}
	return nil
}

const ofLines = "hybrid:racks=6,hosts=1,spines=3,ocses=2"

// TestMultihopTables: circuits move, cables go dark and come back, and paths over several circuits come and go at
// random, rule by rule. At no moment does a packet of any tag go round, get lost or come out at the wrong rack. Packets
// of a whole path take its links. After each step switches hold what a checker that has seen all of it has as wanted.
func TestMultihopTables(t *testing.T) {
	laid, between := 0, 0
	for seed := range tries.Of[uint64](12, 60) {
		rng := rand.New(rand.NewPCG(seed, 97))
		l := newLines(t, ofLines, rng)
		for range 120 {
			switch rng.IntN(10) {
			case 0, 1, 2, 3:
				if err := l.move(rng, false); err != nil {
					t.Fatalf("seed %d: a circuit has moved: %v", seed, err)
				}
			case 4, 5, 6:
				n := len(l.laid)
				l.lay(rng, 20)
				laid += max(0, len(l.laid)-n)
			case 7:
				l.dim(rng)
			default:
				if len(l.order) > 0 && rng.IntN(3) == 0 {
					l.leave(rng, l.order[rng.IntN(len(l.order))])
				}
			}
			l.wanted(fmt.Sprintf("seed %d", seed))
		}
		between += l.between
	}
	if t.Logf("%d paths, %d with packets between circuits", laid, between); laid < 20 || between < 5 {
		t.Errorf("only %d paths, %d with packets between circuits", laid, between)
	}
}

// TestMultihopCareless: where ToRs do not forget paths before a circuit moves, packets go round sooner or later, and
// the checker says so.
func TestMultihopCareless(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 97))
		l := newLines(t, ofLines, rng)
		for range 60 {
			l.lay(rng, 0)
			if err := l.move(rng, true); err != nil {
				if !strings.Contains(err.Error(), "loop") {
					t.Errorf("seed %d: %v", seed, err)
				}
				return
			}
		}
	}
	t.Error("no packet went round")
}

// TestMultihopRefusedDrop: a ToR that takes no rules by source refuses to forget those of a path. The move goes on, and
// what the ToR is to forget beside them is in another Set.
func TestMultihopRefusedDrop(t *testing.T) {
	f, b := fabric(t, "hybrid:racks=4,hosts=1,spines=2", 2)
	p := multihop.Path{Src: 0, Dst: 2, Spine: pathmap.None, Circuits: []multihop.Circuit{{In: 0, Out: 1}, {In: 1, Out: 2}}}
	rules, err := b.PathRules(&p)
	if err != nil {
		t.Fatal(err)
	}
	b.Lead(&p, rules)
	m := rollout.NewMover(f, b, rollout.Options{Drain: 3, Timeout: time.Second, Retry: time.Millisecond})
	m.Begin(0, 1, 3, []southbound.CrossConnect{{In: 1, Out: 2}})
	sets, _ := m.Next(0)
	if len(sets) != 2 || !slices.Equal(sets[0].Change.Drop, b.CircuitMatches(1, 2)) ||
		!slices.Equal(sets[1].Change.Drop, b.Through(1)) {
		t.Fatalf("Sets %+v", sets)
	}
	m.Done(1, sets[1].Token, fmt.Errorf("no source: %w", southbound.ErrRefused))
	m.Done(1, sets[0].Token, nil)
	if sets, settled := m.Next(4); len(settled) > 0 || len(sets) != 1 || sets[0].Device != f.OCSNode {
		t.Fatalf("then Sets %+v, settled %+v", sets, settled)
	}
	if b.Refused(&p, rules[1]); len(b.Through(1)) > 0 || len(b.Through(0)) != 1 {
		t.Errorf("after a refusal of the path, into the circuits lead %v and %v", b.Through(0), b.Through(1))
	}
}

// TestMultihopLinkDark: with any one cable dark, packets of a whole path arrive all the same.
func TestMultihopLinkDark(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 97))
	for range tries.Of(4, 40) {
		l := newLines(t, ofLines, rng)
		for range 30 {
			if err := l.move(rng, false); err != nil {
				t.Fatal(err)
			}
		}
		for range 12 {
			l.lay(rng, 0)
		}
		for link := pathmap.LinkID(0); int(link) < len(l.f.Topology.Links()); link += 2 {
			a, b := l.f.Topology.Link(link).From, l.f.Topology.Link(link).To
			if l.f.IsOCS(a) || l.f.IsOCS(b) { // the circuits of the port, both ways, are dark then
				continue
			}
			l.x.Dark = make([]bool, len(l.f.Topology.Links()))
			l.x.Dark[link], l.x.Dark[pathmap.Reverse(link)] = true, true
			for pair, x := range l.laid {
				if _, err := l.x.Walk(pair[0], pair[1], southbound.TagCircuit); err != nil && l.whole(pair) {
					t.Fatalf("%v with a dark cable from node %d to node %d: %v", x.path, a, b, err)
				}
			}
		}
	}
}

// whole reports whether packets without a tag arrive with that cable dark: else it is not for paths to do better.
func (l *lines) whole(pair [2]southbound.RackID) bool {
	for _, r := range l.laid[pair].path.Racks(l.f) {
		if r == pair[1] {
			continue
		}
		if _, err := l.x.Walk(r, pair[1], southbound.TagDefault); err != nil {
			return false
		}
	}
	return true
}

// TestMultihopRefused: fabrics whose circuits are taken otherwise have no such paths.
func TestMultihopRefused(t *testing.T) {
	p := multihop.Path{Src: 0, Dst: 2, Spine: pathmap.None, Circuits: []multihop.Circuit{{In: 0, Out: 1}, {In: 1, Out: 2}}}
	for _, tc := range []struct{ spec, want string }{
		{"leafspine:racks=3,hosts=1,spines=2", "no optical circuit switch"},
		{"crossbar:ports=4,rate=1Gbps,dark=1ms", "none of racks and spines"},
		{"pod:cubes=4,side=2,spines=2", "belong to its slices"},
	} {
		_, b := fabric(t, tc.spec, 1)
		if _, err := b.PathRules(&p); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.spec, err, tc.want)
		}
	}
	_, b := fabric(t, "hybrid:racks=3,hosts=1,spines=2", 2)
	b.SteerAll()
	if _, err := b.PathRules(&p); err == nil || !strings.Contains(err.Error(), "by themselves") {
		t.Errorf("where all packets take circuits: %v", err)
	}
}
