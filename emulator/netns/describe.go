package netns

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"lightloom/emulator/dataplane"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// describe writes a switch down for its dataplane.
func (f *Fabric) describe(n pathmap.NodeID, opt Options) dataplane.Switch {
	t := f.spec.Topology
	node := t.Node(n)
	sw := dataplane.Switch{ID: n, Name: node.Name, Optical: node.Role == pathmap.OCS,
		Ports: make([]int, t.Ports(n)),
		Racks: f.spec.Racks, Sources: f.spec.Transit || opt.Sources, Block: uint32(n) + 1, Sink: f.sink}
	for _, l := range t.Out(n) {
		link := t.Link(l)
		sw.Ports[link.FromPort] = f.ports[l]
		if h := f.hostAt(link.To); h >= 0 {
			sw.Locals = append(sw.Locals, dataplane.Local{Addr: f.Addr(h), Port: southbound.Port(link.FromPort)})
		}
	}
	slices.SortFunc(sw.Locals, func(a, b dataplane.Local) int { return a.Addr.Compare(b.Addr) })
	return sw
}

// hostAt returns the host that a node is, or -1.
func (f *Fabric) hostAt(n pathmap.NodeID) southbound.HostID {
	if f.spec.Topology.Node(n).Role != pathmap.Host {
		return -1
	}
	return southbound.HostID(slices.Index(f.spec.HostNode, n))
}

// Addr returns the address of a host.
func (f *Fabric) Addr(h southbound.HostID) netip.Addr {
	rack, i := f.spec.Place(int32(h))
	return southbound.Addr(southbound.RackID(rack), i)
}

// ifname is what an interface is called: "tor3-1" where that is short enough for the kernel.
func (f *Fabric) ifname(n pathmap.NodeID, port int32) string {
	name := fmt.Sprintf("%s-%d", f.spec.Topology.Node(n).Name, port)
	if len(name) > 15 || strings.ContainsAny(name, "/: \t\n%") {
		return fmt.Sprintf("n%dp%d", n, port)
	}
	return name
}

// name is a link as messages call it.
func (f *Fabric) name(l pathmap.LinkID) string {
	t := f.spec.Topology
	link := t.Link(l)
	return fmt.Sprintf("%s:%d–%s:%d", t.Node(link.From).Name, link.FromPort, t.Node(link.To).Name, link.ToPort)
}

// Interface returns the interface of a switch's port, which is in the process's own namespace. Captures
// need it.
func (f *Fabric) Interface(d southbound.DeviceID, port southbound.Port) (index int, err error) {
	l := f.spec.Topology.OutPort(d, int32(port))
	if l == pathmap.None || f.hostAt(d) >= 0 {
		return 0, fmt.Errorf("find interface of node %d: no switch with a cable in port %d", d, port)
	}
	return f.ports[l], nil
}
