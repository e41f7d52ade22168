package hostagent

import (
	"net/netip"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// ForFabric fills in what a fabric says of its hosts: how many there are, their addresses by the address plan, and the
// line rates between them. Net stays to be set.
func ForFabric(f *topo.Fabric) Config {
	return Config{
		Hosts: f.Hosts(),
		Addr: func(h southbound.HostID) netip.AddrPort {
			rack, i := f.Place(int32(h))
			return netip.AddrPortFrom(southbound.Addr(southbound.RackID(rack), i), DataPort)
		},
		Line: func(src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond {
			return line(f, src, dst, tag)
		},
	}
}

// line is the slowest of the two host links and, between racks, of the links by which the tag leaves and enters them:
// the circuit's, or else the fastest link of the packet network, because which one a path takes is not known here.
func line(f *topo.Fabric, src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond {
	s, d := f.RackOf(int32(src)), f.RackOf(int32(dst))
	slowest := min(hostLink(f, src), hostLink(f, dst))
	switch {
	case s == d:
		return slowest
	case tag == southbound.TagCircuit && onOCS(f, s) && onOCS(f, d):
		return min(slowest, f.Topology.Link(uplink(f, s)).Capacity, f.Topology.Link(uplink(f, d)).Capacity)
	}
	return min(slowest, packetLink(f, s), packetLink(f, d))
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
