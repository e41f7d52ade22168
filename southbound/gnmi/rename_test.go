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
		names = append(names, gnmi.PortName{Port: i, Name: fmt.Sprintf("1.1.%d", i), Output: fmt.Sprintf("2.1.%d", i),
			NextHop: netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})})
	}
	prefixes := map[southbound.RackID]netip.Prefix{}
	for r := range southbound.RackID(racks) {
		prefixes[r] = netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, byte(r), 0}), 24)
	}
	for _, own := range []gnmi.Profile{gnmi.OpenConfig{Ports: ports, Racks: racks},
		gnmi.OpenConfigPlain{Ports: ports, Racks: racks, ReadConfig: true}, gnmi.SRLinux{Ports: ports, Racks: racks},
		gnmi.SONiC{Ports: ports, Racks: racks}, gnmi.OCP{Ports: ports}} {
		t.Run(own.Name(), func(t *testing.T) {
			p, err := gnmi.Rename(own, names, prefixes)
			if err != nil {
				t.Fatal(err)
			}
			change := &southbound.Change{Rules: []southbound.Rule{from(1, rule(2, southbound.TagCircuit, 3, southbound.NoPort)),
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
	seen, err := p.Seen([]schema.Leaf{{Path: at("Ethernet0"), Value: "DOWN"}, {Path: at("Ethernet2"), Value: "DOWN"},
		{Path: at("1.1.2"), Value: "UP"}, {Path: at("1.1.3"), Value: "DOWN"}})
	if err != nil || !reflect.DeepEqual(seen.Down, []southbound.Port{0, 3}) {
		t.Errorf("down are %v, %v", seen.Down, err)
	}
	if _, err := gnmi.Rename(gnmi.Polatis{Ports: 4}, names, nil); err == nil {
		t.Error("polatis has no names")
	}
}
