// Package fluid runs a training workload exactly, in the textbook's model: messages are fluid, those on one link share
// it max-min fairly, and a message arrives its latency after its last bit has been sent. Nothing is truncated, stored
// at hops or queued. A message begins when both of its ranks have joined the collective and all that it waits for has
// arrived, after the one before it between the same ranks; one that a node sends waits for nobody. A rank computes one
// node at a time, and its collectives run side by side.
package fluid

import (
	"fmt"
	"time"

	"lightloom/controller/training/astrasim"
	"lightloom/pathmap"
)

// Network is what lies between ranks.
type Network struct {
	Name     string
	Ranks    int
	Capacity []float64 // of links, bit/s

	// Route appends the links from one rank to another, and returns them and the latency in ns.
	Route func(from, to int32, links []pathmap.LinkID) ([]pathmap.LinkID, float64)
}

// Star returns n ranks with a NIC each, whose directions are the only bottlenecks.
func Star(n int, nic pathmap.BitsPerSecond, latency time.Duration) *Network {
	net := &Network{Name: fmt.Sprintf("star of %d, %v", n, nic), Ranks: n, Capacity: make([]float64, 2*n)}
	for l := range net.Capacity {
		net.Capacity[l] = float64(nic)
	}
	net.Route = func(from, to int32, links []pathmap.LinkID) ([]pathmap.LinkID, float64) {
		return append(links, pathmap.LinkID(2*from), pathmap.LinkID(2*to+1)), float64(latency)
	}
	return net
}

// Servers returns servers of k ranks: two ranks of one server meet over links inside, such as NVLink, others over the
// NICs, one for each rank.
func Servers(n, k int, inside, nic pathmap.BitsPerSecond, latency time.Duration) *Network {
	net := Star(n, nic, latency)
	net.Name = fmt.Sprintf("servers of %d, %v inside, %v between them", k, inside, nic)
	for range 2 * n {
		net.Capacity = append(net.Capacity, float64(inside))
	}
	net.Route = func(from, to int32, links []pathmap.LinkID) ([]pathmap.LinkID, float64) {
		first := int32(0)
		if int(from)/k == int(to)/k {
			first = int32(2 * n)
		}
		return append(links, pathmap.LinkID(first+2*from), pathmap.LinkID(first+2*to+1)), float64(latency)
	}
	return net
}

// Dimensions returns the network of an ASTRA-sim file: rings, switches and meshes crossed. A GB is 10⁹ bytes here.
func Dimensions(a *astrasim.Network) *Network {
	net := &Network{Name: fmt.Sprintf("%v of %v", a.Topology, a.NPUs), Ranks: a.Size()}
	ids := map[[2]int32]pathmap.LinkID{}
	link := func(h astrasim.Hop) pathmap.LinkID {
		k := [2]int32{h.From, h.To}
		id, ok := ids[k]
		if !ok {
			id = pathmap.LinkID(len(net.Capacity))
			ids[k] = id
			net.Capacity = append(net.Capacity, a.Bandwidth[h.Dimension]*8e9)
		}
		return id
	}
	net.Route = func(from, to int32, links []pathmap.LinkID) ([]pathmap.LinkID, float64) {
		latency := 0.0
		for _, h := range a.Hops(from, to) {
			links = append(links, link(h))
			latency += a.Latency[h.Dimension]
		}
		return links, latency
	}
	return net
}
