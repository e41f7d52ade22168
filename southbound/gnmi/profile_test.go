package gnmi_test

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestSequence: every match has its own place, and what is more specific comes first.
func TestSequence(t *testing.T) {
	p := gnmi.OpenConfig{Ports: 4, Racks: 5}
	seen := map[uint32]southbound.Match{}
	for dst := range southbound.RackID(5) {
		for src := southbound.AnyRack; src < 5; src++ {
			for _, tag := range []southbound.Tag{0, 1, 7, southbound.AnyTag} {
				m := southbound.Match{Dst: dst, Tag: tag, Src: src}
				seq := p.Sequence(m)
				if old, dup := seen[seq]; dup || seq == 0 {
					t.Fatalf("%+v and %+v are both at %d", old, m, seq)
				}
				seen[seq] = m
				anyTag := southbound.Match{Dst: dst, Tag: southbound.AnyTag, Src: src}
				if tag != southbound.AnyTag && p.Sequence(anyTag) <= seq {
					t.Errorf("%+v does not come before %+v", m, anyTag)
				}
				if wide := (southbound.Match{Dst: dst, Tag: tag,
					Src: southbound.AnyRack}); src != southbound.AnyRack &&
					p.Sequence(wide) <= seq {
					t.Errorf("%+v does not come before %+v", m, wide)
				}
			}
		}
	}
	big := gnmi.OpenConfig{Racks: gnmi.MaxSequenceRacks}
	last := southbound.Match{Dst: gnmi.MaxSequenceRacks - 1, Tag: southbound.AnyTag, Src: southbound.AnyRack}
	if got, want := uint64(big.Sequence(last)), uint64(gnmi.MaxSequenceRacks)*(gnmi.MaxSequenceRacks+1)*9; got != want {
		t.Errorf("the last place is %d, want %d", got, want)
	}
}

func TestNames(t *testing.T) {
	for _, p := range []southbound.Port{0, 9, 255, 256, 65535} {
		if q, ok := gnmi.PortNamed(gnmi.InterfaceName(p)); !ok || q != p {
			t.Errorf("interface of port %d: %d, %v", p, q, ok)
		}
		if q, ok := gnmi.NextHopPort(gnmi.NextHop(p)); !ok || q != p {
			t.Errorf("next hop of port %d: %d, %v", p, q, ok)
		}
		if in, out, ok := gnmi.ConnectionNamed(gnmi.ConnectionName(p, 7)); !ok || in != p || out != 7 {
			t.Errorf("connection of port %d: %d→%d, %v", p, in, out, ok)
		}
	}
	for _, name := range []string{"", "Ethernet", "Ethernet01", "Ethernet-1", "Ethernet1.0", "eth1",
		"Ethernet99999999999"} {
		if p, ok := gnmi.PortNamed(name); ok {
			t.Errorf("%q is port %d", name, p)
		}
	}
	for _, name := range []string{"", "in1", "in1-out", "out1-in1", "in1-out2-out3", "in01-out2"} {
		if _, _, ok := gnmi.ConnectionNamed(name); ok {
			t.Errorf("%q is a connection", name)
		}
	}
}

func TestDSCPs(t *testing.T) {
	shuffled := []schema.Value{uint64(63), uint64(7), uint64(15), uint64(23), uint64(31),
		uint64(39), uint64(47),
		uint64(55)}
	if tag, ok := gnmi.TagOfDSCPs(shuffled); !ok || tag != 7 {
		t.Errorf("tag %d, %v", tag, ok)
	}
	shuffled[3] = uint64(24)
	twice := append(slices.Clone(shuffled[:7]), shuffled[0])
	for _, set := range [][]schema.Value{nil, shuffled, shuffled[:7], twice,
		{"x", "x", "x", "x", "x", "x", "x", "x"}} {
		if tag, ok := gnmi.TagOfDSCPs(set); ok {
			t.Errorf("%v is tag %d", set, tag)
		}
	}
}

// TestRulesThereAndBack: what is written as configuration reads back as the same rules, for seeded tables.
func TestRulesThereAndBack(t *testing.T) {
	p := gnmi.OpenConfig{Ports: 8, Racks: 6}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		want := map[southbound.Match]southbound.Rule{}
		leaves := p.BaseLeaves()
		for range r.IntN(20) {
			n := southbound.Rule{Match: southbound.Match{Dst: southbound.RackID(r.Int32N(6)),
				Src: southbound.RackID(r.Int32N(7)) - 1, Tag: southbound.Tag(r.IntN(8))},
				Primary: southbound.Port(r.Int32N(4)), Backup: 4 + southbound.Port(r.Int32N(4))}
			if r.IntN(3) == 0 {
				n.Tag, n.Backup = southbound.AnyTag, southbound.NoPort
			}
			if _, dup := want[n.Match]; dup {
				continue
			}
			want[n.Match] = n
			leaves = append(leaves, p.GroupLeaves(n.Primary, n.Backup)...)
			leaves = append(leaves, p.RuleLeaves(n, false)...)
		}
		state := make([]schema.Leaf, len(leaves))
		for i, l := range leaves { // a device's state repeats its configuration
			q := slices.Clone(l.Path)
			q[slices.IndexFunc(q, func(e schema.Elem) bool { return e.Name == "config" })].Name = "state"
			state[i] = schema.Leaf{Path: q, Value: l.Value}
		}
		seen, err := p.Seen(state)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(seen.Rules) != len(want) {
			t.Fatalf("seed %d: %d rules, want %d", seed, len(seen.Rules), len(want))
		}
		for _, got := range seen.Rules {
			if want[got.Match] != got {
				t.Fatalf("seed %d: got %+v, want %+v", seed, got, want[got.Match])
			}
		}
	}
}

func TestSeenRefuses(t *testing.T) {
	p := gnmi.OpenConfig{Ports: 4, Racks: 4}
	of := func(policy, drop string) []schema.Leaf {
		var out []schema.Leaf
		at, err := schema.Parse("/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/" +
			"policy[policy-id=" + policy + "]/rules/rule[sequence-id=9]")
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range gnmi.RuleLeavesAt(at, 9, "g",
			southbound.Match{Dst: 1, Tag: 7, Src: southbound.AnyRack}, true) {
			if l.Path[len(l.Path)-1].Name != drop {
				out = append(out, l)
			}
		}
		return out
	}
	for _, drop := range []string{"destination-address", "next-hop-group", "nothing"} {
		if s, err := p.Seen(of("lightloom", drop)); err == nil {
			t.Errorf("without %s: %+v", drop, s)
		}
		if s, err := p.Seen(of("somebodys", drop)); err != nil || len(s.Rules) > 0 {
			t.Errorf("another's policy, without %s: %+v, %v", drop, s, err)
		}
	}
}

func TestEncodeRefuses(t *testing.T) {
	w := gnmi.OpenConfig{Ports: 1 << 17, Racks: 4}.NewWriter(nil)
	if _, err := w.Encode(&southbound.Change{Replace: true}); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("too many ports: %v", err)
	}
	for _, x := range []southbound.CrossConnect{{In: 8, Out: 0}, {In: 0, Out: 8}, {In: -1, Out: 0},
		{In: 8, Off: true}} {
		_, err := gnmi.OCP{Ports: 8}.NewWriter(nil).Encode(&southbound.Change{Connect: []southbound.CrossConnect{x}})
		if !errors.Is(err, southbound.ErrRefused) || !strings.Contains(err.Error(), "ports are 0 to 7") {
			t.Errorf("%+v: %v", x, err)
		}
	}
}

func TestDecoders(t *testing.T) {
	path := func(s string) schema.Path {
		p, err := schema.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	oper := func(name, status string) schema.Leaf {
		return schema.Leaf{Path: path("/interfaces/interface[name=" + name + "]/state/oper-status"),
			Value: status}
	}
	status := func(name, s string) schema.Leaf {
		return schema.Leaf{Path: path("/connections/port-connection[name=" + name + "]/state/status"), Value: s}
	}
	type step struct {
		gone   []schema.Path
		leaves []schema.Leaf
		want   []southbound.DeviceEvent
		err    bool
	}
	port := func(k southbound.DeviceEventKind, p southbound.Port) southbound.DeviceEvent {
		return southbound.DeviceEvent{Kind: k, In: p, Out: southbound.NoPort}
	}
	conn := func(in, out southbound.Port, s southbound.Status) southbound.DeviceEvent {
		return southbound.DeviceEvent{Kind: southbound.ConnectionStatus, In: in, Out: out, Status: s}
	}
	sonicPort := func(name, oper string) schema.Leaf {
		return schema.Leaf{Path: path("/STATE_DB/localhost/PORT_TABLE[key=" + name + "]/netdev_oper_status"), Value: oper}
	}
	srlPort := func(name, oper string) schema.Leaf {
		return schema.Leaf{Path: path("/interface[name=" + name + "]/oper-state"), Value: oper}
	}
	pairs := gnmi.Polatis{Ports: 4}
	tests := []struct {
		name    string
		profile gnmi.Profile
		steps   []step
	}{
		{"ports", gnmi.OpenConfig{Ports: 4}, []step{
			{leaves: []schema.Leaf{oper("Ethernet0", "UP"), oper("Ethernet1", "DOWN"),
				oper("Management0", "DOWN")},
				want: []southbound.DeviceEvent{port(southbound.PortDown, 1)}},
			{leaves: []schema.Leaf{oper("Ethernet1", "LOWER_LAYER_DOWN")}}, // still down
			{leaves: []schema.Leaf{oper("Ethernet1", "UP")},
				want: []southbound.DeviceEvent{port(southbound.PortUp, 1)}},
			{gone: []schema.Path{path("/interfaces/interface[name=Ethernet2]")},
				want: []southbound.DeviceEvent{port(southbound.PortDown, 2)}},
		}},
		{"circuits", gnmi.OCP{Ports: 8}, []step{
			{leaves: []schema.Leaf{status("in0-out1", "CONNECTED"), status("in2-out3", "PENDING_CONNECTION")},
				want: []southbound.DeviceEvent{conn(0, 1, southbound.Connected),
					conn(2, 3, southbound.PendingConnection)}},
			{gone: []schema.Path{path("/connections/port-connection[name=in0-out1]/config/name")}},
			{gone: []schema.Path{path("/connections/port-connection[name=in0-out1]")},
				leaves: []schema.Leaf{status("in2-out3", "FAILED")},
				want: []southbound.DeviceEvent{conn(0, 1, southbound.Disconnected),
					conn(2, 3, southbound.Failed)}},
			{gone: []schema.Path{path("/connections")},
				want: []southbound.DeviceEvent{conn(2, 3, southbound.Disconnected)}},
			{leaves: append(gnmi.ConnectionLeaves("by-hand", 4, 5), status("by-hand", "CONNECTED")),
				want: []southbound.DeviceEvent{conn(4, 5, southbound.Connected)}},
			{gone: []schema.Path{path("/connections/port-connection[name=by-hand]")},
				want: []southbound.DeviceEvent{conn(4, 5, southbound.Disconnected)}},
			{leaves: []schema.Leaf{status("unknown", "CONNECTED")}, err: true},
			{leaves: []schema.Leaf{status("in0-out1", "SHINING")}, err: true},
		}},
		{"ports of SONiC", gnmi.SONiC{Ports: 4, Lanes: 8}, []step{
			{leaves: []schema.Leaf{sonicPort("Ethernet0", "up"), sonicPort("Ethernet8", "down"),
				sonicPort("Ethernet4", "down"),
				sonicPort("Ethernet32", "down")}, want: []southbound.DeviceEvent{port(southbound.PortDown, 1)}},
			{leaves: []schema.Leaf{sonicPort("Ethernet8", "up")},
				want: []southbound.DeviceEvent{port(southbound.PortUp, 1)}},
			{gone: []schema.Path{path("/STATE_DB/localhost/PORT_TABLE[key=Ethernet16]")},
				want: []southbound.DeviceEvent{port(southbound.PortDown, 2)}},
			{gone: []schema.Path{path("/STATE_DB/localhost/PORT_TABLE[key=Ethernet4]")}}, // a name of no port
			{leaves: []schema.Leaf{sonicPort("Ethernet16", "up")},
				want: []southbound.DeviceEvent{port(southbound.PortUp, 2)}},
		}},
		{"ports of SR Linux", gnmi.SRLinux{Ports: 4, Racks: 4}, []step{
			{leaves: []schema.Leaf{srlPort("ethernet-1/1", "up"), srlPort("ethernet-1/2", "down")},
				want: []southbound.DeviceEvent{port(southbound.PortDown, 1)}},
			{gone: []schema.Path{path("/interface[name=ethernet-1/3]")},
				want: []southbound.DeviceEvent{port(southbound.PortDown, 2)}},
			{gone: []schema.Path{path("/interface[name=mgmt0]"), path("/system")}},
			{leaves: []schema.Leaf{srlPort("ethernet-1/3", "up")},
				want: []southbound.DeviceEvent{port(southbound.PortUp, 2)}},
		}},
		{"pairs", gnmi.Polatis{Ports: 4}, []step{
			{leaves: slices.Concat(pairs.PairLeaves(0, 1), pairs.PairLeaves(2, 3)),
				want: []southbound.DeviceEvent{conn(0, 1, southbound.Connected), conn(2, 3, southbound.Connected)}},
			{leaves: pairs.PairLeaves(0, 1)},                                       // said again
			{gone: []schema.Path{path("/cross-connects/pair[ingress=1]/ingress")}}, // not where it leads
			{gone: []schema.Path{path("/cross-connects/pair[ingress=2]")}},         // never stood
			{leaves: pairs.PairLeaves(0, 2),
				want: []southbound.DeviceEvent{conn(0, 1, southbound.Disconnected),
					conn(0, 2, southbound.Connected)}},
			{gone: []schema.Path{path("/cross-connects/pair[ingress=1]")}, leaves: pairs.PairLeaves(3, 2),
				want: []southbound.DeviceEvent{conn(0, 2, southbound.Disconnected),
					conn(3, 2, southbound.Connected)}},
			{gone: []schema.Path{path("/cross-connects/pair[ingress=1]")}}, // gone already
			{leaves: pairs.PairLeaves(0, 0), want: []southbound.DeviceEvent{conn(0, 0, southbound.Connected)}},
			{gone: []schema.Path{path("/cross-connects")}, want: []southbound.DeviceEvent{
				conn(0, 0, southbound.Disconnected), conn(2, 3, southbound.Disconnected), conn(3, 2,
					southbound.Disconnected)}},
			{leaves: []schema.Leaf{{Path: path("/cross-connects/pair[ingress=1]/egress"),
				Value: uint64(4)}}, err: true},
			{leaves: []schema.Leaf{{Path: path("/cross-connects/pair[ingress=1]/egress"),
				Value: uint64(9)}}, err: true},
			{leaves: []schema.Leaf{{Path: path("/cross-connects/pair[ingress=5]/egress"),
				Value: uint64(5)}}, err: true},
			{leaves: []schema.Leaf{{Path: path("/cross-connects/pair[ingress=0]/egress"),
				Value: uint64(5)}}, err: true},
			{leaves: pairs.PairLeaves(3, 3), want: []southbound.DeviceEvent{conn(3, 3, southbound.Connected)}},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := tt.profile.NewDecoder()
			for i, s := range tt.steps {
				got, err := d.Decode(s.gone, s.leaves)
				if (err != nil) != s.err || !reflect.DeepEqual(got, s.want) {
					t.Errorf("step %d: got %+v, %v, want %+v", i, got, err, s.want)
				}
			}
		})
	}
}

func TestCheckCapabilities(t *testing.T) {
	model := func(name, version string) *gpb.CapabilityResponse {
		return &gpb.CapabilityResponse{SupportedModels: []*gpb.ModelData{{Name: name, Version: version}}}
	}
	if err := (gnmi.OCP{}).Check(model(schema.OCPConnectionsModule, schema.OCPVersion)); err != nil {
		t.Error(err)
	}
	for _, c := range []*gpb.CapabilityResponse{{}, model(schema.OCPConnectionsModule, "0.9.0"),
		model("openconfig-policy-forwarding", "0.8.0")} {
		if err := (gnmi.OCP{}).Check(c); !errors.Is(err, southbound.ErrUnsupported) {
			t.Errorf("%v: %v", c, err)
		}
	}
}

// FuzzDecoders feeds every profile with whatever a hostile device could say.
func FuzzDecoders(f *testing.F) {
	f.Add("/connections/port-connection[name=in0-out1]/state/status", "CONNECTED", false)
	f.Add("/interfaces/interface[name=Ethernet1]/state/oper-status", "DOWN", true)
	f.Add("/network-instances/network-instance[name=DEFAULT]/policy-forwarding/policies/policy[policy-id=lightloom]/"+
		"rules/rule[sequence-id=9]/ipv4/state/destination-address", "10.0.1.0/24", false)
	f.Add("/CONFIG_DB/localhost/OCS_CROSS_CONNECT[key=1A-2B]/a_side", "1A", false)
	f.Add("/STATE_DB/localhost/OCS_CROSS_CONNECT_TABLE[key=1A-2B]/status", "enabled", false)
	f.Add("/CONFIG_DB/localhost/ACL_RULE[key=lightloom|r9-b1]/REDIRECT_ACTION", "169.254.0.1", false)
	f.Add("/network-instance[name=default]/policy-forwarding/policy[policy-id=lightloom]/rule[sequence-id=9]/match/"+
		"ipv4/dscp-set", "7", false)
	f.Add("/cross-connects/pair[ingress=1]/egress", "9", false)
	f.Add("/", "9", false)
	f.Add("/interfaces/interface[name=Ethernet7]/state/counters/out-octets", "9", false)
	f.Add("/interface[name=ethernet-1/8]/statistics/out-octets", "9", false)
	f.Add("/COUNTERS_DB/localhost/COUNTERS[key=Ethernet28]/SAI_PORT_STAT_IF_OUT_DISCARDS", "9", true)
	f.Fuzz(func(t *testing.T, path, value string, gone bool) {
		p, err := schema.Parse(path)
		if err != nil {
			return
		}
		var g []schema.Path
		leaves := []schema.Leaf{{Path: p, Value: value}, {Path: p, Value: []schema.Value{value}},
			{Path: p, Value: uint64(len(value))}}
		if gone {
			g = append(g, p)
		}
		for _, profile := range gnmi.All(8, 8) {
			d := profile.NewDecoder()
			for range 2 {
				events, err := d.Decode(g, leaves)
				if err != nil && len(events) > 0 {
					t.Fatalf("events and an error: %v, %v", events, err)
				}
			}
			if c, ok := d.(gnmi.Completer); ok {
				if events, err := c.Complete(); err != nil && len(events) > 0 {
					t.Fatalf("events and an error at the end: %v, %v", events, err)
				}
			}
			if seen, err := profile.Seen(leaves); err == nil && !slices.IsSorted(seen.Down) {
				t.Fatalf("not sorted: %v", seen.Down)
			}
			profile.NewWriter(leaves)
			if c, ok := profile.(gnmi.Counts); ok {
				fuzzCounts(t, c, leaves)
			}
		}
	})
}

// fuzzCounts: counts are only of ports of the device, and only of leaves marked as counters.
func fuzzCounts(t *testing.T, c gnmi.Counts, leaves []schema.Leaf) {
	for _, l := range leaves {
		asked := false
		counted := c.Count(l, func(p southbound.Port) *southbound.PortCounters {
			if asked = true; p < 0 || p >= 8 {
				t.Fatalf("%s: port %d of 8", l.Path, p)
			}
			return &southbound.PortCounters{}
		})
		if counted != asked {
			t.Fatalf("%s: counted %v, asked for a port %v", l.Path, counted, asked)
		}
	}
}

func TestParseSequence(t *testing.T) {
	for text, want := range map[string]int64{"0": 0, "9": 9, "4294967295": 4294967295, "": -1,
		"00": -1, "09": -1,
		"+9": -1, "-1": -1, "4294967296": -1, "9 ": -1} {
		if got, ok := gnmi.ParseSequence(text); ok != (want >= 0) || ok && int64(got) != want {
			t.Errorf("%q: %d, %v", text, got, ok)
		}
	}
}

func TestElections(t *testing.T) {
	order := []gnmi.Election{{}, {Low: 1}, {Low: 1<<64 - 1}, {High: 1}, {High: 1, Low: 1}, {High: 2},
		{High: 1<<64 - 1}}
	for i, a := range order {
		for k, b := range order {
			if a.Less(b) != (i < k) {
				t.Errorf("%+v is less than %+v: %v", a, b, a.Less(b))
			}
		}
	}
}
