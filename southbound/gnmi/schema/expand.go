package schema

import (
	"fmt"
	"slices"
)

// Levels is the name of an element that stands for any number of levels, as Any stands for one.
const Levels = "..."

// maxExpanded bounds what one path with wildcards can stand for.
const maxExpanded = 1024

// Expand returns the paths of the model that a path stands for whose elements can be wildcards; p alone
// if none is.
func (m *Model) Expand(p Path) ([]Path, error) {
	if _, err := m.Lookup(p, false); err == nil {
		return []Path{p}, nil
	}
	if !slices.ContainsFunc(p, func(e Elem) bool { return e.Name == Any || e.Name == Levels }) {
		return []Path{p}, nil // the caller's look-up says what is unknown
	}
	var out []Path
	seen := map[string]bool{}
	m.Root.expand(p, nil, func(found Path) bool {
		if text := found.String(); !seen[text] {
			seen[text] = true
			out = append(out, found)
		}
		return len(out) < maxExpanded
	})
	if len(out) == 0 {
		return nil, fmt.Errorf("look up %q: %w", p.String(), ErrUnknown)
	}
	return out, nil
}

// expand calls found with each path below at, which is n's, that rest stands for, until found returns false.
func (n *Node) expand(rest, at Path, found func(Path) bool) bool {
	if len(rest) == 0 {
		return found(slices.Clone(at))
	}
	e := rest[0]
	below := func(kid *Node, e Elem, rest Path) bool {
		return kid.expand(rest, append(slices.Clone(at), e), found)
	}
	switch e.Name {
	case Levels:
		if len(rest) == 1 { // all that is below
			return found(slices.Clone(at))
		}
		if !n.expand(rest[1:], at, found) {
			return false
		}
		for _, name := range n.Order {
			if !below(n.Kids[name], Elem{Name: name}, rest) {
				return false
			}
		}
	case Any:
		for _, name := range n.Order {
			if !below(n.Kids[name], Elem{Name: name}, rest[1:]) {
				return false
			}
		}
	default:
		if kid := n.kid(e.Name); kid != nil && kid.checkKeys(e, false) == nil {
			return below(kid, e, rest[1:])
		}
	}
	return true
}
