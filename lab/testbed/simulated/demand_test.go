package simulated_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// circuitParts are the circuit policies by themselves.
var circuitParts = []string{"sunflow", "sunflow-preempt", "solstice", "eclipse", "bvn", "edmonds",
	"rotor", "static"}

func sources() []demand.Options {
	return []demand.Options{{}, {Source: demand.FromCounters, Period: 100 * time.Millisecond},
		{Source: demand.FromBacklog, Period: 100 * time.Millisecond}}
}

// TestDemandSources runs every circuit policy with each source of demand. All bytes arrive under any
// source; on the sum of all policies the oracle is faster.
func TestDemandSources(t *testing.T) {
	sum := map[demand.Source]time.Duration{}
	var table strings.Builder
	table.WriteString("| policy | oracle | counters | backlog |\n|---|---|---|---|\n")
	for _, part := range circuitParts {
		fmt.Fprintf(&table, "| %s |", part)
		s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 2,
			Policies: []string{"random+ecmp+" + part},
			Speedup:  1,
			Coflows:  40, On: scenario.OnFlowsim, Demand: sources()}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Rows) != 3 || s.Rows[0].Name != "random+ecmp+"+part ||
			s.Rows[1].Name != "random+ecmp+"+part+", counters" {
			t.Fatalf("rows %+v", s.Rows)
		}
		for _, r := range s.Rows {
			o, err := labtest.Simulate(context.Background(), s, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			labtest.CheckOutcome(t, s, o)
			sum[r.Demand.Source] += labtest.MeanCCT(o)
			fmt.Fprintf(&table, " %d (%.0f MB, %d) |", labtest.MeanCCT(o).Milliseconds(),
				float64(o.OCS)/1e6, len(o.State.Moves))
			if o.OCS == 0 && r.Demand.Source != demand.FromBacklog {
				t.Errorf("%s: nothing went over circuits", r.Name)
			}
		}
		table.WriteString("\n")
	}
	golden(t, bench("demand"), "## Mean completion times", table.String())
	if sum[""] >= sum[demand.FromCounters] || sum[""] >= sum[demand.FromBacklog] {
		t.Errorf("mean CCTs add up to %v: the oracle is not the best", sum)
	}
}

// elephant is one coflow of one host flow between two racks, larger than ten readings at its host's rate.
func elephant(t *testing.T, source demand.Options) (*scenario.Prepared, *outcome.Outcome) {
	t.Helper()
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{"sunflow"},
		Speedup: 1, Coflows: 1,
		On: scenario.OnFlowsim, Fabric: "hybrid:racks=4,hosts=2,spines=1,eps=50Mbps,ocs=500Mbps,dark=10ms,nic=500Mbps",
		Demand: []demand.Options{source}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs = []controller.Job{{Name: "elephant",
		Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: 2, Bytes: 60e6}}}}}}
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckOutcome(t, s, o)
	return s, o
}

// TestElephantIsSeen: the oracle lights at once. Counters need two readings a full period apart; then
// the circuit is up, with no dark time between readings, and is removed when its last estimate has
// expired.
func TestElephantIsSeen(t *testing.T) {
	const period = 100 * time.Millisecond
	for _, tc := range []struct {
		source demand.Options
		within time.Duration // from the coflow's start to the intent of its circuit
		moves  int
	}{
		{demand.Options{}, time.Millisecond, 1},
		{demand.Options{Source: demand.FromCounters, Period: period}, 2 * period, 1},
		{demand.Options{Source: demand.FromBacklog, Period: period}, period, 1},
	} {
		_, o := elephant(t, tc.source)
		c := o.State.Coflows[0]
		if len(o.State.Moves) != tc.moves {
			t.Errorf("%v: moves %+v", tc.source, o.State.Moves)
			continue
		}
		after := o.State.Moves[0].Intent - c.Started
		t.Logf("%v: intended after %v, ended after %v", tc.source, after, c.Ended-c.Started)
		if after > tc.within {
			t.Errorf("%v: its circuit is intended after %v, want within %v", tc.source, after, tc.within)
		}
		// 60 MB are 62.7 MB at layer 2: 1.004 s at the host's 500 Mb/s, the rest is what it waits for, at 50 Mb/s.
		if long := c.Ended - c.Started; long < time.Second ||
			long > 1004*time.Millisecond+tc.within+100*time.Millisecond {
			t.Errorf("%v: ends after %v", tc.source, long)
		}
	}
}

// TestCountersKnowRatesAlone shows why estimating costs: each of three host flows that share a host
// gets a third of the link's rate, which is below an elephant's, whatever it has left. Only when two
// have ended over packets is the third seen as an elephant. The oracle lights for each in turn.
func TestCountersKnowRatesAlone(t *testing.T) {
	cct := func(source demand.Options) time.Duration {
		s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1,
			Policies: []string{"edmonds"}, Speedup: 1,
			Coflows: 1,
			On:      scenario.OnFlowsim, Fabric: "hybrid:racks=4,hosts=1,spines=1,eps=100Mbps,ocs=1Gbps,dark=10ms,nic=1Gbps",
			Demand: []demand.Options{source}}, 1)
		if err != nil {
			t.Fatal(err)
		}
		flow := func(dst southbound.HostID, b pathmap.Bytes) controller.Job {
			return controller.Job{Name: fmt.Sprint("to", dst),
				Edges: []controller.Edge{{Flows: []controller.Flow{{Src: 0, Dst: dst, Bytes: b}}}}}
		}
		s.Jobs = []controller.Job{flow(1, 12e6), flow(2, 80e6), flow(3, 12e6)}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckOutcome(t, s, o)
		return o.End
	}
	oracle, counters := cct(demand.Options{}),
		cct(demand.Options{Source: demand.FromCounters, Period: 100 * time.Millisecond})
	t.Logf("oracle %v, counters %v", oracle, counters)
	if counters < oracle*5/4 {
		t.Errorf("with counters all is done after %v, with the oracle after %v: want a quarter more",
			counters, oracle)
	}
}

// TestDemandRefused: where every byte waits for a circuit, counters would never see any, so they are
// refused. Backlog works.
func TestDemandRefused(t *testing.T) {
	t.Parallel()
	opt := scenario.Options{Demo: true, Seed: 1, Policies: []string{"sunflow"}, Speedup: 1,
		Coflows: tries.Of(8, 20), On: scenario.OnFlowsim, Fabric: "crossbar:ports=8,rate=1Gbps,dark=10ms",
		Demand: []demand.Options{{Source: demand.FromCounters}}}
	if _, err := scenario.Prepare(opt, 1); err == nil || !strings.Contains(err.Error(), "nothing to count") {
		t.Errorf("error %v", err)
	}
	opt.Demand = []demand.Options{{Source: "guess"}}
	if _, err := scenario.Prepare(opt, 1); err == nil ||
		!strings.Contains(err.Error(), "take oracle, counters, backlog") {
		t.Errorf("error %v", err)
	}
	for _, part := range circuitParts {
		opt.Policies, opt.Demand = []string{part}, []demand.Options{{Source: demand.FromBacklog}}
		s, err := scenario.Prepare(opt, 1)
		if err != nil {
			t.Fatal(err)
		}
		o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckOutcome(t, s, o)
	}
}

// TestDemandNeedsCircuits: a policy without circuits uses no source of demand, and has one row.
func TestDemandNeedsCircuits(t *testing.T) {
	s, err := scenario.Prepare(scenario.Options{Demo: true,
		Policies: []string{"random+ecmp", "random+ecmp+sunflow"},
		Speedup:  1,
		Demand:   sources()}, 1)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range s.Rows {
		names = append(names, r.Name)
	}
	want := []string{"random+ecmp", "random+ecmp+sunflow", "random+ecmp+sunflow, counters",
		"random+ecmp+sunflow, backlog"}
	if !slices.Equal(names, want) {
		t.Errorf("rows %q, want %q", names, want)
	}
}

// TestCrashesWithEstimates: a new controller has no estimates, and makes them again.
func TestCrashesWithEstimates(t *testing.T) {
	t.Parallel()
	for _, source := range sources()[1:] {
		for seed := range uint64(5) {
			s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: seed,
				Policies: []string{"random+ecmp+sunflow"},
				Speedup:  1,
				Coflows:  30, On: scenario.OnFlowsim, Demand: []demand.Options{source}}, 1)
			if err != nil {
				t.Fatal(err)
			}
			r := rand.New(rand.NewPCG(seed, 8))
			o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(15) == 0 })
			if err != nil {
				t.Fatalf("%v, seed %d: %v", source, seed, err)
			}
			if lives < 3 {
				t.Errorf("%v, seed %d: only %d controllers: nothing was tried", source, seed, lives)
			}
			labtest.CheckOutcome(t, s, o)
		}
	}
}
