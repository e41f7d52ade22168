package topo

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"lightloom/pathmap"
)

func TestGeneralSpecs(t *testing.T) {
	for _, c := range []struct {
		text, back string
		want       Spec
	}{
		{"fattree", "fattree:k=4,hosts=16,rate=1Gbps", Spec{K: 4, Servers: 16, Racks: 8, Hosts: 2}},
		// 30 hosts, three an edge switch
		{"fattree:k=6,hosts=30", "fattree:k=6,hosts=30,rate=1Gbps",
			Spec{K: 6, Servers: 30, Racks: 10, Hosts: 3}},
		{"fattree:k=6,hosts=10,paths=10,slots=4", "fattree:k=6,hosts=10,rate=1Gbps,paths=10,slots=4",
			Spec{K: 6, Servers: 10, Racks: 4, Hosts: 3, Paths: 10, Slots: 4}},
		{"jellyfish", "jellyfish:switches=20,degree=4,hosts=20,rate=1Gbps,seed=1",
			Spec{Switches: 20, Degree: 4, Servers: 20, Racks: 20, Hosts: 1, Seed: 1}},
		// the first ten switches have two hosts
		{"jellyfish:switches=20,hosts=30,seed=3", "jellyfish:switches=20,degree=4,hosts=30,rate=1Gbps,seed=3",
			Spec{Switches: 20, Degree: 4, Servers: 30, Racks: 20, Hosts: 2, Seed: 3}},
		{"jellyfish:switches=20,hosts=7", "jellyfish:switches=20,degree=4,hosts=7,rate=1Gbps,seed=1",
			Spec{Switches: 20, Degree: 4, Servers: 7, Racks: 7, Hosts: 1, Seed: 1}},
	} {
		want := c.want
		want.Kind, _, _ = strings.Cut(c.text, ":")
		want.NIC, want.EPS = pathmap.Gbps, pathmap.Gbps
		want.Slots, want.Paths = max(want.Slots, DefaultSlots), max(want.Paths, DefaultPaths)
		got, err := ParseSpec(c.text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v; want %+v", c.text, got, err, want)
			continue
		}
		if s := got.String(); s != c.back {
			t.Errorf("%s: written %s, want %s", c.text, s, c.back)
		}
		f, err := New(got)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if f.Racks != want.Racks || f.HostsPerRack != want.Hosts || f.Hosts() != want.Servers ||
			!reflect.DeepEqual(f.Spec, got) {
			t.Errorf("%s: built %d racks, %d hosts a rack, %d hosts, %+v", c.text, f.Racks,
				f.HostsPerRack, f.Hosts(), f.Spec)
		}
		checkNumbers(t, f)
	}
}

// checkNumbers holds a fabric's numbering against its topology.
func checkNumbers(t *testing.T, f *Fabric) {
	t.Helper()
	h := int32(0)
	for r, tor := range f.ToRNode {
		if node := f.Topology.Node(tor); node.Role != pathmap.ToR || node.Rack != int32(r) {
			t.Errorf("ToR %d is %+v", r, node)
		}
		if f.FirstHost[r] != h || f.HostsOf(r) < 1 || f.HostsOf(r) > f.HostsPerRack {
			t.Errorf("rack %d has hosts from %d, %d of them; want from %d", r, f.FirstHost[r], f.HostsOf(r), h)
		}
		for i := range f.HostsOf(r) {
			if rack, k := f.Place(h); rack != int32(r) || k != i || f.RackOf(h) != int32(r) {
				t.Errorf("host %d is host %d of rack %d, want host %d of rack %d", h, k, rack, i, r)
			}
			l := f.Topology.Link(f.Topology.Out(f.HostNode[h])[0])
			if node := f.Topology.Node(f.HostNode[h]); node.Role != pathmap.Host ||
				node.Rack != int32(r) || l.To != tor ||
				l.FromPort != 0 || l.ToPort != f.HostPort[h] {
				t.Errorf("host %d is %+v on %+v, want one at port %d of ToR %d", h, node, l, f.HostPort[h], r)
			}
			h++
		}
		if f.HasOCS() && f.OCSUplink[r] != pathmap.None {
			if l := f.Topology.Link(f.Topology.OutPort(tor, f.OCSUplink[r])); l.To != f.OCSNode ||
				l.ToPort != int32(r) {
				t.Errorf("rack %d: the uplink leads to %+v", r, l)
			}
		}
	}
	if int(h) != f.Hosts() {
		t.Errorf("%d hosts, want %d", f.Hosts(), h)
	}
}

// TestNumbers: the older kinds keep the same promises.
func TestNumbers(t *testing.T) {
	for _, text := range []string{"hybrid:racks=5,hosts=3,spines=2,ports=4", "leafspine",
		"crossbar:ports=7,rate=1Gbps,dark=1ms"} {
		checkNumbers(t, build(t, text))
	}
}

func TestGeneralSpecErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"fattree:k=5", "column 9: k: 5 is no even number from 2 to 160"},
		{"fattree:k=4,hosts=17", "column 13: hosts: 17 hosts do not fit: k=4 carries 1 to 16"},
		{"fattree:rate=0bps", "column 9: rate: a rate of 0bps carries nothing: write a rate above zero, such as rate=1Gbps"},
		{"fattree:racks=4", `column 9: racks: unknown key of a fattree: write one of k, hosts, rate, paths, slots, vcpus`},
		{"fattree:paths=253", "column 9: paths: 253 is out of range: write 1 to 252"},
		{"jellyfish:switches=1", "column 11: switches: 1 is out of range: write 2 to 16384"},
		{"jellyfish:switches=4,degree=4", "column 22: degree: 4 links a switch: write 1 to 3, one fewer than switches"},
		{"jellyfish:hosts=9999", "column 11: hosts: 9999 hosts on 20 switches: write 1 to 5060"},
		{"jellyfish:seed=0", `column 11: seed: "0" is no whole number from 1: write it like seed=7`},
		{"jelyfish", `column 1: kind: "jelyfish" is unknown: write "jellyfish"? It is one of hybrid, leafspine, crossbar,` +
			` pod, fattree, jellyfish, file`},
		{"file", "column 1: path: missing: write the topology's file, such as file:lab.yaml"},
		{"file:", `column 6: "" is no key with a value: write it like path=lab.yaml`},
		{"file:x.yaml,racks=3",
			`column 13: racks: unknown key of a file: write one of path, dark, scale, hosts, paths, slots, vcpus`},
		{"file:x.yaml,scale=0", `column 13: scale: "0" is no number above zero: write it like scale=10`},
	} {
		want := fmt.Sprintf("parse fabric spec %q: %s", c.text, c.want)
		if _, err := ParseSpec(c.text); err == nil || err.Error() != want {
			t.Errorf("%s:\n got %v\nwant %s", c.text, err, want)
		}
	}
}

// lab is a network of three racks of two, one and one hosts: two of them with an OCS port, and ports as the lab has
// them.
const lab = `kind: topology
capacity: 10Gbps
nodes:
  - {name: alice, role: host}
  - {name: left, role: tor, rack: 7}
  - {name: middle, role: switch}
  - {name: right, role: tor, rack: 3}
  - {name: bob, role: host}
  - {name: carol, role: host}
  - {name: dave, role: host}
  - {name: mirrors, role: ocs}
  - {name: spare, role: tor}
links:
  - {ends: [alice, left], ports: [5, 9]}
  - {ends: [bob, right], ports: [0, 4], capacity: 25Gbps}
  - {ends: [carol, right], ports: [0, 2]}
  - {ends: [dave, middle]}
  - {ends: [left, middle]}
  - {ends: [middle, right]}
  - {ends: [right, left], capacity: 40Gbps}
  - {ends: [mirrors, left], ports: [31, 12], capacity: 100Gbps}
  - {ends: [mirrors, right], ports: [17, 13], capacity: 100Gbps}
  - {ends: [spare, left]}
`

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFileFabric(t *testing.T) {
	path := write(t, "lab.yaml", lab)
	spec, err := FromArgument("file:" + path + ",dark=3ms,slots=4")
	if err != nil {
		t.Fatal(err)
	}
	if spec.Racks != 3 || spec.Hosts != 2 || spec.Ports != 2 || spec.NIC != 25*pathmap.Gbps ||
		spec.EPS != 40*pathmap.Gbps || spec.OCS != 100*pathmap.Gbps ||
		spec.Dark != 3*time.Millisecond || spec.Slots != 4 || !spec.HasOCS() || spec.Text != lab {
		t.Errorf("spec %+v", spec)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	f, err := New(spec) // which holds what the file held
	if err != nil {
		t.Fatal(err)
	}
	checkNumbers(t, f)
	name := func(n pathmap.NodeID) string { return f.Topology.Node(n).Name }
	// Racks with an OCS port first, by the numbers that the file gives; then the one without.
	if name(f.ToRNode[0]) != "right" || name(f.ToRNode[1]) != "left" || name(f.ToRNode[2]) != "middle" {
		t.Errorf("racks are %s, %s, %s", name(f.ToRNode[0]), name(f.ToRNode[1]), name(f.ToRNode[2]))
	}
	// Of a rack, hosts by port: carol's is 2, bob's 4.
	if name(f.HostNode[0]) != "carol" || name(f.HostNode[1]) != "bob" || f.HostPort[1] != 4 ||
		f.OCSUplink[0] != 13 ||
		f.OCSUplink[2] != pathmap.None {
		t.Errorf("hosts %s, %s at port %d; uplinks %v", name(f.HostNode[0]), name(f.HostNode[1]),
			f.HostPort[1], f.OCSUplink)
	}
	if n, _ := f.Topology.Named("spare"); f.Topology.Node(n).Role != pathmap.Switch {
		t.Error("a ToR without hosts is one")
	}
	half, err := FromArgument("file:" + write(t, "lab.yaml", lab) + ",scale=2")
	if err != nil || half.NIC != 12500*pathmap.Mbps || half.OCS != 50*pathmap.Gbps {
		t.Errorf("scaled by two: %+v, %v", half, err)
	}
}

// TestFileForms: a file may be named in several ways and have any of the formats.
func TestFileForms(t *testing.T) {
	from := build(t, "fattree:k=4,hosts=7")
	for _, format := range Formats() {
		path := filepath.Join(t.TempDir(), "net"+format.Ends[0])
		if err := os.WriteFile(path, written(t, format, from.Topology), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, arg := range []string{path, "file:" + path,
			write(t, "spec.yaml", "kind: file\npath: "+path+"\nslots: 2\n")} {
			spec, err := FromArgument(arg)
			if err != nil {
				t.Errorf("%s: %v", arg, err)
				continue
			}
			f, err := New(spec)
			if err != nil || f.Racks != 4 || f.Hosts() != 7 || f.HostsOf(3) != 1 {
				t.Errorf("%s: %+v, %v", arg, f, err)
			}
		}
	}
}

func TestFileErrors(t *testing.T) {
	with := func(replace ...string) string { return strings.NewReplacer(replace...).Replace(lab) }
	for _, c := range []struct{ name, text, want string }{
		{"no host", "kind: topology\nnodes:\n  - {name: a}\n",
			"no hosts: a fabric has at least one; give nodes role: host"},
		{"a host of two cables", with("[left, middle]", "[alice, middle]"),
			`host "alice" has 2 cables: a fabric's host has one, to its ToR; leave the others out, or give the node role: ` +
				`switch`},
		{"a host without", with("  - {ends: [dave, middle]}\n", ""), `host "dave" has 0 cables`},
		{"host to host", with("[dave, middle]", "[dave, eve]", "  - {name: dave",
			"  - {name: eve, role: host}\n  - {name: dave"),
			`host "eve" is cabled to "dave", a node of role host: cable it to a packet switch`},
		{"host to OCS", with("[dave, middle]", "[dave, mirrors]"), `host "dave" is cabled to "mirrors", a node of role ocs`},
		{"two OCSes", with("{name: spare, role: tor}", "{name: spare, role: ocs}"),
			`"mirrors" and "spare" are both of role ocs: a file has at most one; write parallel ones as ` +
				`hybrid:racks=16,ocses=4`},
		{"OCS to a spine", with("[mirrors, left], ports: [31, 12]", "[mirrors, spare]"),
			`OCS "mirrors" is cabled to "spare", which has no hosts: cable it to ToRs`},
		{"OCS twice to a ToR", with("[mirrors, right], ports: [17, 13]", "[mirrors, left], ports: [17, 13]"),
			`OCS "mirrors" has two cables to "left": a rack has one OCS port`},
		{"OCS without cables", with("[mirrors, left], ports: [31, 12]", "[spare, left]",
			"[mirrors, right], ports: [17, 13]",
			"[spare, right]"), `OCS "mirrors" has no cables`},
		{"apart", with("[middle, right]", "[spare, right]", "[left, middle]", "[spare, left]"),
			`there is no way over packet switches between "right" and "middle"`},
		{"an island", with("  - {ends: [spare, left]}\n", ""),
			`switch "spare": there is no way over packet switches to any rack: add a link, or leave it out`},
		{"itself", "kind: file\npath: x.yaml\n", `kind: "file" only names another file: name that one instead`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := write(t, "x.yaml", c.text)
			if _, err := FromArgument("file:" + path); err == nil || !strings.Contains(err.Error(), c.want) ||
				!strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %s: %s", err, path, c.want)
			}
		})
	}
	path := write(t, "x.yaml", "kind: topology\nnodes: [{name: a}, {name: h, role: host}]\nlinks: [{ends: [a, h]}]\n")
	if _, err := FromArgument("file:" + path + ",dark=1ms"); err == nil ||
		!strings.Contains(err.Error(), "has no OCS: leave dark out") {
		t.Errorf("dark without an OCS: %v", err)
	}
	if _, err := FromArgument("file:" + path + ",scale=1e12"); err == nil ||
		!strings.Contains(err.Error(), "is no rate that a link carries: write another scale") {
		t.Errorf("a scale that leaves nothing: %v", err)
	}
	if _, err := FromArgument("file:" + filepath.Join(t.TempDir(), "none.json")); err == nil ||
		!strings.Contains(err.Error(), "no such file") {
		t.Errorf("no file: %v", err)
	}
}
