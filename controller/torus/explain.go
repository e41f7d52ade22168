package torus

import (
	"cmp"
	"math/bits"
	"slices"
)

// Named is a slice that is there.
type Named struct {
	Name  string
	Place *Placement
}

// Needs says what would have to end for a shape to fit now.
type Needs struct {
	End []string // names, ascending; ending fewer of them is not enough
	// Fewest says that no smaller number of slices is enough, whichever these are.
	Fewest bool
}

// WhatMustEnd returns which slices would have to end for a shape to fit, as few as it finds; ok is false where even
// an otherwise free pod has no room, since cubes are away. It tries every single slice, then ends slices from the
// smallest on until there is room, and takes back those that were not needed.
func WhatMustEnd(p *Pod, there []Named, s Shape, rule Rule) (needs Needs, ok bool) {
	there = slices.Clone(there)
	slices.SortFunc(there, func(a, b Named) int {
		return cmp.Or(cmp.Compare(nodesOf(a.Place.Parts), nodesOf(b.Place.Parts)), cmp.Compare(a.Name, b.Name))
	})
	fits := func(gone ...Named) bool {
		q := p.Clone()
		for _, n := range gone {
			q.Give(n.Place.Parts)
		}
		return rule.Place(q, s) != nil
	}
	return mustEnd(there, func(n Named) string { return n.Name }, fits)
}

// mustEnd is WhatMustEnd of anything that has a name, the smallest first. fits says whether there is room without some.
func mustEnd[T any](there []T, name func(T) string, fits func(gone ...T) bool) (needs Needs, ok bool) {
	if fits() {
		return Needs{Fewest: true}, true
	}
	for _, n := range there {
		if fits(n) {
			return Needs{End: []string{name(n)}, Fewest: true}, true
		}
	}
	if !fits(there...) {
		return Needs{}, false
	}

	enough := 2 + searchLength(len(there)-2, func(n int) bool { return fits(there[:n+2]...) })
	end := slices.Clone(there[:enough])
	for i := len(end) - 1; i >= 0; i-- { // the largest first
		if without := slices.Delete(slices.Clone(end), i, i+1); fits(without...) {
			end = without
		}
	}
	for _, n := range end {
		needs.End = append(needs.End, name(n))
	}
	slices.Sort(needs.End)
	needs.Fewest = len(end) == 2
	return needs, true
}

// searchLength returns the first length from 0 to n at which enough holds; it holds at n.
func searchLength(n int, enough func(int) bool) int {
	for i := range n {
		if enough(i) {
			return i
		}
	}
	return n
}

func nodesOf(parts []Part) int {
	n := 0
	for _, q := range parts {
		n += bits.OnesCount64(q.Nodes)
	}
	return n
}
