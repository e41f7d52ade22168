package pathtest

import (
	"fmt"
	"math/rand/v2"

	"lightloom/pathmap"
)

// Random returns a random topology of 2 to most nodes, and ends in it: switches, hosts, an OCS at
// times, parallel links, ports in random order, and at times no connection at all.
func Random(r *rand.Rand, most int) (*pathmap.Topology, []pathmap.NodeID) {
	n := 2 + r.IntN(most-1)
	b := pathmap.NewBuilder()
	for i := range n {
		role := pathmap.ToR
		switch r.IntN(10) {
		case 0:
			role = pathmap.Host
		case 1:
			role = pathmap.OCS
		}
		b.Add(pathmap.Node{Name: fmt.Sprint("n", i), Role: role, Rack: pathmap.None})
	}
	cables := min(n-1+r.IntN(n+2), 2*most) - r.IntN(2)
	ports := make([][]int, n)
	for i := range ports {
		ports[i] = r.Perm(2 * cables)
	}
	port := func(i int) int32 {
		p := ports[i][0]
		ports[i] = ports[i][1:]
		return int32(p)
	}
	tree := r.IntN(4) > 0
	for c := range cables {
		from, to := r.IntN(n), r.IntN(n)
		if tree && c < n-1 { // connected: each node to an earlier one
			from, to = c+1, r.IntN(c+1)
		}
		if from != to {
			b.Cable(pathmap.NodeID(from), port(from), pathmap.NodeID(to), port(to), pathmap.Gbps, pathmap.Gbps)
		}
	}
	t, err := b.Build()
	if err != nil {
		panic("pathtest: " + err.Error())
	}
	var ends []pathmap.NodeID
	for _, e := range r.Perm(n)[:1+r.IntN(n)] {
		if t.Node(pathmap.NodeID(e)).Role != pathmap.OCS {
			ends = append(ends, pathmap.NodeID(e))
		}
	}
	return t, ends
}

// Down returns, by link, whether it is down. It draws the given number of links with repetition; one
// direction of a cable is enough.
func Down(r *rand.Rand, t *pathmap.Topology, links int) []bool {
	down := make([]bool, len(t.Links()))
	for range links {
		if len(down) > 0 {
			down[r.IntN(len(down))] = true
		}
	}
	return down
}

// IsOCS returns a predicate for the optical circuit switches of t, for Options.Avoid.
func IsOCS(t *pathmap.Topology) func(pathmap.NodeID) bool {
	return func(n pathmap.NodeID) bool { return t.Node(n).Role == pathmap.OCS }
}
