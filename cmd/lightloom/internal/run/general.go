package run

import (
	"fmt"
	"time"

	"lightloom/controller"
	"lightloom/emulator/device"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// General fabrics: fat-trees, Jellyfishes, and what a topology's file says.

// checkReal refuses a fabric that real packets cannot have: one that keeps more paths than three bits name, or one of
// several wavelengths, as a ToR has one interface to the optical switch there, with one queue, one counter and one light.
func checkReal(s topo.Spec) error {
	if w := s.Wavelengths(); w > 1 {
		return &insideError{fmt.Sprintf("a rack has %d wavelengths: with real packets a ToR has one interface to the optical switch, and so one", w),
			"leave wavelengths away, or add --on flowsim"}
	}
	if kept := s.PathsKept(); kept > southbound.MaxPaths {
		return &insideError{fmt.Sprintf("%s keeps %d paths between two racks: packets carry a tag of three bits, which names %d", s.Kind, kept, southbound.MaxPaths),
			fmt.Sprintf("write paths=%d or fewer, or --on flowsim", southbound.MaxPaths)}
	}
	return nil
}

// seat moves the ends of flows from a grid of racks with as many hosts each, which is what workloads are made for, to
// the hosts of a fabric: host i of a rack that has n becomes its host i modulo n.
func seat(f *topo.Fabric, jobs []controller.Job) {
	per := southbound.HostID(f.HostsPerRack)
	if f.Hosts() == f.Racks*f.HostsPerRack {
		return
	}
	at := func(h southbound.HostID) southbound.HostID {
		rack := int(h / per)
		return southbound.HostID(f.FirstHost[rack]) + h%per%southbound.HostID(f.HostsOf(rack))
	}
	for j := range jobs {
		for e := range jobs[j].Edges {
			flows := jobs[j].Edges[e].Flows
			for i := range flows {
				flows[i].Src, flows[i].Dst = at(flows[i].Src), at(flows[i].Dst)
			}
		}
	}
}

// portRates is the sum of what all hosts can send, which bounds what the machine has to carry at once: of each rack, no
// more than its links to other switches take.
func portRates(s *setup) (sum pathmap.BitsPerSecond) {
	f := s.fabric
	up, hosts := make([]pathmap.BitsPerSecond, f.Racks), make([]pathmap.BitsPerSecond, f.Racks)
	for _, l := range f.Topology.Links() {
		from, to := f.Topology.Node(l.From), f.Topology.Node(l.To)
		switch {
		case from.Role == pathmap.ToR && to.Role != pathmap.Host:
			up[from.Rack] += l.Capacity
		case from.Role == pathmap.Host:
			hosts[to.Rack] += l.Capacity
		}
	}
	for r := range up {
		sum += min(up[r], hosts[r])
	}
	return sum
}

// hostNamed finds a host by the name that the fabric gives it.
func hostNamed(f *topo.Fabric, name string) (southbound.HostID, error) {
	node := func(h int) string { return f.Topology.Node(f.HostNode[h]).Name }
	if n, ok := f.Topology.Named(name); ok && f.Topology.Node(n).Role == pathmap.Host {
		for h := f.FirstHost[f.Topology.Node(n).Rack]; ; h++ {
			if f.HostNode[h] == n {
				return southbound.HostID(h), nil
			}
		}
	}
	return 0, fmt.Errorf("host %q: the fabric's %d hosts are %s to %s", name, f.Hosts(), node(0), node(f.Hosts()-1))
}

// unprogrammed returns the first of some packet switches that has no rule yet, and those that follow it: a switch gets
// its first table in one transaction.
func (p *plant) unprogrammed(of []southbound.DeviceID) []southbound.DeviceID {
	for i, id := range of {
		var rules int
		p.doors[id].Do(func(now time.Duration, d *device.Device) { rules = len(d.Seen(now).Rules) })
		if rules == 0 {
			return of[i:]
		}
	}
	return nil
}
