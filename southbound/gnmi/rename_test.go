package gnmi_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestRename: every profile that names its ports writes the device's words, none of its own, and reads them back. A
// port of the device that has a name of ours and is not on the map is no port of ours.
func TestRename(t *testing.T) {
	const ports, racks = 4, 4
	var names []gnmi.PortName
	for i := range southbound.Port(ports) {
		names = append(names, gnmi.PortName{Port: i, Name: fmt.Sprintf("1.1.%d", i),
			Output:  fmt.Sprintf("2.1.%d", i),
			NextHop: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})})
	}
	prefixes := map[southbound.RackID]netip.Prefix{}
	for r := range southbound.RackID(racks) {
		prefixes[r] = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(r), 0}), 24)
	}
	for _, own := range []gnmi.Profile{gnmi.OpenConfig{Ports: ports, Racks: racks},
		gnmi.OpenConfigPlain{Ports: ports, Racks: racks, ReadConfig: true}, gnmi.SRLinux{Ports: ports,
			Racks: racks},
		gnmi.SONiC{Ports: ports, Racks: racks}, gnmi.OCP{Ports: ports}} {
		t.Run(own.Name(), func(t *testing.T) {
			p, err := gnmi.Rename(own, names, prefixes)
			if err != nil {
				t.Fatal(err)
			}
			change := &southbound.Change{Rules: []southbound.Rule{from(1,
				rule(2, southbound.TagCircuit, 3, southbound.NoPort)),
				rule(3, southbound.AnyTag, 1, southbound.NoPort)}}
			if own.Name() == "ocp" {
				change = connect(0, 3)
			}
			req, err := p.NewWriter(nil).Encode(change)
			if err != nil {
				t.Fatal(err)
			}
			text := requestText(t, req)
			for _, word := range []string{"Ethernet", "ethernet", "169.254", "10.0.", `"in0"`, `"out3"`} {
				if strings.Contains(text, word) {
					t.Errorf("%q stands in\n%s", word, text)
				}
			}
			var leaves []schema.Leaf
			for _, u := range append(req.GetReplace(), req.GetUpdate()...) {
				at, err := p.Model().FromProto(nil, u.GetPath())
				if err != nil {
					t.Fatal(err)
				}
				ls, err := p.Model().Decode(at, u.GetVal())
				if err != nil {
					t.Fatal(err)
				}
				leaves = append(leaves, ls...)
			}
			for _, l := range leaves { // a device shows as state what it was configured with
				twin := schema.Leaf{Path: l.Path.With(), Value: l.Value}
				for i := range twin.Path {
					if twin.Path[i].Name == "config" {
						twin.Path[i].Name = "state"
					}
				}
				leaves = append(leaves, twin)
			}
			if own.Name() == "ocp" {
				leaves = append(leaves, schema.Leaf{Path: gnmi.ConnectionPath("in0-out3").With("state", "status"),
					Value: "CONNECTED"})
			}
			seen, err := p.Seen(leaves)
			if err != nil {
				t.Fatal(err)
			}
			if own.Name() == "ocp" {
				if len(seen.Connections) != 1 || seen.Connections[0].In != 0 || seen.Connections[0].Out != 3 {
					t.Errorf("%+v", seen)
				}
			} else if !reflect.DeepEqual(seen.Rules, change.Rules) {
				t.Errorf("%+v, want %+v", seen.Rules, change.Rules)
			}
		})
	}
	p, err := gnmi.Rename(gnmi.OpenConfig{Ports: ports, Racks: racks}, names[1:], nil)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) schema.Path {
		return schema.Path{{Name: "interfaces"}}.Entry("interface", "name", name).With("state", "oper-status")
	}
	seen, err := p.Seen([]schema.Leaf{{Path: at("Ethernet0"), Value: "DOWN"},
		{Path: at("Ethernet2"), Value: "DOWN"},
		{Path: at("1.1.2"), Value: "UP"}, {Path: at("1.1.3"), Value: "DOWN"}})
	if err != nil || !reflect.DeepEqual(seen.Down, []southbound.Port{0, 3}) {
		t.Errorf("down are %v, %v", seen.Down, err)
	}
	if _, err := gnmi.Rename(gnmi.Polatis{Ports: 4}, names, nil); err == nil {
		t.Error("polatis has no names")
	}
}

// TestRenameRefuses: a name that stands for two ports is refused, and one that is said twice for the same port is not;
// without names there is nothing to rename.
func TestRenameRefuses(t *testing.T) {
	own := gnmi.OpenConfig{Ports: 4, Racks: 4}
	if p, err := gnmi.Rename(own, nil, nil); err != nil || p != gnmi.Profile(own) {
		t.Errorf("nothing to rename: %v, %v", p, err)
	}
	for _, tc := range []struct {
		names []gnmi.PortName
		want  string
	}{
		{[]gnmi.PortName{{Port: 0, Name: "a"}, {Port: 1, Name: "b"}}, ""},
		{[]gnmi.PortName{{Port: 0, Name: "a"}, {Port: 0, Name: "a"}}, ""},
		{[]gnmi.PortName{{Port: 0, Name: "a"}, {Port: 1}, {Port: 2}}, ""},
		{[]gnmi.PortName{{Port: 0, Name: "a"}, {Port: 1, Name: "a"}},
			`name ports: "a" stands for "Ethernet0" and "Ethernet1"`},
	} {
		_, err := gnmi.Rename(own, tc.names, nil)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || err.Error() != tc.want) {
			t.Errorf("%+v: error %v, want %q", tc.names, err, tc.want)
		}
	}
	same := netip.MustParsePrefix("198.51.100.0/24")
	_, err := gnmi.Rename(own, nil, map[southbound.RackID]netip.Prefix{0: same, 1: same})
	if err == nil || !strings.Contains(err.Error(), `"198.51.100.0/24" stands for`) {
		t.Errorf("one prefix for two racks: %v", err)
	}
}

// TestNameOf: what a port is called by its profile, and by the device.
func TestNameOf(t *testing.T) {
	for _, tc := range []struct {
		profile gnmi.Profile
		own     string
	}{{gnmi.OpenConfig{Ports: 4, Racks: 4}, "Ethernet2"}, {gnmi.SRLinux{Ports: 4, Racks: 4}, "ethernet-1/3"},
		{gnmi.SONiC{Ports: 4, Racks: 4}, "Ethernet8"}, {gnmi.OCP{Ports: 4},
			"in2"}, {gnmi.Polatis{Ports: 4}, ""}} {
		if got := gnmi.NameOf(tc.profile, 2); got != tc.own {
			t.Errorf("%s: port 2 is %q, want %q", tc.profile.Name(), got, tc.own)
		}
		if tc.own == "" {
			continue
		}
		p, err := gnmi.Rename(tc.profile, []gnmi.PortName{{Port: 2, Name: "x"}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := gnmi.NameOf(p, 2), gnmi.NameOf(p, 1); a != "x" || b == "x" ||
			b != gnmi.NameOf(tc.profile, 1) {
			t.Errorf("%s: ports 2 and 1 are %q and %q", tc.profile.Name(), a, b)
		}
		if gnmi.Base(p) != tc.profile || gnmi.Base(tc.profile) != tc.profile {
			t.Errorf("%s: %v below", tc.profile.Name(), gnmi.Base(p))
		}
		if gnmi.Word(p, tc.own) != "x" || gnmi.Word(p, "other") != "other" ||
			gnmi.Word(tc.profile, tc.own) != tc.own {
			t.Errorf("%s: %q is %q", tc.profile.Name(), tc.own, gnmi.Word(p, tc.own))
		}
	}
}

// TestRenamedCounters: counters are asked for and read by the device's names.
func TestRenamedCounters(t *testing.T) {
	own := gnmi.SRLinux{Ports: 4, Racks: 4}
	p, err := gnmi.Rename(own, []gnmi.PortName{{Port: 2, Name: "xe-2"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	c := p.(gnmi.Counts)
	if got, want := len(c.CounterPaths()), len(own.CounterPaths()); got != want || got == 0 {
		t.Errorf("%d paths of counters, want %d", got, want)
	}
	seen := map[southbound.Port]southbound.PortCounters{}
	for _, name := range []string{"xe-2", "ethernet-1/3", "ethernet-1/2"} {
		path, err := schema.Parse("/interface[name=" + name + "]/statistics/out-octets")
		if err != nil {
			t.Fatal(err)
		}
		c.Count(schema.Leaf{Path: path, Value: uint64(7)}, func(port southbound.Port) *southbound.PortCounters {
			x := seen[port]
			x.Port = port
			seen[port] = x
			return &x
		})
	}
	if _, two := seen[2]; !two || len(seen) != 2 {
		t.Errorf("counted %v, want ports 1 and 2 once each", seen)
	}
	ocp, err := gnmi.Rename(gnmi.OCP{Ports: 4}, []gnmi.PortName{{Port: 2, Name: "x"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if c, ok := ocp.(gnmi.Counts); ok && len(c.CounterPaths()) > 0 {
		t.Errorf("ocp counts at %v", c.CounterPaths())
	}
}
