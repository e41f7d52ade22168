package online

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller/certified"
)

// Network is the dissertation's modified fat-tree: k pods, racks of k/2 hosts times an
// oversubscription, undirected links of one rate (section 4.7.1.1).
type Network struct {
	K, Over  int
	Rate     float64
	Hosts    int32
	Nodes    int
	Links    int32
	arcs     []certified.Arc
	graph    *certified.Graph
	halves   int32
	tors     int32
	hostRack int32 // hosts a rack
}

// NewNetwork builds a network of switches of k ports.
func NewNetwork(k, over int, rate float64) *Network {
	half := int32(k / 2)
	n := &Network{K: k, Over: over, Rate: rate, halves: half, tors: int32(k) * half,
		hostRack: half * int32(over)}
	n.Hosts = n.tors * n.hostRack
	n.Nodes = int(n.Hosts + 2*n.tors + half*half)
	join := func(a, b int32) {
		n.arcs = append(n.arcs, certified.Arc{From: a, To: b, Link: n.Links},
			certified.Arc{From: b, To: a, Link: n.Links})
		n.Links++
	}
	for h := range n.Hosts {
		join(h, n.Hosts+h/n.hostRack)
	}
	for t := range n.tors {
		for a := range half {
			join(n.Hosts+t, n.Hosts+n.tors+t/half*half+a)
		}
	}
	for a := range n.tors {
		for c := range half {
			join(n.Hosts+n.tors+a, n.Hosts+2*n.tors+a%half*half+c)
		}
	}
	n.graph = certified.NewGraph(n.Nodes, n.arcs, nil)
	return n
}

// Router returns the router of flows between hosts.
func (n *Network) Router(ends [][2]int32) *certified.Graph {
	return n.graph.Between(ends)
}

// Capacity returns that of all links, without noise.
func (n *Network) Capacity() []float64 { return slices.Repeat([]float64{n.Rate}, int(n.Links)) }

// Shortest lists all shortest paths between two hosts, as links.
func (n *Network) Shortest(s, d int32) [][]int32 {
	a, b := s/n.hostRack, d/n.hostRack
	up := func(tor, agg int32) int32 { return n.Hosts + tor*n.halves + agg } // a ToR's link to an aggregation switch
	// that of an aggregation switch of the ToR's pod to a core
	top := func(tor, agg, core int32) int32 {
		return n.Hosts + n.tors*n.halves + (tor/n.halves*n.halves+agg)*n.halves + core
	}
	switch {
	case a == b:
		return [][]int32{{s, d}}
	case a/n.halves == b/n.halves:
		out := make([][]int32, n.halves)
		for g := range n.halves {
			out[g] = []int32{s, up(a, g), up(b, g), d}
		}
		return out
	}
	var out [][]int32
	for g := range n.halves {
		for c := range n.halves {
			out = append(out, []int32{s, up(a, g), top(a, g, c), top(b, g, c), up(b, g), d})
		}
	}
	return out
}

// Pair draws two hosts.
func (n *Network) Pair(rng *rand.Rand) [2]int32 {
	s, d := rng.Int32N(n.Hosts), rng.Int32N(n.Hosts-1)
	if d >= s {
		d++
	}
	return [2]int32{s, d}
}

// Fabric leaves out the links of hosts, if those are to have no noise.
func (n *Network) Fabric(links []int32, onHosts bool) []int32 {
	if onHosts {
		return links
	}
	return slices.DeleteFunc(slices.Clone(links), func(l int32) bool { return l < n.Hosts })
}

// Narrowest returns what a path has.
func Narrowest(links []int32, capacity []float64) float64 {
	least := 1e300
	for _, l := range links {
		least = min(least, capacity[l])
	}
	return least
}

// Noisy returns what noise flows, four a host, leave of links: each takes up to half of what a random
// shortest path has (section 4.7.1.1).
func (n *Network) Noisy(rng *rand.Rand, onHosts bool) []float64 {
	out := n.Capacity()
	for range 4 * n.Hosts {
		e := n.Pair(rng)
		all := n.Shortest(e[0], e[1])
		links := n.Fabric(all[rng.IntN(len(all))], onHosts)
		takes := 0.0
		if len(links) > 0 {
			takes = 0.5 * rng.Float64() * Narrowest(links, out)
		}
		for _, l := range links {
			out[l] -= takes
		}
	}
	return out
}

// Candidates returns K paths of each flow by a kind's order (MinCCT-S, -M, -SM): of the shortest any,
// or the widest; or the widest of all, each without the narrowest link of the ones before, since a
// network has too many to list.
func (n *Network) Candidates(rng *rand.Rand, kind certified.Kind, k int, ends [][2]int32,
	capacity []float64) certified.Candidates {
	out := make(certified.Candidates, len(ends))
	for i, e := range ends {
		out[i] = n.Shortest(e[0], e[1])
		rng.Shuffle(len(out[i]), func(a, b int) { out[i][a], out[i][b] = out[i][b], out[i][a] })
	}
	if kind != certified.WidestPaths {
		return out.Best(kind, k, capacity)
	}
	g := n.Router(ends)
	for i, e := range ends {
		out[i] = nil
		width := slices.Clone(capacity)
		for range k {
			links := g.Widest(i, width)
			if links == nil {
				break
			}
			out[i] = append(out[i], slices.Clone(links))
			least := int32(-1)
			for _, l := range links {
				if l >= n.Hosts && (least < 0 || width[l] < width[least]) {
					least = l
				}
			}
			if least < 0 {
				break // within a rack there is no other
			}
			width[least] = 0
		}
		if out[i] == nil {
			out[i] = n.Shortest(e[0], e[1])[:1]
		}
	}
	return out
}
