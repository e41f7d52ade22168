package gnmi_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestSRLNumbers: whatever the changes, the rule that a switch finds first by sequence-id is the most
// specific one, the table is that of a plain map, and rules that differ in their tags alone are one of
// the policy's.
func TestSRLNumbers(t *testing.T) {
	t.Parallel()
	p := gnmi.SRLinux{Ports: 6, Racks: 5, ControllerBackup: true}
	for seed := range tries.Of[uint64](80, 400) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := newStore(p)
		w := p.NewWriter(nil)
		want := map[southbound.Match]southbound.Rule{}
		for range 12 {
			c := randomRules(r)
			if c.Replace {
				clear(want)
			}
			for _, m := range c.Drop {
				delete(want, m)
			}
			for _, n := range c.Rules {
				want[n.Match] = n
			}
			req, err := w.Encode(c)
			if err != nil {
				t.Fatal(err)
			}
			s.set(t, req)
			w.Accepted()
			rules, err := p.Rules(s.under(t, p.ConfigPaths()))
			if err != nil {
				t.Fatal(err)
			}
			got := map[southbound.Match]southbound.Rule{}
			for a, x := range rules {
				for _, one := range x {
					got[one.Match] = one
				}
				for b, y := range rules {
					if a < 1 || a > schema.SRLRules {
						t.Fatalf("seed %d: number %d", seed, a)
					}
					if a < b && wider(x[0].Match) > wider(y[0].Match) {
						t.Fatalf("seed %d: %d %+v comes before %d %+v", seed, a, x[0].Match, b, y[0].Match)
					}
					if a < b && wider(x[0].Match) == wider(y[0].Match) && x[0].Tag != southbound.AnyTag &&
						untagged(x[0]) ==
							untagged(y[0]) {
						t.Fatalf("seed %d: %d %+v and %d %+v are not one", seed, a, x, b, y)
					}
				}
			}
			if !maps.Equal(got, want) {
				t.Fatalf("seed %d: %v, want %v", seed, got, want)
			}
		}
	}
}

func untagged(r southbound.Rule) southbound.Rule {
	r.Tag = 0
	return r
}

// TestSRLPacked: rules of 60 racks with all eight tags and none fit where each tag leads where another
// does, a change of one next hop writes no more than two rules of the policy, and one that fits no more
// is refused with both counts.
func TestSRLPacked(t *testing.T) {
	p := gnmi.SRLinux{Ports: 4, Racks: 200}
	w := p.NewWriter(nil)
	c := &southbound.Change{}
	for dst := range southbound.RackID(60) {
		c.Rules = append(c.Rules, rule(dst, southbound.AnyTag, 0, southbound.NoPort))
		for tag := range southbound.Tag(southbound.Tags) {
			c.Rules = append(c.Rules, rule(dst, tag, 1, southbound.NoPort))
		}
	}
	s := newStore(p)
	for n, c := range []*southbound.Change{c, {Rules: []southbound.Rule{rule(7, 3, 2, southbound.NoPort)}},
		{Rules: []southbound.Rule{rule(7, 3, 1, southbound.NoPort)}}} {
		req, err := w.Encode(c)
		if err != nil {
			t.Fatal(err)
		}
		if written := len(req.GetReplace()) + len(req.GetDelete()); n > 0 && written != 2 {
			t.Errorf("change %d writes %d rules", n, written)
		}
		w.Accepted()
		s.set(t, req)
	}
	if rules, err := p.Rules(s.under(t, p.ConfigPaths())); err != nil || len(rules) != 120 {
		t.Errorf("%d rules, %v", len(rules), err)
	}
	for dst := range southbound.RackID(9) {
		c.Rules = append(c.Rules, rule(100+dst, 0, 0, southbound.NoPort))
	}
	_, err := w.Encode(c)
	if !errors.Is(err, southbound.ErrRefused) || !strings.Contains(err.Error(), "549 rules are 129 ") {
		t.Errorf("129 of the policy's: %v", err)
	}
}

// wider counts how much a match leaves open; a source says more than a tag.
func wider(m southbound.Match) int {
	n := 0
	if m.Src == southbound.AnyRack {
		n = 2
	}
	if m.Tag == southbound.AnyTag {
		n++
	}
	return n
}

// TestSRLFull: a forwarding policy holds 128 rules, whatever their kind, and not one more.
func TestSRLFull(t *testing.T) {
	p := gnmi.SRLinux{Ports: 4, Racks: 200}
	w := p.NewWriter(nil)
	c := &southbound.Change{}
	for dst := range southbound.RackID(schema.SRLRules) {
		c.Rules = append(c.Rules, rule(dst, southbound.AnyTag, 0, southbound.NoPort))
	}
	first, err := w.Encode(c)
	if err != nil {
		t.Fatal(err)
	}
	w.Accepted()
	more := &southbound.Change{Rules: []southbound.Rule{rule(199, 0, 0, southbound.NoPort)}}
	if _, err := w.Encode(more); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("rule 129: %v", err)
	}
	more.Drop = []southbound.Match{c.Rules[5].Match}
	req, err := w.Encode(more)
	if err != nil || len(req.GetReplace()) < 100 {
		t.Fatalf("a rule that must come before 127 others: %d replaced, %v", len(req.GetReplace()), err)
	}
	s := newStore(p)
	s.set(t, first)
	s.set(t, req)
	rules, err := p.Rules(s.under(t, p.ConfigPaths()))
	if err != nil || len(rules) != schema.SRLRules || rules[1][0].Match != more.Rules[0].Match {
		t.Errorf("numbered anew: %d rules, the first %+v, %v", len(rules), rules[1], err)
	}
	for n := range rules {
		if n < 1 || n > schema.SRLRules {
			t.Errorf("a rule has the number %d", n)
		}
	}
}

// TestSRLForeign: a forwarding policy of our name that another client has filled with other rules is
// not patched, but can be replaced.
func TestSRLForeign(t *testing.T) {
	p := gnmi.SRLinux{Ports: 4, Racks: 4}
	at := p.ConfigPaths()[0].Entry("rule", "sequence-id", "7").With("action", "next-hop")
	w := p.NewWriter([]schema.Leaf{{Path: at, Value: "192.0.2.1"}})
	c := &southbound.Change{Rules: []southbound.Rule{rule(1, 0, 0, southbound.NoPort)}}
	if _, err := w.Encode(c); !errors.Is(err, southbound.ErrRefused) {
		t.Errorf("patched: %v", err)
	}
	c.Replace = true
	req, err := w.Encode(c)
	if err != nil || !slices.ContainsFunc(req.GetReplace(), isPolicy) {
		t.Errorf("not replaced: %v", err)
	}
}

func isPolicy(u *gpb.Update) bool {
	e := u.GetPath().GetElem()
	return e[len(e)-1].GetName() == "policy"
}
