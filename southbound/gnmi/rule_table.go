package gnmi

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/southbound"
)

// ruleTable is what a writer of rules knows of its device: a table by match.
type ruleTable map[southbound.Match]southbound.Rule

// after returns the table as a change leaves it.
func (t ruleTable) after(c *southbound.Change) ruleTable {
	out := ruleTable{}
	if !c.Replace {
		for m, r := range t {
			out[m] = r
		}
		for _, m := range c.Drop {
			delete(out, m)
		}
	}
	for _, r := range c.Rules {
		out[r.Match] = r
	}
	return out
}

// sorted returns the rules by match.
func (t ruleTable) sorted() []southbound.Rule {
	out := make([]southbound.Rule, 0, len(t))
	for _, r := range t {
		out = append(out, r)
	}
	slices.SortFunc(out, byMatch)
	return out
}

func byMatch(a, b southbound.Rule) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}

// specificity is 0 for what a packet is tried against first, to 3.
func specificity(m southbound.Match) int {
	n := 0
	if m.Src == southbound.AnyRack {
		n += 2
	}
	if m.Tag == southbound.AnyTag {
		n++
	}
	return n
}

// noBackups refuses rules with a backup next hop, for switches whose groups of next hops share what
// they carry.
func noBackups(profile string, rules []southbound.Rule) error {
	for _, r := range rules {
		if r.Backup != southbound.NoPort {
			return fmt.Errorf("encode rule %+v: a %s switch shares load over a group's next hops and knows no backup; set "+
				"ControllerBackup to let the controller fall back: %w: %w",
				r.Match, profile, southbound.ErrUnsupported, southbound.ErrRefused)
		}
	}
	return nil
}
