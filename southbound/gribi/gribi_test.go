package gribi

import (
	"errors"
	"maps"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	spb "github.com/openconfig/gribi/v1/proto/service"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// store is a switch's tables, which refuse what stands on nothing.
type store map[string]*spb.AFTEntry

func key(instance string, e any) string {
	switch x := e.(type) {
	case *spb.AFTOperation_Ipv4:
		return instance + "|route|" + x.Ipv4.GetPrefix()
	case *spb.AFTOperation_NextHopGroup:
		return instance + "|group|" + describe(&spb.AFTOperation{Entry: x})
	case *spb.AFTOperation_NextHop:
		return instance + "|hop|" + describe(&spb.AFTOperation{Entry: x})
	}
	return ""
}

func entryOf(op *spb.AFTOperation) *spb.AFTEntry {
	e := &spb.AFTEntry{NetworkInstance: op.GetNetworkInstance()}
	switch x := op.GetEntry().(type) {
	case *spb.AFTOperation_Ipv4:
		e.Entry = &spb.AFTEntry_Ipv4{Ipv4: x.Ipv4}
	case *spb.AFTOperation_NextHopGroup:
		e.Entry = &spb.AFTEntry_NextHopGroup{NextHopGroup: x.NextHopGroup}
	case *spb.AFTOperation_NextHop:
		e.Entry = &spb.AFTEntry_NextHop{NextHop: x.NextHop}
	}
	return e
}

func (s store) do(t *testing.T, ops []*spb.AFTOperation) {
	t.Helper()
	for i, op := range ops {
		if op.GetId() != uint64(i+1) {
			t.Fatalf("operation %d has id %d", i+1, op.GetId())
		}
		k := key(op.GetNetworkInstance(), op.GetEntry())
		if delete(s, k); op.GetOp() != spb.AFTOperation_DELETE {
			s[k] = entryOf(op)
		}
		if dangling(s) {
			t.Fatalf("after %s something stands on nothing", describe(op))
		}
	}
}

func (s store) entries() []*spb.AFTEntry { return slices.Collect(maps.Values(s)) }

// dangling reports whether an entry names what there is not.
func dangling(s store) bool {
	hops, groups := map[place]bool{}, map[place]bool{}
	for _, e := range s {
		if h := e.GetNextHop(); h != nil {
			hops[place{e.GetNetworkInstance(), h.GetIndex()}] = true
		}
		if g := e.GetNextHopGroup(); g != nil {
			groups[place{e.GetNetworkInstance(), g.GetId()}] = true
		}
	}
	for _, e := range s {
		in := e.GetNetworkInstance()
		if g := e.GetNextHopGroup().GetNextHopGroup(); g != nil {
			b := g.GetBackupNextHopGroup()
			if !hops[place{in, g.GetNextHop()[0].GetIndex()}] || b != nil && !groups[place{in, b.GetValue()}] {
				return true
			}
		}
		if x := e.GetIpv4().GetIpv4Entry(); x != nil {
			if other := x.GetNextHopGroupNetworkInstance().GetValue(); other != "" {
				in = other
			}
			if !groups[place{in, x.GetNextHopGroup().GetValue()}] {
				return true
			}
		}
	}
	return false
}

// TestPlans: over seeded walks of changes, the operations of each bring the tables to exactly the rules
// that a map has, nothing ever stands on what there is not, and a change that replaces everything
// leaves nothing that no rule needs.
func TestPlans(t *testing.T) {
	for seed := range uint64(tries.Of(20, 400)) {
		r := rand.New(rand.NewPCG(seed, 139))
		n := OpenConfig(5, 4)
		if seed%2 == 1 {
			n = SONiC(5, 4, gnmi.InterfaceName)
			n.ControllerBackup = true
		}
		s, want := store{}, map[southbound.Match]southbound.Rule{}
		for range 30 {
			c := randomChange(r, &n)
			seen, err := n.read(s.entries())
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			p, err := n.plan(seen, c)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			s.do(t, p.ops)
			apply(want, c, &n)
			after, err := n.read(s.entries())
			if err != nil || !maps.Equal(after.rules, want) || !maps.Equal(after.rules, p.after.rules) ||
				!maps.Equal(after.groups, p.after.groups) || !maps.Equal(after.hops, p.after.hops) {
				t.Fatalf("seed %d: %+v, %v; want %+v", seed, after, err, want)
			}
		}
		seen, err := n.read(s.entries())
		if err != nil {
			t.Fatal(err)
		}
		p, err := n.plan(seen, &southbound.Change{Replace: true})
		if err != nil {
			t.Fatal(err)
		}
		if s.do(t, p.ops); len(s) != 0 {
			t.Errorf("seed %d: %d entries are left", seed, len(s))
		}
	}
}

func apply(want map[southbound.Match]southbound.Rule, c *southbound.Change, n *Names) {
	if c.Replace {
		clear(want)
	}
	for _, m := range c.Drop {
		delete(want, m)
	}
	for _, x := range c.Rules {
		if n.NoBackups {
			x.Backup = southbound.NoPort
		}
		want[x.Match] = x
	}
}

func randomChange(r *rand.Rand, n *Names) *southbound.Change {
	match := func() southbound.Match {
		m := southbound.Match{Dst: southbound.RackID(r.Int32N(n.Racks)), Tag: southbound.Tag(r.IntN(9)),
			Src: southbound.AnyRack}
		if m.Tag == southbound.Tags {
			m.Tag = southbound.AnyTag
		}
		return m
	}
	c, seen := &southbound.Change{Replace: r.IntN(6) == 0}, map[southbound.Match]bool{}
	for range r.IntN(5) {
		x := southbound.Rule{Match: match(), Primary: southbound.Port(r.Int32N(n.Ports)),
			Backup: southbound.Port(r.Int32N(n.Ports+1)) - 1}
		if x.Backup == x.Primary {
			x.Backup = southbound.NoPort
		}
		if !seen[x.Match] {
			c.Rules = append(c.Rules, x)
		}
		seen[x.Match] = true
	}
	for range r.IntN(3) {
		c.Drop = append(c.Drop, match())
	}
	return c
}

// TestMovedCables: where the addresses of ports have changed places, the standing rules are read as
// what they do now, and the same rules again send the next hops and nothing else twice.
func TestMovedCables(t *testing.T) {
	n, s := OpenConfig(4, 2), store{}
	rule := southbound.Rule{Match: southbound.Match{Dst: 1, Tag: 3, Src: southbound.AnyRack},
		Primary: 0, Backup: 3}
	set := func() []*spb.AFTOperation {
		t.Helper()
		seen, err := n.read(s.entries())
		if err != nil {
			t.Fatal(err)
		}
		p, err := n.plan(seen, &southbound.Change{Rules: []southbound.Rule{rule}})
		if err != nil {
			t.Fatal(err)
		}
		s.do(t, p.ops)
		return p.ops
	}
	set()
	n.NextHop = func(p southbound.Port) netip.Addr { return gnmi.NextHop(3 - p) }
	seen, err := n.read(s.entries())
	if err != nil || seen.rules[rule.Match].Primary != 3 || seen.rules[rule.Match].Backup != 0 {
		t.Fatalf("%+v, %v", seen, err)
	}
	if ops := set(); len(ops) != 3 {
		t.Errorf("%v", ops)
	}
	if seen, err := n.read(s.entries()); err != nil || seen.rules[rule.Match] != rule {
		t.Errorf("%+v, %v", seen, err)
	}
}

// TestRefuses: what the switch would take in another meaning is refused before anything is sent.
func TestRefuses(t *testing.T) {
	n := SONiC(4, 2, gnmi.InterfaceName)
	n.Tagged = ""
	m := southbound.Match{Dst: 1, Tag: southbound.AnyTag, Src: southbound.AnyRack}
	tagged, sourced := m, m
	tagged.Tag, sourced.Src = 3, 0
	for name, c := range map[string]*southbound.Change{
		"tag":     {Rules: []southbound.Rule{{Match: tagged, Primary: 0, Backup: southbound.NoPort}}},
		"source":  {Rules: []southbound.Rule{{Match: sourced, Primary: 0, Backup: southbound.NoPort}}},
		"backup":  {Rules: []southbound.Rule{{Match: m, Primary: 0, Backup: 1}}},
		"circuit": {Connect: []southbound.CrossConnect{{In: 0, Out: 1}}},
		"drop":    {Drop: []southbound.Match{tagged}},
	} {
		if _, err := n.plan(&table{}, c); !errors.Is(err, southbound.ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzRead: whatever entries a switch sends, reading ends with a table of rules in range, or with an
// error, and the rules that were read can be planned anew.
func FuzzRead(f *testing.F) {
	n := OpenConfig(4, 4)
	p, err := n.plan(&table{rules: map[southbound.Match]southbound.Rule{}, stands: map[southbound.Match]bool{},
		hops: map[place]bool{}, groups: map[place]bool{}}, &southbound.Change{Rules: []southbound.Rule{
		{Match: southbound.Match{Dst: 1, Tag: 3, Src: southbound.AnyRack}, Primary: 0, Backup: 3}}})
	if err != nil {
		f.Fatal(err)
	}
	r := &spb.GetResponse{}
	for _, op := range p.ops {
		r.Entry = append(r.Entry, entryOf(op))
	}
	seed, err := proto.Marshal(r)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		var r spb.GetResponse
		if proto.Unmarshal(data, &r) != nil {
			return
		}
		seen, err := n.read(r.GetEntry())
		if err != nil {
			return
		}
		for _, x := range seen.sorted() {
			if x.Primary < 0 || int32(x.Primary) >= n.Ports || int32(x.Backup) >= n.Ports || x.Dst < 0 ||
				int32(x.Dst) >= n.Racks {
				t.Fatalf("%+v", x)
			}
		}
		if _, err := n.plan(seen, &southbound.Change{Replace: true}); err != nil {
			t.Fatal(err)
		}
	})
}
