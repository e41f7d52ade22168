package rollout

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Fabric is what a Checker walks: the rules of each device and the circuits that pass light.
type Fabric struct {
	*topo.Fabric
	Rules    [][]southbound.Rule // by DeviceID, sorted by match
	Circuits []southbound.Port   // by OCS input; NoPort: dark
	Dark     []bool              // by link, beside the dark circuits; nil: all are lit
}

// Lookup returns the rule that a packet meets at a switch: one for its source before one for any, its
// tag before any tag. It is the plain meaning of a table, which every dataplane must have. Rules are
// sorted by match.
func Lookup(rules []southbound.Rule, dst, src southbound.RackID,
	tag southbound.Tag) (southbound.Rule, bool) {
	for _, m := range [...]southbound.Match{
		{Dst: dst, Src: src, Tag: tag}, {Dst: dst, Src: src, Tag: southbound.AnyTag},
		{Dst: dst, Src: southbound.AnyRack, Tag: tag}, {Dst: dst, Src: southbound.AnyRack,
			Tag: southbound.AnyTag},
	} {
		i, ok := slices.BinarySearchFunc(rules, m, func(r southbound.Rule, m southbound.Match) int {
			return compareMatch(r.Match, m)
		})
		if ok {
			return rules[i], true
		}
	}
	return southbound.Rule{}, false
}

// walk follows a packet from rack src to rack dst. It appends the links that the packet takes, notes whose tables it
// has met, and returns why it does not arrive.
func (f *Fabric) walk(way []pathmap.LinkID, met *devices, src, dst southbound.RackID,
	tag southbound.Tag) ([]pathmap.LinkID, error) {
	t := f.Topology
	at := f.ToRNode[src]
	for steps := 0; at != f.ToRNode[dst]; steps++ {
		if steps > len(t.Nodes()) {
			return way, fmt.Errorf("rack %d to %d with tag %d: loop at %s", src, dst, tag, t.Node(at).Name)
		}
		met.add(at)
		r, ok := Lookup(f.Rules[at], dst, src, tag)
		if !ok {
			return way, fmt.Errorf("rack %d to %d with tag %d: no rule at %s", src, dst, tag, t.Node(at).Name)
		}
		l := t.OutPort(at, int32(r.Primary))
		if l == pathmap.None || f.dark(l) {
			if r.Backup == southbound.NoPort {
				return way, fmt.Errorf("rack %d to %d with tag %d: port %d of %s is dark and has no backup",
					src, dst, tag,
					r.Primary, t.Node(at).Name)
			}
			if l = t.OutPort(at, int32(r.Backup)); l == pathmap.None || f.dark(l) {
				return way, fmt.Errorf("rack %d to %d with tag %d: ports %d and %d of %s are dark", src,
					dst, tag, r.Primary,
					r.Backup, t.Node(at).Name)
			}
		}
		way = append(way, l)
		if at = t.Link(l).To; f.IsOCS(at) {
			_, out := f.OCSAt(int32(f.Circuits[f.OCSPort(at, t.Link(l).ToPort)]))
			l = t.OutPort(at, out)
			way = append(way, l)
			// A rule for one source stands whatever the circuits (see Base.Stand): there a packet goes on.
			if at = t.Link(l).To; at != f.ToRNode[dst] && r.Src == southbound.AnyRack {
				return way, fmt.Errorf("rack %d to %d with tag %d: the circuit leads to %s", src, dst, tag,
					t.Node(at).Name)
			}
		}
	}
	return way, nil
}

// dark reports whether a link passes nothing: it is down, or it leads into an OCS input without a circuit.
func (f *Fabric) dark(l pathmap.LinkID) bool {
	link := f.Topology.Link(l)
	return (f.Dark != nil && f.Dark[l]) || (f.IsOCS(link.To) &&
		f.Circuits[f.OCSPort(link.To, link.ToPort)] == southbound.NoPort)
}

// Checker checks a fabric again and again. It walks only where a rule or a circuit that a packet can meet has changed
// since the last time that there was no fault.
type Checker struct {
	last *Fabric
	met  []devices // by source and destination: whose tables packets of any tag have met since there was a fault

	wanted  *Fabric // of the last CheckWanted
	base    *Base
	derived int
}

// devices is a set of devices, with a few more where their numbers are the same modulo 64.
type devices uint64

func (d *devices) add(id southbound.DeviceID) { *d |= 1 << (id % 64) }

func (d devices) has(id southbound.DeviceID) bool { return d&(1<<(id%64)) != 0 }

// difference is who treats some packets to one rack otherwise than before, and those of which tags.
type difference struct {
	at   devices
	tags uint64 // modulo 64
}

func (d *difference) add(at southbound.DeviceID, tag southbound.Tag) {
	if d.at.add(at); tag == southbound.AnyTag {
		d.tags = ^uint64(0)
	}
	d.tags |= 1 << (tag % 64)
}

func (d *difference) has(tag southbound.Tag) bool { return d.tags&(1<<(tag%64)) != 0 }

// CheckWanted checks the tables that a base wants while circuits are steered to. It derives those anew that may have
// changed since it was last called.
func (c *Checker) CheckWanted(b *Base, circuits []southbound.Port) error {
	f := &Fabric{Fabric: b.fabric, Circuits: circuits, Rules: make([][]southbound.Rule, len(b.rules))}
	known := c.wanted != nil && c.base == b && c.derived == b.derived
	var moved devices
	if known {
		for in, out := range circuits {
			if out != c.wanted.Circuits[in] {
				moved.add(b.tor(southbound.Port(in)))
			}
		}
	}
	moved |= b.dirty
	b.dirty = 0
	for n, node := range b.fabric.Topology.Nodes() {
		d := southbound.DeviceID(n)
		switch {
		case node.Role != pathmap.ToR && node.Role != pathmap.Switch:
		case known && !moved.has(d):
			f.Rules[d] = c.wanted.Rules[d]
		default:
			f.Rules[d] = b.Rules(d, circuits)
		}
	}
	c.wanted, c.base, c.derived = f, b, b.derived
	return c.Check(f)
}

// Check returns the first fault of a fabric: a circuit output lit twice, a circuit between two OCSes, or a packet of
// some tag between two racks that loops, is dropped, or comes out at the wrong rack. It keeps f until the next call.
func (c *Checker) Check(f *Fabric) error {
	if err := checkOCSes(f); err != nil {
		return err
	}
	changed, to := c.changed(f)
	anew := c.last == nil
	if anew {
		c.met = make([]devices, f.Racks*f.Racks)
	}
	c.last = nil // a fault is found again
	tags := max(southbound.Tags, southbound.PathTag(f.Spec.PathsKept()-1)+1)
	var way []pathmap.LinkID
	for s := range f.Racks {
		for _, d := range to {
			met := &c.met[s*f.Racks+d]
			if s == d || !anew && *met&changed[d].at == 0 {
				continue
			}
			for tag := southbound.TagDefault; tag < tags; tag++ {
				if !changed[d].has(tag) {
					continue
				}
				var err error
				if way, err = f.walk(way[:0], met, southbound.RackID(s), southbound.RackID(d), tag); err != nil {
					return err
				}
			}
		}
	}
	c.last = f
	return nil
}

// checkOCSes returns an error where two inputs light one output, or a circuit is between two switches.
func checkOCSes(f *Fabric) error {
	lit := make([]int, len(f.Circuits))
	for in, out := range f.Circuits {
		if out == southbound.NoPort {
			continue
		}
		if other := lit[out] - 1; other >= 0 {
			return fmt.Errorf("OCS output %d is lit by inputs %d and %d", out, other, in)
		}
		if !f.SamePlane(int32(in), int32(out)) {
			return fmt.Errorf("OCS input %d and output %d are not of one switch and wavelength", in, out)
		}
		lit[out] = in + 1
	}
	return nil
}

// changed returns, by destination rack, what is treated otherwise than the last time, and the racks to which something
// is. It forgets that time where the fabric is another: all is new there.
func (c *Checker) changed(f *Fabric) (changed []difference, to []int) {
	changed = make([]difference, f.Racks)
	if c.last != nil && (c.last.Fabric != f.Fabric || !slices.Equal(c.last.Dark, f.Dark)) {
		c.last = nil
	}
	if c.last == nil {
		for d := range changed {
			changed[d].tags, to = ^uint64(0), append(to, d)
		}
		return changed, to
	}
	for n, rules := range f.Rules {
		if d, last := southbound.DeviceID(n), c.last.Rules[n]; !same(rules, last) {
			diff := Diff(rules, last)
			for i := range diff.Rules {
				changed[diff.Rules[i].Dst].add(d, diff.Rules[i].Tag)
			}
			for i := range diff.Drop {
				changed[diff.Drop[i].Dst].add(d, diff.Drop[i].Tag)
			}
		}
	}
	for in, out := range f.Circuits {
		if out != c.last.Circuits[in] {
			f.changedBy(in, changed)
		}
	}
	for d := range changed {
		if changed[d].at != 0 {
			to = append(to, d)
		}
	}
	return changed, to
}

// changedBy adds a ToR for the destinations of its rules that lead into an OCS input whose circuit has changed. Rules
// that led there the last time and no longer do are found as changed themselves.
func (f *Fabric) changedBy(in int, changed []difference) {
	d, uplink := f.ToRNode[f.OCSRack(int32(in))], southbound.Port(f.OCSUplink[in])
	for i := range f.Rules[d] {
		if r := &f.Rules[d][i]; r.Primary == uplink || r.Backup == uplink {
			changed[r.Dst].add(d, r.Tag)
		}
	}
}

// same reports whether two slices are one in memory.
func same(a, b []southbound.Rule) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
