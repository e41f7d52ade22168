package experiment

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload/swim"
	"lightloom/emulator/fault"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// odd makes one job of a record, by swim-v1.
func odd(rec swim.Record) []controller.Job {
	m := swim.V1(12_000)
	r := rand.New(rand.NewPCG(1, 1))
	return m.Jobs(m.Sample([]swim.Record{rec}, 1, false, r), r)
}

// TestOddShuffles runs jobs with shuffles of one byte and of 30 TB, and one without input, on the
// cluster of section V-A: the smallest takes no time, the largest at least the time of its racks'
// ports. Under Fair and Corral the 30 TB job has 3,540 pairs of racks to plan circuits for, which takes
// seconds; package place tests that without a network.
func TestOddShuffles(t *testing.T) {
	for _, s := range schedulers() {
		for _, tc := range []struct {
			name        string
			rec         swim.Record
			least, most time.Duration
		}{
			{"a byte", swim.Record{Name: "byte", Input: 256e6, Shuffle: 1}, 84 * time.Second, 90 * time.Second},
			{"no input", swim.Record{Name: "none", Shuffle: 5e9}, 100 * time.Second, 130 * time.Second},
			// A rack sends 110 Gb/s at most: 36 s for a sixtieth. 6,000 reduces compute on 5 GB each for 1,140 s.
			{"30 TB", swim.Record{Name: "much", Input: 256e9, Shuffle: 30e12}, 1140*time.Second + 36*time.Second,
				24 * time.Hour},
		} {
			if tc.name == "30 TB" && s.name != "Co-scheduler" {
				continue
			}
			t.Run(s.name+"/"+tc.name, func(t *testing.T) {
				c := replay.Case{Options: scenario.Options{
					Fabric: clusterFabric(10), On: OnFlowsim, Policies: []string{s.policy},
					Given: odd(tc.rec), Seed: 1,
				}}
				ran, err := c.Run(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if len(ran.Jobs) != 1 {
					t.Fatalf("%d jobs ended: %v", len(ran.Jobs), ran.Notes)
				}
				took := ran.Jobs[0].JCT()
				if took < tc.least || took > tc.most {
					t.Errorf("took %v, want %v to %v", took, tc.least, tc.most)
				}
				carried := pathmap.Bytes(0)
				for _, x := range ran.Coflows {
					carried += x.Bytes
				}
				if carried != tc.rec.Shuffle {
					t.Errorf("%d bytes were shuffled, of %d", carried, tc.rec.Shuffle)
				}
			})
		}
	}
}

// TestStarvingIsTold: a job does not end if hosts that stay failed leave too few slots for it. The
// report says so and why, under every scheduler.
func TestStarvingIsTold(t *testing.T) {
	job := controller.Job{Name: "wide", User: "a", Incremental: true,
		Stages: []controller.Stage{{Name: "map", Tasks: make([]controller.Task, 4)},
			{Name: "reduce", Tasks: make([]controller.Task, 12)}},
		Edges: []controller.Edge{{Kind: controller.ScatterGather, To: 1, Bytes: 1e6}}}
	for i := range job.Stages[0].Tasks {
		job.Stages[0].Tasks[i] = controller.Task{Compute: 10 * time.Second, Input: 1e6}
	}
	var lost []fault.Event
	for r := 1; r < 4; r++ {
		lost = append(lost, fault.Event{At: 5 * time.Second,
			Fault: fault.Fault{Kind: fault.Host, Name: fmt.Sprintf("h%d-0", r)}})
	}
	for _, s := range schedulers() {
		c := replay.Case{Options: scenario.Options{
			Fabric: "hybrid:racks=4,hosts=1,slots=4", On: OnFlowsim, Policies: []string{s.policy},
			Given: []controller.Job{job}, Seed: 1,
		}, Events: lost}
		ran, err := c.Run(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		const want = `1 of 1 jobs had not ended when the run did, and are left out of all figures; the first is job 0 ` +
			`("wide"): stage "reduce" receives, and its 12 tasks must all have a slot for that: hosts with 4 are left.`
		if !strings.Contains(strings.Join(ran.Notes, "\n"), want) {
			t.Errorf("%s: the report says %q", s.name, ran.Notes)
		}
	}
}
