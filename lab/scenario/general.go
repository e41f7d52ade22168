package scenario

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// General fabrics: fat-trees, Jellyfishes, and what a topology's file says.

// FitHosts moves flows to the hosts of a fabric. Workloads assume racks of equal size; host i of a rack
// with n hosts becomes host i modulo n.
func FitHosts(f *topo.Fabric, jobs []controller.Job) {
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

// PortRates is the sum of all hosts' rates, which bounds what the machine has to carry at once. A rack
// counts at most the rate of its links to other switches.
func PortRates(s *Prepared) (sum pathmap.BitsPerSecond) {
	f := s.Fabric
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
