package dptest

import (
	"fmt"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Program puts rules for every rack and tag into all packet switches, and a circuit from each OCS port
// r to r+1: tag i goes over spine i-1, the circuit's tag over the OCS with the first spine as backup,
// and any other over the first spine with the last as backup. A rack without a circuit to a destination
// leaves its tag to the any-tag rule.
func Program(n Network) error {
	f := n.Spec()
	for rack := range f.Racks {
		if err := n.Plane(f.ToRNode[rack]).SetRules(ToRRules(n, southbound.RackID(rack)), nil,
			true); err != nil {
			return fmt.Errorf("program tor %d: %w", rack, err)
		}
	}
	for i, node := range f.Topology.Nodes() {
		if node.Role == pathmap.Switch {
			if err := n.Plane(pathmap.NodeID(i)).SetRules(SpineRules(n), nil, true); err != nil {
				return fmt.Errorf("program %s: %w", node.Name, err)
			}
		}
	}
	if !f.HasOCS() {
		return nil
	}
	return n.Plane(f.OCSNode).Move(nil, Ring(n, 1), 0)
}

// Ring returns the circuits from each OCS port to the one that many further.
func Ring(n Network, step int) []southbound.CrossConnect {
	ports := n.Spec().Spec.Ports
	var on []southbound.CrossConnect
	for r := range ports {
		on = append(on, southbound.CrossConnect{In: southbound.Port(r),
			Out: southbound.Port((r + step) % ports)})
	}
	return on
}

// ToRRules returns the rules of a rack's ToR.
func ToRRules(n Network, rack southbound.RackID) []southbound.Rule {
	f := n.Spec()
	spine := func(i int) southbound.Port { return southbound.Port(f.HostsPerRack + i) }
	var rules []southbound.Rule
	for dst := range southbound.RackID(f.Racks) {
		if dst == rack {
			continue
		}
		rules = append(rules, southbound.Rule{Match: match(dst, southbound.AnyTag), Primary: spine(0),
			Backup: spine(f.Spec.Spines - 1)})
		for i := range min(f.Spec.Spines, southbound.MaxPaths) {
			rules = append(rules, southbound.Rule{Match: match(dst, southbound.PathTag(i)), Primary: spine(i),
				Backup: southbound.NoPort})
		}
		if f.HasOCS() && int(dst) == (int(rack)+1)%f.Spec.Ports {
			rules = append(rules, southbound.Rule{Match: match(dst, southbound.TagCircuit),
				Primary: southbound.Port(f.OCSUplink[rack]), Backup: spine(0)})
		}
	}
	return rules
}

// SpineRules returns the rules of a spine.
func SpineRules(n Network) []southbound.Rule {
	var rules []southbound.Rule
	for dst := range southbound.RackID(n.Spec().Racks) {
		rules = append(rules, southbound.Rule{Match: match(dst, southbound.AnyTag),
			Primary: southbound.Port(dst),
			Backup:  southbound.NoPort})
	}
	return rules
}

func match(dst southbound.RackID, tag southbound.Tag) southbound.Match {
	return southbound.Match{Dst: dst, Tag: tag, Src: southbound.AnyRack}
}
