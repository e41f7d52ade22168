package topo

import (
	"bytes"
	"testing"
)

// fuzzFormat reads anything, and checks that what is read can be written and read back.
func fuzzFormat(f *testing.F, name string, seeds ...string) {
	format, err := FormatNamed(name)
	if err != nil {
		f.Fatal(err)
	}
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	json, err := FormatNamed("json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		topology, err := format.Parse("f", data)
		if err != nil {
			return
		}
		for _, out := range []Format{format, json} {
			var b bytes.Buffer
			if err := out.Write(&b, topology); err != nil {
				continue // a name that the format cannot say
			}
			again, err := out.Parse("f", b.Bytes())
			if err != nil {
				t.Fatalf("%q, written as %s %q: %v", data, out.Name, b.String(), err)
			}
			if err := same(topology, again); err != nil {
				t.Fatalf("%q, written as %s: %v", data, out.Name, err)
			}
		}
	})
}

func FuzzYAMLTopology(f *testing.F) {
	fuzzFormat(f, "yaml", "kind: topology\nnodes: [{name: a, role: tor, rack: 1}, {name: b}]\nlinks: [{ends: [a, b], "+
		"ports: [1, 2], capacity: 1Gbps, back: 5}]\n",
		"kind: hybrid\nracks: 2\n", "a: &a [*a]", "kind: topology\nnodes:\n- name: |\n   a\n", "topology: {nodes: {a: }}")
}

func FuzzClab(f *testing.F) {
	fuzzFormat(f, "clab", "topology:\n  nodes: {a: {kind: x, labels: {lightloom-role: tor}}, b: }\n  links:\n  - "+
		"endpoints: [\"a:eth1\", \"b:eth01\"]\n    labels: {capacity: 1Gbps}\n",
		"topology:\n  links:\n  - type: host\n  - endpoints: [{node: a, interface: b}, \"host:x\"]\n")
}

func FuzzNodeLink(f *testing.F) {
	fuzzFormat(f, "json", `{"directed": true, "nodes": [{"id": 1, "role": "host"}, {"id": "b", "rack": 2.0}], `+
		`"links": [{"source": 1, "target": "b", "capacity": 1e9}, {"source": "b", "target": 1}]}`,
		`{"nodes": null, "edges": [`, `{"nodes": [{"id": "\ud800"}]}`)
}

func FuzzGraphML(f *testing.F) {
	fuzzFormat(f, "graphml", `<graphml><key id="c" for="edge" attr.name="capacity"><default>5</default></key><graph `+
		`edgedefault="directed"><node id="a"/><node id="b"/><edge source="a" target="b"/><edge source="b" target="a" `+
		`directed="true"><data key="c">1Gbps</data></edge></graph></graphml>`,
		`<graphml xmlns:x="y"><x:graph/>`, `<!DOCTYPE a [<!ENTITY b "c">]><graphml>&b;</graphml>`)
}

func FuzzDOT(f *testing.F) {
	fuzzFormat(f, "dot", "strict digraph g { node [role=tor]; a:3 -> {b c} -> d [capacity=\"1Gbps\"]; d -> b; subgraph "+
		"x { y } a [rack=1] }",
		"graph { \"a\\\"b\" -- <b>; 1.5 -- -2 }", "graph { a -- b -- a // x\n /* y */ }")
}
