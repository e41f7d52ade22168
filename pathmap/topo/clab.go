package topo

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
)

// containerlab's topology files (*.clab.yml) name nodes, their kinds, and links between interfaces.
// What they do not know stands in labels: of a node lightloom-role and lightloom-rack, of a link
// capacity and back. Where no label says a node's role, a linux node with one link is a host, a switch
// with a host is a ToR, and any other is a switch.
//
// A node has its kind from itself, its group, the group of the defaults, or the defaults; its labels
// are those of the defaults, its kind, its group and itself, the last that says one (containerlab
// 0.69).
//
// An interface is port N−1 where every interface of its node ends in a number N from 1 after the same
// letters (eth1, e1-1); else a node's interfaces are ports from 0 in the order of their names. Links to
// the outside (host, mgmt-net, macvlan, dummy, vxlan) are none of the fabric's and left out.

const (
	labelRole = "lightloom-role"
	labelRack = "lightloom-rack"
)

// linux is the kind of nodes that name none.
const linux = "linux"

// leafKinds are the kinds of containers that are hosts if they have a single cable.
func leafKinds() []string { return []string{linux, "host", "ext-container"} }

// labSketch collects the nodes and links of a containerlab topology.
type labSketch struct {
	s      *sketch
	kinds  []string          // by node of s
	ifaces map[string][]wire // by node
}

// wire is one end of a cable: the interface that it is in.
type wire struct {
	cable int
	to    bool // the second end
	name  string
	at    place
}

// labIn is a lab whose nodes and links go into a sketch.
func labIn(s *sketch) *labSketch {
	s.derive = true
	return &labSketch{s: s, ifaces: map[string][]wire{}}
}

func (l *labSketch) node(name, kind string, labels map[string]string, at place) error {
	node := sketchNode{name: name, at: at, leaf: slices.Contains(leafKinds(), kind)}
	err := attributes(func(name string) (string, bool) {
		v, ok := labels[map[string]string{attrRole: labelRole, attrRack: labelRack}[name]]
		return v, ok
	}).node(&node)
	if err != nil {
		return fileError(l.s.file, at, err)
	}
	l.kinds = append(l.kinds, kind)
	return l.s.addNode(node)
}

// outsideEnds are what a link to the outside has in the place of a node.
func outsideEnds() []string {
	return []string{"host", "mgmt-net", "macvlan", "dummy", "vxlan", "vxlan-stitch"}
}

// endpoint is one end of a link.
type endpoint struct{ node, iface string }

func (l *labSketch) link(at place, labels map[string]string, a, b endpoint) error {
	c := sketchCable{from: a.node, to: b.node, at: at}
	if err := attributesOf(labels).cable(l.s, &c); err != nil {
		return fileError(l.s.file, at, err)
	}
	for i, end := range []endpoint{a, b} {
		l.ifaces[end.node] = append(l.ifaces[end.node], wire{len(l.s.cables), i == 1, end.iface, at})
	}
	return l.s.addCable(c)
}

// ports numbers the interfaces of each node.
func (l *labSketch) ports() error {
	for _, n := range l.s.nodes {
		wires := l.ifaces[n.name]
		slices.SortStableFunc(wires, func(a, b wire) int { return strings.Compare(a.name, b.name) })
		for i := 1; i < len(wires); i++ {
			if wires[i].name == wires[i-1].name {
				first, second := wires[i-1], wires[i]
				return l.s.wrong(second.at, "interface %q of node %q has two links, the other%s: write another interface",
					second.name, n.name, on(first.at))
			}
		}
		for i, port := range numbered(wires) {
			if c := &l.s.cables[wires[i].cable]; wires[i].to {
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
		if err != nil || n < 1 || n > maxPort || letters != first ||
			strconv.FormatInt(n, 10) != w.name[len(letters):] {
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
		p.printf("    - {endpoints: [\"%s:eth%d\", \"%s:eth%d\"], labels: {capacity: \"%v\"", c.from,
			c.fromPort+1, c.to,
			c.toPort+1, c.there)
		if back := c.differing(); back != 0 {
			p.printf(", back: \"%v\"", back)
		}
		p.print("}}\n")
	}
	return p.flush()
}
