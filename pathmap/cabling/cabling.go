// Package cabling changes the cables of a fabric, and adds racks to it, while ids of nodes, links,
// hosts and ports stay: what it leads to, what a user's description means, and what differs. It knows
// nothing of jobs or devices.
package cabling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// portBits bounds the numbers of ports.
const portBits = 15

// Apply returns f, which must be as topo.New made it, with its cables changed. Nodes, hosts, racks and
// OCS ports keep their numbers: a host keeps its cable, and a port of the OCS its rack.
func Apply(f *topo.Fabric, c pathmap.Cabling) (*topo.Fabric, error) {
	if c.Equal(pathmap.Cabling{}) {
		return f, nil
	}
	if f.Spec.Kind == topo.Crossbar {
		return nil, errors.New("a crossbar has no cables between switches that could be moved")
	}
	for _, x := range c.Plugged {
		if x.Rate > topo.MaxRate {
			return nil, fmt.Errorf("a cable carries at most %v, not %v", topo.MaxRate, x.Rate)
		}
		if max(x.FromPort, x.ToPort)>>portBits > 0 {
			return nil, fmt.Errorf("a switch has no port %d", max(x.FromPort, x.ToPort))
		}
	}
	t, err := f.Topology.Recable(c)
	if err != nil {
		return nil, err
	}
	out := *f
	out.Topology = t
	for _, n := range f.HostNode {
		if !slices.Equal(t.Out(n), f.Topology.Out(n)) {
			return nil, keeps(t, n)
		}
	}
	if err := addRacks(&out, f, c); err != nil {
		return nil, err
	}
	if out.OCSUplink, err = uplinks(&out); err != nil {
		return nil, err
	}
	out.Transit = f.Transit || passesToRs(&out)
	return &out, nil
}

func keeps(t *pathmap.Topology, host pathmap.NodeID) error {
	return fmt.Errorf("host %s keeps its cable: move cables between switches only", t.Node(host).Name)
}

// uplinks finds the ports of ToRs that have a cable to an OCS.
func uplinks(f *topo.Fabric) ([]int32, error) {
	if !f.HasOCS() {
		return nil, nil
	}
	out := slices.Repeat([]int32{pathmap.None}, max(f.OCSPorts(), f.Racks))
	for i := range f.OCSes() {
		if err := uplinksTo(f, f.OCSNode+pathmap.NodeID(i), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// uplinksTo fills in, by OCS port, the ports of ToRs that have a cable to one OCS.
func uplinksTo(f *topo.Fabric, ocs pathmap.NodeID, out []int32) error {
	for _, l := range f.Topology.Out(ocs) {
		at := f.Topology.Link(l)
		port := f.OCSPort(ocs, at.FromPort)
		if port == pathmap.None || int(port) >= len(out) {
			return fmt.Errorf("%s: the fabric uses ports 0 to %d of the OCS",
				portOf(f.Topology, l), len(out)/f.OCSes()-1)
		}
		if tor := f.ToRNode[f.OCSRack(port)]; at.To != tor {
			return fmt.Errorf("%s is for %s: plug no other switch in", portOf(f.Topology, l),
				f.Topology.Node(tor).Name)
		}
		out[port] = at.ToPort
	}
	return nil
}

// passesToRs reports whether paths of a leaf-spine can lead through the ToRs of other racks: it joins
// ToRs, or some two have fewer paths over one spine than are kept.
func passesToRs(f *topo.Fabric) bool {
	t := f.Topology
	cables := make([][]int32, f.Racks) // to each spine, by node
	for r, tor := range f.ToRNode {
		cables[r] = make([]int32, len(t.Nodes()))
		for _, l := range t.Out(tor) {
			switch to := t.Link(l).To; t.Node(to).Role {
			case pathmap.ToR:
				return true
			case pathmap.Switch:
				cables[r][to]++
			}
		}
	}
	for a := range cables {
		for b := range a {
			paths := int32(0)
			for spine, n := range cables[a] {
				paths += n * cables[b][spine]
			}
			if int(paths) < f.Spec.PathsKept() {
				return true
			}
		}
	}
	return false
}

// portOf names the port that a link leaves by, as "tor0:3".
func portOf(t *pathmap.Topology, l pathmap.LinkID) string {
	at := t.Link(l)
	return fmt.Sprintf("%s:%d", t.Node(at.From).Name, at.FromPort)
}

func name(t *pathmap.Topology, l pathmap.LinkID) string {
	return portOf(t, l) + "–" + portOf(t, pathmap.Reverse(l))
}

// Differences tells in words what a cabling changes that follows now, both of f as topo.New made it.
func Differences(f *topo.Fabric, now, next pathmap.Cabling) (out []string, err error) {
	was, err := f.Topology.Recable(now)
	if err != nil {
		return nil, err
	}
	is, err := f.Topology.Recable(next)
	if err != nil {
		return nil, err
	}
	for _, n := range next.Added[len(now.Added):] {
		if n.Role == pathmap.ToR {
			out = append(out, fmt.Sprintf("add rack %d: %s with %s", n.Rack, n.Name,
				strings.Join(hosts(next, n.Rack), ", ")))
		}
	}
	for l := pathmap.LinkID(0); int(l) < len(is.Links()); l += 2 {
		known := int(l) < len(was.Links())
		switch gone := is.Unplugged(l); {
		case known && gone && !was.Unplugged(l):
			out = append(out, "unplug "+name(is, l))
		case !known && !gone && is.Node(is.Link(l).From).Role != pathmap.Host:
			out = append(out, fmt.Sprintf("plug in %s at %v", name(is, l), is.Link(l).Capacity))
		}
	}
	return out, nil
}

// hosts names those that a rack has been added with.
func hosts(c pathmap.Cabling, rack int32) (names []string) {
	for _, n := range c.Added {
		if n.Role == pathmap.Host && n.Rack == rack {
			names = append(names, n.Name)
		}
	}
	return names
}
