package simulated_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// blockFabric has three racks of one host, and 80 Mb/s of payload and headers from one to another.
const blockFabric = "leafspine:racks=3,hosts=1,spines=1,nic=80Mbps,eps=80Mbps,slots=4"

// mapper is a job of four maps that compute for a second. Their blocks of 10 MB lie on rack 2 alone, from which reading
// one takes a second and a bit over the network, and half a second beside it.
func mapper(incremental bool) controller.Job {
	j := controller.Job{Name: "mapper", Weight: 1, Incremental: incremental, Stages: []controller.Stage{{Name: "map"}}}
	for range 4 {
		j.Stages[0].Tasks = append(j.Stages[0].Tasks, controller.Task{Compute: time.Second, Input: 10e6,
			Replicas: []southbound.RackID{2}, NonLocal: time.Second / 2})
	}
	return j
}

func runBlocks(t *testing.T, by string, j controller.Job,
	parts policy.Overrides) (*scenario.Prepared, *outcome.Outcome) {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Given: []controller.Job{j}, Fabric: blockFabric,
		Policies: []string{by}, Parts: parts, Seed: 1, Speedup: 1, Replicas: 1, On: scenario.OnFlowsim}, 1)
	if err != nil {
		t.Fatal(err)
	}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return s, o
}

// TestBlocksCrossTheNetwork: under every placement a task in a rack without a copy of its block computes once a flow
// from the copy has ended; beside the network it takes the time of its model, and no link carries a byte.
func TestBlocksCrossTheNetwork(t *testing.T) {
	const alone = 10e6 * 1514 / 1448 * 8 / 80e6 // seconds that one block takes
	for _, by := range []string{"random+ecmp", "packed+ecmp", "fair+ecmp", "dawn+ecmp", "pushbox", "coscheduler+ecmp",
		"crosslayer"} {
		for _, incremental := range []bool{true, false} {
			t.Run(fmt.Sprint(by, " incremental ", incremental), func(t *testing.T) {
				_, o := runBlocks(t, by, mapper(incremental), policy.Overrides{})
				checkReads(t, o.State, alone)
				_, beside := runBlocks(t, by, mapper(incremental), policy.Overrides{ReadsBeside: true})
				for _, c := range beside.State.Coflows {
					t.Errorf("beside the network: %+v", c)
				}
			})
		}
	}
}

// checkReads checks when tasks read and computed.
func checkReads(t *testing.T, d *state.Data, alone float64) {
	t.Helper()
	far, sum := 0, pathmap.Bytes(0)
	for i := range d.Tasks {
		x := &d.Tasks[i]
		near := x.Host == 2
		if near == x.OverNetwork || x.Ended-x.Started != time.Second {
			t.Errorf("task %d: %+v", i, *x)
		}
		if near {
			continue
		}
		far++
		if read := (x.Started - x.ReadSince).Seconds(); read < alone || read > 4*alone+0.01 {
			t.Errorf("task %d reads for %.3f s, one block alone takes %.3f s", i, read, alone)
		}
	}
	for _, id := range d.Jobs[0].Blocks {
		sum += d.Coflow(id).Bytes
	}
	if sum != pathmap.Bytes(far)*10e6 {
		t.Errorf("%d bytes were read for %d tasks", sum, far)
	}
}

// TestBlocksInReports: what tasks read counts for the load of links and for no coflow.
func TestBlocksInReports(t *testing.T) {
	s, o := runBlocks(t, "random+ecmp", mapper(false), policy.Overrides{})
	if carried := o.EPS; carried == 0 {
		t.Fatal("links have carried nothing")
	}
	r := o.ResultOf(s)
	if len(r.Coflows) != 0 || o.Read.Blocks == 0 || o.Read.Bytes != pathmap.Bytes(o.Read.Blocks)*10e6 {
		t.Errorf("coflows %+v, read %+v", r.Coflows, o.Read)
	}
}

// TestBlockLost: the host with the only copy fails while tasks read from it, and comes back. Where no copy is left a
// task takes the time of its model; every job ends.
func TestBlockLost(t *testing.T) {
	for _, by := range []string{"random+ecmp", "fair+ecmp", "pushbox", "dawn+ecmp"} {
		for _, incremental := range []bool{true, false} {
			if incremental && by == "random+ecmp" {
				continue // it places such jobs once, and nothing that has lost its host
			}
			t.Run(fmt.Sprint(by, " incremental ", incremental), func(t *testing.T) {
				s := labtest.WithFaults(t, blockFabric, by, "0.3 fail host h2-0\n9 heal host h2-0\n",
					func(o *scenario.Options) { o.Given, o.Coflows = []controller.Job{mapper(incremental)}, 0 })
				o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				if why := o.Unfinished(); why != nil {
					t.Error(why)
				}
			})
		}
	}
}
