package topo

import (
	"fmt"

	"lightloom/pathmap"
)

// MaxK bounds the ports of a fat-tree's switches: a million hosts.
const MaxK = 160

// FatTree returns the fat-tree of k-port switches (Al-Fares, Loukissas, Vahdat: SIGCOMM 2008) with the
// given number of hosts (0: all k³/4) and one rate for every link. Hosts fill edge switch after edge
// switch. As in the cross-layer document, edge switches without a host and aggregation switches of pods
// without one are left out.
//
// An edge switch has its hosts at ports 0 to k/2−1 and the aggregation switches above; an aggregation
// switch has the edges at its lower half and cores at its upper; port p of a core goes to pod p. Edge
// switches come first and are the racks.
func FatTree(k, hosts int, rate pathmap.BitsPerSecond) (*pathmap.Topology, error) {
	half := k / 2
	all := half * half * k
	switch {
	case k < 2 || k > MaxK || k%2 != 0:
		return nil, fmt.Errorf("build fat-tree: k is %d; take an even number from 2 to %d", k, MaxK)
	case hosts < 0 || hosts > all:
		return nil, fmt.Errorf("build fat-tree: %d hosts do not fit: k=%d carries 1 to %d", hosts, k, all)
	case hosts == 0:
		hosts = all
	}
	b := pathmap.NewBuilder()
	edges := (hosts + half - 1) / half
	pods := (edges + half - 1) / half
	for e := range edges {
		b.Add(pathmap.Node{Name: fmt.Sprintf("edge%d-%d", e/half, e%half), Role: pathmap.ToR, Rack: int32(e)})
	}
	aggs := addSwitches(b, "agg", pods*half)
	cores := addSwitches(b, "core", half*half)
	for e := range edges {
		for a := range half {
			b.Cable(pathmap.NodeID(e), int32(half+a), aggs+pathmap.NodeID(e/half*half+a),
				int32(e%half), rate, rate)
		}
	}
	for a := range pods * half {
		for c := range half {
			b.Cable(aggs+pathmap.NodeID(a), int32(half+c), cores+pathmap.NodeID(a%half*half+c),
				int32(a/half), rate, rate)
		}
	}
	addHosts(b, hosts, half, rate)
	return b.Build()
}

// addSwitches adds n switches and returns the first.
func addSwitches(b *pathmap.Builder, name string, n int) pathmap.NodeID {
	first := pathmap.NodeID(pathmap.None)
	for i := range n {
		id := b.Add(pathmap.Node{Name: fmt.Sprint(name, i), Role: pathmap.Switch, Rack: pathmap.None})
		if i == 0 {
			first = id
		}
	}
	return first
}

// addHosts adds n hosts to the first nodes, each a rack: each hosts per rack, at its first ports.
func addHosts(b *pathmap.Builder, n, each int, rate pathmap.BitsPerSecond) {
	for h := range n {
		addHost(b, h/each, h%each, rate)
	}
}

// addHost adds host i of a rack to the ToR with the rack's number, at its port i.
func addHost(b *pathmap.Builder, rack, i int, rate pathmap.BitsPerSecond) {
	id := b.Add(pathmap.Node{Name: fmt.Sprintf("h%d-%d", rack, i), Role: pathmap.Host, Rack: int32(rack)})
	b.Cable(id, 0, pathmap.NodeID(rack), int32(i), rate, rate)
}

// ToRs returns the top-of-rack switches of a topology, by NodeID.
func ToRs(t *pathmap.Topology) []pathmap.NodeID {
	var tors []pathmap.NodeID
	for n, node := range t.Nodes() {
		if node.Role == pathmap.ToR {
			tors = append(tors, pathmap.NodeID(n))
		}
	}
	return tors
}
