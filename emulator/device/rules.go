package device

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/emulator/hashtable"
	"lightloom/southbound"
)

// maxRules bounds one switch's table.
const maxRules = 1 << 20

// CompareMatch orders matches by destination, tag and source.
func CompareMatch(a, b southbound.Match) int {
	return cmp.Or(cmp.Compare(a.Dst, b.Dst), cmp.Compare(a.Tag, b.Tag), cmp.Compare(a.Src, b.Src))
}

// rules is the table of a packet switch, twice: as accepted, and as the plane has it.
type rules struct {
	accepted, applied hashtable.Map[southbound.Rule] // by the match's key
	pending           []*ruleChange                  // accepted and not applied, in order
	now               ruleChange                     // memory of reduce
}

// ruleChange is one accepted change, which the plane will get.
type ruleChange struct {
	set     []southbound.Rule
	drop    []southbound.Match
	replace bool
}

// Applied reports rules that have become effective. Set holds the requested rules, including those that
// existed already.
type Applied struct {
	At      time.Duration
	Set     []southbound.Rule
	Drop    []southbound.Match
	Replace bool // Set is the whole table
}

// effective applies a change to the applied table and reports it.
func (d *Device) effective(c *ruleChange) {
	c.into(&d.rules.applied)
	if d.heard != nil {
		d.heard(Applied{At: d.now, Set: c.set, Drop: c.drop, Replace: c.replace})
	}
	if d.onApplied != nil {
		d.onApplied(Applied{At: d.now, Set: c.set, Drop: c.drop, Replace: c.replace})
	}
}

// OnApplied has f called whenever rules become effective, from within Set, Advance and Restart: it must
// not call the device. Only the last f is.
func (d *Device) OnApplied(f func(Applied)) { d.heard = f }

func (r *rules) seen() []southbound.Rule { return sorted(&r.applied) }

func sorted(m *hashtable.Map[southbound.Rule]) []southbound.Rule {
	var all []southbound.Rule
	for _, r := range m.All() {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b southbound.Rule) int { return CompareMatch(a.Match, b.Match) })
	return all
}

// into does the change to a table.
func (c *ruleChange) into(table *hashtable.Map[southbound.Rule]) {
	if c.replace {
		table.Clear()
	}
	for _, m := range c.drop {
		table.Delete(m.Key())
	}
	for _, r := range c.set {
		table.Set(r.Key(), r)
	}
}

// Checker is an optional interface of a Plane that refuses rules before acceptance if it cannot hold them.
type Checker interface {
	// CheckRules returns an error that wraps southbound.ErrUnsupported for rules that SetRules would not take.
	CheckRules(set []southbound.Rule) error
}

func (d *Device) checkRules(c *southbound.Change) error {
	if overfull(c, d.rules.accepted.Len()) {
		return fmt.Errorf("the table holds at most %d rules", maxRules)
	}
	var seen map[southbound.Match]bool // of more than one
	if len(c.Rules) > 1 {
		seen = make(map[southbound.Match]bool, len(c.Rules))
	}
	for _, r := range c.Rules {
		if err := d.checkRule(r); err != nil {
			return fmt.Errorf("rule for %s: %w", matchText(r.Match), err)
		}
		if seen[r.Match] {
			return fmt.Errorf("rule for %s is given twice", matchText(r.Match))
		}
		if seen != nil {
			seen[r.Match] = true
		}
	}
	for _, m := range c.Drop {
		if err := d.checkMatch(m); err != nil {
			return fmt.Errorf("drop of rule for %s: %w", matchText(m), err)
		}
	}
	if ch, ok := d.cfg.Plane.(Checker); ok {
		return ch.CheckRules(c.Rules)
	}
	return nil
}

// overfull reports whether a table that holds the given number of rules has no room for a change.
func overfull(c *southbound.Change, held int) bool {
	if c.Replace {
		held = 0
	}
	return held+len(c.Rules) > maxRules
}

func (d *Device) checkRule(r southbound.Rule) error {
	if err := d.checkMatch(r.Match); err != nil {
		return err
	}
	switch {
	case r.Primary < 0 || int32(r.Primary) >= d.cfg.Ports:
		return fmt.Errorf("primary port %d: ports are 0 to %d", r.Primary, d.cfg.Ports-1)
	case r.Backup != southbound.NoPort && (r.Backup < 0 || int32(r.Backup) >= d.cfg.Ports):
		return fmt.Errorf("backup port %d: ports are 0 to %d, or none", r.Backup, d.cfg.Ports-1)
	case r.Backup == r.Primary:
		return fmt.Errorf("port %d is its own backup", r.Primary)
	}
	return nil
}

func (d *Device) checkMatch(m southbound.Match) error {
	switch {
	case m.Dst < 0 || int32(m.Dst) >= d.cfg.Racks:
		return fmt.Errorf("racks are 0 to %d", d.cfg.Racks-1)
	case m.Src != southbound.AnyRack && (m.Src < 0 || int32(m.Src) >= d.cfg.Racks):
		return fmt.Errorf("source racks are 0 to %d, or any", d.cfg.Racks-1)
	case m.Tag >= cmp.Or(d.cfg.Tags, southbound.Tags) && m.Tag != southbound.AnyTag:
		return fmt.Errorf("tags are 0 to %d, or any", cmp.Or(d.cfg.Tags, southbound.Tags)-1)
	}
	return nil
}

func matchText(m southbound.Match) string {
	s := fmt.Sprintf("rack %d", m.Dst)
	if m.Tag == southbound.AnyTag {
		s += ", any tag"
	} else {
		s += fmt.Sprintf(", tag %d", m.Tag)
	}
	if m.Src != southbound.AnyRack {
		s += fmt.Sprintf(", from rack %d", m.Src)
	}
	return s
}

// setRules takes a checked change. Where it is effective at once, what the plane says decides whether
// it is accepted.
func (d *Device) setRules(c *southbound.Change) error {
	change := d.rules.reduce(c)
	if change == nil {
		return nil
	}
	at := d.applyAt()
	if at <= d.now && len(d.rules.pending) == 0 {
		if err := d.cfg.Plane.SetRules(change.set, change.drop, change.replace); err != nil {
			return err
		}
		change.into(&d.rules.accepted)
		if d.heard != nil || d.onApplied != nil { // they may keep it
			change = change.clone()
		}
		d.effective(change)
		return nil
	}
	change.into(&d.rules.accepted)
	d.rules.pending = append(d.rules.pending, change.clone())
	d.agenda.add(item{at: at, run: d.applyRules})
	return nil
}

func (c *ruleChange) clone() *ruleChange {
	return &ruleChange{set: slices.Clone(c.set), drop: slices.Clone(c.drop), replace: c.replace}
}

// reduce returns what of c differs from what is accepted, or nil. Borrowed until the next call.
func (r *rules) reduce(c *southbound.Change) *ruleChange {
	r.now = ruleChange{set: r.now.set[:0], drop: r.now.drop[:0], replace: c.Replace}
	out := &r.now
	same := true
	for _, n := range c.Rules {
		old, ok := r.accepted.Get(n.Key())
		if differs := !ok || old != n; differs || c.Replace {
			out.set = append(out.set, n)
			same = same && !differs
		}
	}
	if c.Replace {
		if same && len(c.Rules) == r.accepted.Len() {
			return nil
		}
		return out
	}
	for _, m := range c.Drop {
		_, ok := r.accepted.Get(m.Key())
		if ok && !slices.ContainsFunc(c.Rules, func(n southbound.Rule) bool { return n.Match == m }) {
			out.drop = append(out.drop, m)
		}
	}
	if len(out.set) == 0 && len(out.drop) == 0 {
		return nil
	}
	return out
}

// applyRules passes the oldest pending change to the plane. If the plane fails, the accepted rules fall
// back to the applied ones and the changes still pending.
func (d *Device) applyRules(time.Duration) {
	change := d.rules.pending[0]
	d.rules.pending = d.rules.pending[1:]
	if err := d.cfg.Plane.SetRules(change.set, change.drop, change.replace); err != nil {
		d.fail(fmt.Errorf("apply rules: %w", err))
		d.rules.accepted = d.rules.applied.Clone()
		for _, p := range d.rules.pending {
			p.into(&d.rules.accepted)
		}
		return
	}
	d.effective(change)
}
