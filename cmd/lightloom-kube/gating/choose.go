package gating

import (
	"cmp"
	"slices"
)

// choose returns the hosts of a group of count: those that it has to keep, and others that may be had, in as few racks
// as there are. busy are racks whose ports on the optical switch others have: a group of one rack needs none. Of racks
// that would do, the one with the fewest hosts to be had is taken.
func choose(keep, may []site, busy map[int]bool, count int) ([]site, bool) {
	racks := map[int][]site{}
	for _, s := range may {
		racks[s.rack] = append(racks[s.rack], s)
	}
	home := map[int]bool{}
	for _, s := range keep {
		home[s.rack] = true
	}
	order := make([]int, 0, len(racks))
	for r := range racks {
		order = append(order, r)
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(cmp.Compare(len(racks[a]), len(racks[b])), cmp.Compare(a, b))
	})
	more := count - len(keep)
	if more == 0 && len(home) == 1 {
		return keep, true
	}
	for _, r := range order {
		if len(racks[r]) >= more && (len(home) == 0 || len(home) == 1 && home[r]) {
			return append(slices.Clone(keep), racks[r][:more]...), true
		}
	}
	slices.Reverse(order)
	slices.SortStableFunc(order, func(a, b int) int { return before(home[a], home[b]) })
	out := slices.Clone(keep)
	for r := range home {
		if busy[r] {
			return nil, false
		}
	}
	if more == 0 {
		return out, true
	}
	for _, r := range order {
		if busy[r] {
			continue
		}
		if out = append(out, racks[r]...); len(out) >= count {
			return out[:count], true
		}
	}
	return nil, false
}

// before sorts what is so to the front.
func before(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	}
	return 1
}
