package wire

import (
	"fmt"
	"net/netip"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
	"lightloom/southbound/agent/agentpb"
)

// Host is a host of the fabric as agents know it.
type Host struct {
	Name string
	Addr netip.AddrPort // where its agent listens for host flows
	Rack int32
	// Rates of layer 2; 0: not known. Of its own link, of the fastest link by which its rack has packets
	// leave, and of the link by which its rack has circuits leave.
	Link, Packets, Circuits pathmap.BitsPerSecond
	// Of circuits that leave its rack. TagCircuit is one in any case.
	CircuitTags TagSet
}

// TagSet is tags that packets can carry, a bit each.
type TagSet uint8

// With returns the set and a tag.
func (s TagSet) With(t southbound.Tag) TagSet { return s | 1<<t }

// Has reports whether a tag is in the set.
func (s TagSet) Has(t southbound.Tag) bool { return s>>t&1 == 1 }

// Network is the hosts of a fabric, by number.
type Network []Host

// Line is the slowest of two hosts' links and, between racks, of the links by which a tag leaves and
// enters them: the circuit's, or else the fastest of the packet network, because which one a path takes
// is not known here.
func (n Network) Line(src, dst southbound.HostID, tag southbound.Tag) pathmap.BitsPerSecond {
	s, d := &n[src], &n[dst]
	slowest := min(s.Link, d.Link)
	switch {
	case s.Rack == d.Rack:
		return slowest
	case n.IsCircuit(src, tag) && s.Circuits > 0 && d.Circuits > 0:
		return min(slowest, s.Circuits, d.Circuits)
	}
	return min(slowest, s.Packets, d.Packets)
}

// IsCircuit reports whether a tag takes what a host sends to a circuit.
func (n Network) IsCircuit(src southbound.HostID, tag southbound.Tag) bool {
	return tag == southbound.TagCircuit || n[src].CircuitTags.Has(tag)
}

// SetNetworks splits a network into requests, without their election.
func SetNetworks(n Network) (out []*agentpb.SetNetworkRequest) {
	first := int32(0)
	for part := range slices.Chunk(n, HostsAtOnce) {
		req := &agentpb.SetNetworkRequest{Hosts: int32(len(n)), First: first}
		for i := range part {
			h := &part[i]
			req.Host = append(req.Host, &agentpb.Host{Name: h.Name, Address: h.Addr.String(), Rack: h.Rack,
				Link: int64(h.Link), Packets: int64(h.Packets), Circuits: int64(h.Circuits),
				CircuitTags: uint32(h.CircuitTags)})
		}
		out = append(out, req)
		first += int32(len(part))
	}
	return out
}

// NetworkParts puts the requests of one network together.
type NetworkParts struct{ hosts Network }

// Add takes the next request, and returns the network once it is whole. A request that does not follow
// the one before is refused; the first begins anew.
func (p *NetworkParts) Add(m *agentpb.SetNetworkRequest) (Network, error) {
	if m.GetFirst() == 0 {
		p.hosts = nil
	}
	if n := int(m.GetHosts()); int(m.GetFirst()) != len(p.hosts) || n > MaxHosts || len(m.GetHost()) == 0 ||
		len(m.GetHost()) > min(HostsAtOnce, n-len(p.hosts)) {
		return nil, fmt.Errorf("set network: %d hosts from %d on, of %d: %d are next, at most %d at once and %d in all: %w",
			len(m.GetHost()), m.GetFirst(), n, len(p.hosts), HostsAtOnce, MaxHosts, southbound.ErrRefused)
	}
	for i, h := range m.GetHost() {
		addr, err := netip.ParseAddrPort(h.GetAddress())
		if err != nil || !addr.Addr().Is4() || h.GetRack() < 0 || len(h.GetName()) > maxHostName ||
			min(h.GetLink(), h.GetPackets(), h.GetCircuits()) < 0 || h.GetCircuitTags()>>southbound.Tags != 0 {
			return nil, fmt.Errorf("set network: host %d, %q at %q in rack %d, is none: %w",
				int(m.GetFirst())+i, h.GetName(),
				h.GetAddress(), h.GetRack(), southbound.ErrRefused)
		}
		p.hosts = append(p.hosts, Host{Name: h.GetName(), Addr: addr, Rack: h.GetRack(),
			Link: pathmap.BitsPerSecond(h.GetLink()), Packets: pathmap.BitsPerSecond(h.GetPackets()),
			Circuits: pathmap.BitsPerSecond(h.GetCircuits()), CircuitTags: TagSet(h.GetCircuitTags())})
	}
	if len(p.hosts) < int(m.GetHosts()) {
		return nil, nil
	}
	out := p.hosts
	p.hosts = nil
	return out, nil
}
