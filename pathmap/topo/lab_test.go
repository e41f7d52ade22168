package topo

import (
	"fmt"
	"strings"
	"testing"
)

// shape writes the nodes and links of a topology in short: name:role, and a-b for a cable.
func shape(format, text string) string {
	t, err := readTopology(format, text)
	if err != nil {
		return err.Error()
	}
	var out []string
	for _, n := range t.Nodes() {
		out = append(out, fmt.Sprintf("%s:%v", n.Name, n.Role))
	}
	for c := range cablesOf(t) {
		out = append(out, fmt.Sprintf("%s-%s", c.from, c.to))
	}
	return strings.Join(out, " ")
}

// TestLabInherits: a node's kind and labels are its own, its group's, its kind's or the defaults', as containerlab has
// them from 0.69 on.
func TestLabInherits(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a kind by group", `topology:
  groups: {sw: {kind: nokia_srlinux}}
  nodes: {s1: {group: sw}, s2: {group: sw}, h1: {kind: linux}}
  links: [{endpoints: ["s1:e1-1", "s2:e1-1"]}, {endpoints: ["s1:e1-2", "h1:eth1"]}]
`, "s1:tor s2:switch h1:host s1-s2 s1-h1"},
		{"a group of the defaults", `topology:
  defaults: {group: sw}
  groups: {sw: {kind: arista_ceos}}
  nodes: {s1: , s2: }
  links: [{endpoints: ["s1:eth1", "s2:eth1"]}]
`, "s1:switch s2:switch s1-s2"},
		{"groups of several kinds", `topology:
  groups:
    spines: {kind: nokia_srlinux, type: ixr-d3l}
    clients: {kind: linux, image: "alpine:3"}
  nodes: {spine1: {group: spines}, c1: {group: clients}}
  links: [{endpoints: ["spine1:e1-1", "c1:eth1"]}]
`, "spine1:tor c1:host spine1-c1"},
		{"labels of group, defaults and kind", `topology:
  defaults: {kind: nokia_srlinux, labels: {lightloom-role: tor}}
  kinds: {arista_ceos: {labels: {lightloom-role: switch}}}
  groups: {hosts: {kind: linux, labels: {lightloom-role: host}}}
  nodes: {s1: , s2: {kind: arista_ceos}, h1: {group: hosts}}
  links: [{endpoints: ["s1:e1-2", "h1:eth1"]}, {endpoints: ["s1:e1-3", "h1:eth2"]}]
`, "s1:tor s2:switch h1:host s1-h1 s1-h1"},
		{"a node's own word before its group's, that before its kind's", `topology:
  kinds: {linux: {group: g}, nokia_srlinux: {labels: {lightloom-role: ocs}}}
  groups: {g: {labels: {lightloom-role: tor}}}
  nodes: {a: {kind: linux}, b: {kind: nokia_srlinux, group: g}, c: {kind: nokia_srlinux},
    d: {group: g, kind: x, labels: {lightloom-role: host}}}
`, "a:tor b:tor c:ocs d:host"},
		{"the defaults' group gives a kind that the node's own group lacks", `topology:
  defaults: {kind: linux, group: d}
  groups: {g: {}, d: {kind: arista_ceos}}
  nodes: {a: {group: g}, b: {kind: nokia_srlinux}}
  links: [{endpoints: ["a:eth1", "b:e1-1"]}]
`, "a:switch b:switch a-b"},
		{"a group that is a word for drawing only", `topology:
  nodes: {a: {kind: linux, group: leaf}, b: {kind: ceos, group: spine}}
  links: [{endpoints: ["a:eth1", "b:eth1"]}]
`, "a:host b:tor a-b"},
		{"null is nothing", `topology:
  defaults: {kind: ceos, labels: }
  kinds: ~
  nodes: {a: {kind: null, labels: null}, b: {group: ~}}
`, "a:switch b:switch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shape("clab", c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestLabTexts: names are texts as they stand, and aliases, merge keys and both forms of endpoints are read.
func TestLabTexts(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"names", `topology:
  nodes: {01: , 0x10: , 1_0: , 007: , yes: , null: , 1e3: , true: , .inf: , ~: }
  links:
  - endpoints: [01:eth1, 0x10:eth1]
  - endpoints: ["1_0:eth1", "007:eth1"]
  - endpoints: [{node: yes, interface: 1}, {node: 1e3, interface: 01}]
`, "01:host 0x10:host 1_0:host 007:host yes:host null:switch 1e3:host true:switch .inf:switch ~:switch 01-0x10 " +
			"1_0-007 yes-1e3"},
		{"aliases and merge keys", `x-leaf: &leaf {kind: nokia_srlinux, labels: &l {lightloom-role: tor}}
x-ends: &ends ["l1:e1-1", "s1:e1-1"]
topology:
  defaults: {kind: ceos}
  nodes:
    l1: *leaf
    l2: {<<: *leaf}
    l3: {<<: [*leaf, {kind: linux}], labels: {lightloom-role: switch}}
    l4: {<<: {kind: linux}, labels: {<<: *l, lightloom-rack: 7}}
    s1:
  links:
  - endpoints: *ends
  - <<: {type: veth}
    endpoints: [{node: l2, interface: e1-1}, {node: s1, interface: e1-2, mac: "02:00:00:00:00:01"}]
`, "l1:tor l2:tor l3:switch l4:tor s1:switch l1-s1 l2-s1"},
		{"an anchor that is set again", `x: &a {kind: linux}
topology:
  nodes:
    h: *a
    y: &a {kind: ceos}
    z: *a
  links: [{endpoints: ["h:eth1", "z:eth1"]}]
`, "h:host y:switch z:tor h-z"},
		{"links to the outside", `topology:
  nodes: {a: {kind: linux}, b: {kind: ceos}}
  links:
  - endpoints: ["a:eth1", "b:eth1"]
  - endpoints: ["a:eth2", "host:x"]
  - endpoints: ["mgmt-net:x", "b:eth3"]
  - endpoints: ["b:eth4", "macvlan:ens1"]
  - type: mgmt-net
    endpoint: {node: b, interface: eth5}
    host-interface: y
  - {type: dummy, endpoint: {node: b, interface: eth6}}
`, "a:host b:tor a-b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shape("clab", c.text); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if got := shape("yaml", c.text); got != c.want {
				t.Errorf("by another name got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestLabErrors: what containerlab would expand is refused where it matters, and so are aliases that lead nowhere.
func TestLabErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a template", "name: x\ntopology:\n  nodes:\n{{- range seq 3 }}\n    s{{ . }}:\n{{- end }}\n",
			"f:4: a Go template stands for what is not in this file: expand it first: "},
		{"a template in comments", "name: x\ntopology:\n  nodes:\n    a:\n# {{ if .b }}\n    b:\n# {{ end }}\n", "f:5: a Go"},
		{"a variable as kind", "name: x\ntopology:\n  nodes:\n    a: {kind: \"${KIND:=linux}\"}\n",
			`f:4:15: "${KIND:=linux}" stands for what is not in this file: expand it first: write the value`},
		{"a bare variable as kind", "name: x\ntopology:\n  defaults:\n    kind: ${KIND:=linux}\n  nodes:\n    a:\n",
			"expand it first"},
		{"a variable in a mapping of one line", "name: x\ntopology:\n  nodes:\n    a: {kind: ${KIND:=linux}}\n",
			"expand it first"},
		{"a variable as name", "name: x\ntopology:\n  nodes:\n    ${N}1:\n", `f:4:5: node "${N}1" stands for`},
		{"a variable in an endpoint", "name: x\ntopology:\n  nodes: {a: , b: }\n  links:\n  - endpoints: [\"a:eth$X\", " +
			"\"b:eth1\"]\n", `f:5:17: "a:eth$X" stands for`},
		{"a variable in our label", "name: x\ntopology:\n  nodes: {a: {labels: {lightloom-role: $ROLE}}}\n", `"$ROLE" ` +
			`stands`},
		{"an unknown alias", "name: x\ntopology:\n  nodes:\n    a: *b\n", "b"},
		{"an alias of itself", "topology:\n  nodes: &n {a: *n}\n  links: &a [*a]\n", "f:3:"},
		{"a merge of itself", "topology:\n  nodes: &n\n    a: {}\n    <<: *n\n", "merge keys within each other"},
		{"a merge of a word", "topology:\n  nodes:\n    a: {<<: b}\n", "f:3:13: what << merges is no mapping"},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, format := range []string{"clab", "yaml"} {
				if got := shape(format, c.text); !strings.Contains(got, c.want) {
					t.Errorf("%s: got %s\nwant %s", format, got, c.want)
				}
			}
		})
	}
	env := "topology:\n  nodes: {a: {kind: linux, env: {X: \"${HOME}\"}, exec: [echo $X]}}\n"
	if got := shape("clab", env); got != "a:switch" {
		t.Errorf("variables where nothing is read: %s", got)
	}
}

// TestManyAliases: a few bytes that stand for a billion values are one error.
func TestManyAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString("x: &x [{endpoints: [a:e1, b:e1]}")
	b.WriteString(strings.Repeat(", {endpoints: [a:e1, b:e1]}", 1000) + "]\ny: &y {")
	for i := range 3000 {
		fmt.Fprintf(&b, "k%d: v, ", i)
	}
	b.WriteString("}\ntopology:\n  nodes:\n")
	for i := range 5000 {
		fmt.Fprintf(&b, "    n%d: {labels: *y}\n", i)
	}
	if got := shape("clab", b.String()); !strings.Contains(got, "with what aliases stand for") {
		t.Errorf("%.200s", got)
	}
}
