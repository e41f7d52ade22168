package packets

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/controller/policy"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// TestCertifiedByName: every policy of the dissertation runs by its name, on the simulator and on
// packets: all jobs end and each byte arrives once. A run has one policy for each question, so a few
// runs have all of them.
func TestCertifiedByName(t *testing.T) {
	t.Parallel()
	all := []string{"tapra+corba+optba", "tapra-fast+corba-fast+optba-total", "ontapra+froba+onfroba",
		"minmin+froba-fast+onfroba-preempt", "mm-ga+mincct-s+rapier", "gsa+mincct-m+onfroba-vff",
		"tapra+mincct-sm+onfroba-vff-preempt", "tapra+wcmp+onfroba-sff", "tapra+mincct-sm-anew+onfroba-sff-preempt",
		"tapra+wcmp+onfroba-fcfs", "tapra+ecmp+onfroba-fcfs-preempt", "tapra+froba-anew+onfroba-nodrb",
		"tapra+corba-anew+onfroba-nodrb-preempt"}
	for _, p := range policy.Parts() {
		for _, name := range []string{"TaPRA", "FRoBA", "CoRBA", "RAPIER", "OptBA", "Min-Min", "genetic"} {
			if strings.Contains(p.Doc, name) && !strings.Contains("+"+strings.Join(all, "+")+"+", "+"+p.Name+"+") {
				t.Errorf("%s is not among them", p.Name)
			}
		}
	}
	file := filepath.Join(t.TempDir(), "loads.yaml")
	if err := os.WriteFile(file, []byte(`jobs:
  - name: one
    arrival: 0s
    limits: {rack: 0.9, center: 0.8, energy: 2}
    stages:
      - {name: map, tasks: 4, load: 400ms, efficiency: [1, 0.8, 0.5, 0.9]}
      - {name: reduce, tasks: 2, load: 200ms}
    edges:
      - {from: map, to: reduce, bytes: 2MB}
  - name: two
    arrival: 100ms
    stages:
      - {name: map, tasks: 3, compute: 50ms}
      - {name: reduce, tasks: 2, compute: 50ms}
    edges:
      - {from: map, to: reduce, bytes: 1MB}
`), 0o600); err != nil {
		t.Fatal(err)
	}
	onPackets := tries.Of(2, len(all))
	for i, name := range all {
		for _, on := range []string{scenario.OnFlowsim, scenario.OnNetns} {
			if on == scenario.OnNetns && i >= onPackets {
				continue
			}
			t.Run(on+" "+name, func(t *testing.T) {
				if on == scenario.OnNetns {
					labtest.ShareNetns(t, "netns", false)
				}
				s, err := scenario.Prepare(scenario.Options{Workload: file, Policies: []string{name},
					Seed: 1, Scale: 1,
					Fabric:  "leafspine:racks=3,hosts=2,spines=2,eps=50Mbps,nic=50Mbps,slots=8,vcpus=8/4",
					Speedup: 1, Replicas: 1, On: on}, 1)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
				defer cancel()
				o, err := labtest.Run(ctx, s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				labtest.CheckOutcome(t, s, o)
				if on == scenario.OnNetns {
					labtest.CheckPackets(t, s, o)
				}
			})
		}
	}
}
