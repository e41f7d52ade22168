package scenario

import (
	"fmt"
	"slices"

	"lightloom/controller/demand"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// addRows adds the rows of one policy: one for each source of demand, or a single one if the policy
// sets up no circuits and so uses no source.
func (s *Prepared) addRows(r Row) error {
	known := s.Options.Demand
	if len(known) == 0 || !r.Can().Circuits || !r.Spec.HasOCS() {
		known = []demand.Options{{}}
	}
	for _, d := range known {
		if err := d.Check(); err != nil {
			return err
		}
		if d.Source == demand.FromCounters && r.Spec.Kind == topo.Crossbar {
			return hint.New(fmt.Sprintf("policy %q with demand from counters: on this crossbar nothing is sent without a "+
				"circuit, so that there is nothing to count", r.Policy),
				"write --demand backlog, or take a fabric that has packets, too, such as hybrid:racks=16,hosts=2")
		}
		if r.Can().Relays && !d.Oracle() {
			return hint.New(fmt.Sprintf("policy %q with demand from %s: its racks keep bytes for each other, which "+
				"no estimate knows", r.Policy, d.Source),
				"leave --demand away, or take rotor, which sends all directly")
		}
		with := r
		if !d.Oracle() {
			with.Demand = d.WithDefaults()
			with.Name = r.Name + ", " + string(d.Source)
		}
		s.Rows = append(s.Rows, with)
		if note := "demand from " + d.String() + "."; !d.Oracle() && !slices.Contains(s.Notes, note) {
			s.Notes = append(s.Notes, note)
		}
	}
	return nil
}
