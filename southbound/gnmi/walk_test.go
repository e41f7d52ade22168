package gnmi_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// store is a device that keeps what is set: configuration, by path.
type store struct {
	model  *schema.Model
	leaves map[string]schema.Leaf
}

func newStore(p gnmi.Profile) *store {
	return &store{model: p.Model(), leaves: map[string]schema.Leaf{}}
}

// set does a request as the specification has it, held against the model.
func (s *store) set(t *testing.T, req *gpb.SetRequest) {
	t.Helper()
	validate(t, s.model, req)
	path := func(p *gpb.Path) schema.Path {
		q, err := s.model.FromProto(req.GetPrefix(), p)
		if err != nil {
			t.Fatal(err)
		}
		return q
	}
	remove := func(p schema.Path) {
		for text, l := range s.leaves {
			if p.Match(l.Path) {
				delete(s.leaves, text)
			}
		}
	}
	put := func(u *gpb.Update) {
		leaves, err := s.model.Decode(path(u.GetPath()), u.GetVal())
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range leaves {
			s.leaves[l.Path.String()] = l
		}
	}
	for _, d := range req.GetDelete() {
		remove(path(d))
	}
	for _, u := range req.GetReplace() {
		remove(path(u.GetPath()))
		put(u)
	}
	for _, u := range req.GetUpdate() {
		put(u)
	}
}

// under returns the leaves at or below the paths, by path, as they come back over the wire.
func (s *store) under(t *testing.T, paths []schema.Path) []schema.Leaf {
	t.Helper()
	var out []schema.Leaf
	for _, l := range s.leaves {
		if !slices.ContainsFunc(paths, func(p schema.Path) bool { return p.Match(l.Path) }) {
			continue
		}
		n, err := s.model.Lookup(l.Path, true)
		if err != nil {
			t.Fatal(err)
		}
		tv, err := n.Encode(l.Value, gpb.Encoding_JSON_IETF)
		if err != nil {
			t.Fatal(err)
		}
		back, err := s.model.FromProto(nil, s.model.Proto(l.Path))
		if err != nil {
			t.Fatal(err)
		}
		leaves, err := s.model.DecodeKnown(back, tv)
		if err != nil || len(leaves) != 1 {
			t.Fatal(leaves, err)
		}
		out = append(out, leaves[0])
	}
	slices.SortFunc(out, func(a, b schema.Leaf) int { return cmp.Compare(a.Path.String(), b.Path.String()) })
	return out
}

// TestRuleWalks: after any changes a device's rules read back as those of a plain map, also by a writer
// that has just come.
func TestRuleWalks(t *testing.T) {
	t.Parallel()
	for _, p := range []gnmi.Profile{gnmi.OpenConfigPlain{Ports: 6, Racks: 5, ReadConfig: true},
		gnmi.SRLinux{Ports: 6, Racks: 5, ControllerBackup: true},
		gnmi.SONiC{Ports: 6, Racks: 5, Lanes: 8, ControllerBackup: true}} {
		t.Run(p.Name(), func(t *testing.T) {
			for seed := range tries.Of[uint64](60, 200) {
				r := rand.New(rand.NewPCG(seed, 3))
				s, reference := newStore(p), map[southbound.Match]southbound.Rule{}
				w := p.NewWriter(nil)
				for range 6 {
					if r.IntN(3) == 0 {
						w = p.NewWriter(s.under(t, p.ConfigPaths()))
					}
					c := randomRules(r)
					for i := range c.Rules {
						if p.Name() == "openconfig-plain" { // it has none
							c.Rules[i].Backup = southbound.NoPort
						}
					}
					req, err := w.Encode(c)
					if err != nil {
						t.Fatal(err)
					}
					s.set(t, req)
					w.Accepted()
					if c.Replace {
						clear(reference)
					}
					for _, m := range c.Drop {
						delete(reference, m)
					}
					for _, n := range c.Rules {
						reference[n.Match] = n
					}
					seen, err := p.Seen(s.under(t, p.StatePaths()))
					if err != nil {
						t.Fatal(err)
					}
					if len(seen.Rules) != len(reference) {
						t.Fatalf("seed %d: %d rules, want %d", seed, len(seen.Rules), len(reference))
					}
					for _, n := range seen.Rules {
						if reference[n.Match] != n {
							t.Fatalf("seed %d: rule %+v, want %+v", seed, n, reference[n.Match])
						}
					}
				}
			}
		})
	}
}

func randomRules(r *rand.Rand) *southbound.Change {
	c := &southbound.Change{Replace: r.IntN(6) == 0}
	for range r.IntN(5) {
		n := southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(r.Int32N(3)),
			Tag: southbound.Tag(r.IntN(8)),
			Src: southbound.RackID(r.Int32N(4)) - 1},
			Primary: southbound.Port(r.Int32N(3)), Backup: 3 + southbound.Port(r.Int32N(3))}
		if r.IntN(3) == 0 {
			n.Tag, n.Backup = southbound.AnyTag, southbound.NoPort
		}
		if !slices.ContainsFunc(c.Rules, func(o southbound.Rule) bool { return o.Match == n.Match }) {
			c.Rules = append(c.Rules, n)
		}
	}
	for range r.IntN(4) {
		c.Drop = append(c.Drop, southbound.Match{Dst: southbound.RackID(r.Int32N(3)),
			Tag: southbound.Tag(r.IntN(8)),
			Src: southbound.RackID(r.Int32N(4)) - 1})
	}
	return c
}

// TestCircuitWalks: the same for circuits. Where a profile has state beside the configuration, every
// circuit is tuned. Some changes are refused, and some are empty: neither makes the writer forget or
// the next change remove existing circuits.
func TestCircuitWalks(t *testing.T) {
	t.Parallel()
	ocp, sonic := gnmi.OCP{Ports: 6}, gnmi.SONiCOCS{Ports: 6}
	state := map[string]func(in, out southbound.Port) schema.Leaf{
		ocp.Name(): func(in, out southbound.Port) schema.Leaf {
			return schema.Leaf{Path: gnmi.ConnectionPath(gnmi.ConnectionName(in, out)).With("state", "status"),
				Value: southbound.Connected.String()}
		},
		sonic.Name(): func(in, out southbound.Port) schema.Leaf {
			return schema.Leaf{Path: sonic.ConnectStateTable()[:2].Entry("OCS_CROSS_CONNECT_TABLE", "key",
				gnmi.CrossConnectID(in, out)).With("status"), Value: "enabled"}
		},
	}
	for _, p := range []gnmi.Profile{gnmi.Polatis{Ports: 6}, ocp, sonic} {
		t.Run(p.Name(), func(t *testing.T) {
			for seed := range tries.Of[uint64](80, 300) {
				r := rand.New(rand.NewPCG(seed, 4))
				s, reference := newStore(p), map[southbound.Port]southbound.Port{}
				w := p.NewWriter(nil)
				for range 12 {
					if r.IntN(3) == 0 {
						w = p.NewWriter(s.under(t, p.ConfigPaths()))
					}
					c := randomConnects(r)
					req, err := w.Encode(c)
					if err != nil {
						t.Fatal(err)
					}
					if r.IntN(4) > 0 {
						s.set(t, req)
						w.Accepted()
						applyConnects(reference, c)
					}
					leaves := s.under(t, p.StatePaths())
					for in, out := range reference {
						if of := state[p.Name()]; of != nil {
							leaves = append(leaves, of(in, out))
						}
					}
					seen, err := p.Seen(leaves)
					if err != nil {
						t.Fatal(err)
					}
					if len(seen.Connections) != len(reference) {
						t.Fatalf("seed %d: %+v, want %v", seed, seen.Connections, reference)
					}
					for _, x := range seen.Connections {
						if out, ok := reference[x.In]; !ok || out != x.Out || x.Status != southbound.Connected {
							t.Fatalf("seed %d: %+v, want %v", seed, seen.Connections, reference)
						}
					}
					if held := configured(s, p); held != len(reference) {
						t.Fatalf("seed %d: %d circuits are configured, want %v", seed, held, reference)
					}
				}
			}
		})
	}
}

// configured counts the circuits that a device holds as configured.
func configured(s *store, p gnmi.Profile) (n int) {
	last := map[string]string{"polatis": "egress", "ocp": "output-port-name", "sonic-ocs": "b_side"}[p.Name()]
	for _, l := range s.leaves {
		if l.Path[len(l.Path)-1].Name == last {
			n++
		}
	}
	return n
}

// TestNothingFirst: an empty first change is accepted, and the writer still knows the existing
// circuits: a change that replaces everything removes them, and a change that moves one circuit leaves
// the others.
func TestNothingFirst(t *testing.T) {
	sonic := gnmi.SONiCOCS{Ports: 8}
	for _, tt := range []struct {
		profile gnmi.Profile
		config  []schema.Leaf
	}{
		{gnmi.OCP{Ports: 8}, slices.Concat(gnmi.ConnectionLeaves("in0-out1", 0, 1),
			gnmi.ConnectionLeaves("b", 2, 3))},
		{gnmi.Polatis{Ports: 8}, slices.Concat(gnmi.Polatis{Ports: 8}.PairLeaves(0, 1),
			gnmi.Polatis{Ports: 8}.PairLeaves(2, 3))},
		{sonic, slices.Concat(sonic.ConnectLeaves(0, 1), sonic.ConnectLeaves(2, 3))},
	} {
		t.Run(tt.profile.Name(), func(t *testing.T) {
			for refused := range 2 {
				s, w := newStore(tt.profile), tt.profile.NewWriter(tt.config)
				for _, l := range tt.config {
					s.leaves[l.Path.String()] = l
				}
				encode := func(c *southbound.Change, accepted bool) {
					t.Helper()
					req, err := w.Encode(c)
					if err != nil {
						t.Fatal(err)
					}
					if accepted {
						s.set(t, req)
						w.Accepted()
					}
				}
				if refused == 1 { // the configuration does not hold what was refused before, either
					encode(connect(0, southbound.NoPort, 2, southbound.NoPort), false)
				}
				encode(&southbound.Change{}, true)
				if n := configured(s, tt.profile); n != 2 {
					t.Fatalf("%d circuits are configured after nothing was asked for, want 2", n)
				}
				encode(connect(4, 3), true)
				if n := configured(s, tt.profile); n != 2 {
					t.Errorf("%d circuits are configured once one has been displaced, want 2", n)
				}
				encode(&southbound.Change{Replace: true, Connect: connect(5, 6).Connect}, true)
				if n := configured(s, tt.profile); n != 1 {
					t.Errorf("%d circuits are configured after a replacement by one", n)
				}
			}
		})
	}
}

// TestHidden: a connection with state but no configuration holds its ports: a change that takes one of
// them deletes it. A connection that is going already, or whose name gives no ports, is not deleted.
func TestHidden(t *testing.T) {
	leaf := func(name, field, value string) schema.Leaf {
		return schema.Leaf{Path: gnmi.ConnectionPath(name).With("state", field), Value: value}
	}
	config := gnmi.ConnectionLeaves("in6-out6", 6, 6)
	for _, tt := range []struct {
		name string
		says []schema.Leaf
		ask  *southbound.Change
		want []string // what is deleted
	}{
		{"its input", []schema.Leaf{leaf("in0-out1", "status", "CONNECTED")}, connect(0, 2),
			[]string{"in0-out1"}},
		{"its output", []schema.Leaf{leaf("in0-out1", "status", "FAILED")}, connect(3, 1), []string{"in0-out1"}},
		{"other ports", []schema.Leaf{leaf("in0-out1", "status", "CONNECTED")}, connect(3, 4), nil},
		{"everything", []schema.Leaf{leaf("in0-out1", "status", "CONNECTED")}, &southbound.Change{Replace: true},
			[]string{"in6-out6", "in0-out1"}},
		{"going", []schema.Leaf{leaf("in0-out1", "status", "PENDING_DELETION")}, connect(0, 2), nil},
		{"another leaf", []schema.Leaf{leaf("in0-out1", "name", "in0-out1")}, connect(0, 2), nil},
		{"no ports", []schema.Leaf{leaf("by-hand", "status", "CONNECTED")}, connect(0, 2), nil},
		{"configured, too", []schema.Leaf{leaf("in6-out6", "status", "CONNECTED")}, connect(6, 2),
			[]string{"in6-out6"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := gnmi.OCP{Ports: 8}.NewWriter(append(slices.Clone(config), tt.says...)).Encode(tt.ask)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range req.GetDelete() {
				p, err := schema.OCP().FromProto(req.GetPrefix(), d)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, p[1].Key("name"))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("deletes %v, want %v", got, tt.want)
			}
		})
	}
}

func randomConnects(r *rand.Rand) *southbound.Change {
	ins, outs := r.Perm(6), r.Perm(6)
	c := &southbound.Change{Replace: r.IntN(6) == 0}
	for i := range r.IntN(4) {
		x := southbound.CrossConnect{In: southbound.Port(ins[i]), Out: southbound.Port(outs[i])}
		if r.IntN(4) == 0 {
			x = southbound.CrossConnect{In: x.In, Off: true}
		}
		c.Connect = append(c.Connect, x)
	}
	return c
}

func applyConnects(reference map[southbound.Port]southbound.Port, c *southbound.Change) {
	if c.Replace {
		clear(reference)
	}
	for _, x := range c.Connect {
		delete(reference, x.In)
		for in, out := range reference {
			if !x.Off && out == x.Out {
				delete(reference, in)
			}
		}
	}
	for _, x := range c.Connect {
		if !x.Off {
			reference[x.In] = x.Out
		}
	}
}

// TestCrossDecoder follows a circuit that is made, replaced before its deletion is done, and requested
// again.
func TestCrossDecoder(t *testing.T) {
	p := gnmi.SONiCOCS{Ports: 4}
	state := func(in, out southbound.Port, s string) []schema.Leaf {
		return []schema.Leaf{{Path: p.ConnectStateTable()[:2].Entry("OCS_CROSS_CONNECT_TABLE", "key",
			gnmi.CrossConnectID(in, out)).With("status"), Value: s}}
	}
	port := func(id, s string) []schema.Leaf {
		return []schema.Leaf{{Path: p.PortStateTable()[:2].Entry("OCS_PORT_TABLE", "key",
			id).With("oper_status"), Value: s}}
	}
	config := func(in, out southbound.Port) schema.Path {
		return p.ConnectTable()[:2].Entry("OCS_CROSS_CONNECT", "key", gnmi.CrossConnectID(in, out))
	}
	gone := func(ps ...schema.Path) []schema.Path { return ps }
	event := func(in, out southbound.Port, s southbound.Status) []southbound.DeviceEvent {
		return []southbound.DeviceEvent{{Kind: southbound.ConnectionStatus, In: in, Out: out, Status: s}}
	}
	d := p.NewDecoder()
	for i, step := range []struct {
		gone   []schema.Path
		leaves []schema.Leaf
		want   []southbound.DeviceEvent
	}{
		{nil, p.ConnectLeaves(0, 1), nil},
		{nil, state(0, 1, "disabled"), event(0, 1, southbound.PendingConnection)},
		{nil, state(0, 1, "enabled"), event(0, 1, southbound.Connected)},
		{nil, state(0, 1, "enabled"), nil},
		{gone(config(0, 1)), nil, event(0, 1, southbound.PendingDeletion)},
		{nil, p.ConnectLeaves(0, 1), event(0, 1, southbound.Connected)},
		{gone(p.ConnectTable()), nil, event(0, 1, southbound.PendingDeletion)},
		{gone(p.ConnectStateTable()), nil, event(0, 1, southbound.Disconnected)},
		{nil, state(2, 2, "invalid"), event(2, 2, southbound.PendingDeletion)}, // it is not configured
		{nil, p.ConnectLeaves(2, 2), event(2, 2, southbound.Invalid)},
		{nil, state(2, 2, "disabled"), event(2, 2, southbound.PendingConnection)},
		{nil, port("3B", "failed"), event(2, 2, southbound.Failed)},
		{nil, port("3B", "tuning"), event(2, 2, southbound.PendingConnection)},
		{nil, port("4B", "failed"), nil},
	} {
		got, err := d.Decode(step.gone, step.leaves)
		if err != nil || !slices.Equal(got, step.want) {
			t.Fatalf("step %d: %+v, %v; want %+v", i+1, got, err, step.want)
		}
	}
	if _, err := d.Decode(nil, state(0, 0, "enabled")); err != nil {
		t.Error(err)
	}
	bad := []schema.Leaf{{Path: p.ConnectStateTable()[:2].Entry("OCS_CROSS_CONNECT_TABLE", "key",
		"left-right").
		With("status"), Value: "enabled"}}
	if _, err := d.Decode(nil, bad); err == nil {
		t.Error("a row without ports was taken")
	}
}

// TestCrossDecoderSides: where a cross-connect has the status of both sides, it is connected once both
// are tuned.
func TestCrossDecoderSides(t *testing.T) {
	p := gnmi.SONiCOCS{Ports: 4, Tables: schema.HLDOCSTables()}
	side := func(field, s string) []schema.Leaf {
		at := p.ConnectStateTable()[:2].Entry("OCS_CROSS_CONNECT", "key", "1A-2B")
		return []schema.Leaf{{Path: at.With(field), Value: s}}
	}
	d := p.NewDecoder()
	for i, step := range []struct {
		leaves []schema.Leaf
		want   southbound.Status // Disconnected: no event
	}{
		{p.ConnectLeaves(0, 1), southbound.Disconnected},
		{side("a_side_status", "tuned"), southbound.PendingConnection},
		{side("b_side_status", "tuning"), southbound.Disconnected},
		{side("b_side_status", "tuned"), southbound.Connected},
		{side("a_side_status", "failed"), southbound.Failed},
		{side("a_side_status", "tuned"), southbound.Connected},
		{side("b_side_status", "blocked"), southbound.PendingConnection},
	} {
		got, err := d.Decode(nil, step.leaves)
		if err != nil || len(got) > 1 || (len(got) == 1) != (step.want != southbound.Disconnected) ||
			len(got) == 1 && (got[0].Status != step.want || got[0].In != 0 || got[0].Out != 1) {
			t.Fatalf("step %d: %+v, %v; want %v", i+1, got, err, step.want)
		}
	}
}
