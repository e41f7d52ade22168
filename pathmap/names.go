package pathmap

import "slices"

// NodeNames returns the names of the nodes along links, those of both ends too.
func (t *Topology) NodeNames(links []LinkID) []string {
	var out []string
	for _, l := range links {
		out = append(out, t.Node(t.Link(l).From).Name)
	}
	if n := len(links); n > 0 {
		out = append(out, t.Node(t.Link(links[n-1]).To).Name)
	}
	return slices.Clip(out)
}
