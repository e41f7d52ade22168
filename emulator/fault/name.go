package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Names finds what names mean on one fabric with that many replicas of the controller.
type Names struct {
	fabric   *topo.Fabric
	replicas int
	cables   map[string]pathmap.LinkID // by both of its names, the even direction
	nodes    map[string]pathmap.NodeID
	hosts    map[pathmap.NodeID]southbound.HostID
	list     [Fibre + 1][]string // by kind, in the fabric's order
}

// NewNames indexes a fabric.
func NewNames(f *topo.Fabric, replicas int) *Names {
	n := &Names{fabric: f, replicas: replicas, cables: map[string]pathmap.LinkID{},
		nodes: map[string]pathmap.NodeID{},
		hosts: map[pathmap.NodeID]southbound.HostID{}}
	t := f.Topology
	for h, node := range f.HostNode {
		n.hosts[node] = southbound.HostID(h)
	}
	for i, node := range t.Nodes() {
		n.nodes[node.Name] = pathmap.NodeID(i)
		if node.Role == pathmap.Host {
			n.list[Host] = append(n.list[Host], node.Name)
		} else {
			n.list[Switch] = append(n.list[Switch], node.Name)
		}
	}
	parallel := map[string]int{}
	for l := 0; l < len(t.Links()); l += 2 {
		link := t.Link(pathmap.LinkID(l))
		a, b := t.Node(link.From).Name, t.Node(link.To).Name
		there, back := a+"-"+b, b+"-"+a
		if k := parallel[there]; k > 0 {
			there, back = fmt.Sprintf("%s~%d", there, k), fmt.Sprintf("%s~%d", back, k)
		}
		parallel[a+"-"+b]++
		if a != b {
			parallel[b+"-"+a]++
		}
		n.cables[there], n.cables[back] = pathmap.LinkID(l), pathmap.LinkID(l)
		n.list[Link] = append(n.list[Link], there)
		n.list[Port] = append(n.list[Port], fmt.Sprintf("%s:%d", a, link.FromPort),
			fmt.Sprintf("%s:%d", b, link.ToPort))
	}
	n.list[Fibre] = fibreNames(f)
	for i := range replicas {
		n.list[Controller] = append(n.list[Controller], ControllerName(i))
	}
	return n
}

// ControllerName is what a replica of the controller is called.
func ControllerName(i int) string { return fmt.Sprintf("controller%d", i) }

// Known returns the names of a kind.
func (n *Names) Known(k Kind) []string { return slices.Clone(n.list[k]) }

// Cable is what a cable is called.
func (n *Names) Cable(l pathmap.LinkID) string { return n.list[Link][l/2] }

// Same reports whether two names mean the same thing: a cable and a port have two.
func (n *Names) Same(a, b Fault) bool {
	x, err1 := n.find(a)
	y, err2 := n.find(b)
	if a.Kind != b.Kind || err1 != nil || err2 != nil {
		return a == b
	}
	return x == y && (a.Kind != Port || strings.ReplaceAll(a.Name, "-",
		":") == strings.ReplaceAll(b.Name, "-", ":"))
}

// target is what a fault is about.
type target struct {
	cable      pathmap.LinkID // Link, Port
	device     southbound.DeviceID
	host       southbound.HostID
	controller int
	fibre      fibre
}

// Check returns an error if a name is invalid.
func (n *Names) Check(f Fault) error {
	_, err := n.find(f)
	return err
}

func (n *Names) find(f Fault) (target, error) {
	switch f.Kind {
	case Link:
		if l, ok := n.cables[f.Name]; ok {
			return target{cable: l}, nil
		}
	case Port:
		if at := strings.LastIndexAny(f.Name, ":-"); at >= 0 {
			name, port := f.Name[:at], f.Name[at+1:]
			node, known := n.nodes[name]
			p, err := strconv.ParseUint(port, 10, 31)
			if known && err == nil && int32(p) < n.fabric.Topology.Ports(node) {
				if l := n.fabric.Topology.OutPort(node, int32(p)); l != pathmap.None {
					return target{cable: l &^ 1}, nil
				}
			}
		}
	case Switch, Host:
		if node, ok := n.nodes[f.Name]; ok {
			h, isHost := n.hosts[node]
			if isHost == (f.Kind == Host) {
				return target{device: node, host: h}, nil
			}
		}
	case Fibre:
		if x, ok := n.fibre(f.Name); ok {
			return target{fibre: x}, nil
		}
	case Controller:
		if i := slices.Index(n.list[Controller], f.Name); i >= 0 {
			return target{controller: i}, nil
		}
	}
	e := &UnknownError{Fault: f, Near: near(f.Name, n.list[f.Kind])}
	if f.Kind == Fibre {
		e.Switches = n.fabric.OCSes()
	}
	return target{}, e
}

// UnknownError is a name that the fabric does not have.
type UnknownError struct {
	Fault Fault
	Near  []string // names of that kind, the most alike first

	Switches int // of a fibre: the optical switches there are; fibres have names before a single one alone
}

func (e *UnknownError) Error() string {
	if e.Switches > 1 {
		return fmt.Sprintf("fibres fail so before a single optical switch alone, and there are %d", e.Switches)
	}
	if len(e.Near) == 0 {
		return fmt.Sprintf("there is no %v %q, nor any other here", e.Fault.Kind, e.Fault.Name)
	}
	return fmt.Sprintf("there is no %v %q; near it: %s", e.Fault.Kind, e.Fault.Name,
		strings.Join(e.Near, ", "))
}

// Hint returns what to type instead.
func (e *UnknownError) Hint() string {
	if e.Switches > 1 {
		return "have a switch fail, such as switch ocs1, or a port that leads to it; on a fabric that is up, " +
			"lightloom fibre pull ocs1:1 unplugs fibres"
	}
	if len(e.Near) == 0 {
		return "lightloom status lists what there is"
	}
	return fmt.Sprintf("write %v %s; lightloom status lists what there is", e.Fault.Kind, e.Near[0])
}

// mostNear bounds the names that an error lists, and longest the letters of a wrong one that count.
const (
	mostNear = 5
	longest  = 64
)

// near returns the names that are most alike, by the letters that must change, then as listed.
func near(name string, known []string) []string {
	out := slices.Clone(known)
	far := make(map[string]int, len(out))
	for _, k := range out {
		far[k] = topo.Edits(name[:min(len(name), longest)], k)
	}
	slices.SortStableFunc(out, func(a, b string) int { return far[a] - far[b] })
	return out[:min(len(out), mostNear)]
}
