package api

import (
	"cmp"

	"lightloom/controller"
	apiv1 "lightloom/controller/api/v1"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
)

// DescribeFabric tells which fabric a replica is for, and what has been changed of it.
func DescribeFabric(f *topo.Fabric, policy string, c controller.FabricChange) *apiv1.Fabric {
	out := &apiv1.Fabric{Spec: f.Spec.String(), Policy: cmp.Or(c.Policy, policy), Generation: c.Generation,
		Barred: c.Barred}
	for _, n := range c.Drained {
		out.Drained = append(out.Drained, f.Topology.Node(n).Name)
	}
	for _, n := range c.Removed {
		out.Removed = append(out.Removed, f.Topology.Node(n).Name)
	}
	racks := map[pathmap.NodeID]int32{}
	for rack, tor := range f.ToRNode {
		racks[tor] = int32(rack)
	}
	for h, node := range f.HostNode {
		racks[node] = f.RackOf(int32(h))
		out.Hosts = append(out.Hosts, f.Topology.Node(node).Name)
	}
	for id, n := range f.Topology.Nodes() {
		rack, there := racks[pathmap.NodeID(id)]
		if !there {
			rack = -1
		}
		out.Nodes = append(out.Nodes, &apiv1.Node{Name: n.Name, Role: n.Role.String(), Rack: rack})
	}
	for id, l := range f.Topology.Links() {
		out.Links = append(out.Links, &apiv1.FabricLink{From: int32(l.From), To: int32(l.To),
			BitsPerSecond: int64(l.Capacity), Unplugged: f.Topology.Unplugged(pathmap.LinkID(id))})
	}
	return out
}
