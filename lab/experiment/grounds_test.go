package experiment

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lightloom/controller"
	"lightloom/controller/workload/swim"
)

// TestGrounds: all jobs of a ground can be placed on its fabric, none has fixed hosts, a seed draws the
// same jobs again, and held-out seeds see jobs of a real trace that no other seed does.
func TestGrounds(t *testing.T) {
	data := os.Getenv("LIGHTLOOM_DATA")
	if data == "" {
		if strings.Contains(os.Getenv("LIGHTLOOM_MUST"), "data") {
			t.Fatal("LIGHTLOOM_MUST names data, and LIGHTLOOM_DATA no folder")
		}
		t.Skip("needs data: LIGHTLOOM_DATA names no folder of traces")
	}
	b := &Bench{Data: data}
	for _, s := range sources(20) {
		t.Run(s.name, func(t *testing.T) {
			g := ground{s.name, groundFabric("10ms"), "10ms", 0.5, s}
			seen := [2]map[string]bool{{}, {}}
			for i, seed := range []uint64{1, heldOut} {
				jobs, err := g.jobs(b, seed)
				if err != nil || len(jobs) != 20 {
					t.Fatalf("%d jobs, %v", len(jobs), err)
				}
				if again, _ := g.jobs(b, seed); !reflect.DeepEqual(jobs, again) {
					t.Error("a seed draws other jobs when asked again")
				}
				for k := range jobs {
					j := &jobs[k]
					seen[i][j.Name] = true
					if err := j.Check(groundRacks*groundHosts, groundRacks*groundHosts*groundSlots); err != nil {
						t.Error(err)
					}
					if slices.ContainsFunc(j.Edges, func(e controller.Edge) bool { return e.Kind == controller.Fixed }) {
						t.Errorf("%s has fixed hosts", j.Name)
					}
				}
			}
			for name := range maps.Keys(seen[0]) {
				if s.data && seen[1][name] {
					t.Errorf("%s is seen by both kinds of seed", name)
				}
			}
		})
	}
}

// TestControlBounds: no job ends later in the control than in its run, and with a network a thousand
// times as fast the run nears the control but for what schedulers wait on purpose.
func TestControlBounds(t *testing.T) {
	for _, source := range sources(6)[:3] {
		g := ground{source.name, groundFabric("10ms"), "10ms", 0.9, source}
		for _, r := range groundRivals() {
			f, err := g.run(t.Context(), new(Bench), r, 1)
			if err != nil {
				t.Fatal(err)
			}
			if jct, all := f[bounded(meanJCT)], f[bounded(makespan)]; jct < 0 || jct > 100 ||
				all < 0 || all > 100 {
				t.Errorf("%s, %s: a network changes %v and %v %%", g.name, r.name, jct, all)
			}
		}
	}
	c := cluster{Fabric: "hybrid:racks=4,hosts=2,slots=4,spines=1,nic=10Tbps,eps=40Tbps", Jobs: 6,
		Model: swim.V1(32)}
	f, err := c.run(t.Context(), trace([2]int{4000, 4000}, [2]int{2000, 1000}, [2]int{3000, 9000},
		[2]int{900, 10},
		[2]int{8000, 100}, [2]int{500, 5000}), "fair", nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if left := f[bounded(makespan)]; left < 0 || left > 10 {
		t.Errorf("a network that takes no time leaves %v %% of the makespan to gain", left)
	}
}
