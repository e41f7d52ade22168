package dataplane

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/southbound"
)

// Table is the rule table of one packet switch, sorted by match. The zero value is empty; a Table is
// never written to.
type Table []southbound.Rule

// Edit is one difference between two tables: Rule is put in, or the rule with its match goes.
type Edit struct {
	southbound.Rule
	Gone bool
}

// CompareMatch orders matches by destination, tag and source.
func CompareMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}

func byMatch(a, b southbound.Rule) int { return CompareMatch(a.Match, b.Match) }

// Find returns the rule with that very match.
func (t Table) Find(m southbound.Match) (southbound.Rule, bool) {
	i, ok := slices.BinarySearchFunc(t, m, func(r southbound.Rule, m southbound.Match) int {
		return CompareMatch(r.Match, m)
	})
	if !ok {
		return southbound.Rule{}, false
	}
	return t[i], true
}

// Lookup returns the rule for a packet from rack src to rack dst with that tag: one for its source
// before one for any, and of those one for its tag before the one for any.
func (t Table) Lookup(dst, src southbound.RackID, tag southbound.Tag) (southbound.Rule, bool) {
	for _, m := range [...]southbound.Match{{Dst: dst, Tag: tag, Src: src},
		{Dst: dst, Tag: southbound.AnyTag, Src: src},
		{Dst: dst, Tag: tag, Src: southbound.AnyRack}} {
		if r, ok := t.Find(m); ok {
			return r, true
		}
	}
	return t.Find(southbound.Match{Dst: dst, Tag: southbound.AnyTag, Src: southbound.AnyRack})
}

// Change returns the table after a change as device.Plane.SetRules has it: with replace, set is the
// whole table; otherwise drop goes first and set is then added or put in the place of rules with the
// same match. A match that set names twice is refused.
func (t Table) Change(set []southbound.Rule, drop []southbound.Match, replace bool) (Table, error) {
	add := slices.Clone(set)
	slices.SortFunc(add, byMatch)
	for i := 1; i < len(add); i++ {
		if add[i].Match == add[i-1].Match {
			return nil, fmt.Errorf("rule for rack %d, tag %d: named twice: %w", add[i].Dst, add[i].Tag,
				southbound.ErrRefused)
		}
	}
	if replace {
		return add, nil
	}
	gone := slices.Clone(drop)
	slices.SortFunc(gone, CompareMatch)
	next := make(Table, 0, len(t)+len(add))
	for _, r := range t {
		if _, ok := slices.BinarySearchFunc(gone, r.Match, CompareMatch); ok {
			continue
		}
		if _, ok := Table(add).Find(r.Match); ok {
			continue
		}
		next = append(next, r)
	}
	next = append(next, add...)
	slices.SortFunc(next, byMatch)
	return next, nil
}

// Edits returns what turns t into next, in the order of matches.
func (t Table) Edits(next Table) []Edit {
	var edits []Edit
	for len(t) > 0 || len(next) > 0 {
		switch c := order(t, next); {
		case c < 0:
			edits = append(edits, Edit{Rule: t[0], Gone: true})
			t = t[1:]
		case c > 0:
			edits = append(edits, Edit{Rule: next[0]})
			next = next[1:]
		default:
			if t[0] != next[0] {
				edits = append(edits, Edit{Rule: next[0]})
			}
			t, next = t[1:], next[1:]
		}
	}
	return edits
}

// order says which of two sorted tables holds the smaller head; an empty one holds none.
func order(t, next Table) int {
	switch {
	case len(t) == 0:
		return 1
	case len(next) == 0:
		return -1
	}
	return byMatch(t[0], next[0])
}
