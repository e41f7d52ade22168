package packets

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/replay"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound/noise"
)

// The two named cuts: coflows whose busiest link between switches is loaded at most 30 % and 70 %.
var cuts = []struct {
	name    string
	load    float64 // at most
	coflows int
	window  time.Duration
	seed    uint64
	bounds  map[string]bound // by sharing
}{
	{"load30", 0.30, 40, 12500 * time.Millisecond, 4,
		map[string]bound{"maxmin": {0.05, 0.05}, "tcp": {0.05, 0.15}, "tcp-proportional": {0.02, 0.05}}},
	{"load70", 0.70, 60, 8 * time.Second, 4,
		map[string]bound{"maxmin": {0.10, 0.10}, "tcp": {0.10, 0.30}, "tcp-proportional": {0.03, 0.10}}},
}

// bound is how large |netns ÷ flowsim − 1| may be.
type bound struct{ median, p90 float64 }

// sharings are how links are shared in the runs that are compared: by rates of the controller, or by
// TCP, which the simulator takes for max-min fair or for proportionally fair.
var sharings = []struct {
	name, policy string
	proportional bool
}{{"maxmin", "random+ecmp+maxmin", false}, {"tcp", "random+ecmp", false}, {"tcp-proportional",
	"random+ecmp", true}}

const cutFabric = "leafspine:racks=8,hosts=2,spines=2,eps=50Mbps,nic=500Mbps,slots=8"

func cutSetup(t *testing.T, i int, policy string, proportional bool) *scenario.Prepared {
	t.Helper()
	c := cuts[i]
	s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: c.seed, Policies: []string{policy},
		Fabric: cutFabric,
		Scale:  1, Speedup: 1, Coflows: 1, Replicas: 3, Rules: scenario.Rules{Proportional: proportional}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Jobs, err = workload.Bare(workload.BareOptions{Seed: c.seed, Coflows: c.coflows, Racks: s.Spec.Racks,
		HostsPerRack: s.Spec.Hosts, Link: s.Spec.EPS, Window: c.window})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// isolated returns the completion times of the jobs' coflows, each alone on the fabric.
func isolated(t *testing.T, s *scenario.Prepared) []time.Duration {
	t.Helper()
	var out []time.Duration
	for i := range s.Jobs {
		one := *s
		one.Jobs = []controller.Job{s.Jobs[i]}
		one.Jobs[0].Arrival = 0
		o, err := labtest.Simulate(context.Background(), &one, s.Rows[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, o.State.Coflows[0].Ended)
	}
	return out
}

// overlapping counts the coflows during which another one was sending.
func overlapping(d *state.Data) (n int) {
	for _, a := range d.Coflows {
		if slices.ContainsFunc(d.Coflows, func(b *state.Coflow) bool {
			return a != b && b.Started < a.Ended && a.Started < b.Ended
		}) {
			n++
		}
	}
	return n
}

// TestCuts checks on the simulator that the cuts have the loads that their names state.
func TestCuts(t *testing.T) {
	for i, c := range cuts {
		t.Run(c.name, func(t *testing.T) {
			for _, sharing := range sharings {
				s := cutSetup(t, i, sharing.policy, sharing.proportional)
				o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				if o.Busiest > c.load || o.Busiest < 0.7*c.load {
					t.Errorf("%s: the busiest link is loaded %.3f, want at most %.2f, and not far below",
						sharing.name, o.Busiest,
						c.load)
				}
				if n := overlapping(o.State); n < 20 {
					t.Errorf("%s: %d coflows overlap, want at least 20", sharing.name, n)
				}
				t.Logf("%s: load %.3f, %d overlap, end %v", sharing.name, o.Busiest, overlapping(o.State), o.End)
			}
		})
	}
}

// TestAgreement compares packets with the fluid model: for coflows that take at least 200 ms alone,
// completion times on netns and on flowsim are alike. It measures, so it needs the whole machine:
// LIGHTLOOM_MEASURE=agreement runs it.
func TestAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	for i, c := range cuts {
		for _, sharing := range sharings {
			t.Run(c.name+"/"+sharing.name, func(t *testing.T) {
				labtest.NeedNetns(t, "netns", false)
				s := cutSetup(t, i, sharing.policy, sharing.proportional)
				alone := isolated(t, s)
				sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				s.Options.Demo = false // a run that others disturb is made again
				noise.Measure(t, 3, func() error { return agrees(t, s, sim, alone, c.bounds[sharing.name]) })
			})
		}
	}
}

// TestCircuitAgreement compares the demo's workload on packets with the simulator where circuits carry
// most of it, in a closed loop and with the simulator's own reservations. It wants the machine for
// itself, as TestAgreement does. A closed loop's reservations turn on when counts arrive: one more is
// two moves of 13, so that three seeds are judged together. In three rounds the mean CCT was 2.7 to
// 4.1 %, -1.6 to 1.2 and 6.3 to 7.7 % off for the three policies, with 11 to 30, 3 to 6 and 0 % more
// moves.
func TestCircuitAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	labtest.NeedNetns(t, "netns", false)
	for _, tc := range []struct {
		policy string
		mean   float64 // how far the mean CCT may be off, in the mean over the seeds
		moves  float64 // likewise the moves of all seeds
	}{{"random+ecmp+sunflow", 0.08, 0.4}, {"random+ecmp+sunflow-hold", 0.05, 0.15}, {"recorded", 0.12, 0.05}} {
		t.Run(tc.policy, func(t *testing.T) {
			var pairs []circuitPair
			for seed := uint64(1); seed <= 3; seed++ {
				pairs = append(pairs, simulatePair(t, tc.policy, seed))
			}
			noise.Measure(t, 3, func() error { return circuitsAgree(t, pairs, tc.mean, tc.moves) })
		})
	}
}

// circuitPair is a scenario that packets are to carry, and what the simulator made of it.
type circuitPair struct {
	scenario *scenario.Prepared
	sim      *outcome.Outcome
}

func simulatePair(t *testing.T, policy string, seed uint64) circuitPair {
	t.Helper()
	if policy == "recorded" {
		_, file := labtest.Record(t, seed, "random+ecmp+sunflow")
		policy = "random+ecmp+recorded:" + file
	}
	s, err := scenario.Prepare(scenario.Options{On: scenario.OnNetns, Seed: seed,
		Policies: []string{policy}, Speedup: 1, Scale: 5, Replicas: 3}, 5)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	return circuitPair{s, sim}
}

// circuitsAgree runs the pairs on packets and returns by how much they miss the bounds together.
func circuitsAgree(t *testing.T, pairs []circuitPair, most, mostMoves float64) error {
	t.Helper()
	var mean float64
	var moves [2]int
	for _, p := range pairs {
		ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
		defer cancel()
		real, cost, err := replay.OnPackets(ctx, p.scenario, p.scenario.Rows[0],
			emulated.Options{Stderr: io.Discard})
		if err != nil {
			t.Fatal(err)
		}
		labtest.CheckPackets(t, p.scenario, real)
		off := labtest.MeanCCT(real).Seconds()/labtest.MeanCCT(p.sim).Seconds() - 1
		mean += off / float64(len(pairs))
		moves[0] += len(real.State.Moves)
		moves[1] += len(p.sim.State.Moves)
		t.Logf("mean CCT %v on packets, %v on the simulator: %+.1f %%; moves %d and %d; %v expected, stolen %.2f core",
			labtest.MeanCCT(real), labtest.MeanCCT(p.sim), 100*off, len(real.State.Moves), len(p.sim.State.Moves),
			real.Health, cost.StolenCores)
	}
	more := float64(moves[0])/float64(moves[1]) - 1
	if math.Abs(mean) > most || math.Abs(more) > mostMoves {
		return fmt.Errorf("mean CCT %+.1f %%, moves %+.0f %%: at most %.0f and %.0f wanted", 100*mean,
			100*more, 100*most,
			100*mostMoves)
	}
	return nil
}

// agrees runs a cut on packets and returns by how much it misses its bounds.
func agrees(t *testing.T, s *scenario.Prepared, sim *outcome.Outcome, alone []time.Duration,
	most bound) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	real, cost, err := replay.OnPackets(ctx, s, s.Rows[0], emulated.Options{Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckPackets(t, s, real)
	if cost.Repeated > 0 {
		t.Logf("%d runs were thrown away because others took too much", cost.Repeated)
	}
	var off []float64
	worst := 0
	for k := range sim.State.Coflows {
		if alone[k] >= 200*time.Millisecond {
			a, b := real.State.Coflows[k], sim.State.Coflows[k]
			off = append(off, math.Abs(float64(a.Ended-a.Ready)/float64(b.Ended-b.Ready)-1))
			if off[len(off)-1] == slices.Max(off) {
				worst = k
			}
		}
	}
	t.Logf("the worst is coflow %d: ready at %v, started at %v, ended at %v on packets; %v, %v, %v on the simulator",
		worst,
		real.State.Coflows[worst].Ready, real.State.Coflows[worst].Started, real.State.Coflows[worst].Ended,
		sim.State.Coflows[worst].Ready, sim.State.Coflows[worst].Started, sim.State.Coflows[worst].Ended)
	slices.Sort(off)
	median, p90 := report.Percentile(off, 0.5), report.Percentile(off, 0.9)
	t.Logf("%d coflows, load %.2f, |netns ÷ flowsim − 1|: median %.4f, p90 %.4f, worst %.4f; stolen %.2f core; first "+
		"difference of plans: %q",
		len(off), sim.Busiest, median, p90, off[len(off)-1], cost.StolenCores, labtest.FirstDifference(sim.State, real.State))
	if median > most.median || p90 > most.p90 {
		return fmt.Errorf("median %.4f (at most %.2f), p90 %.4f (at most %.2f)", median, most.median,
			p90, most.p90)
	}
	return nil
}
