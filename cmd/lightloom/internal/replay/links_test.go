package replay

import (
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/cmd/lightloom/internal/scenario"
)

// TestLinksDisturbNothing: a run whose links are read is the same as one whose links are not, and what links of racks
// carried in all is what the run counts as bytes over packets, but for headers.
func TestLinksDisturbNothing(t *testing.T) {
	for _, policy := range []string{"random+ecmp", "crosslayer+sunflow", "joint", "crosslayer+maxmin"} {
		t.Run(policy, func(t *testing.T) {
			run := func(links bool) map[string]any {
				p, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=4,hosts=2", On: scenario.OnFlowsim, Seed: 3,
					Policies: []string{policy}, Speedup: 1, Replicas: 1, Links: links}, 1)
				if err != nil {
					t.Fatal(err)
				}
				s := &runner{Prepared: p, Console: Console{Stderr: io.Discard}}
				o, err := s.simulate(t.Context(), p.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				r := o.ResultOf(p)
				if (r.Links != nil) != links {
					t.Fatalf("links are read: %v", r.Links != nil)
				}
				if links {
					up := 0.0
					for i, l := range r.Links.Links {
						if l.From < "spine" || l.From > "spinf" {
							up += float64(r.Links.Bytes[len(r.Links.At)-1][i])
						}
					}
					if payload := float64(r.BytesEPS); up < payload || up > 1.1*payload {
						t.Errorf("links carried %v bytes, the run counts %v of payload", up, payload)
					}
				}
				return map[string]any{"jobs": r.Jobs, "coflows": r.Coflows, "circuits": r.Circuits, "end": o.End, "steps": o.Steps,
					"decisions": o.Decisions}
			}
			if d := cmp.Diff(run(false), run(true)); d != "" {
				t.Errorf("(-without +with):\n%s", d)
			}
		})
	}
}
