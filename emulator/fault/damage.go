package fault

import (
	"cmp"
	"slices"
	"strings"

	"lightloom/pathmap"
)

// Damage is what has failed of a fabric and is not whole again.
type Damage struct {
	names  *Names
	failed []Fault                // sorted
	cuts   map[pathmap.LinkID]int // by cable: faults that keep it dark
	fibres []fibre                // done to fibres and not undone, in that order
}

// NewDamage returns a whole fabric.
func NewDamage(n *Names) *Damage { return &Damage{names: n, cuts: map[pathmap.LinkID]int{}} }

// Failed returns what has failed, sorted by kind and name.
func (d *Damage) Failed() []Fault { return slices.Clone(d.failed) }

// Cut reports whether a fault keeps the cable of a link dark, or the switch at its end off.
func (d *Damage) Cut(l pathmap.LinkID) bool { return d.cuts[l&^1] > 0 }

// Inject applies an event and returns what is to be done about it, in this order: cables by number,
// then what is behind them. changed is false where that stands already; then there is nothing to do. A
// switch that fails darkens all of its cables, and each comes back with it unless something else keeps
// it dark.
func (d *Damage) Inject(e Event) (changes []Change, changed bool, err error) {
	t, err := d.names.find(e.Fault)
	if err != nil {
		return nil, false, err
	}
	e.Name = d.canonical(e.Fault, t)
	i, failed := slices.BinarySearchFunc(d.failed, e.Fault, compare)
	switch {
	case failed == !e.Heal:
		return nil, false, nil
	case e.Heal:
		d.failed = slices.Delete(d.failed, i, i+1)
	default:
		d.failed = slices.Insert(d.failed, i, e.Fault)
	}
	switch e.Kind {
	case Link, Port:
		return d.cables(nil, e.Heal, t.cable), true, nil
	case Switch:
		var of []pathmap.LinkID
		for _, l := range d.names.fabric.Topology.Out(t.device) {
			of = append(of, l&^1)
		}
		slices.Sort(of)
		power := Change{Kind: Switch, Up: e.Heal, Device: t.device}
		if e.Heal { // light comes before the boot ends, as on a real one
			return d.cables([]Change{power}, true, of...), true, nil
		}
		return append(d.cables(nil, false, of...), power), true, nil
	case Fibre:
		return []Change{d.replug(t.fibre, e.Heal)}, true, nil
	case Host:
		return []Change{{Kind: Host, Up: e.Heal, Host: t.host}}, true, nil
	}
	return []Change{{Kind: Controller, Up: e.Heal, Controller: t.controller}}, true, nil
}

// canonical gives each cable one name, whichever end was named first.
func (d *Damage) canonical(f Fault, t target) string {
	switch f.Kind {
	case Link:
		return d.names.Cable(t.cable)
	case Port:
		at := strings.LastIndexAny(f.Name, ":-")
		return f.Name[:at] + ":" + f.Name[at+1:]
	case Fibre:
		return t.fibre.String()
	}
	return f.Name
}

// cables counts one cause more or less of the darkness of cables, and appends those that this changes.
func (d *Damage) cables(out []Change, heal bool, of ...pathmap.LinkID) []Change {
	for _, l := range of {
		before := d.cuts[l]
		if heal {
			d.cuts[l]--
		} else {
			d.cuts[l]++
		}
		if (before == 0) != (d.cuts[l] == 0) {
			out = append(out, Change{Kind: Link, Up: heal, Cable: l})
		}
	}
	return out
}

func compare(a, b Fault) int { return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name)) }
