package report

import (
	"fmt"
	"strings"
)

// means says what a line of the table is, for its tooltip.
func means(name string) string {
	for _, one := range []struct{ begin, says string }{
		{"makespan", "From the first arrival to the last end."},
		{"CCT mean by weight", "Completion times of coflows, each counted by its weight."},
		{"CCT", "Coflow completion time: from when a coflow's host flows may start to its last byte received."},
		{"JCT", "Job completion time: from a job's arrival to its end."},
		{"job throughput", "What a job's sinks received, by the time that it ran."},
		{"deadlines", "Coflows that were done in time, of all that have a deadline."},
		{"payload between", "Bytes of coflows between hosts of different racks, without headers and repetitions."},
		{"of it over", "The share of the bytes between racks that circuits carried, as ports or flows count them."},
		{"reconfigurations", "How often a circuit was set up or moved."},
		{"reconfiguration delay assumed", "What circuit schedules took a move to last."},
		{"reconfiguration delay", "The whole of a move: from its intent to the circuit in service."},
		{"reconfiguration:", "One stage of a reconfiguration delay."},
		{"dark time", "How long a moved port had no light."},
		{"dropped", "Packets that met a dark port, or no rule."},
		{"retransmissions", "Segments that TCP sent again."},
		{"placing", "Placements that the annealer tried and kept."},
		{"routing", "Routes that the annealer tried and kept."},
	} {
		if strings.HasPrefix(name, one.begin) {
			return one.says
		}
	}
	return ""
}

// sized returns the mean completion time of each class of coflows by size, and how much longer they took than alone on
// the fabric.
func (r *Report) sized() (out []line) {
	if len(r.Policies) == 0 {
		return nil
	}
	for k, b := range r.Policies[0].Bins {
		name := fmt.Sprintf("CCT mean, s: %s, %s of coflows", b.Name, percent(b.Coflows))
		out = append(out, line{name: name, of: func(p *Policy) string {
			if k >= len(p.Bins) || p.Bins[k].CCT.Count == 0 {
				return "–"
			}
			return fmt.Sprintf("%s (%s × alone)", sig(p.Bins[k].CCT.Mean), sig(p.Bins[k].OverBound.Mean))
		}})
	}
	return out
}
