package run

import (
	"fmt"
	"slices"

	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/pathmap/topo"
)

// addRows adds the rows of one policy: one for each source of demand, or one alone where it sets up no circuits, for it
// asks nobody.
func (s *setup) addRows(r row, lights bool) error {
	known := s.opt.Demand
	if len(known) == 0 || !lights || !r.Spec.HasOCS() {
		known = []demand.Options{{}}
	}
	for _, d := range known {
		if err := d.Check(); err != nil {
			return err
		}
		if d.Source == demand.FromCounters && r.Spec.Kind == topo.Crossbar {
			return &insideError{fmt.Sprintf("policy %q with demand from counters: on this crossbar nothing is sent without a circuit, so that there is nothing to count", r.Policy),
				"write --demand backlog, or take a fabric that has packets, too, such as hybrid:racks=16,hosts=2"}
		}
		if p, err := s.policy(r.Policy); err != nil {
			return err
		} else if _, relays := p.(policy.Relaying); relays && !d.Oracle() {
			return &insideError{fmt.Sprintf("policy %q with demand from %s: its racks keep bytes for each other, which nobody's estimate knows", r.Policy, d.Source),
				"leave --demand away, or take rotor, which sends all directly"}
		}
		with := r
		if !d.Oracle() {
			with.Demand = d.WithDefaults()
			with.Name = r.Name + ", " + string(d.Source)
		}
		s.rows = append(s.rows, with)
		if note := "demand from " + d.String() + "."; !d.Oracle() && !slices.Contains(s.notes, note) {
			s.notes = append(s.notes, note)
		}
	}
	return nil
}
