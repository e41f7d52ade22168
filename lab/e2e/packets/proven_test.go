package packets

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/explain"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
)

// TestProvenGaps: --explain says of every policy with certificates how far its decisions are from the
// optimum, and the coflows that a policy routed with one carry it into the report and the file of
// coflows; others have none.
func TestProvenGaps(t *testing.T) {
	t.Parallel()
	const shuffles, loads = "hadoop:jobs=4,rate=4/s,bytes=100kB-1MB", "../../../docs/examples/loads.yaml"
	for _, tt := range []struct {
		on, workload string
		policies     []string
		carried      bool // by coflows
	}{
		{scenario.OnFlowsim, shuffles, []string{"froba", "froba-fast", "corba", "corba-fast",
			"froba-best", "froba-greedy", "corba-best", "corba-greedy", "mincct-s", "mincct-m",
			"mincct-sm", "corba+optba"}, true},
		{scenario.OnFlowsim, shuffles, []string{"optba", "optba-total"}, false},
		{scenario.OnFlowsim, loads, []string{"tapra", "tapra-fast", "ontapra", "minmin", "mm-ga", "gsa"}, false},
		{scenario.OnNetns, shuffles, []string{"corba"}, true},
	} {
		for _, policy := range tt.policies {
			t.Run(tt.on+" "+policy, func(t *testing.T) {
				if tt.on == scenario.OnNetns {
					labtest.ShareNetns(t, "netns", false)
				}
				ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
				defer cancel()
				name := filepath.Join(t.TempDir(), "why.jsonl")
				opt := scenario.Options{Workload: tt.workload, Seed: 1, Policies: []string{policy},
					Scale: 1, Speedup: 1,
					Fabric: "leafspine:racks=4,hosts=2,spines=2,eps=100Mbps,nic=100Mbps,slots=8", On: tt.on, Replicas: 3}
				if tt.on == scenario.OnFlowsim { // on packets coflows have proofs without it
					opt.Rules.Explain = name
				}
				s, err := scenario.Prepare(opt, 1)
				if err != nil {
					t.Fatal(err)
				}
				why, err := explain.Create(opt.Rules.Explain)
				if err != nil {
					t.Fatal(err)
				}
				o, err := labtest.Run(ctx, s, s.Rows[0], why)
				if err != nil {
					t.Fatal(err)
				}
				if err := why.Close(); err != nil {
					t.Fatal(err)
				}
				if opt.Rules.Explain != "" {
					checkDecisions(t, name)
				}
				checkProofs(t, o.ResultOf(s), tt.carried)
			})
		}
	}
}

// checkDecisions: some decisions are explained, each with a bound that its value is not below.
func checkDecisions(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var l explain.Line
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		if l.What != "decision" {
			continue
		}
		if n++; l.Gap == nil || *l.Gap < 0 || *l.Bound <= 0 || *l.Bound > l.Value*(1+1e-6) ||
			l.Flows+l.Tasks == 0 {
			t.Errorf("decision %s", lines.Text())
		}
	}
	if n == 0 {
		t.Error("no decision is explained")
	}
}

// checkProofs: every coflow with host flows between racks carries a proof into report and file, or none
// does.
func checkProofs(t *testing.T, p report.PolicyResult, carried bool) {
	t.Helper()
	proven := 0
	for i := range p.Coflows {
		if c := &p.Coflows[i]; c.Proof != nil {
			proven++
			if c.Proof.Gap < 0 || c.Proof.Bound <= 0 || c.Proof.HostFlows == 0 {
				t.Errorf("coflow %d: %+v", c.ID, c.Proof)
			}
		} else if carried && c.HostFlows > 0 && c.Bytes > c.Local {
			t.Errorf("coflow %d has no proof", c.ID)
		}
	}
	if carried != (proven > 0) {
		t.Errorf("%d coflows have proofs", proven)
	}
	name := filepath.Join(t.TempDir(), "coflows.csv")
	if err := outcome.WritePerCoflow(name, []report.PolicyResult{p}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if head, _, _ := strings.Cut(string(text), "\n"); strings.HasSuffix(head,
		",decided,bound,proven_gap") != carried {
		t.Errorf("the file of coflows has columns %s", head)
	}
}
