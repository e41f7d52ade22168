package report

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"

	"lightloom/lab/console"
)

// Files of figures, for programs that read tables: a line a policy, and a line a policy and coflow.
const (
	policiesFile = "policies.csv"
	coflowsFile  = "coflows.csv"
)

// policiesCSV writes the figures of each row. Names of columns carry their units.
func (r *Report) policiesCSV() ([]byte, error) {
	lines := [][]string{{"policy", "makespan_seconds", "cct_seconds_mean", "cct_seconds_p50",
		"cct_seconds_p95",
		"cct_seconds_p99", "jct_seconds_mean", "jct_seconds_p50", "jct_seconds_p95", "jct_seconds_p99", "bytes_inter_rack",
		"bytes_ocs", "bytes_eps", "reconfigurations"}}
	for i := range r.Policies {
		p := &r.Policies[i]
		line := []string{p.Name}
		for _, v := range []float64{p.Makespan, p.CCT.Mean, p.CCT.P50, p.CCT.P95, p.CCT.P99, p.JCT.Mean,
			p.JCT.P50, p.JCT.P95,
			p.JCT.P99} {
			line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
		}
		for _, n := range []int64{p.BytesInter, int64(p.OCS), int64(p.EPS), p.Reconfigurations} {
			line = append(line, strconv.FormatInt(n, 10))
		}
		lines = append(lines, line)
	}
	return table2CSV(lines)
}

// coflowsCSV writes every coflow that report.json lists.
func (r *Report) coflowsCSV() ([]byte, error) {
	lines := [][]string{{"policy", "coflow", "name", "arrival_seconds", "cct_seconds", "bytes", "host_flows"}}
	proofs := len(r.gaps()) > 0
	if proofs {
		lines[0] = append(lines[0], "proven_gap")
	}
	for i := range r.Policies {
		for _, c := range r.Policies[i].Coflows {
			line := []string{r.Policies[i].Name, strconv.Itoa(int(c.ID)), c.Name,
				strconv.FormatFloat(c.Arrival, 'g', -1, 64), strconv.FormatFloat(c.Took, 'g', -1, 64),
				strconv.FormatInt(c.Bytes, 10), fmt.Sprint(c.HostFlows)}
			if gap := ""; proofs {
				if c.Proof != nil {
					gap = strconv.FormatFloat(c.Proof.Gap, 'g', -1, 64)
				}
				line = append(line, gap)
			}
			lines = append(lines, line)
		}
	}
	return table2CSV(lines)
}

func table2CSV(lines [][]string) ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	for _, l := range lines {
		_ = w.Write(console.Cells(l))
	}
	w.Flush()
	if err := w.Error(); err != nil { // of any write before
		return nil, fmt.Errorf("write CSV: %w", err)
	}
	return b.Bytes(), nil
}
