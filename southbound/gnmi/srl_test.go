package gnmi_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// TestSRLNumbers: whatever the changes, the rule that a switch finds first by sequence-id is the most specific one,
// rules that stay keep their numbers unless none was left in between, and the table is that of a plain map.
func TestSRLNumbers(t *testing.T) {
	p := gnmi.SRLinux{Ports: 6, Racks: 5, ControllerBackup: true}
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 9))
		s := newStore(p)
		w := p.NewWriter(nil)
		for range 12 {
			req, err := w.Encode(randomRules(r))
			if err != nil {
				t.Fatal(err)
			}
			s.set(t, req)
			w.Accepted()
			rules, err := p.Rules(s.under(t, p.ConfigPaths()))
			if err != nil {
				t.Fatal(err)
			}
			for a, x := range rules {
				for b, y := range rules {
					if a < 1 || a > schema.SRLRules {
						t.Fatalf("seed %d: number %d", seed, a)
					}
					if a < b && wider(x.Match) > wider(y.Match) {
						t.Fatalf("seed %d: %d %+v comes before %d %+v", seed, a, x.Match, b, y.Match)
					}
				}
			}
		}
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
	if err != nil || len(rules) != schema.SRLRules || rules[1].Match != more.Rules[0].Match {
		t.Errorf("numbered anew: %d rules, the first %+v, %v", len(rules), rules[1], err)
	}
	for n := range rules {
		if n < 1 || n > schema.SRLRules {
			t.Errorf("a rule has the number %d", n)
		}
	}
}

// TestSRLForeign: a forwarding policy of our name that another client has filled with other rules is not patched, but
// can be replaced.
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
