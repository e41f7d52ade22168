package topo

import (
	"fmt"

	"lightloom/pathmap"
)

// withHosts returns t with n hosts more at each packet switch that has none, named NODE-h0 to
// NODE-h(n-1). The cable of such a host is as fast as the fastest of the switch's others, so that one
// host can fill it.
func withHosts(t *pathmap.Topology, n int) (*pathmap.Topology, error) {
	b := pathmap.NewBuilder()
	for _, node := range t.Nodes() {
		b.Add(node)
	}
	for l := pathmap.LinkID(0); int(l) < len(t.Links()); l += 2 {
		there, back := t.Link(l), t.Link(pathmap.Reverse(l))
		b.Cable(there.From, there.FromPort, there.To, back.FromPort, there.Capacity, back.Capacity)
	}
	for id, node := range t.Nodes() {
		rate, port, bare := pathmap.BitsPerSecond(0), int32(0), node.Role == pathmap.Switch ||
			node.Role == pathmap.ToR
		for _, l := range t.Out(pathmap.NodeID(id)) {
			link := t.Link(l)
			rate, port = max(rate, link.Capacity), max(port, link.FromPort+1)
			bare = bare && t.Node(link.To).Role != pathmap.Host
		}
		for i := 0; i < n && bare && rate > 0; i++ {
			host := b.Add(pathmap.Node{Name: fmt.Sprintf("%s-h%d", node.Name, i), Role: pathmap.Host,
				Rack: node.Rack})
			b.Cable(pathmap.NodeID(id), port+int32(i), host, 0, rate, rate)
		}
	}
	return b.Build()
}
