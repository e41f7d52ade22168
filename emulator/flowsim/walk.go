package flowsim

import (
	"fmt"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// find walks the tables as a packet would: the host's link, then whatever each switch does with it.
func (s *Sim) find(p pair, buf []pathmap.LinkID, asked []pathmap.NodeID) ([]pathmap.LinkID,
	[]pathmap.NodeID, fate,
	error) {
	t, first := s.fabric.Topology, len(buf)
	to := s.fabric.HostNode[p.dst]
	at := s.fabric.HostNode[p.src]
	link := s.linkBy(at, 0)
	for len(buf)-first <= len(t.Nodes()) {
		if link == pathmap.None || s.cut[link] {
			return buf[:first], asked, stranded, nil
		}
		buf = append(buf, link)
		at = t.Link(link).To
		if at == to {
			return buf, asked, arrives, nil
		}
		in := southbound.Port(t.Link(link).ToPort)
		if n, ok := s.table(at, p, in); ok {
			asked = append(asked, n)
		}
		port, ok := s.forward(at, p, in)
		if !ok {
			return buf[:first], asked, stranded, nil
		}
		link = s.linkBy(at, port)
	}
	if s.panel != nil { // light leads where no rule expects it: packets go round until their time to live is over
		return buf[:first], asked, stranded, nil
	}
	return buf[:first], asked, loops, fmt.Errorf("walk from host %d to host %d with tag %d: it never arrives: %s",
		p.src, p.dst, p.tag, t.Walk(buf[first:]))
}

func (s *Sim) foresee(p pair) uint32 {
	f := s.fabric
	src := f.RackOf(int32(p.src))
	return s.switches[f.ToRNode[src]].plane.mem.Foresee(southbound.RackID(f.RackOf(int32(p.dst))),
		southbound.RackID(src),
		p.tag)
}

func (s *Sim) stands(asked []pathmap.NodeID, since uint64) bool {
	if s.recabled > since {
		return false
	}
	for _, n := range asked {
		if s.changed[n] > since {
			return false
		}
	}
	return true
}

// table returns what decides where a packet goes from a node: its table or, for the OCS, the circuit of
// one input, numbered as the number of nodes plus the input. It returns false if nothing that can
// change decides it.
func (s *Sim) table(n pathmap.NodeID, p pair, in southbound.Port) (pathmap.NodeID, bool) {
	node := s.fabric.Topology.Node(n)
	if s.fabric.IsOCS(n) {
		return s.circuitOf(n, in), true
	}
	return n, node.Role != pathmap.ToR || node.Rack != s.fabric.RackOf(int32(p.dst))
}

func (s *Sim) circuitOf(ocs pathmap.NodeID, in southbound.Port) pathmap.NodeID {
	return pathmap.NodeID(len(s.switches)) + pathmap.NodeID(s.fabric.OCSPort(ocs, int32(in)))
}

// change records that the tables of a switch, or the circuit of an input, are not what they were.
func (s *Sim) change(n pathmap.NodeID) {
	s.fluid.tables++
	s.changed[n] = s.fluid.tables
	s.fluid.changed = append(s.fluid.changed, n)
}

// changeCircuits records that any circuit of an OCS may not be what it was.
func (s *Sim) changeCircuits(ocs pathmap.NodeID) {
	for in := range southbound.Port(s.fabric.Topology.Ports(ocs)) {
		s.change(s.circuitOf(ocs, in))
	}
}

// forward returns the port that a packet leaves a node by; false where it is lost.
func (s *Sim) forward(n pathmap.NodeID, p pair, in southbound.Port) (southbound.Port, bool) {
	sw := s.switches[n]
	if sw == nil {
		return 0, false // a host forwards nothing
	}
	f := s.fabric
	dst := f.RackOf(int32(p.dst))
	switch node := f.Topology.Node(n); {
	case node.Role == pathmap.OCS:
		return sw.plane.mem.Cross(s.clock.Now(), in)
	case node.Role == pathmap.ToR && node.Rack == dst:
		return southbound.Port(f.HostPort[p.dst]), true
	}
	return sw.plane.mem.Lookup(southbound.RackID(dst), southbound.RackID(f.RackOf(int32(p.src))), p.tag)
}

// linkBy returns the link that leaves a node by a port, or pathmap.None.
func (s *Sim) linkBy(n pathmap.NodeID, port southbound.Port) pathmap.LinkID {
	if out := s.linkOut[n]; port >= 0 && int(port) < len(out) {
		return out[port]
	}
	return pathmap.None
}
