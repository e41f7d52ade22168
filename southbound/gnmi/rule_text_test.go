package gnmi

import (
	"bytes"
	"cmp"
	"slices"
	"testing"

	"lightloom/southbound"
)

// TestRuleText holds the text of a table against the leaves of its rules.
func TestRuleText(t *testing.T) {
	p := OpenConfig{Ports: 300, Racks: 100}
	w := &ruleWriter{p: p, model: p.Model(), made: map[hops]bool{}}
	all := &southbound.Change{Replace: true}
	for i, tag := range []southbound.Tag{southbound.AnyTag, 0, 3, southbound.Tags - 1} {
		for _, src := range []southbound.RackID{southbound.AnyRack, 0, 99} {
			for _, dst := range []southbound.RackID{0, 7, 99} {
				r := southbound.Rule{Match: southbound.Match{Dst: dst, Tag: tag, Src: src},
					Primary: 299, Backup: southbound.NoPort}
				if (i+int(dst))%2 == 0 {
					r.Primary, r.Backup = 0, 17
				}
				all.Rules = append(all.Rules, r)
			}
		}
	}
	slices.SortFunc(all.Rules, func(a, b southbound.Rule) int {
		return cmp.Compare(p.Sequence(a.Match), p.Sequence(b.Match))
	})
	for _, n := range []int{0, 1, len(all.Rules)} {
		req, err := w.Encode(&southbound.Change{Replace: true, Rules: all.Rules[:n]})
		if err != nil {
			t.Fatal(err)
		}
		leaves := p.BaseLeaves()[:2]
		for _, r := range all.Rules[:n] {
			leaves = append(leaves, p.RuleLeaves(r, false)...)
		}
		want, err := entry(w.model, policyPath(), leaves)
		if err != nil {
			t.Fatal(err)
		}
		got := req.GetReplace()[len(req.GetReplace())-1]
		if g, w := got.GetVal().GetJsonIetfVal(), want.GetVal().GetJsonIetfVal(); !bytes.Equal(g, w) {
			t.Errorf("%d rules are written as\n%s\nwant\n%s", n, g, w)
		}
	}
}
