package topo

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"lightloom/pathmap"
)

// TestVariations: what files of other tools mean, their right values written down before they were first read.
func TestVariations(t *testing.T) {
	const head = `<?xml version="1.0" encoding="%s"?><graphml><graph edgedefault="undirected"><node id="Z%cr"/>` +
		`<node id="b"/><edge source="Z%cr" target="b"/></graph></graphml>`
	wide := ""
	for _, u := range utf16.Encode([]rune(fmt.Sprintf(head, "UTF-16BE", 'ü', 'ü'))) {
		wide += string([]byte{byte(u >> 8), byte(u)})
	}
	latin := strings.ReplaceAll(fmt.Sprintf(head, "ISO-8859-1", 'ü', 'ü'), "ü", "\xfc")
	for name, c := range map[string]struct{ format, text, want string }{
		"a kind of a node's own beside its group's": {"clab", `topology:
  defaults: {kind: arista_ceos}
  groups: {g1: {kind: nokia_srlinux}}
  nodes: {s0: , s1: {group: g1}, h1: {group: g1, kind: linux}}
  links:
  - endpoints: ["s1:e1-1", "h1:eth1"]
  - endpoints: ["s0:eth1", "s1:e1-2"]
`, "s0:switch s1:tor h1:host; s1-h1 1Gbps, s0-s1 1Gbps"},
		"names that look like numbers": {"clab", `topology:
  nodes: {01: {kind: nokia_srlinux}, 0x10: , 1_0: , yes: , 1e3: , 1.10: }
  links:
  - endpoints: [01:e1, 0x10:eth1]
  - endpoints: ["01:e2", "1_0:eth1"]
  - endpoints: ["01:e3", "yes:eth1"]
  - endpoints: ["01:e4", "1e3:eth1"]
  - endpoints: ["01:e5", "1.10:eth1"]
`, "01:tor 0x10:host 1_0:host yes:host 1e3:host 1.10:host; " +
			"01-0x10 1Gbps, 01-1_0 1Gbps, 01-yes 1Gbps, 01-1e3 1Gbps, 01-1.10 1Gbps"},
		"a list of merge keys": {"clab", `x: &sw {kind: nokia_srlinux, labels: {lightloom-role: tor}}
topology:
  nodes: {s1: {<<: *sw}, s2: *sw, s3: {<<: [*sw], kind: linux}}
  links:
  - endpoints: ["s1:e1-1", "s2:e1-1"]
  - endpoints: ["s1:e1-2", "s3:eth1"]
`, "s1:tor s2:tor s3:tor; s1-s2 1Gbps, s1-s3 1Gbps"},
		"links that leave the lab": {"clab", `topology:
  nodes: {s1: {kind: nokia_srlinux}, h1: {kind: linux}}
  links:
  - {type: veth, endpoints: [{node: s1, interface: e1-1}, {node: h1, interface: eth1}]}
  - {type: host, endpoint: {node: s1, interface: e1-2}, host-interface: s1x}
  - endpoints: ["s1:e1-3", "macvlan:enp0s3"]
  - endpoints: ["s1:e1-4", "mgmt-net:x"]
`, "s1:tor h1:host; s1-h1 1Gbps"},
		"a variable with a default": {"clab", "topology:\n  nodes: {s1: {kind: \"${KIND:=srl}\"}}\n",
			"f:2:22: \"${KIND:=srl}\" stands for what is not in this file: expand it first"},
		"names that are indices of others": {"json", `{"nodes": [{"name": "1"}, {"name": "0"}, {"name": "c"}],
			"links": [{"source": 0, "target": 2}]}`, "1:switch 0:switch c:switch; 1-c 1Gbps"},
		"minus Infinity": {"json", `{"nodes": [{"id": "a"}, {"id": "b"}], "links": [{"source": "a", "target": "b",
			"capacity": -Infinity}]}`, `f:1:49: link a–b: capacity: "-inf" carries nothing`},
		"Infinity within a name": {"json", `{"nodes": [{"id": "Infinity a"}, {"id": "b", "x": NaN}],
			"links": [{"source": "Infinity a", "target": "b", "weight": Infinity}]}`,
			"Infinity a:switch b:switch; Infinity a-b 1Gbps"},
		"2.0 beside its word": {"json", `{"nodes": [{"id": 2.0}, {"id": 3}], "links": [{"source": "2", "target": 3.0}]}`,
			"2:switch 3:switch; 2-3 1Gbps"},
		"a part of FNSS's unit": {"json", `{"graph": {"capacity_unit": "Gbps"}, "nodes": [{"id": "a"}, {"id": "b"}],
			"links": [{"source": "a", "target": "b", "capacity": 0.5}]}`, "a:switch b:switch; a-b 500Mbps"},
		"UTF-16 that is declared": {"graphml", wide, "Zür:switch b:switch; Zür-b 1Gbps"},
		"Latin-1":                 {"graphml", latin, "Zür:switch b:switch; Zür-b 1Gbps"},
		"-> in a graph": {"dot", "graph g {\n  \"a->\" -- b;\n  b -> c;\n}\n",
			"f:3:5: -> in an undirected graph: write --"},
		"a mark before DOT": {"dot", "\uFEFFgraph { h1 [role=host]; h2 [role=host]; h1 -- h2 }",
			"h1:host h2:host; h1-h2 1Gbps"},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := FormatNamed(c.format)
			if err != nil {
				t.Fatal(err)
			}
			topology, err := f.Parse("f", []byte(c.text))
			got := fmt.Sprint(err)
			if err == nil {
				got = summed(topology)
			}
			if !strings.HasPrefix(got, c.want) || err == nil && got != c.want {
				t.Errorf("%s, and not %s", got, c.want)
			}
		})
	}
}

// summed is a topology in a line.
func summed(t *pathmap.Topology) string {
	var nodes, links []string
	for _, n := range t.Nodes() {
		nodes = append(nodes, fmt.Sprintf("%s:%v", n.Name, n.Role))
	}
	for c := range cablesOf(t) {
		links = append(links, fmt.Sprintf("%s-%s %v", c.from, c.to, c.there))
	}
	return strings.Join(nodes, " ") + "; " + strings.Join(links, ", ")
}
