package cabling

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// Rack is a rack that is to be there: its ToR, and its hosts by their ports on it, from 0.
type Rack struct {
	ToR   string
	Hosts []string
}

// maxName bounds the name of a node, which is part of names of files and certificates.
const maxName = 63

// Grow returns the cabling of f, which must be as topo.New made it, that follows now and has those
// racks too: the ones that are not there get the next numbers, and hosts the spec's rate. Uplinks are
// cables that Next plugs in.
func Grow(f *topo.Fabric, now pathmap.Cabling, racks []Rack) (pathmap.Cabling, error) {
	is, err := Apply(f, now)
	if err != nil {
		return now, err
	}
	next := pathmap.Cabling{Added: slices.Clone(now.Added), Unplugged: now.Unplugged,
		Plugged: slices.Clone(now.Plugged)}
	for i, r := range racks {
		if slices.ContainsFunc(racks[:i], func(o Rack) bool { return o.ToR == r.ToR }) {
			return now, fmt.Errorf("%s is named twice", r.ToR)
		}
		if known, err := stands(is, r); err != nil {
			return now, err
		} else if known {
			continue
		}
		tor := pathmap.NodeID(len(f.Topology.Nodes()) + len(next.Added))
		rack := int32(f.Racks)
		for _, n := range next.Added {
			rack = max(rack, n.Rack+1)
		}
		next.Added = append(next.Added, pathmap.Node{Name: r.ToR, Role: pathmap.ToR, Rack: rack})
		for port, name := range r.Hosts {
			next.Added = append(next.Added, pathmap.Node{Name: name, Role: pathmap.Host, Rack: rack})
			next.Plugged = append(next.Plugged, pathmap.Cable{From: tor + 1 + pathmap.NodeID(port), To: tor,
				ToPort: int32(port), Rate: f.Spec.NIC})
		}
	}
	_, err = Apply(f, next)
	return next, err
}

// stands reports whether a rack is there; an error says what else has its names.
func stands(f *topo.Fabric, r Rack) (bool, error) {
	n, known := f.Topology.Named(r.ToR)
	if !known {
		return false, nil
	}
	at := f.Topology.Node(n)
	if at.Role != pathmap.ToR {
		return false, fmt.Errorf("%s is of role %v here, which does not change: give the rack's switch another name", r.ToR,
			at.Role)
	}
	if has := hostsOf(f, at.Rack); !slices.Equal(has, r.Hosts) {
		return false, fmt.Errorf("%s is there with hosts %s, not %s: hosts neither come to a rack nor leave it: add another "+
			"rack, or drain those that are to go", r.ToR, strings.Join(has, ", "), strings.Join(r.Hosts, ", "))
	}
	return true, nil
}

func hostsOf(f *topo.Fabric, rack int32) (names []string) {
	for _, n := range f.HostNode[f.FirstHost[rack]:f.FirstHost[rack+1]] {
		names = append(names, f.Topology.Node(n).Name)
	}
	return names
}

// addRacks gives out, whose topology is as a cabling of f has it, the racks and hosts that have been added.
func addRacks(out, f *topo.Fabric, c pathmap.Cabling) error {
	for _, l := range c.Unplugged {
		if at := out.Topology.Link(l); out.Topology.Node(at.From).Role == pathmap.Host {
			return keeps(out.Topology, at.From)
		}
	}
	if len(c.Added) == 0 {
		return nil
	}
	if f.Spec.Planes() > 1 {
		return errors.New("racks: ports of optical switches are numbered by wavelength and by switch: with several, start " +
			"with all racks")
	}
	out.FirstHost, out.ToRNode = slices.Clone(f.FirstHost), slices.Clone(f.ToRNode)
	out.HostNode, out.HostRack, out.HostPort = slices.Clone(f.HostNode), slices.Clone(f.HostRack), slices.Clone(f.HostPort)
	for i, n := range c.Added {
		if err := addNode(out, pathmap.NodeID(len(f.Topology.Nodes())+i), n); err != nil {
			return fmt.Errorf("racks: add %q: %w", n.Name, err)
		}
	}
	for r := f.Racks; r < out.Racks; r++ {
		if n := out.HostsOf(r); n == 0 || n > topo.MaxHosts {
			return fmt.Errorf("racks: %s has %d hosts: name 1 to %d",
				out.Topology.Node(out.ToRNode[r]).Name, n, topo.MaxHosts)
		}
		out.HostsPerRack = max(out.HostsPerRack, out.HostsOf(r))
	}
	return nil
}

// addNode numbers a ToR or a host: a host belongs to the rack that was added last.
func addNode(f *topo.Fabric, id pathmap.NodeID, n pathmap.Node) error {
	switch {
	case len(n.Name) > maxName || strings.ContainsFunc(n.Name, func(r rune) bool { return !inName(r) }):
		return fmt.Errorf("take up to %d letters, digits, hyphens, underscores and dots", maxName)
	case n.Role == pathmap.ToR && n.Rack == int32(f.Racks) && f.Racks < topo.MaxRacks:
		f.Racks++
		f.ToRNode = append(f.ToRNode, id)
		f.FirstHost = append(f.FirstHost, int32(f.Hosts()))
		return nil
	case n.Role != pathmap.Host || n.Rack != int32(f.Racks)-1:
		return fmt.Errorf("a %v of rack %d cannot follow: add whole racks, %d in all", n.Role, n.Rack,
			topo.MaxRacks)
	}
	up := f.Topology.Out(id)
	if len(up) != 1 {
		return fmt.Errorf("it has %d cables: a host has one, to its ToR", len(up))
	}
	at := f.Topology.Link(up[0])
	if at.To != f.ToRNode[n.Rack] || at.FromPort != 0 {
		return fmt.Errorf("its cable goes from port 0 to its ToR, and not from port %d to %s", at.FromPort,
			f.Topology.Node(at.To).Name)
	}
	f.HostNode, f.HostRack, f.HostPort = append(f.HostNode, id), append(f.HostRack,
		n.Rack), append(f.HostPort, at.ToPort)
	f.FirstHost[f.Racks] = int32(f.Hosts())
	return nil
}

func inName(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' ||
		strings.ContainsRune("-_.", r)
}
