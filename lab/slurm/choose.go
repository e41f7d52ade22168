package slurm

import (
	"cmp"
	"slices"
)

// Choose returns nodes for a job, in as few racks as there are, and reports whether there are enough. idle are nodes
// that it may have, busy racks whose ports on the optical switch others have: a job of one rack needs none. Of racks
// that would do, the one with the fewest idle nodes is taken.
func Choose(n *Network, idle map[string]bool, busy map[string]bool, count int) ([]string, bool) {
	type rack struct {
		at   int
		free []string
	}
	var all []rack
	for i := range n.Racks {
		r := rack{at: i}
		for _, node := range n.Racks[i].Nodes {
			if idle[node] {
				r.free = append(r.free, node)
			}
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b rack) int {
		return cmp.Or(cmp.Compare(len(a.free), len(b.free)), cmp.Compare(a.at, b.at))
	})
	for _, r := range all {
		if len(r.free) >= count {
			return r.free[:count], count > 0
		}
	}
	var out []string
	slices.Reverse(all)
	for _, r := range all {
		if busy[n.Racks[r.at].Name] {
			continue
		}
		if out = append(out, r.free...); len(out) >= count {
			return out[:count], true
		}
	}
	return nil, false
}
