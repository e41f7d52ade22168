package rollout

import (
	"fmt"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Fabric is what Check walks: the rules of each device and the circuits that pass light.
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

// Walk follows a packet from rack src to rack dst and returns the links it takes, or why it does not arrive.
func (f *Fabric) Walk(src, dst southbound.RackID, tag southbound.Tag) ([]pathmap.LinkID, error) {
	return f.walk(nil, new(devices), src, dst, tag)
}

// walk appends the links that the packet takes, and notes whose tables it has met.
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

// Check returns the first fault of a fabric: a circuit output lit twice, a circuit between two OCSes,
// or a packet of some tag between two racks that loops, is dropped, or comes out at the wrong rack.
func Check(f *Fabric) error { return new(Checker).Check(f) }

// Checker checks a fabric again and again. It walks only where a table or a circuit has changed since
// the last time that there was no fault.
type Checker struct {
	last *Fabric
	met  []devices // by source and destination: whose tables packets of any tag have met
}

// devices is a set of devices, with a few more where their numbers are the same modulo 64.
type devices uint64

func (d *devices) add(id southbound.DeviceID) { *d |= 1 << (id % 64) }

// Check returns what the function of this name does. It keeps f until the next call.
func (c *Checker) Check(f *Fabric) error {
	lit := map[southbound.Port]int{}
	for in, out := range f.Circuits {
		if out == southbound.NoPort {
			continue
		}
		if other, twice := lit[out]; twice {
			return fmt.Errorf("OCS output %d is lit by inputs %d and %d", out, other, in)
		}
		if !f.SamePlane(int32(in), int32(out)) {
			return fmt.Errorf("OCS input %d and output %d are not of one switch and wavelength", in, out)
		}
		lit[out] = in
	}
	changed := c.changed(f)
	if c.last == nil {
		c.met = make([]devices, f.Racks*f.Racks)
	}
	c.last = nil // a fault is found again
	tags := max(southbound.Tags, southbound.PathTag(f.Spec.PathsKept()-1)+1)
	var way []pathmap.LinkID
	for s := range f.Racks {
		for d := range f.Racks {
			met := &c.met[s*f.Racks+d]
			if s == d || *met != 0 && *met&changed == 0 {
				continue
			}
			*met = 0
			for tag := southbound.TagDefault; tag < tags; tag++ {
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

// changed returns the devices that treat some packet otherwise than the last time, and forgets that
// time where the fabric is another.
func (c *Checker) changed(f *Fabric) (changed devices) {
	if c.last != nil && (c.last.Fabric != f.Fabric || !slices.Equal(c.last.Dark, f.Dark)) {
		c.last = nil
	}
	if c.last == nil {
		return 0
	}
	for d, rules := range f.Rules {
		if !slices.Equal(rules, c.last.Rules[d]) {
			changed.add(southbound.DeviceID(d))
		}
	}
	for in, out := range f.Circuits {
		if out != c.last.Circuits[in] {
			changed.add(f.ToRNode[f.OCSRack(int32(in))])
		}
	}
	return changed
}
