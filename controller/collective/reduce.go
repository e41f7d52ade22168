package collective

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
)

// ReduceScatter returns a schedule that adds up what all nodes have of each chunk at the chunk's node, and what none is
// below: an all-gather on the links turned around, run backwards. Adding takes no time. An all-reduce is a
// reduce-scatter and, when that has ended, an all-gather.
func ReduceScatter(n *Network, chunks int, bytes pathmap.Bytes) (*Schedule, Bounds, error) {
	turned := n.Transpose()
	s, b, err := AllGather(turned, chunks, bytes)
	if err != nil {
		return nil, Bounds{}, err
	}
	s.Kind = KindReduceScatter
	for i, x := range s.Sends {
		_, arrives := turned.busy(x.Link, bytes)
		s.Sends[i].At = s.Ends - x.At - arrives
	}
	slices.SortStableFunc(s.Sends, func(a, b Send) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Link, b.Link))
	})
	return s, b, nil
}
