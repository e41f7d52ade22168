package topo

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"lightloom/pathmap"
)

// containerlab's topology files (*.clab.yml) name nodes, their kinds, and links between interfaces. What they do not
// know stands in labels: of a node lightloom-role and lightloom-rack, of a link capacity and back. Where no label says
// a node's role, a linux node with one link is a host, a switch with a host is a ToR, and any other is a switch.
//
// An interface is port N−1 where every interface of its node ends in a number N from 1 after the same letters (eth1,
// e1-1); else a node's interfaces are ports from 0 in the order of their names. Links to the outside (host, mgmt-net,
// macvlan, dummy, vxlan) are none of the fabric's and left out.

const (
	labelRole = "lightloom-role"
	labelRack = "lightloom-rack"
)

type clab struct {
	tree
	s      *sketch
	kind   string            // of nodes that name none
	ifaces map[string][]wire // by node
}

// wire is one end of a cable: the interface that it is in.
type wire struct {
	cable int
	to    bool // the second end
	name  string
	at    place
}

func readClab(file string, data []byte) (*sketch, error) {
	t := tree{file}
	top, err := t.root(data)
	if err != nil {
		return nil, err
	}
	return clabOf(file, top)
}

func clabOf(file string, top []entry) (*sketch, error) {
	r := clab{tree: tree{file}, s: newSketch(file), kind: "linux", ifaces: map[string][]wire{}}
	r.s.derive = true
	e, ok := oneKey(top, "topology")
	if !ok {
		return nil, r.wrong(nil, "no topology: this is no containerlab file, which has nodes and links below topology:")
	}
	parts, err := r.mapping(e.value, "topology")
	if err != nil {
		return nil, err
	}
	if d, ok := oneKey(parts, "defaults"); ok {
		if err := r.defaults(d); err != nil {
			return nil, err
		}
	}
	for _, part := range parts {
		switch part.key {
		case "nodes":
			err = r.nodes(part)
		case "links":
			err = r.links(part)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.s, r.ports()
}

func (r *clab) defaults(e entry) error {
	fields, err := r.mapping(e.value, "defaults")
	if err != nil {
		return err
	}
	if kind, ok := oneKey(fields, "kind"); ok {
		r.kind, err = r.word(kind.value, "kind")
	}
	return err
}

func (r *clab) nodes(e entry) error {
	nodes, err := r.mapping(e.value, "nodes")
	if err != nil {
		return err
	}
	for _, n := range nodes {
		fields, err := r.mapping(n.value, "node "+strconv.Quote(n.key))
		if err != nil {
			return err
		}
		kind := r.kind
		if k, ok := oneKey(fields, "kind"); ok {
			if kind, err = r.word(k.value, "kind"); err != nil {
				return err
			}
		}
		labels, err := r.words(fields, "labels")
		if err != nil {
			return err
		}
		node := sketchNode{name: n.key, at: placeOf(n.at), leaf: kind == "linux"}
		err = attributes(func(name string) (string, bool) {
			v, ok := labels[map[string]string{attrRole: labelRole, attrRack: labelRack}[name]]
			return v, ok
		}).node(&node)
		if err != nil {
			return fileError(r.file, node.at, err)
		}
		if err := r.s.addNode(node); err != nil {
			return err
		}
	}
	return nil
}

// words returns a field that is a mapping of words; what is no word in it is left out.
func (r *clab) words(fields []entry, key string) (map[string]string, error) {
	e, ok := oneKey(fields, key)
	if !ok {
		return nil, nil
	}
	pairs, err := r.mapping(e.value, key)
	words := make(map[string]string, len(pairs))
	for _, p := range pairs {
		if text, ok := text0(plain(p.value)); ok {
			words[p.key] = text
		}
	}
	return words, err
}

func (r *clab) links(e entry) error {
	links, err := r.list(e.value, "links")
	if err != nil {
		return err
	}
	for _, n := range links {
		fields, err := r.mapping(n, "a link")
		if err != nil {
			return err
		}
		at := placeOf(n.GetToken())
		if len(fields) > 0 {
			at = placeOf(fields[0].at)
		}
		if err := r.link(at, fields); err != nil {
			return err
		}
	}
	return nil
}

// outsideEnds are what a link to the outside has in the place of a node.
func outsideEnds() []string {
	return []string{"host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch"}
}

func (r *clab) link(at place, fields []entry) error {
	if kind, ok := oneKey(fields, "type"); ok {
		if text, _ := text0(plain(kind.value)); slices.Contains(outsideEnds(), text) {
			return nil
		}
	}
	e, ok := oneKey(fields, "endpoints")
	if !ok {
		return r.s.wrong(at, "a link without endpoints: write endpoints: [\"a:eth1\", \"b:eth1\"]")
	}
	list, err := r.list(e.value, "endpoints")
	if err != nil {
		return err
	}
	if len(list) != 2 {
		return r.wrong(e.at, "endpoints: %d where two are due: write endpoints: [\"a:eth1\", \"b:eth1\"]", len(list))
	}
	var node, iface [2]string
	for i, n := range list {
		if node[i], iface[i], err = r.endpoint(n); err != nil {
			return err
		}
		if slices.Contains(outsideEnds(), node[i]) {
			return nil
		}
	}
	return r.cable(at, fields, node, iface)
}

func (r *clab) cable(at place, fields []entry, node, iface [2]string) error {
	labels, err := r.words(fields, "labels")
	if err != nil {
		return err
	}
	c := sketchCable{from: node[0], to: node[1], at: at}
	if err := attributesOf(labels).cable(&c); err != nil {
		return fileError(r.file, at, err)
	}
	for i := range node {
		r.ifaces[node[i]] = append(r.ifaces[node[i]], wire{len(r.s.cables), i == 1, iface[i], at})
	}
	return r.s.addCable(c)
}

// endpoint reads "node:interface", or a mapping with both.
func (r *clab) endpoint(n ast.Node) (node, iface string, err error) {
	if fields, err := r.mapping(n, "an endpoint"); err == nil && len(fields) > 0 {
		words := map[string]string{}
		for _, f := range fields {
			if text, ok := text0(plain(f.value)); ok {
				words[f.key] = text
			}
		}
		if words["node"] != "" && words["interface"] != "" {
			return words["node"], words["interface"], nil
		}
		return "", "", r.wrong(fields[0].at, "an endpoint without node or interface: write {node: a, interface: eth1}")
	}
	text, err := r.word(n, "an endpoint")
	if err != nil {
		return "", "", err
	}
	node, iface, ok := strings.Cut(text, ":")
	if !ok || node == "" || iface == "" {
		return "", "", r.wrong(n.GetToken(), "endpoint %q names no interface: write \"%s:eth1\"", text, node)
	}
	return node, iface, nil
}

// ports numbers the interfaces of each node.
func (r *clab) ports() error {
	for _, n := range r.s.nodes {
		wires := r.ifaces[n.name]
		slices.SortStableFunc(wires, func(a, b wire) int { return strings.Compare(a.name, b.name) })
		for i := 1; i < len(wires); i++ {
			if wires[i].name == wires[i-1].name {
				first, second := wires[i-1], wires[i]
				return r.s.wrong(second.at, "interface %q of node %q has two links, the other%s: write another interface",
					second.name, n.name, on(first.at))
			}
		}
		for i, port := range numbered(wires) {
			if c := &r.s.cables[wires[i].cable]; wires[i].to {
				c.toPort = port
			} else {
				c.fromPort = port
			}
		}
	}
	return nil
}

// numbered returns the port of each wire of a node, sorted by name.
func numbered(wires []wire) []int32 {
	ports := make([]int32, len(wires))
	for i, w := range wires {
		letters := strings.TrimRight(w.name, "0123456789")
		n, err := strconv.ParseInt(w.name[len(letters):], 10, 32)
		first := strings.TrimRight(wires[0].name, "0123456789")
		if err != nil || n < 1 || n > maxPort || letters != first || strconv.FormatInt(n, 10) != w.name[len(letters):] {
			for j := range ports {
				ports[j] = int32(j)
			}
			return ports
		}
		ports[i] = int32(n) - 1
	}
	return ports
}

// writeClab writes t as a containerlab file: linux nodes, port N being interface eth(N+1), for eth0 is the
// management's.
func writeClab(w io.Writer, t *pathmap.Topology) error {
	for _, n := range t.Nodes() {
		if strings.Trim(n.Name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") != "" ||
			slices.Contains(outsideEnds(), n.Name) {
			return fmt.Errorf("write containerlab: node %q: a container cannot have that name: use letters, digits, _, . and -",
				n.Name)
		}
	}
	p := newPrinter(w)
	p.print("name: lightloom\ntopology:\n  defaults:\n    kind: linux\n    image: alpine:3\n  nodes:\n")
	for _, n := range t.Nodes() {
		p.printf("    %s: {labels: {%s: %v", yamlWord(n.Name), labelRole, n.Role)
		if n.Rack != pathmap.None {
			p.printf(", %s: \"%d\"", labelRack, n.Rack)
		}
		p.print("}}\n")
	}
	if len(t.Links()) > 0 {
		p.print("  links:\n")
	}
	for c := range cablesOf(t) {
		if max(c.fromPort, c.toPort) > math.MaxUint16-1 {
			return fmt.Errorf("write containerlab: link %s: port %d has no interface: take ports below %d", &c,
				max(c.fromPort, c.toPort), math.MaxUint16)
		}
		p.printf("    - {endpoints: [\"%s:eth%d\", \"%s:eth%d\"], labels: {capacity: \"%v\"", c.from, c.fromPort+1, c.to,
			c.toPort+1, c.there)
		if back := c.differing(); back != 0 {
			p.printf(", back: \"%v\"", back)
		}
		p.print("}}\n")
	}
	return p.flush()
}
