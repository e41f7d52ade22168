package topo

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/pathmap"
)

// same returns the differences between two topologies.
func same(a, b *pathmap.Topology) error {
	if !slices.Equal(a.Nodes(), b.Nodes()) {
		return fmt.Errorf("nodes %v and %v", a.Nodes(), b.Nodes())
	}
	if !slices.Equal(a.Links(), b.Links()) {
		return fmt.Errorf("links %v and %v", a.Links(), b.Links())
	}
	return nil
}

func written(t *testing.T, f Format, topology *pathmap.Topology) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f.Write(&b, topology); err != nil {
		t.Fatalf("%s: %v", f.Name, err)
	}
	return b.Bytes()
}

// random returns a topology with parallel links, ports that leave gaps, capacities that differ by direction, and names
// that need care.
func random(r *rand.Rand, plainNames bool) *pathmap.Topology {
	b := pathmap.NewBuilder()
	n := 2 + r.IntN(8)
	odd := []string{"true", "1.5", "a b", `say "hi"`, "é–ü", "a:b", "<x>&", "graph", "-", "#x", `back\slash`, "{a",
		"nested [0]"}
	ports := make([]int32, n)
	for i := range n {
		name := fmt.Sprint("n", i)
		if !plainNames && r.IntN(2) == 0 {
			name = fmt.Sprint(odd[r.IntN(len(odd))], i)
		}
		rack := int32(pathmap.None)
		if i == 0 || r.IntN(2) == 0 {
			rack = int32(r.IntN(3))
		}
		b.Add(pathmap.Node{Name: name, Role: pathmap.Role(1 + r.IntN(4)), Rack: rack})
	}
	for range r.IntN(3 * n) {
		x, y := r.IntN(n), r.IntN(n)
		if x == y {
			continue
		}
		ports[x] += 1 + int32(r.IntN(2))
		ports[y] += 1 + int32(r.IntN(2))
		there := pathmap.BitsPerSecond(1 + r.Int64N(1e12))
		back := there
		if r.IntN(3) == 0 {
			back = pathmap.BitsPerSecond(1 + r.Int64N(1e12))
		}
		b.Cable(pathmap.NodeID(x), ports[x]-1, pathmap.NodeID(y), ports[y]-1, there, back)
	}
	t, err := b.Build()
	if err != nil {
		panic(err)
	}
	return t
}

func TestRoundTrip(t *testing.T) {
	for _, f := range Formats() {
		t.Run(f.Name, func(t *testing.T) {
			for seed := range uint64(400) {
				topology := random(rand.New(rand.NewPCG(seed, 21)), f.Name == "clab")
				text := written(t, f, topology)
				again, err := f.Parse("file", text)
				if err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
				if err := same(topology, again); err != nil {
					t.Fatalf("seed %d: %v\n%s", seed, err, text)
				}
			}
			for _, arg := range []string{"hybrid:racks=4", "fattree:k=4", "jellyfish:hosts=2",
				"leafspine", "crossbar:ports=5"} {
				topology, err := Load(arg)
				if err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "t"+f.Ends[0])
				if err := os.WriteFile(path, written(t, f, topology), 0o600); err != nil {
					t.Fatal(err)
				}
				again, err := Load(path)
				if err != nil {
					t.Fatal(err)
				}
				if err := same(topology, again); err != nil {
					t.Errorf("%s: %v", arg, err)
				}
			}
		})
	}
}

// TestOddNames: names that YAML would read as something else come back as they were.
func TestOddNames(t *testing.T) {
	for _, format := range []string{"yaml", "clab"} {
		f, err := FormatNamed(format)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"null", "Null", "true", "no", "1", "0x1f", "-", "1e3", "zz9", "_a"} {
			b := pathmap.NewBuilder()
			b.Add(pathmap.Node{Name: name, Role: pathmap.ToR})
			topology, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			text := written(t, f, topology)
			again, err := f.Parse("file", text)
			if err == nil {
				err = same(topology, again)
			}
			plain := regexp.MustCompile(`[ {]` + name + `[:,}]`).Match(text)
			if err != nil || plain != (name == "zz9") {
				t.Errorf("%s: %q: plain %v, %v\n%s", format, name, plain, err, text)
			}
		}
	}
}

// the files that follow say the same: a–b at 10 Gb/s and 1 Gb/s back, b–c twice at 2.5 Gb/s, d alone.
func TestReaders(t *testing.T) {
	const g = pathmap.Gbps
	b := pathmap.NewBuilder()
	for i, role := range []pathmap.Role{pathmap.ToR, pathmap.Switch, pathmap.Switch, pathmap.Host} {
		rack := int32(pathmap.None)
		if i == 0 {
			rack = 0
		}
		b.Add(pathmap.Node{Name: string(rune('a' + i)), Role: role, Rack: rack})
	}
	b.Cable(0, 0, 1, 7, 10*g, g)
	b.Cable(1, 0, 2, 0, 5*g/2, 5*g/2)
	b.Cable(1, 1, 2, 1, 5*g/2, 5*g/2)
	want, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, format, text string }{
		{"ours", "yaml", `
kind: topology
name: lab
capacity: 2.5Gbps
nodes:
  - name: a
    role: tor
    rack: 0
  - {name: b}
  - name: "c"
    role: switch
  - {name: d, role: host}
links:
  - ends: [a, b]
    ports: [0, 7]
    capacity: 10Gbps
    back: 1000000000
  - ends: [b, c]
  - {ends: [b, c]}
`},
		{"networkx, undirected", "json",
			`{"directed": false, "multigraph": true, "graph": {"name": "lab", "deep": [{"x": [1]}]},
 "nodes": [{"id": "a", "role": "tor", "rack": 0}, {"pos": [1, 2], "id": "b"}, {"id": "c", "role": null},
  {"role": "host", "id": "d"}],
 "links": [{"source": "a", "target": "b", "capacity": 1e10, "back": "1Gbps", "target_port": 7},
  {"source": "b", "target": "c", "key": 0, "bandwidth": 2500000000.0},
  {"source": "b", "target": "c", "key": 1, "capacity": "2.5Gbps"}]}`},
		{"edges before nodes, directed", "json",
			`{"directed": true, "edges": [{"source": "a", "target": "b", "capacity": 1e10, "target_port": 7},
  {"source": "b", "target": "c", "capacity": "2.5Gbps", "source_port": 0, "target_port": 0},
  {"source": "b", "target": "c", "capacity": "2.5Gbps", "source_port": 1},
  {"source": "c", "target": "b", "capacity": "2.5Gbps"}, {"source": "c", "target": "b", "capacity": "2.5Gbps"},
  {"source": "b", "target": "a", "capacity": "1Gbps"}],
  "nodes": [{"id": "a", "role": "tor", "rack": 0}, {"id": "b"}, {"id": "c"}, {"id": "d", "role": "host"}]}`},
		{"GraphML", "graphml", `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><!-- a comment -->
 <key id="d1" for="edge" attr.name="LinkSpeedRaw" attr.type="double"><default>2500000000.0</default></key>
 <key id="d2" for="node" attr.name="role"/><key id="d3" for="node" attr.name="rack"/>
 <key id="d4" for="edge" attr.name="back"/>
 <graph edgedefault="undirected">
  <data key="d9">ignored <b>too</b></data>
  <node id="a"><data key="d2">tor</data><data key="d3"> 0 </data></node><node id="b"><port name="x"/></node>
  <node id="c"/>
  <edge source="a" target="b" targetport="7"><data key="d1">1E10</data><data key="d4">1Gbps</data></edge>
  <edge source="b" target="c" sourceport="north"/><edge id="e" source="b" target="c"/>
  <node id="d"><data key="d2">host</data></node>
 </graph></graphml>`},
		{"DOT", "dot", `/* a -- z */ graph lab { // comment
  node [shape=box]; edge [capacity="2.5Gbps"];
  a [role=tor, rack=0]
  a -- b:7:n [capacity="1e10" back="1Gbps"];
  subgraph s { b; c } 
  b -- "c"; b -- {c};
  d [role="host"]; }`},
		{"containerlab", "clab", `
name: lab
topology:
  kinds: {nokia_srlinux: {image: x}}
  defaults: &d {kind: nokia_srlinux}
  nodes:
    a:
      labels: {lightloom-role: tor, lightloom-rack: 0, other: [1]}
    b: {kind: nokia_srlinux}
    c:
    d: {kind: linux, labels: {lightloom-role: host}}
  links:
    - endpoints: ["a:e1-1", "b:e1-8"]
      labels: {capacity: 10Gbps, back: 1Gbps}
    - type: veth
      endpoints:
        - {node: b, interface: e1-1, mac: 02:00:00:00:00:00}
        - {node: c, interface: eth1}
      labels: {capacity: 2.5Gbps}
    - type: mgmt-net
      endpoint: {node: b, interface: e1-5}
    - endpoints: ["b:e1-6", "host:veth0"]
    - endpoints: [ b:e1-2, c:eth2 ]
      labels: {capacity: "2500000000"}
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := FormatNamed(c.format)
			if err != nil {
				t.Fatal(err)
			}
			got, err := f.Parse("file", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			if err := same(got, want); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDerivedRoles: in containerlab's files a linux node with one link is a host, and its switch a ToR.
func TestDerivedRoles(t *testing.T) {
	got, err := readTopology("clab", `
topology:
  nodes:
    s: {kind: nokia_srlinux}
    l2: {kind: nokia_srlinux}
    l1: {kind: frr}
    h2: {kind: linux}
    h1: {}
    router: {kind: linux}
  links:
    - endpoints: ["l1:ethernet-1/2", "s:e1-1"]
    - endpoints: ["l2:e2", "s:e1-2"]
    - endpoints: ["h1:eth1", "l1:mgmt0"]
    - endpoints: ["l2:e1", "h2:eth1"]
    - endpoints: ["router:eth1", "s:e1-3"]
    - endpoints: ["router:eth2", "s:e1-4"]
`)
	if err != nil {
		t.Fatal(err)
	}
	var roles []string
	for _, n := range got.Nodes() {
		roles = append(roles, fmt.Sprint(n.Name, " ", n.Role, " ", n.Rack))
	}
	want := []string{"s switch -1", "l2 tor 0", "l1 tor 1", "h2 host 0", "h1 host 1", "router switch -1"}
	if !slices.Equal(roles, want) {
		t.Errorf("got %q, want %q", roles, want)
	}
	// l1's interfaces are numbered by name: ethernet-1/2, mgmt0
	if l := got.Link(0); l.FromPort != 0 || l.ToPort != 0 {
		t.Errorf("link 0: %+v", l)
	}
	if l := got.Link(4); l.ToPort != 1 {
		t.Errorf("link 4: %+v", l)
	}
}

func readTopology(format, text string) (*pathmap.Topology, error) {
	f, err := FormatNamed(format)
	if err != nil {
		return nil, err
	}
	return f.Parse("f", []byte(text))
}

func TestFormatErrors(t *testing.T) {
	for _, c := range []struct{ name, format, text, want string }{
		{"name twice", "yaml", "kind: topology\nnodes:\n  - name: a\n  - name: b\n  - name: a\n",
			`f:5:11: node "a": the name is taken on line 3: give each node its own`},
		{"self-loop", "yaml", "kind: topology\nnodes: [{name: a}]\nlinks:\n  - ends: [a, a]\n",
			"f:4:5: link a–a: it joins a node to itself: leave it out, or name another node"},
		{"zero capacity", "yaml", "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks:\n  - ends: [a, b]\n    capacity: " +
			"0\n", `f:5:15: capacity: "0" carries nothing: write a rate above zero, such as 1Gbps, or leave the link out`},
		{"negative capacity", "yaml", "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks:\n  - ends: [a, b]\n    " +
			"capacity: -5Gbps\n", `f:5:15: capacity: "-5Gbps" is no rate: write a number and a unit, such as 10Gbps`},
		{"no unit", "yaml", "kind: topology\ncapacity: 10X\nnodes: [{name: a}]\n",
			`f:2:11: capacity: "10X" has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps`},
		{"unknown node", "yaml", "kind: topology\nnodes: [{name: spine0}]\nlinks: [{ends: [spine0, spien0]}]\n",
			`f:3:10: link spine0–spien0: there is no node "spien0": did you mean "spine0"?`},
		{"unknown key", "yaml", "kind: topology\nndoes: []\n",
			`f:2:1: ndoes: unknown key of a topology: write "nodes"? It is one of kind, name, capacity, nodes, links`},
		{"unknown key of a node", "yaml", "kind: topology\nnodes:\n  - {name: a, rol: tor}\n",
			`f:3:15: rol: unknown key of a node: write "role"? It is one of name, role, rack`},
		{"unknown key of a link", "yaml", "kind: topology\nnodes: [{name: a}]\nlinks: [{end: 1}]\n",
			`f:3:10: end: unknown key of a link: write "ends"? It is one of ends, ports, capacity, back`},
		{"unknown role", "yaml", "kind: topology\nnodes: [{name: a, role: leaf}]\n",
			`f:2:25: role: "leaf" is unknown: write one of host, tor, switch, ocs`},
		{"three ends", "yaml", "kind: topology\nnodes: [{name: a}]\nlinks:\n- ends: [a, b, c]\n",
			"f:4:3: ends: 3 where two are due: write ends: [tor0, spine0]"},
		{"no ends", "yaml", "kind: topology\nnodes: [{name: a}]\nlinks:\n- capacity: 1Gbps\n",
			"f:4:3: a link without ends: write ends: [tor0, spine0]"},
		{"port twice", "yaml", "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks:\n- {ends: [a, b], ports: [3, 0]}\n- " +
			"{ends: [b, a], ports: [1, 3]}\n", `f:5:4: link b–a: port 3 of "a" is taken by link a–b on line 4: write another`},
		{"bad port", "yaml", "kind: topology\nnodes: [{name: a}]\nlinks:\n- {ends: [a, b], ports: [-1, 3]}\n",
			`f:4:18: ports: "-1" is no whole number from 0 to 65535`},
		{"no nodes", "yaml", "kind: topology\n", "f: no nodes: a topology has at least one"},
		{"nodes as a mapping", "yaml", "kind: topology\nnodes: {a: 1}\n",
			"f:2:8: nodes is no list: write - before each"},
		{"no name", "yaml", "kind: topology\nnodes:\n- role: tor\n", "f:3:3: a node without name: give it one"},
		{"no kind", "yaml", "nodes: []\n", "f: kind: missing: write kind: one of topology, hybrid, leafspine, " +
			"crossbar, pod, fattree, jellyfish, file"},
		{"unknown kind", "yaml", "kind: topolgy\n",
			`f:1:7: kind: "topolgy" is unknown: write "topology"? It is one of topology, hybrid, leafspine, crossbar, pod, ` +
				`fattree, jellyfish, file`},
		{"a fabric's spec", "yaml", "kind: hybrid\nracks: 0\n",
			"f:2:1: racks: 0 is out of range: write 1 or more, or " +
				"leave racks out"},
		{"a list", "yaml", "- a\n", "f:1:1: the file is no mapping: write key: value"},
		{"empty", "yaml", "", "f: empty: a topology has nodes and links"},
		{"two documents", "yaml", "kind: topology\n---\nkind: topology\n",
			"f:3:5: more than one document: one file holds " +
				"one topology"},
		{"deep", "yaml", "a: " + strings.Repeat("[", 200),
			"f:1: more than 100 lists within each other: write a " +
				"flatter file"},
		{"deep dashes", "yaml", strings.Repeat("- ", 200),
			"f:1: more than 100 lists within each other: write a " +
				"flatter file"},

		{"not an object", "json", "[]", `f:1:1: no JSON object: write {"nodes": […], "links": […]}`},
		{"no nodes", "json", `{"links": []}`,
			`f: no "nodes": write {"nodes": [{"id": "a"}, …], "links": [{"source": "a", "target": "b"}, …]}`},
		{"no id", "json", "{\"nodes\": [\n {\"name\": \"a\", \"id\": null}]}",
			`f:2:2: node 0 has no id that is a word or a number: write {"id": "a"}`},
		{"ids of some", "json", "{\"nodes\": [\n {\"id\": \"a\"},\n {\"name\": \"a\"}]}",
			`f:3:2: node 1 has an id or none, unlike those before it: write {"id": "a"}`},
		{"id twice, as number and word", "json", "{\"nodes\": [{\"id\": 5},\n  {\"id\": \"5\"}], \"links\": []}",
			`f:2:3: node "5": the name is taken on line 1: give each node its own`},
		{"no target", "json", `{"nodes": [{"id": 1}], "links": [{"source": 1}]}`,
			`f:1:34: link 0 lacks a source or a target that is a word or a number: write {"source": "a", "target": "b"}`},
		{"unknown node", "json", "{\"nodes\": [{\"id\": 1}],\n\"links\": [\n{\"source\": 1, \"target\": 2}]}",
			`f:3:1: link 1–2: there is no node "2": add it to the nodes`},
		{"negative capacity", "json", `{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, ` +
			`"capacity": -1}]}`, `f:1:45: link 1–2: capacity: "-1" carries nothing: write a rate above zero, such as 1Gbps, ` +
			`or leave the link out`},
		{"capacity as a list", "json", `{"nodes": [{"id": 1}, {"id": 2}], "links": [{"source": 1, "target": 2, ` +
			`"capacity": [1]}]}`, `f:1:45: link 1–2: capacity: "[1]" has no unit of rate: write bps, Kbps, Mbps, Gbps or ` +
			`Tbps, as in 10Gbps`},
		{"self-loop", "json", `{"nodes": [{"id": 1}], "edges": [{"source": 1, "target": 1}]}`,
			"f:1:34: link 1–1: it joins a node to itself: leave it out, or name another node"},
		{"one way", "json", `{"directed": true, "nodes": [{"id": 1}, {"id": 2}], "edges": [{"source": 1, "target": 2}]}`,
			"f:1:63: link 1→2: it has no way back: add 2→1, or write an undirected graph"},
		{"both keys", "json", `{"nodes": [{"id": 1}], "edges": [], "links": []}`,
			`f:1:37: "links" beside "edges": leave one out`},
		{"truncated", "json", "{\"nodes\": [{\"id\": 1},\n", "f:2:1: the file ends in the middle of the JSON"},
		{"syntax", "json", "{\"nodes\": [{\"id\": 1},\n  }]}",
			"f:2:3: invalid character '}' looking for beginning of value"},
		{"a number for a node", "json", `{"nodes": [7]}`, `f:1:12: "nodes" holds a number where an object is due: write {…}`},
		{"more behind", "json", `{"nodes": [{"id": 1}]} x`, "f:1:24: something stands behind the JSON object: leave it out"},

		{"no XML", "graphml", "hello", "f: no <graph> in a <graphml>: this is no GraphML"},
		{"other XML", "graphml", "<svg/>", "f:1:1: <svg> where one <graphml> is due: this is no GraphML"},
		{"truncated", "graphml", "<graphml><graph>\n<node id=\"a\">", "f:2:14: XML syntax: unexpected EOF"},
		{"node twice", "graphml", "<graphml><graph>\n<node id=\"a\"/>\n <node id=\"a\"/></graph></graphml>",
			`f:3:2: node "a": the name is taken on line 2: give each node its own`},
		{"no target", "graphml", "<graphml><graph><node id=\"a\"/>\n<edge source=\"a\"/></graph></graphml>",
			`f:2:1: an <edge> without source or target: write <edge source="a" target="b"/>`},
		{"capacity", "graphml", "<graphml><key id=\"c\" attr.name=\"capacity\"/><graph><node id=\"a\"/><node " +
			"id=\"b\"/>\n<edge source=\"a\" target=\"b\"><data key=\"c\">0</data></edge></graph></graphml>",
			`f:2:1: link a–b: capacity: "0" carries nothing: write a rate above zero, such as 1Gbps, or leave the link out`},
		{"one way", "graphml", "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/>\n<edge " +
			"source=\"a\" target=\"b\"/></graph></graphml>", "f:2:1: link a→b: it has no way back: add b→a, or write an " +
			"undirected graph"},
		{"hyperedge", "graphml", "<graphml><graph><hyperedge/></graph></graphml>",
			"f:1:17: a <hyperedge>: a link joins two nodes; write <edge>s"},
		{"two graphs", "graphml", "<graphml><graph/><graph/></graphml>",
			"f:1:18: a second <graph>: one file holds one " +
				"topology"},
		{"a graph in a node", "graphml", "<graphml><graph><node id=\"a\"><graph/></node></graph></graphml>",
			"f:1:30: a <graph> in a <node>: write one flat graph"},

		{"syntax", "dot", "graph {\n a -- b\n c -- \n}", `f:4:1: DOT syntax: expected one of "{", subgraph or id; got: "}"`},
		{"empty", "dot", "", "f:1:1: DOT syntax: expected one of strict, graph or digraph; got: end-of-file"},
		{"two graphs", "dot", "graph {a} graph {b}", "f: 2 graphs: one file holds one topology"},
		{"self-loop", "dot", "graph {\n a -- b\n\n b -- b }",
			"f:4:2: link b–b: it joins a node to itself: leave it out, " +
				"or name another node"},
		{"one way", "dot", "digraph {\n a -> b -> a;\n a -> c }",
			"f:3:2: link a→c: it has no way back: add c→a, or write " +
				"an undirected graph"},
		{"capacity", "dot", "graph { a -- b\n -- c [capacity=fast]}",
			`f:1:9: link a–b: capacity: "fast" has no unit of rate: write bps, Kbps, Mbps, Gbps or Tbps, as in 10Gbps`},
		{"role", "dot", "graph {\n a [role=tro]}",
			`f:2:2: node "a": role: "tro" is unknown: write "tor"? It is one of host, tor, switch, ocs`},
		{"deep", "dot", "graph " + strings.Repeat("{", 100),
			"f: subgraphs within more than 64 subgraphs: write one flat graph"},

		{"no topology", "clab", "name: x\n", "f: no topology: this is no containerlab file, which has nodes and links " +
			"below topology:"},
		{"no endpoints", "clab", "topology:\n  nodes: {a: }\n  links:\n  - mtu: 9000\n",
			`f:4:5: a link without endpoints: write endpoints: ["a:eth1", "b:eth1"]`},
		{"no interface", "clab", "topology:\n  nodes: {a: , b: }\n  links:\n  - endpoints: [\"a\", \"b:eth1\"]\n",
			`f:4:17: endpoint "a" names no interface: write "a:eth1"`},
		{"interface twice", "clab", "topology:\n  nodes: {a: , b: }\n  links:\n  - endpoints: [\"a:eth1\", \"b:eth1\"]\n  " +
			"- endpoints: [\"a:eth1\", \"b:eth2\"]\n",
			`f:5:5: interface "eth1" of node "a" has two links, the other on line 4: write another interface`},
		{"unknown node", "clab", "topology:\n  nodes: {leaf1: , b: }\n  links:\n  - endpoints: [\"laef1:eth1\", " +
			"\"b:eth1\"]\n", `f:4:5: link laef1–b: there is no node "laef1": did you mean "leaf1"?`},
		{"three endpoints", "clab", "topology:\n  links:\n  - endpoints: [a:e1]\n",
			`f:3:5: endpoints: 1 where two are due: write endpoints: ["a:eth1", "b:eth1"]`},
	} {
		t.Run(c.format+", "+c.name, func(t *testing.T) {
			if _, err := readTopology(c.format, c.text); err == nil || err.Error() != c.want {
				t.Errorf("\n got %v\nwant %s", err, c.want)
			}
		})
	}
}

// TestTooLarge: a graph of a million nodes is one clear error, soon.
func TestTooLarge(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"nodes": [`)
	for i := range 300_000 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "\n{\"id\": %d}", i)
	}
	b.WriteString(`], "links": []}`)
	want := "f:262146:1: more than 262144 nodes: a controller holds no larger network; leave nodes out"
	if _, err := readTopology("json", b.String()); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	long := "kind: topology\nnodes:\n" + strings.Repeat("  - {name: a, role: switch}\n", 650_000)
	want = "f: longer than 16777216 bytes: convert it to node-link JSON, which is read at any size"
	if _, err := readTopology("yaml", long); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	s := newSketch("f")
	for range MaxNodes {
		if err := s.addNode(sketchNode{}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.addNode(sketchNode{at: place{3, 4}}); err == nil {
		t.Error("one node too many is taken")
	}
}

func TestWriteErrors(t *testing.T) {
	b := pathmap.NewBuilder()
	b.Add(pathmap.Node{Name: `a b\`, Role: pathmap.ToR})
	topology, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	for format, want := range map[string]string{
		"clab": `write containerlab: node "a b\\": a container cannot have that name: use letters, digits, _, . and -`,
		"dot":  `write DOT: node "a b\\": the language has no way to write a name that ends in a backslash`,
	} {
		f, err := FormatNamed(format)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Write(&strings.Builder{}, topology); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", format, err, want)
		}
		if err := f.Write(full{}, build(t, "hybrid").Topology); err == nil {
			t.Errorf("%s: a full disk is no error", format)
		}
	}
}

// TestClabPorts: containerlab's interfaces are eth1 to eth65535, for ports from 0. The last one is written and read
// back, and one more is refused, at either end of a link.
func TestClabPorts(t *testing.T) {
	f, err := FormatNamed("clab")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		ports string
		ok    bool
	}{{"65534, 0", true}, {"0, 65534", true}, {"65535, 0", false}, {"0, 65535", false}} {
		topology, err := readTopology("yaml", "kind: "+KindTopology+`
nodes: [{name: a, role: tor, rack: 0}, {name: b, role: tor, rack: 1}]
links: [{ends: [a, b], capacity: 1Gbps, ports: [`+tt.ports+`]}]
`)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		err = f.Write(&out, topology)
		if !tt.ok {
			if err == nil || !strings.Contains(err.Error(),
				"port 65535 has no interface: take ports below 65535") {
				t.Errorf("ports %s: %v", tt.ports, err)
			}
			continue
		}
		if err != nil || !strings.Contains(out.String(), ":eth65535") {
			t.Fatalf("ports %s: %v:\n%s", tt.ports, err, &out)
		}
		back, err := readTopology("clab", out.String())
		if err != nil {
			t.Fatal(err)
		}
		if err := same(topology, back); err != nil {
			t.Errorf("ports %s: %v", tt.ports, err)
		}
	}
}

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrInvalid }

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "net.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ arg, want string }{
		{"hybird:racks=3", `"hybird:racks=3" is no topology: name a file that ends in .yaml, .clab.yml, .json, .graphml ` +
			`or .dot, or write "hybrid"? It is one of hybrid, leafspine, crossbar, pod, fattree, jellyfish, file`},
		{"none.json", "read topology: open none.json: no such file or directory"},
		{filepath.Join(dir, "net.txt"), filepath.Join(dir,
			"net.txt") + ": the name does not tell the format: end it in " +
			"one of .clab.yml, .clab.yaml, .yaml, .yml, .json, .graphml, .xml, .dot, .gv"},
		{"fattree:k=5", `parse fabric spec "fattree:k=5": column 9: k: 5 is no even number from 2 to 160`},
		{"fattree:k", `parse fabric spec "fattree:k": column 9: "k" is no key with a value: write it like k=4`},
		{"fattree:k=4,hots=3", `parse fabric spec "fattree:k=4,hots=3": column 13: hots: unknown key of a fattree: write ` +
			`"hosts"? It is one of k, hosts, rate, paths, slots, vcpus`},
		{"jellyfish:seed=x", `parse fabric spec "jellyfish:seed=x": column 11: seed: "x" is no whole number from 1: ` +
			`write it like seed=7`},
		{"jellyfish:rate=0bps", `parse fabric spec "jellyfish:rate=0bps": column 11: rate: a rate of 0bps carries ` +
			`nothing: write a rate above zero, such as rate=1Gbps`},
	} {
		if _, err := Load(c.arg); err == nil || err.Error() != c.want {
			t.Errorf("%s:\n got %v\nwant %s", c.arg, err, c.want)
		}
	}
}

// TestGraphviz: what we write, Graphviz reads, where it is installed.
func TestGraphviz(t *testing.T) {
	if _, err := exec.LookPath("dot"); err != nil {
		t.Skipf("Graphviz is not installed: %v", err)
	}
	f, err := FormatNamed("dot")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("dot", "-Tcanon")
	cmd.Stdin = bytes.NewReader(written(t, f, build(t, "hybrid").Topology))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOn: an error names the line of what came first only where there are lines.
func TestOn(t *testing.T) {
	for line, want := range map[int]string{0: "", 3: " on line 3"} {
		if got := on(place{line: line}); got != want {
			t.Errorf("line %d is %q, want %q", line, got, want)
		}
	}
}
