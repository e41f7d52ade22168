package packets

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/lab/labtest"
	"lightloom/lab/report"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap/tries"
)

// TestCoflowPoliciesOnPackets runs a small cut under policies that set paces, spreads and extras, on
// packets and on the simulator. What is decided is the same, so completion times are alike; a run whose
// packets others on the machine made late is made again. (TestAgreement is the one that measures.)
func TestCoflowPoliciesOnPackets(t *testing.T) {
	for _, policy := range []string{"random+ecmp+sebf", "random+ecmp+dclas",
		"random+ecmp+fifo"}[:tries.Of(2, 3)] {
		t.Run(policy, func(t *testing.T) {
			shared := labtest.UpNetns(t)
			s, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 4, Policies: []string{policy},
				Fabric:  cutFabric,
				Scale:   1,
				Speedup: 1, Coflows: 1, Replicas: 1}, 1)
			if err != nil {
				t.Fatal(err)
			}
			s.Jobs, err = workload.Bare(workload.BareOptions{Seed: 4, Coflows: 12, Racks: s.Spec.Racks,
				HostsPerRack: s.Spec.Hosts, Link: s.Spec.EPS, Window: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			sim, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			shared.Measure(t, 6, func() error {
				ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
				defer cancel()
				real, err := labtest.Enter(ctx, s, s.Rows[0], emulated.Options{})
				if err != nil {
					t.Fatal(err)
				}
				labtest.CheckPackets(t, s, real)
				off := apart(sim.State, real.State, 100*time.Millisecond)
				median := report.Percentile(off, 0.5)
				t.Logf("%d coflows of 100 ms and more, |netns ÷ flowsim − 1|: median %.4f, worst %.4f; mean CCT %v on packets, "+
					"%v on the simulator",
					len(off), median, off[len(off)-1], labtest.MeanCCT(real), labtest.MeanCCT(sim))
				if len(off) < 5 {
					t.Errorf("%d coflows take 100 ms and more, want at least 5", len(off))
				}
				if median > 0.2 {
					return fmt.Errorf("median %.4f, want at most 0.2", median)
				}
				return nil
			})
		})
	}
}

// apart returns by how much completion times differ, sorted, of coflows that take at least so long in a.
func apart(a, b *state.Data, least time.Duration) (off []float64) {
	for k, x := range a.Coflows {
		if y := b.Coflows[k]; x.Ended-x.Ready >= least {
			off = append(off, math.Abs(float64(y.Ended-y.Ready)/float64(x.Ended-x.Ready)-1))
		}
	}
	slices.Sort(off)
	return off
}
