package devicetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lightloom/southbound"
)

func rulesReadBack(t *testing.T, b *Bench) {
	rules := []southbound.Rule{
		rule(2, southbound.AnyTag, 1, southbound.NoPort),
		rule(2, southbound.TagCircuit, 5, 1),
		rule(2, southbound.TagDefault, 3, southbound.NoPort),
		b.from(4, rule(2, 3, 0, 2)),
		rule(7, southbound.PathTag(0), 0, 4),
	}
	if !b.NoSources {
		rules = append(rules, from(4, rule(2, southbound.AnyTag, 2, southbound.NoPort)))
	}
	b.set(t, &southbound.Change{Rules: rules})
	b.settle(t, "rules", rulesAre(rules...))
	b.set(t, &southbound.Change{Rules: rules[2:4]}) // rules that exist already can be set again
	b.settle(t, "the same", rulesAre(rules...))
	rules[1].Primary, rules[1].Backup = 4, southbound.NoPort
	b.set(t, &southbound.Change{Rules: rules[1:2]})
	b.settle(t, "other ports", rulesAre(rules...))
}

// from gives a rule a source, where the device takes one.
func (b *Bench) from(src southbound.RackID, r southbound.Rule) southbound.Rule {
	if b.NoSources {
		return r
	}
	return from(src, r)
}

func rulesReplaced(t *testing.T, b *Bench) {
	a, c, d := rule(1, 0, 0, 1), rule(1, 7, 2, 3), rule(5, southbound.AnyTag, 4, southbound.NoPort)
	b.set(t, &southbound.Change{Rules: []southbound.Rule{a, c}})
	b.set(t, &southbound.Change{Drop: []southbound.Match{a.Match, d.Match}}) // an absent one is nothing
	b.settle(t, "dropped", rulesAre(c))
	b.set(t, &southbound.Change{Replace: true, Rules: []southbound.Rule{a, d}})
	b.settle(t, "replaced", rulesAre(a, d))
	a.Primary = 5
	b.set(t, &southbound.Change{Rules: []southbound.Rule{a}, Drop: []southbound.Match{a.Match, d.Match}})
	b.settle(t, "dropped and set", rulesAre(a))
	b.set(t, &southbound.Change{Replace: true})
	b.settle(t, "emptied", rulesAre())
	b.set(t, &southbound.Change{Rules: []southbound.Rule{d}})
	b.settle(t, "set again", rulesAre(d))
}

// randomRules compares the device with a map over a seeded walk of changes.
func randomRules(t *testing.T, b *Bench) {
	r := rand.New(rand.NewPCG(7, 1))
	reference := map[southbound.Match]southbound.Rule{}
	for range 60 {
		c := b.randomRules(r)
		b.set(t, c)
		if c.Replace {
			clear(reference)
		}
		for _, m := range c.Drop {
			delete(reference, m)
		}
		var want []southbound.Rule
		for _, n := range c.Rules {
			reference[n.Match] = n
		}
		for _, n := range reference {
			want = append(want, n)
		}
		b.settle(t, fmt.Sprintf("after %+v", c), rulesAre(want...))
	}
}

func (b *Bench) randomRules(r *rand.Rand) *southbound.Change {
	match := func() southbound.Match {
		m := southbound.Match{Dst: southbound.RackID(r.Int32N(4)), Tag: southbound.Tag(r.IntN(4)),
			Src: southbound.RackID(r.Int32N(4)) - 1}
		if b.NoSources {
			m.Src = southbound.AnyRack
		}
		if r.IntN(3) == 0 {
			m.Tag = southbound.AnyTag
		}
		return m
	}
	c := &southbound.Change{Replace: r.IntN(8) == 0}
	for range r.IntN(6) {
		n := southbound.Rule{Match: match(), Primary: southbound.Port(r.Int32N(b.Ports)),
			Backup: southbound.Port(r.Int32N(b.Ports+1)) - 1}
		if n.Primary == n.Backup {
			n.Backup = southbound.NoPort
		}
		if !slices.ContainsFunc(c.Rules, func(o southbound.Rule) bool { return o.Match == n.Match }) {
			c.Rules = append(c.Rules, n)
		}
	}
	for range r.IntN(4) {
		c.Drop = append(c.Drop, match())
	}
	return c
}

func lightIsTold(t *testing.T, b *Bench) {
	if b.Light == nil {
		t.Skip("this bench cannot darken a port")
	}
	w := b.watch(t)
	down := func(ports ...southbound.Port) {
		t.Helper()
		if s := b.read(t); !slices.Equal(s.Down, ports) {
			t.Errorf("down ports %v, want %v", s.Down, ports)
		}
	}
	b.Light(3, false)
	w.expect(t, southbound.PortDown, 3, southbound.NoPort, 0)
	down(3)
	b.Light(1, false)
	w.expect(t, southbound.PortDown, 1, southbound.NoPort, 0)
	down(1, 3)
	late := b.watch(t)
	if len(late.begin) != 2 || late.begin[0].Kind != southbound.PortDown ||
		late.begin[1].Kind != southbound.PortDown {
		t.Errorf("a later stream begins with %+v", late.begin)
	}
	b.Light(3, true)
	w.expect(t, southbound.PortUp, 3, southbound.NoPort, 0)
	late.expect(t, southbound.PortUp, 3, southbound.NoPort, 0)
	down(1)
}
