package rollout

import (
	"cmp"
	"slices"

	"lightloom/southbound"
)

func compareMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}

func sortRules(r []southbound.Rule) {
	slices.SortFunc(r, func(a, b southbound.Rule) int { return compareMatch(a.Match, b.Match) })
}

// Diff returns the change that makes seen into wanted, both sorted by match. It is empty if they are
// the same.
func Diff(wanted, seen []southbound.Rule) southbound.Change {
	var c southbound.Change
	for len(wanted) > 0 || len(seen) > 0 {
		order := 0
		switch {
		case len(seen) == 0:
			order = -1
		case len(wanted) == 0:
			order = 1
		default:
			order = compareMatch(wanted[0].Match, seen[0].Match)
		}
		switch {
		case order < 0:
			c.Rules, wanted = append(c.Rules, wanted[0]), wanted[1:]
		case order > 0:
			c.Drop, seen = append(c.Drop, seen[0].Match), seen[1:]
		default:
			if wanted[0] != seen[0] {
				c.Rules = append(c.Rules, wanted[0])
			}
			wanted, seen = wanted[1:], seen[1:]
		}
	}
	return c
}
