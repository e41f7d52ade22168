package run

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"lightloom/cmd/lightloom/internal/report"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/calm"
)

// TestCoflowPoliciesOnPackets runs a small cut under policies that set paces, spreads and extras, on packets and on the
// simulator. What is decided is the same, so completion times are alike; a run whose packets others on the machine made late
// is made again. (TestAgreement is the one that measures.)
func TestCoflowPoliciesOnPackets(t *testing.T) {
	for _, policy := range []string{"random+ecmp+sebf", "random+ecmp+dclas", "random+ecmp+fifo"} {
		t.Run(policy, func(t *testing.T) {
			needNetns(t, "netns", false)
			s, err := prepare(Options{Demo: true, Seed: 4, Policies: []string{policy}, Fabric: cutFabric, Scale: 1, Speedup: 1,
				Coflows: 1, Replicas: 1, Stderr: os.Stderr}, 1)
			if err != nil {
				t.Fatal(err)
			}
			s.jobs, err = workload.Load(workload.LoadOptions{Seed: 4, Coflows: 12, Racks: s.spec.Racks, HostsPerRack: s.spec.Hosts, Link: s.spec.EPS, Window: 2 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			sim, err := simulate(context.Background(), s, s.rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			calm.Measure(t, 6, func() error {
				ctx, cancel := context.WithTimeout(context.Background(), hanging)
				defer cancel()
				real, err := s.enter(ctx, s.rows[0], nil)
				if err != nil {
					t.Fatal(err)
				}
				checkPackets(t, s, real)
				off := apart(sim.State, real.State, 100*time.Millisecond)
				median := report.Percentile(off, 0.5)
				t.Logf("%d coflows of 100 ms and more, |netns ÷ flowsim − 1|: median %.4f, worst %.4f; mean CCT %v on packets, %v on the simulator",
					len(off), median, off[len(off)-1], meanCCT(real), meanCCT(sim))
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
