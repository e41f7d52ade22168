package hostagent

import (
	"net/netip"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
	"lightloom/southbound/agent/wire"
)

// ForFabric fills in what a fabric says of its hosts: how many there are, their addresses by the
// address plan, the line rates between them, and which tags are circuits'. Net stays to be set.
func ForFabric(f *topo.Fabric) Config {
	n := NetworkOf(f)
	return Config{Hosts: f.Hosts(), Addr: func(h southbound.HostID) netip.AddrPort { return n[h].Addr }, Line: n.Line,
		IsCircuit: n.IsCircuit}
}

// NetworkOf returns the hosts of a fabric, at the addresses of the address plan.
func NetworkOf(f *topo.Fabric) wire.Network {
	n, tags := make(wire.Network, f.Hosts()), wire.TagSet(0)
	for _, tag := range southbound.CircuitTags(f) {
		tags = tags.With(tag)
	}
	for h := range n {
		rack, i := f.Place(int32(h))
		n[h] = wire.Host{Name: f.Topology.Node(f.HostNode[h]).Name, Rack: rack,
			Link: hostLink(f, southbound.HostID(h)),
			Addr: netip.AddrPortFrom(southbound.Addr(southbound.RackID(rack), i), DataPort)}
		if i > 0 {
			n[h].Packets, n[h].Circuits, n[h].CircuitTags = n[h-1].Packets, n[h-1].Circuits, n[h-1].CircuitTags
			continue
		}
		n[h].Packets = packetLink(f, rack)
		if onOCS(f, rack) {
			n[h].Circuits, n[h].CircuitTags = f.Topology.Link(uplink(f, rack)).Capacity, tags
		}
	}
	return n
}

func hostLink(f *topo.Fabric, h southbound.HostID) pathmap.BitsPerSecond {
	for _, l := range f.Topology.Out(f.HostNode[h]) {
		return f.Topology.Link(l).Capacity
	}
	return 0
}

func onOCS(f *topo.Fabric, rack int32) bool { return f.HasOCS() && uplink(f, rack) != pathmap.None }

func uplink(f *topo.Fabric, rack int32) pathmap.LinkID {
	return f.Topology.OutPort(f.ToRNode[rack], f.OCSUplink[rack])
}

// packetLink is the fastest link between a rack's ToR and other packet switches.
func packetLink(f *topo.Fabric, rack int32) pathmap.BitsPerSecond {
	fastest := pathmap.BitsPerSecond(0)
	for _, l := range f.Topology.Out(f.ToRNode[rack]) {
		link := f.Topology.Link(l)
		switch f.Topology.Node(link.To).Role {
		case pathmap.Host, pathmap.OCS:
		default:
			fastest = max(fastest, link.Capacity)
		}
	}
	return fastest
}
