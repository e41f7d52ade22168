package topo

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"lightloom/pathmap"
)

// rates writes the nodes and the capacity of each cable.
func rates(format, text string) string {
	t, err := readTopology(format, text)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, n := range t.Nodes() {
		out = append(out, n.Name)
	}
	for c := range cablesOf(t) {
		out = append(out, fmt.Sprintf("%s-%s %v", c.from, c.to, c.there))
	}
	return strings.Join(out, " ")
}

// TestForeignGraphs reads what other tools write as they mean it.
func TestForeignGraphs(t *testing.T) {
	for _, c := range []struct{ name, format, text, want string }{
		{"Python's Infinity", "json", `{"directed":false,"multigraph":true,"graph":{},"nodes":[{"id":"a"},{"id":"b"}],` +
			`"edges":[{"source":"a","target":"b","key":0,"capacity":Infinity}]}`, "a b a-b 100000Gbps"},
		{"Python's words beside ours", "json", `{"nodes":[{"id":"NaN","x":NaN},{"id":"-Infinity","y":-Infinity,` +
			`"z":"\"NaN"}],` +
			`"links":[{"source":"NaN","target":"-Infinity","w":Infinity , "d":[NaN,-Infinity]}]}`,
			"NaN -Infinity NaN--Infinity 1Gbps"},
		{"D3 to version 3", "json", `{"nodes":[{"name":"A","group":1},{"name":"B","group":1},{"name":"C"}],"links":[` +
			`{"source":0,"target":1,"value":1},{"source":2,"target":0}]}`, "A B C A-B 1Gbps C-A 1Gbps"},
		{"D3 to version 3, links first", "json", `{"links":[{"source":0,"target":1}],"nodes":[{"name":"A"},{"name":"B"}]}`,
			"A B A-B 1Gbps"},
		{"D3 to version 3, one name of two", "json", `{"nodes":[{"name":"A"},{"name":"A"}],"links":[{"source":0,` +
			`"target":1}]}`,
			"0 1 0-1 1Gbps"},
		{"D3 without ids, links by name", "json", `{"nodes":[{"name":"A"},{"name":"B"}],"links":[{"source":"B",` +
			`"target":"A"}]}`,
			"A B B-A 1Gbps"},
		{"networkx to version 1", "json", `{"graph":[["name","x"],["capacity_unit","Gbps"]],"nodes":[{"id":"a"},` +
			`{"id":"b"}],` +
			`"links":[{"source":0,"target":1,"capacity":10}]}`, "a b a-b 10Gbps"},
		{"ids 1.0 beside 1", "json", `{"nodes":[{"id":1.0},{"id":2}],"links":[{"source":1,"target":2}]}`, "1 2 1-2 1Gbps"},
		{"ids 2 beside 2e0", "json", `{"nodes":[{"id":1},{"id":2e0}],"links":[{"source":1.0,"target":2}]}`, "1 2 1-2 1Gbps"},
		{"ids that are no whole numbers", "json", `{"nodes":[{"id":1.5},{"id":-0.5}],"links":[{"source":1.5,"target":-0.5}]}`,
			"1.5 -0.5 1.5--0.5 1Gbps"},
		{"FNSS's unit", "json", `{"graph":{"capacity_unit":"Mbps"},"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a",` +
			`"target":"b","capacity":10}]}`, "a b a-b 10Mbps"},
		{"a unit behind the links", "json", `{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b",` +
			`"capacity":2.5,"back":10}],"graph":{"capacity_unit":"Gbps"}}`, "a b a-b 2500Mbps"},
		{"a unit, and a rate with its own", "json", `{"graph":{"capacity_unit":"Kbps"},"nodes":[{"id":"a"},{"id":"b"}],` +
			`"links":[{"source":"a","target":"b","capacity":"10Gbps"}]}`, "a b a-b 10Gbps"},
		{"a raw rate beside a unit", "json", `{"graph":{"capacity_unit":"Kbps"},"nodes":[{"id":"a"},{"id":"b"}],` +
			`"links":[{"source":"a","target":"b","LinkSpeedRaw":9600}]}`, "a b a-b 9600bps"},
		{"a unit in GraphML", "graphml", `<graphml><key id="u" for="graph" attr.name="capacity_unit"/><key id="c" ` +
			`for="edge" ` +
			`attr.name="capacity"/><graph edgedefault="undirected"><data key="u">Mbps</data><node id="a"/><node id="b"/>` +
			`<edge source="a" target="b"><data key="c">10</data></edge></graph></graphml>`, "a b a-b 10Mbps"},
		{"the Zoo's speed and unit", "graphml", `<graphml><key attr.name="LinkSpeed" for="edge" id="s"/><key ` +
			`attr.name="LinkSpeedUnits" for="edge" id="u"/><graph edgedefault="undirected"><node id="0"/><node id="1"/>` +
			`<edge source="0" target="1"><data key="s">2.5</data><data key="u">G</data></edge></graph></graphml>`,
			"0 1 0-1 2500Mbps"},
		{"the Zoo's raw speed first", "json", `{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b",` +
			`"LinkSpeed":"10","LinkSpeedUnits":"G","LinkSpeedRaw":9.6e9}]}`, "a b a-b 9600Mbps"},
		{"a default of the edges, mixed directions", "graphml", `<graphml><key id="c" for="edge" attr.name="capacity">` +
			`<default>10Gbps</default></key><graph edgedefault="directed"><node id="a"/><node id="b"/><node id="c"/><edge ` +
			`source="a" target="b"/><edge source="b" target="a"/><edge directed="false" source="b" target="c"><data ` +
			`key="c">1Gbps</data></edge></graph></graphml>`, "a b c a-b 10Gbps b-c 1Gbps"},
		{"two directions of two rates", "json", `{"directed":true,"nodes":[{"id":"a"},{"id":"b"}],"edges":[{"source":"a",` +
			`"target":"b","capacity":"10 Gbit/s"},{"source":"b","target":"a","capacity":"5Gbps"}]}`, "a b a-b 10Gbps"},
		{"chains and subgraphs in DOT", "dot", `graph { a -- b -- c; subgraph cluster_x { d; e } -- a }`,
			"a b c d e a-b 1Gbps b-c 1Gbps d-a 1Gbps e-a 1Gbps"},
		{"names that YAML takes for numbers", "clab",
			"x: &sw {kind: ceos}\ntopology:\n  nodes:\n    0x1: *sw\n    1e3: {<<: " +
				"*sw}\n    yes: {kind: linux}\n  links:\n    - endpoints: [\"0x1:eth1\", \"1e3:eth1\"]\n    - type: veth\n      " +
				"endpoints: [{node: 0x1, interface: eth2}, {node: yes, interface: eth1}]\n",
			"0x1 1e3 yes 0x1-1e3 1Gbps 0x1-yes 1Gbps"},
		{"a unit in DOT", "dot", `graph { capacity_unit=Gbps; a -- b [capacity=10] }`, "a b a-b 10Gbps"},
		{"a unit in DOT's graph", "dot", `graph { a -- b [capacity=10]; graph [capacity_unit="Mbps"] }`, "a b a-b 10Mbps"},
		{"without limit in DOT", "dot", `graph { a -- b [capacity=inf] }`, "a b a-b 100000Gbps"},
		{"without limit in GraphML", "graphml", `<graphml><key id="c" for="edge" attr.name="capacity" attr.type="double"/>` +
			`<graph edgedefault="undirected"><node id="a"/><node id="b"/><edge source="a" target="b"><data key="c">INF</data>` +
			`</edge></graph></graphml>`, "a b a-b 100000Gbps"},

		{"containerlab's export", "json", `{"name":"x","type":"clab","nodes":{"a":{"kind":"srl"},"b":{"kind":"srl"}},` +
			`"links":[{"a":{"node":"a","interface":"e1-1"},"z":{"node":"b","interface":"e1-1"}}]}`, "a b a-b 1Gbps"},
		{"containerlab's export from 0.50 on", "json", `{"name":"x","type":"clab","clab":{"config":{"mgmt":{"mtu":1500}}},` +
			`"ssh-pub-keys":[],"nodes":{"a":{"kind":"ceos","labels":{"lightloom-role":"tor"}},"b":{"kind":"linux"}},"links":[` +
			`{"endpoints":{"a":{"node":"a","interface":"eth1","peer":"z"},"z":{"node":"b","interface":"eth1","peer":"a"}}},` +
			`{"endpoints":{"a":{"node":"a","interface":"eth2","peer":"dummy"}}},` +
			`{"endpoints":{"a":{"node":"a","interface":"eth3"},"z":{"node":"mgmt-net","interface":"x"}}}]}`,
			"a b a-b 1Gbps"},
		{"containerlab's export, sorted", "json", `{"links":[{"a":{"node":"01","interface":"eth1"},"z":{"node":"b",` +
			`"interface":"eth1"}}],"nodes":{"b":{"kind":"linux"},"01":{"kind":"linux"}}}`, "b 01 01-b 1Gbps"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rates(c.format, c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := rates(c.format, "\uFEFF"+c.text); got != c.want {
				t.Errorf("with a byte order mark: got %s", got)
			}
		})
	}
}

// TestForeignErrors: what has no one meaning is refused, with what to write.
func TestForeignErrors(t *testing.T) {
	link := func(fields string) string {
		return `{"nodes":[{"id":"a"},{"id":"b"}],` + "\n" + `"links":[{"source":"a","target":"b",` + fields + `}]}`
	}
	for _, c := range []struct{ name, format, text, want string }{
		{"no unit", "json", link(`"bandwidth":10`), `f:2:10: link a–b: bandwidth: "10" has no unit, and is hardly bits a ` +
			`second: write 10Mbps, 10Gbps or 10bps`},
		{"no unit, of thousands", "json", link(`"capacity":1e4`), `write 10000Mbps`},
		{"no unit in DOT", "dot", "graph { a -- b [capacity=40] }", "write 40Mbps"},
		{"no unit in ours", "yaml", "kind: topology\nnodes: [{name: a}, {name: b}]\nlinks: [{ends: [a, b], capacity: 10}]\n",
			"f:3:34: "},
		{"a unit of bytes", "json", `{"graph":{"capacity_unit":"MB"},"nodes":[{"id":"a"}]}`, `capacity_unit: "MB" is ` +
			`no unit`},
		{"networkx' adjacency data", "json", `{"graph":[],"nodes":[{"id":1},{"id":2}],"adjacency":[[{"id":2}],[{"id":1}]]}`,
			`no "links": write "links": [] where there are none; networkx writes them by node_link_data`},
		{"relations by another name", "json", `{"nodes":[{"id":1},{"id":2}],"relationships":[{"from":1,"to":2}]}`,
			`no "links"`},
		{"cytoscape's", "json", `{"elements":{"nodes":[{"data":{"id":"a"}}],"edges":[]}}`, `no "nodes"`},
		{"a tree", "json", `{"id":1,"children":[{"id":2}]}`, `no "nodes"`},
		{"tuples as ids", "json", `{"nodes":[{"id":[0,0]},{"id":[0,1]}],"links":[{"source":[0,0],"target":[0,1]}]}`,
			"node 0 has no id that is a word or a number"},
		{"ends by another name", "json", `{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"from":"a","to":"b"}]}`,
			"link 0 lacks a source or a target"},
		{"one direction", "json", `{"directed":true,"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":"b"}]}`,
			"link a→b: it has no way back"},
		{"a speed without unit", "json", link(`"LinkSpeed":"10"`), "write 10Mbps"},
		{"a speed in words", "json", link(`"LinkSpeed":"fast","LinkSpeedUnits":"G"`), "f:2:10: link a–b: LinkSpeed: "},
		{"a cable of three ends", "clab",
			"topology:\n  nodes: {a: {}, b: {}, c: {}}\n  links:\n    - endpoints: [a:e, b:e, " +
				"c:e]\n", "endpoints: 3 where two are due"},
		{"an interface with two links", "clab",
			"topology:\n  nodes: {a: {}, b: {}}\n  links:\n    - endpoints: [a:e1, b:e1]\n" +
				"    - endpoints: [a:e1, b:e2]\n", `interface "e1" of node "a" has two links`},
		{"a graph in a node", "graphml", `<graphml><graph edgedefault="undirected"><node id="a"><graph/></node></graph>` +
			`</graphml>`, "a <graph> in a <node>"},
		{"two graphs", "dot", "graph { a -- b } graph { c -- d }", "2 graphs"},
		{"less than none", "json", link(`"capacity":-Infinity`), "f:2:10: link a–b: capacity: "},
		{"not a number", "json", link(`"capacity":NaN`), "it is empty or not a number"},
		{"too many digits", "json", link(`"capacity":1e999`), "is more than any link carries"},
		{"a word that begins so", "json", link(`"capacity":Infinite`), "f:2:39: invalid character 'I'"},
		{"an index too many", "json", `{"nodes":[{"name":"A"},{"name":"B"}],"links":[{"source":0,"target":2}]}`,
			`there is no node "2"`},
		{"an index and a name", "json", `{"nodes":[{"name":"A"},{"name":"B"}],"links":[{"source":0,"target":"B"}]}`,
			"some links name nodes and others count them"},
		{"neither id nor name", "json", `{"nodes":[{"group":1},{"group":2}],"links":[{"source":"a","target":"b"}]}`,
			"node 0 has neither an id nor a name"},
		{"a number beside names", "json", `{"nodes":[{"id":"a"},{"id":"b"}],"links":[{"source":"a","target":1}]}`,
			`there is no node "1"`},
		{"an end without node", "json", `{"nodes":{"a":{}},"links":[{"a":{"node":"a"},"z":{"interface":"x"}}]}`,
			`there is no node ""`},
		{"an encoding", "graphml", `<?xml version="1.0" encoding="Shift_JIS"?><graphml/>`, `f: encoding "shift_jis" is not ` +
			`read: convert it, as by iconv -f shift_jis -t UTF-8`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := rates(c.format, c.text); !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestEncodings reads GraphML in the encodings that its declaration or its byte order mark says.
func TestEncodings(t *testing.T) {
	const text = `<graphml><graph edgedefault="undirected"><node id="Zürich"/><node id="b"/><edge source="Zürich" ` +
		`target="b"/></graph></graphml>`
	const want = "Zürich b Zürich-b 1Gbps"
	utf16Of := func(text string, order binary.AppendByteOrder) (s string) {
		for _, u := range utf16.Encode([]rune(text)) {
			s += string(order.AppendUint16(nil, u))
		}
		return s
	}
	head := func(name string) string { return `<?xml version="1.0" encoding="` + name + `"?>` }
	latin := strings.ReplaceAll(text, "ü", "\xfc")
	for name, file := range map[string]string{
		"plain": text, "UTF-8": head("UTF-8") + text, "marked": "\uFEFF" + head("utf-8") + text,
		"marked, and wrongly declared": "\uFEFF" + head("ISO-8859-1") + text,
		"Latin-1":                      head("ISO-8859-1") + latin, "windows": head("windows-1252") + latin,
		"UTF-16, marked":           utf16Of("\uFEFF"+head("UTF-16")+text, binary.LittleEndian),
		"UTF-16, the other order":  utf16Of("\uFEFF"+head("UTF-16")+text, binary.BigEndian),
		"UTF-16, without a mark":   utf16Of(head("UTF-16")+text, binary.BigEndian),
		"UTF-16 that is UTF-8 now": head("UTF-16") + text,
	} {
		if got := rates("graphml", file); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := rates("graphml", head("US-ASCII")+strings.ReplaceAll(text, "ü",
		"u")); got != "Zurich b Zurich-b 1Gbps" {
		t.Errorf("ASCII: %s", got)
	}
	spec, err := Spec{Kind: FileKind, File: "x.xml",
		PerNode: 1}.take(strings.NewReader(head("ISO-8859-1") + latin))
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(spec)
	if err != nil || !strings.Contains(fmt.Sprint(f.Topology.Nodes()), "Zürich") ||
		!strings.HasPrefix(spec.Text, "\uFEFF") {
		t.Errorf("%v, %v, %q", f, err, spec.Text)
	}
}

// TestPython mends words wherever reads cut them, and nothing else.
func TestPython(t *testing.T) {
	const text = `{"a": Infinity, "b\\": [-Infinity,NaN ,Infinity], "\"Infinity": "NaN", "I": N, "x": -1}`
	const want = `{"a": "inf"   , "b\\": ["-inf"   ,""  ,"inf"   ], "\"Infinity": "NaN", "I": N, "x": -1}`
	for size := 16; size < 200; size++ {
		r := newPython(strings.NewReader(text))
		var out []byte
		for p := make([]byte, size); ; {
			n, err := r.Read(p)
			out = append(out, p[:n]...)
			if err == io.EOF {
				break
			}
		}
		if string(out) != want {
			t.Fatalf("by %d bytes: %s", size, out)
		}
	}
	got, err := io.ReadAll(newPython(iotest.OneByteReader(strings.NewReader(text))))
	if err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
}

// TestHostsJoined: a part is nodes of which paths join each two.
func TestHostsJoined(t *testing.T) {
	for _, c := range []struct {
		text  string
		parts int
	}{
		{"graph { a [role=host]; b [role=host]; a -- b }", 1},
		{"graph { a [role=host]; b [role=host]; c [role=host]; s; a -- b; b -- c; c -- s }", 2},
		{"graph { a [role=host]; b [role=host]; c [role=host]; a -- b; b -- c }", 2},
		{"graph { a [role=host]; b [role=host]; c [role=host]; a -- b; b -- c; a -- c }", 1},
		{"graph { s; a [role=host]; b [role=host]; s -- a; s -- b; a -- b }", 1},
		{"graph { s; t; a [role=host]; s -- a; t -- a }", 2},
		{"graph { a [role=host]; b [role=host] }", 2},
	} {
		f, err := readTopology("dot", c.text)
		if err != nil {
			t.Fatal(err)
		}
		s := NewSurvey(f)
		if s.Parts != c.parts || len(s.Apart) != c.parts-1 {
			t.Errorf("%s: %d parts, apart %v, want %d", c.text, s.Parts, s.Apart, c.parts)
		}
		if whole := joined(t, f); whole != (c.parts == 1) {
			t.Errorf("%s: paths join all: %v, in %d parts", c.text, whole, c.parts)
		}
	}
}

// joined reports whether a path joins each two nodes.
func joined(t *testing.T, f *pathmap.Topology) bool {
	t.Helper()
	var ends []pathmap.NodeID
	for n := range f.Nodes() {
		ends = append(ends, pathmap.NodeID(n))
	}
	m, err := pathmap.Build(f, ends, pathmap.Options{K: 1})
	if err != nil {
		t.Fatal(err)
	}
	for a := range ends {
		for b := range a {
			if m.Paths(a, b) == 0 {
				return false
			}
		}
	}
	return true
}

// TestUnits: what is written in bits a second is read back so, however few they are.
func TestUnits(t *testing.T) {
	f, err := readTopology("dot", "graph { a -- b [capacity=\"5bps\", back=\"7bps\"] }")
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats() {
		var b bytes.Buffer
		if err := format.Write(&b, f); err != nil {
			t.Fatal(err)
		}
		back, err := format.Parse("f", b.Bytes())
		if err != nil {
			t.Fatalf("%s: %v\n%s", format.Name, err, b.String())
		}
		if err := same(f, back); err != nil {
			t.Errorf("%s: %v", format.Name, err)
		}
	}
}

// TestQuietMistakes: what other tools refuse, or read in another way, is refused where it would change the network
// without a word.
func TestQuietMistakes(t *testing.T) {
	const clab = "topology:\n  groups: {Spines: {kind: srl}}\n  nodes:\n    a: {kind: srl}\n    b: {%s}\n  links:\n" +
		"    - {%sendpoints: [\"a:e1-1\", \"b:%s\"]}\n"
	for _, tc := range []struct{ name, format, text, want string }{
		{"as it is", "clab", fmt.Sprintf(clab, "kind: srl", "", "e1-1"), ""},
		{"a misspelt key", "clab", fmt.Sprintf(clab, "knid: srl", "", "e1-1"),
			`:5:9: "knid" is no key of containerlab: write kind`},
		{"another key", "clab", fmt.Sprintf(clab, "kind: srl, cmd: sh, env: {}, user: x", "", "e1-1"), ""},
		{"a misspelt group", "clab", fmt.Sprintf(clab, "group: spines", "", "e1-1"),
			`is of group "spines", which groups has not: write Spines`},
		{"a group of its own", "clab", fmt.Sprintf(clab, "kind: srl, group: tier-1", "", "e1-1"), ""},
		{"a type", "clab", fmt.Sprintf(clab, "kind: srl", "type: bogus, ", "e1-1"), `a link of type "bogus": write veth`},
		{"veth", "clab", fmt.Sprintf(clab, "kind: srl", "type: veth, ", "e1-1"), ""},
		{"an end of three parts", "clab", fmt.Sprintf(clab, "kind: srl", "", "e1:x"),
			`endpoint "b:e1:x" has more than a node and`},
		{"Latin-1 in YAML", "clab", fmt.Sprintf(clab, "kind: srl", "", "e1-1") + "# \xe9\n",
			"line 8: the byte 0xe9 is not UTF-8"},
		{"Latin-1 in JSON", "json", "{\"nodes\":[{\"id\":\"\xe9\"}],\"links\":[]}", "is not UTF-8"},
		{"half a pair of UTF-16", "json", `{"nodes":[{"id":"\ud800"}],"links":[]}`, "is not UTF-8"},
		{"a pair of UTF-16", "json", `{"nodes":[{"id":"\ud834\udd1e"}],"links":[]}`, ""},
		{"words that are numbers", "json", `{"nodes":[{"id":"2"},{"id":"0"},{"id":"1"}],"links":[{"source":0,"target":1}]}`,
			`an end 0 can be the node with the id "0" or the one of index 0, which is "2": write its id, in quotes`},
		{"words that are their places", "json", `{"nodes":[{"id":"0"},{"id":"1"}],"links":[{"source":0,"target":1}]}`, ""},
		{"edgedefault", "graphml", `<graphml><graph edgedefault="Directed"><node id="a"/></graph></graphml>`,
			`edgedefault="Directed": write "directed" or "undirected"`},
	} {
		_, err := readTopology(tc.format, tc.text)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", tc.name, err, tc.want)
		}
	}
}

// TestLinksByPlace: networkx 1 counts nodes in links whatever their ids are, and says so by a list in the place of an
// object. Names of nodes without ids are theirs, even if these are numbers.
func TestLinksByPlace(t *testing.T) {
	for text, want := range map[string][]string{
		`{"graph":[],"nodes":[{"id":2},{"id":0},{"id":1}],"links":[{"source":0,"target":1},{"source":1,"target":2}]}`: {
			"2-0", "0-1"},
		`{"graph":{},"nodes":[{"id":2},{"id":0},{"id":1}],"links":[{"source":0,"target":1},{"source":1,"target":2}]}`: {
			"0-1", "1-2"},
		`{"nodes":[{"name":"1"},{"name":"0"},{"name":"2"}],"links":[{"source":0,"target":2}]}`: {"1-2"},
		`{"nodes":[{"name":"1"},{"name":"1"}],"links":[{"source":0,"target":1}]}`:              {"0-1"},
	} {
		topology, err := readTopology("json", text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, l := range topology.Links() {
			from, to := topology.Node(l.From).Name, topology.Node(l.To).Name
			if !slices.Contains(got, to+"-"+from) {
				got = append(got, from+"-"+to)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: links %v, want %v", text, got, want)
		}
	}
}
