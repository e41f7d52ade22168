package gnmi

import (
	"slices"
	"testing"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// TestStrays: once a fabric has more racks, the first change brings all rules that a device has to
// their new places, in one request; rules of a device that was written for as many racks stay where
// they are.
func TestStrays(t *testing.T) {
	rule := func(dst southbound.RackID, tag southbound.Tag) southbound.Rule {
		return southbound.Rule{Match: southbound.Match{Src: southbound.AnyRack, Dst: dst, Tag: tag}, Primary: 1,
			Backup: southbound.NoPort}
	}
	was, is := OpenConfig{Ports: 4, Racks: 3}, OpenConfig{Ports: 4, Racks: 4}
	have := []southbound.Rule{rule(0, 1), rule(1, 2), rule(2, southbound.AnyTag)}
	var state []schema.Leaf
	for _, r := range have {
		state = append(state, was.RuleLeaves(r, true)...)
	}
	for _, l := range was.GroupLeaves(1, southbound.NoPort) {
		l.Path = slices.Clone(l.Path)
		l.Path[len(l.Path)-2].Name = "state"
		state = append(state, l)
	}
	for _, l := range was.BaseLeaves() {
		if at := l.Path[len(l.Path)-2]; at.Name == "config" {
			l.Path = slices.Clone(l.Path)
			l.Path[len(l.Path)-2].Name = "state"
		}
		state = append(state, l)
	}
	for _, tt := range []struct {
		name    string
		p       Profile
		change  southbound.Change
		deletes int
		rules   []southbound.Match
	}{
		{"as many racks", was, southbound.Change{Rules: []southbound.Rule{rule(0, 3)}}, 0,
			[]southbound.Match{rule(0, 3).Match}},
		{"more racks", is, southbound.Change{Rules: []southbound.Rule{rule(3, 1), rule(0, 1)},
			Drop: []southbound.Match{have[1].Match}}, 3,
			[]southbound.Match{rule(3, 1).Match, have[0].Match, have[2].Match}},
		{"nothing to say", is, southbound.Change{}, 0, nil},
		{"all anew", is, southbound.Change{Replace: true, Rules: have[:1]}, 0,
			[]southbound.Match{have[0].Match}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &Session{cfg: Config{Profile: tt.p}, model: tt.p.Model()}
			if err := s.findMisplaced(state); err != nil {
				t.Fatal(err)
			}
			c, gone := s.gather(&tt.change)
			var got []southbound.Match
			for _, r := range c.Rules {
				got = append(got, r.Match)
			}
			if len(gone) != tt.deletes || !slices.Equal(got, tt.rules) {
				t.Errorf("%d are deleted, and rules %v sent; want %d and %v", len(gone), got, tt.deletes, tt.rules)
			}
			s.gathered(c)
			if (len(s.misplaced) > 0) != (tt.name == "nothing to say") {
				t.Errorf("%d strays are left", len(s.misplaced))
			}
		})
	}
}
