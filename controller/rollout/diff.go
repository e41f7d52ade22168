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

// inserted returns a sorted table with some more rules. Several for one match, as two circuits between two racks have,
// come as sortRules leaves them.
func inserted(table, more []southbound.Rule) []southbound.Rule {
	out := append(make([]southbound.Rule, 0, len(table)+len(more)), table...)
	for i := range more {
		at, there := slices.BinarySearchFunc(out, more[i].Match, func(r southbound.Rule, m southbound.Match) int {
			return compareMatch(r.Match, m)
		})
		if there {
			out = append(append(out[:0], table...), more...)
			sortRules(out)
			return out
		}
		out = slices.Insert(out, at, more[i])
	}
	return out
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
