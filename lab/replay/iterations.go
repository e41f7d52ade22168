package replay

import (
	"fmt"
	"strings"

	"lightloom/controller/phases"
	"lightloom/controller/workload"
	"lightloom/lab/report"
)

// iterations says how long an iteration of a training job takes in each row, and what no circuits are faster than;
// empty for other workloads.
func (s *runner) iterations(rep *report.Report) string {
	d, err := workload.ParseDrawn(s.Options.Workload)
	if err != nil || d.Iterations() == 0 || len(s.Jobs) != 1 || rep.Repeat != nil {
		return ""
	}
	n := float64(d.Iterations())
	var rows []string
	for i := range rep.Policies {
		if p := &rep.Policies[i]; p.JCT.Mean > 0 {
			rows = append(rows, fmt.Sprintf("%.3f s under %s", p.JCT.Mean/n, p.Name))
		}
	}
	if len(rows) == 0 {
		return ""
	}
	bound := phases.Bound(&s.Jobs[0], s.Jobs[0].PinnedHosts(), s.Fabric).Seconds() / n
	return fmt.Sprintf("An iteration takes %s. The network cards of its ranks alone allow %.3f s.",
		strings.Join(rows, ", "), bound)
}
