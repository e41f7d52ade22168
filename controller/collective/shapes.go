package collective

import (
	"slices"
	"time"

	"lightloom/pathmap"
)

// Torus returns a torus of those sides; two nodes in a row have one cable between them, and a side of 1 has none.
// Nodes are numbered with the last side running fastest; each cable is two links, one after the other.
func Torus(sides []int, rate pathmap.BitsPerSecond, latency time.Duration) *Network {
	return grid(sides, true, rate, latency)
}

// Mesh returns a grid of those sides, numbered as a torus is.
func Mesh(sides []int, rate pathmap.BitsPerSecond, latency time.Duration) *Network {
	return grid(sides, false, rate, latency)
}

// grid joins each node to the next along every side. Where it closes, the last is joined to the first.
func grid(sides []int, closes bool, rate pathmap.BitsPerSecond, latency time.Duration) *Network {
	n := &Network{Nodes: 1}
	for _, s := range sides {
		n.Nodes *= s
	}
	step := n.Nodes
	for _, s := range sides {
		step /= s
		for node := range n.Nodes {
			at := node / step % s
			next := node - at*step + (at+1)%s*step
			if at < s-1 || closes && s > 2 {
				n.cable(node, next, rate, latency)
			}
		}
	}
	return n
}

func (n *Network) cable(a, b int, rate pathmap.BitsPerSecond, latency time.Duration) {
	n.Links = append(n.Links, Link{int32(a), int32(b), rate, latency}, Link{int32(b), int32(a), rate, latency})
}

// WithoutNode returns the network without a node and its links; the nodes after it are numbered one lower.
func (n *Network) WithoutNode(node int32) *Network {
	out := &Network{Nodes: n.Nodes - 1, Hold: n.Hold, Links: slices.Clone(n.Links)}
	out.Links = slices.DeleteFunc(out.Links, func(l Link) bool { return l.From == node || l.To == node })
	for i := range out.Links {
		for _, end := range []*int32{&out.Links[i].From, &out.Links[i].To} {
			if *end > node {
				*end--
			}
		}
	}
	return out
}

// Of returns the nodes and links of a topology. Links that are unplugged stay away.
func Of(t *pathmap.Topology, latency time.Duration) *Network {
	n := &Network{Nodes: len(t.Nodes())}
	for id, l := range t.Links() {
		if !t.Unplugged(pathmap.LinkID(id)) {
			n.Links = append(n.Links, Link{int32(l.From), int32(l.To), l.Capacity, latency})
		}
	}
	return n
}
