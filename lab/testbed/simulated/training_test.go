package simulated_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
)

// TestTrainingCircuits: 8 ranks on 8 racks compute 50 ms before each of 5 phases an iteration, all of which exchange
// between pairs: 2 MB twice for TP, 1 MB twice for PP, 4 MB for DP. Packets carry them at 50 Mb/s, circuits at 200. A
// circuit that moves is dark while ranks compute, so that following all phases costs no more than circuits for each.
// Set once, those for TP and for DP save as much: either is as good.
func TestTrainingCircuits(t *testing.T) {
	wire := func(b, rate int64) time.Duration {
		return (pathmap.Bytes(b) * 1514 / 1448).Over(pathmap.BitsPerSecond(rate))
	}
	const mega, slow, fast = 1_000_000, 50_000_000, 200_000_000
	iteration := func(tp, pp, dp int64) time.Duration {
		return 5*50*time.Millisecond + 2*wire(2*mega, tp) + 2*wire(mega, pp) + wire(4*mega, dp)
	}
	for _, tt := range []struct {
		policy, dark string
		want         time.Duration
		moves        int
	}{
		{"random+ecmp", "10ms", iteration(slow, slow, slow), 0},
		{"random+ecmp+phases-once", "10ms", iteration(fast, slow, slow), 8},
		{"random+ecmp+phases", "10ms", iteration(fast, fast, fast), 80},
		{"random+ecmp+phases", "2s", iteration(fast, slow, slow), 8}, // no move pays
	} {
		s, err := scenario.Prepare(scenario.Options{On: scenario.OnFlowsim, Seed: 1, Speedup: 1,
			Fabric:   "hybrid:racks=8,hosts=1,spines=2,eps=50Mbps,ocs=200Mbps,nic=200Mbps,slots=64,dark=" + tt.dark,
			Workload: "training:iterations=2", Policies: []string{tt.policy}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		got := o.State.Jobs[0].Ended
		slack := 20 * time.Millisecond // the first circuits, and what control takes
		if tt.dark == "2s" {
			slack = 2 * 2 * wire(2*mega, slow) // TP goes over packets until the first are in service
		}
		if got < 2*tt.want || got > 2*tt.want+slack || len(o.State.Moves) != tt.moves {
			t.Errorf("%s, dark for %s: %v with %d moves; want %v with %d", tt.policy, tt.dark, got, len(o.State.Moves),
				2*tt.want, tt.moves)
		}
	}
}

// TestPinnedJobs: a job that names its hosts waits until they have room, and one that has lost a host until it is back,
// though others are free; both end.
func TestPinnedJobs(t *testing.T) {
	const fabric = "hybrid:racks=8,hosts=2,spines=2,eps=50Mbps,ocs=200Mbps,nic=200Mbps,slots=11,dark=10ms" // one job's
	for _, tt := range []struct{ name, policy, faults string }{
		{"no room", "random+ecmp+phases", ""}, {"annealed", "crosslayer+sunflow", ""}, {"joint", "joint", ""},
		{"lost", "random+ecmp+phases", "300ms fail host h1-0\n5s heal host h1-0\n"},
	} {
		d, err := workload.ParseDrawn("training:inner=tensor")
		if err != nil {
			t.Fatal(err)
		}
		jobs, err := d.Jobs(1, 16, 0, nil)
		if err != nil {
			t.Fatal(err)
		}
		jobs = append(jobs, jobs[0])
		s := labtest.WithFaults(t, fabric, tt.policy, tt.faults, func(o *scenario.Options) { o.Given, o.Coflows = jobs, 0 })
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		first, second := o.State.Jobs[0], o.State.Jobs[1]
		if first.Ended <= 0 || second.Ended <= 0 || second.Placed == first.Placed {
			t.Errorf("%s: placed at %v and %v, ended at %v and %v", tt.name, first.Placed, second.Placed, first.Ended,
				second.Ended)
		}
		if tt.faults != "" && first.Ended < 5*time.Second {
			t.Errorf("%s: it ends at %v, before its host is back", tt.name, first.Ended)
		}
		for _, j := range o.State.Jobs {
			if !slices.Equal(j.Hosts, j.PinnedHosts()) {
				t.Errorf("%s: job %d ran on %v", tt.name, j.ID, j.Hosts)
			}
		}
	}
}
