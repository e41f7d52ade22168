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

// Lookup returns the rule that a packet meets at a switch: one for its source before one for any, its tag before any
// tag. It is the plain meaning of a table, which every dataplane must have. Rules are sorted by match.
func Lookup(rules []southbound.Rule, dst, src southbound.RackID, tag southbound.Tag) (southbound.Rule, bool) {
	for _, m := range [...]southbound.Match{
		{Dst: dst, Src: src, Tag: tag}, {Dst: dst, Src: src, Tag: southbound.AnyTag},
		{Dst: dst, Src: southbound.AnyRack, Tag: tag}, {Dst: dst, Src: southbound.AnyRack, Tag: southbound.AnyTag},
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
	t := f.Topology
	at := f.ToRNode[src]
	var way []pathmap.LinkID
	for steps := 0; at != f.ToRNode[dst]; steps++ {
		if steps > len(t.Nodes()) {
			return way, fmt.Errorf("rack %d to %d with tag %d: loop at %s", src, dst, tag, t.Node(at).Name)
		}
		r, ok := Lookup(f.Rules[at], dst, src, tag)
		if !ok {
			return way, fmt.Errorf("rack %d to %d with tag %d: no rule at %s", src, dst, tag, t.Node(at).Name)
		}
		l := t.OutPort(at, int32(r.Primary))
		if l == pathmap.None || f.dark(l) {
			if r.Backup == southbound.NoPort {
				return way, fmt.Errorf("rack %d to %d with tag %d: port %d of %s is dark and has no backup", src, dst, tag,
					r.Primary, t.Node(at).Name)
			}
			if l = t.OutPort(at, int32(r.Backup)); l == pathmap.None || f.dark(l) {
				return way, fmt.Errorf("rack %d to %d with tag %d: ports %d and %d of %s are dark", src, dst, tag, r.Primary,
					r.Backup, t.Node(at).Name)
			}
		}
		way = append(way, l)
		if at = t.Link(l).To; at == f.OCSNode {
			out := f.Circuits[t.Link(l).ToPort]
			l = t.OutPort(at, int32(out))
			way = append(way, l)
			// A rule for one source stands whatever the circuits (see Base.Stand): there a packet goes on.
			if at = t.Link(l).To; at != f.ToRNode[dst] && r.Src == southbound.AnyRack {
				return way, fmt.Errorf("rack %d to %d with tag %d: the circuit leads to %s", src, dst, tag, t.Node(at).Name)
			}
		}
	}
	return way, nil
}

// dark reports whether a link passes nothing: it is down, or it leads into an OCS input without a circuit.
func (f *Fabric) dark(l pathmap.LinkID) bool {
	link := f.Topology.Link(l)
	return (f.Dark != nil && f.Dark[l]) || (link.To == f.OCSNode && f.Circuits[link.ToPort] == southbound.NoPort)
}

// Check returns the first fault of a fabric: a circuit output lit twice, or a packet of some tag between two racks that
// loops, is dropped, or comes out at the wrong rack.
func Check(f *Fabric) error {
	lit := map[southbound.Port]int{}
	for in, out := range f.Circuits {
		if out == southbound.NoPort {
			continue
		}
		if other, twice := lit[out]; twice {
			return fmt.Errorf("OCS output %d is lit by inputs %d and %d", out, other, in)
		}
		lit[out] = in
	}
	tags := max(southbound.Tags, southbound.PathTag(f.Spec.PathsKept()-1)+1)
	for s := range f.Racks {
		for d := range f.Racks {
			for tag := southbound.TagDefault; tag < tags && s != d; tag++ {
				if _, err := f.Walk(southbound.RackID(s), southbound.RackID(d), tag); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
