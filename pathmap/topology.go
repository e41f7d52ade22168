package pathmap

import (
	"fmt"
	"slices"
	"strings"
)

// NodeID names a node of one Topology: its position in Nodes.
type NodeID int32

// LinkID names a directed link of one Topology: its position in Links.
type LinkID int32

// None is the absence of a node, a link or a rack.
const None = -1

// Role is what a node does in the fabric.
type Role uint8

// The roles. Circuits are not links: an OCS has links to its racks' ToRs like any switch, but no path
// map enters it.
const (
	Host   Role = iota + 1 // sends and receives, never forwards
	ToR                    // top-of-rack switch
	Switch                 // any other packet switch: spine, aggregation, core
	OCS                    // optical circuit switch
)

func (r Role) String() string {
	switch r {
	case Host:
		return "host"
	case ToR:
		return "tor"
	case Switch:
		return "switch"
	case OCS:
		return "ocs"
	}
	return fmt.Sprintf("role(%d)", uint8(r))
}

// Node is a host or a switch.
type Node struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
	Rack int32  `json:"rack"` // None if it stands in no rack
}

// Link is one direction of a cable. Port numbers are local to their node and start at 0; both
// directions of a cable have the same two ports.
type Link struct {
	From, To         NodeID
	FromPort, ToPort int32
	Capacity         BitsPerSecond
}

// Topology is an immutable graph, made by a Builder. Its slices are borrowed: callers must not write to
// them.
type Topology struct {
	nodes  []Node
	links  []Link
	out    [][]LinkID // by node, ordered by port
	byName map[string]NodeID
}

// Nodes returns every node, by NodeID.
func (t *Topology) Nodes() []Node { return t.nodes }

// Links returns every directed link, by LinkID.
func (t *Topology) Links() []Link { return t.links }

// Node returns the node with that id.
func (t *Topology) Node(n NodeID) Node { return t.nodes[n] }

// Link returns the link with that id.
func (t *Topology) Link(l LinkID) Link { return t.links[l] }

// Out returns the links that leave n, ordered by n's port.
func (t *Topology) Out(n NodeID) []LinkID { return t.out[n] }

// OutPort returns the link that leaves n by port, or None.
func (t *Topology) OutPort(n NodeID, port int32) LinkID {
	i, ok := slices.BinarySearchFunc(t.out[n], port,
		func(l LinkID, p int32) int { return int(t.links[l].FromPort - p) })
	if !ok {
		return None
	}
	return t.out[n][i]
}

// Named returns the node with that name.
func (t *Topology) Named(name string) (NodeID, bool) {
	n, ok := t.byName[name]
	return n, ok
}

// Ports returns one more than the highest port number in use at n.
func (t *Topology) Ports(n NodeID) int32 {
	if out := t.out[n]; len(out) > 0 {
		return t.links[out[len(out)-1]].FromPort + 1
	}
	return 0
}

// Builder makes a Topology. It keeps the first error, which Build returns, so a generator reads as a
// plain list of what it adds.
type Builder struct {
	t    Topology
	used map[[2]int32]string // (node, port) → what holds it
	err  error
}

// NewBuilder returns an empty Builder.
func NewBuilder() *Builder {
	return &Builder{t: Topology{byName: map[string]NodeID{}}, used: map[[2]int32]string{}}
}

// Add adds a node. Names are unique and not empty.
func (b *Builder) Add(n Node) NodeID {
	id := NodeID(len(b.t.nodes))
	if _, dup := b.t.byName[n.Name]; n.Name == "" || dup {
		b.fail("add node %d: name %q is empty or used twice", id, n.Name)
		return id
	}
	b.t.byName[n.Name] = id
	b.t.nodes = append(b.t.nodes, n)
	b.t.out = append(b.t.out, nil)
	return id
}

// Cable joins two ports in both directions with capacities ab (a to b) and ba.
func (b *Builder) Cable(from NodeID, fromPort int32, to NodeID, toPort int32, ab, ba BitsPerSecond) {
	if n := NodeID(len(b.t.nodes)); from < 0 || to < 0 || from >= n || to >= n {
		b.fail("cable %d–%d: no such node", from, to)
		return
	}
	what := fmt.Sprintf("%s:%d–%s:%d", b.t.nodes[from].Name, fromPort, b.t.nodes[to].Name, toPort)
	switch {
	case from == to:
		b.fail("cable %s: joins a node to itself", what)
	case ab <= 0 || ba <= 0:
		b.fail("cable %s: capacity must be above zero", what)
	case fromPort < 0 || toPort < 0:
		b.fail("cable %s: port numbers start at 0", what)
	}
	for _, end := range [][2]int32{{int32(from), fromPort}, {int32(to), toPort}} {
		if held := b.used[end]; held != "" {
			b.fail("cable %s: port is held by %s", what, held)
		}
		b.used[end] = what
	}
	if b.err != nil {
		return
	}
	b.t.links = append(b.t.links,
		Link{From: from, To: to, FromPort: fromPort, ToPort: toPort, Capacity: ab},
		Link{From: to, To: from, FromPort: toPort, ToPort: fromPort, Capacity: ba})
	n := LinkID(len(b.t.links))
	b.t.out[from] = append(b.t.out[from], n-2)
	b.t.out[to] = append(b.t.out[to], n-1)
}

func (b *Builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

// Build returns the topology, or the first error. The Builder must not be used afterwards.
func (b *Builder) Build() (*Topology, error) {
	if b.err != nil {
		return nil, b.err
	}
	for _, out := range b.t.out {
		slices.SortFunc(out, func(x, y LinkID) int { return int(b.t.links[x].FromPort - b.t.links[y].FromPort) })
	}
	return &b.t, nil
}

// Reverse returns the other direction of l's cable: links are made in pairs.
func Reverse(l LinkID) LinkID { return l ^ 1 }

// Walk names the nodes that links lead through, up to the first that is met again.
func (t *Topology) Walk(links []LinkID) string {
	seen := make([]bool, len(t.Nodes()))
	var b strings.Builder
	for i, l := range links {
		if i > 0 {
			b.WriteString(" → ")
		}
		from := t.Link(l).From
		b.WriteString(t.Node(from).Name)
		if seen[from] {
			break
		}
		seen[from] = true
	}
	return b.String()
}
