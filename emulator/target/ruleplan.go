package target

import (
	"cmp"
	"fmt"
	"slices"

	"lightloom/southbound"
	"lightloom/southbound/gnmi"
	"lightloom/southbound/gnmi/schema"
)

// rulePlan is what becomes of the rules.
type rulePlan struct {
	front  *packetFront
	tree   *tree
	active bool
	whole  bool                       // now is the whole configuration
	now    map[uint32]southbound.Rule // those that were touched and stand
	gone   map[uint32]bool
}

// all reads every rule again.
func (p *rulePlan) all() error {
	p.whole = true
	tables := gnmi.ReadTables(p.tree.under(instance(), isConfig), "config")
	for _, seq := range tables.Sequences() {
		r, err := tables.Rule(seq)
		if err != nil {
			return refused("%w", err)
		}
		p.now[seq] = r
	}
	return nil
}

// some reads the rules that were touched.
func (p *rulePlan) some(touched []schema.Path) error {
	tables := gnmi.ReadTables(nil, "config")
	add := func(at schema.Path) {
		for _, l := range p.tree.under(at, isConfig) {
			tables.Add(l, "config")
		}
	}
	rulesSeen, groupsSeen, hopsSeen := map[uint32]bool{}, map[string]bool{}, map[string]bool{}
	static, rules := instance().With("static"), rulesPath()
	groupOfRule := path("action", "config", "next-hop-group")
	var last schema.Elem
	for _, at := range touched {
		if len(at) < 7 || sameStep(at[6], last) || !rules.Match(at) {
			continue
		}
		last = at[6]
		seq, ok := gnmi.ParseSequence(last.Key("sequence-id"))
		if !ok {
			return fmt.Errorf("rule %q: its sequence-id is no uint32: %w", last.Key("sequence-id"),
				schema.ErrMalformed)
		}
		if p.gone[seq] || rulesSeen[seq] {
			continue
		}
		rule, _ := p.tree.around(at[:7])
		if rule == nil || !rule.configured(nil) {
			p.gone[seq] = true
			continue
		}
		rulesSeen[seq] = true
		for _, l := range rule.leaves {
			if isConfig(l.schema) {
				tables.AddRule(seq, l.schema.Name, l.value)
			}
		}
		name, _ := rule.get(groupOfRule).(string)
		if !groupsSeen[name] {
			groupsSeen[name] = true
			group := static.With("next-hop-groups").Entry("next-hop-group", "name", name)
			add(group)
			for _, hop := range p.tree.find(group.With("next-hops", "next-hop")) {
				index := hop.path[6].Key("index")
				if !hopsSeen[index] {
					hopsSeen[index] = true
					add(static.With("next-hops").Entry("next-hop", "index", index))
				}
			}
		}
	}
	for _, seq := range tables.Sequences() {
		r, err := tables.Rule(seq)
		if err != nil {
			return refused("%w", err)
		}
		p.now[seq] = r
	}
	return nil
}

// numbered is a rule with its place.
type numbered struct {
	seq uint32
	southbound.Rule
}

// checkOrder holds the places of rules against what the switch does: the most specific of the rules
// that fit a packet decides, so a rule must come before those it is more specific than, and no match
// may stand twice.
func (p *rulePlan) checkOrder() error {
	for _, rules := range p.affected() {
		if err := checkOrder(rules); err != nil {
			return err
		}
	}
	return nil
}

// checkOrder checks the rules of one destination.
func checkOrder(rules []numbered) error {
	slices.SortFunc(rules, func(a, b numbered) int { return cmp.Compare(a.seq, b.seq) })
	for i, a := range rules {
		for _, b := range rules[i+1:] {
			if !overlap(a.Match, b.Match) {
				continue
			}
			if a.Match == b.Match {
				return refused("rule %d matches the same as rule %d", b.seq, a.seq)
			}
			if rank(a.Match) >= rank(b.Match) {
				return unsupported("rule %d is more specific than rule %d and comes after it: give it a smaller sequence-id", b.seq,
					a.seq)
			}
		}
	}
	return nil
}

// affected returns the rules of every destination of which a rule was touched, by destination.
func (p *rulePlan) affected() [][]numbered {
	byDst := map[southbound.RackID][]numbered{}
	for seq, r := range p.now {
		byDst[r.Dst] = append(byDst[r.Dst], numbered{seq, r})
	}
	var out [][]numbered
	for dst, rules := range byDst {
		for _, seq := range p.front.byDst[dst] {
			if _, again := p.now[seq]; !again && !p.gone[seq] && !p.whole {
				rules = append(rules, numbered{seq, p.front.rules[seq]})
			}
		}
		out = append(out, rules)
	}
	slices.SortFunc(out, func(a, b []numbered) int { return cmp.Compare(a[0].Dst, b[0].Dst) })
	return out
}

func overlap(a, b southbound.Match) bool {
	return (a.Src == b.Src || a.Src == southbound.AnyRack || b.Src == southbound.AnyRack) &&
		(a.Tag == b.Tag || a.Tag == southbound.AnyTag || b.Tag == southbound.AnyTag)
}

// rank is smaller for what a packet is tried against first.
func rank(m southbound.Match) int {
	n := 0
	if m.Src == southbound.AnyRack {
		n += 2
	}
	if m.Tag == southbound.AnyTag {
		n++
	}
	return n
}

// change returns what to ask of the device.
func (p *rulePlan) change() *southbound.Change {
	c := &southbound.Change{}
	f := p.front
	switch {
	case !p.active && !f.active:
	case !p.active:
		c.Replace = true
	case p.whole:
		c.Replace, c.Rules = true, values(p.now)
	case !f.active:
		c.Replace = true
		all := map[uint32]southbound.Rule{}
		for seq, r := range f.rules {
			if !p.gone[seq] {
				all[seq] = r
			}
		}
		for seq, r := range p.now {
			all[seq] = r
		}
		c.Rules = values(all)
	default:
		c.Rules = values(p.now)
		for _, seq := range keys(p.gone) {
			if r, ok := f.rules[seq]; ok {
				c.Drop = append(c.Drop, r.Match)
			}
		}
		for _, seq := range keys(p.now) {
			if r, ok := f.rules[seq]; ok && r.Match != p.now[seq].Match {
				c.Drop = append(c.Drop, r.Match)
			}
		}
		c.Drop = slices.DeleteFunc(c.Drop, func(m southbound.Match) bool {
			return slices.ContainsFunc(c.Rules, func(r southbound.Rule) bool { return r.Match == m })
		})
	}
	return c
}

// done makes the plan the configuration.
func (p *rulePlan) done() {
	f := p.front
	f.mirror(p.tree)
	f.active = p.active
	if p.whole {
		for _, seq := range keys(f.rules) {
			if _, still := p.now[seq]; !still {
				p.gone[seq] = true
			}
		}
	}
	for _, seq := range keys(p.gone) {
		f.forget(seq)
	}
	for _, seq := range keys(p.now) {
		f.forget(seq)
	}
	for _, seq := range keys(p.now) {
		r := p.now[seq]
		f.rules[seq] = r
		f.byDst[r.Dst] = append(f.byDst[r.Dst], seq)
		old, ok := f.place[r.Match]
		f.place[r.Match] = seq
		if ok && old != seq && len(p.tree.under(rulePath(old), isState)) > 0 {
			p.tree.remove(rulePath(old), isState) // the same match at another place: nothing changes for packets
			f.show(p.tree, r)
		}
	}
}

func (f *packetFront) forget(seq uint32) {
	r, ok := f.rules[seq]
	if !ok {
		return
	}
	delete(f.rules, seq)
	f.byDst[r.Dst] = slices.DeleteFunc(f.byDst[r.Dst], func(s uint32) bool { return s == seq })
}

func keys[V any](m map[uint32]V) []uint32 {
	out := make([]uint32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

func values(m map[uint32]southbound.Rule) []southbound.Rule {
	var out []southbound.Rule
	for _, k := range keys(m) {
		out = append(out, m[k])
	}
	return out
}
