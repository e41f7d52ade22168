package packets

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lightloom/lab/labtest"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
)

// upwards is what links from ToRs to other packet switches carried.
func upwards(l *report.LinkLoads) (sum pathmap.Bytes) {
	last := len(l.At) - 1
	for i, link := range l.Links {
		if strings.HasPrefix(link.From, "tor") {
			sum += l.Bytes[last][i] - l.Bytes[0][i]
		}
	}
	return sum
}

// TestLinksOnPackets: what the counters of links say is what the run counts, but for frames of the
// network itself.
func TestLinksOnPackets(t *testing.T) {
	labtest.ShareNetns(t, "netns", false)
	p, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=2,hosts=1,spines=2,eps=50Mbps,ocs=200Mbps,dark=10ms",
		On: scenario.OnNetns, Seed: 3, Policies: []string{"random+ecmp"}, Speedup: 1, Replicas: 1, Coflows: 3,
		Record: true}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Enter(t.Context(), p, p.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := o.ResultOf(p)
	const frames = 4_000 // of LLDP and the like, between the last reading and the count
	if got := upwards(r.Links); got > r.EPS || got+frames < r.EPS || got == 0 ||
		len(r.Links.Links) != 8 {
		t.Errorf("%d links carried %d bytes, the run counts %d", len(r.Links.Links), got, r.EPS)
	}
}

// TestLinksDisturbNothing: a run whose links are read is the same as one whose links are not, and what
// links of racks carried in all is what the run counts as bytes over packets, but for headers.
func TestLinksDisturbNothing(t *testing.T) {
	for _, policy := range []string{"random+ecmp", "crosslayer+sunflow", "joint", "crosslayer+maxmin"} {
		t.Run(policy, func(t *testing.T) {
			run := func(links bool) map[string]any {
				p, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=4,hosts=2",
					On: scenario.OnFlowsim, Seed: 3,
					Policies: []string{policy}, Speedup: 1, Replicas: 1, Record: links}, 1)
				if err != nil {
					t.Fatal(err)
				}
				o, err := labtest.Simulate(t.Context(), p, p.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				r := o.ResultOf(p)
				if (r.Links != nil) != links {
					t.Fatalf("links are read: %v", r.Links != nil)
				}
				if links {
					up := float64(upwards(r.Links))
					if payload := float64(r.EPS); up < payload || up > 1.1*payload {
						t.Errorf("links carried %v bytes, the run counts %v of payload", up, payload)
					}
				}
				return map[string]any{"jobs": r.Jobs, "coflows": r.Coflows, "circuits": r.Circuits,
					"end": o.End, "steps": o.Steps,
					"decisions": o.Decisions}
			}
			if d := cmp.Diff(run(false), run(true)); d != "" {
				t.Errorf("(-without +with):\n%s", d)
			}
		})
	}
}
