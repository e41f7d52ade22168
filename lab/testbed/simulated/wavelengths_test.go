package simulated_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// wavesFabric is six racks of one host that can fill four circuits, hardly any packets.
func wavesFabric(waves int) string {
	return fmt.Sprintf("hybrid:racks=6,hosts=1,spines=1,eps=1Mbps,ocs=1Gbps,dark=10ms,nic=4Gbps,wavelengths=%d", waves)
}

// TestFanOverWavelengths: a coflow from one rack to four others takes a W-th of the time with W
// wavelengths, on the whole way from the policy through moves of mirrors to the last byte.
func TestFanOverWavelengths(t *testing.T) {
	job := controller.Job{Name: "fan", Edges: []controller.Edge{{Kind: controller.Fixed}}}
	for to := range southbound.HostID(4) {
		job.Edges[0].Flows = append(job.Edges[0].Flows,
			controller.Flow{Src: 0, Dst: to + 1, Bytes: 50e6, Count: 1})
	}
	one := time.Duration(0)
	for _, waves := range []int{1, 2, 4} {
		ran, err := (&replay.Case{Options: scenario.Options{
			Fabric: wavesFabric(waves), On: scenario.OnFlowsim,
			Policies: []string{"random+ecmp+sunflow"}, Given: []controller.Job{job}, Seed: 1,
		}}).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c := ran.State.Coflows[0]
		cct := c.Ended - c.Ready
		if one == 0 {
			one = cct
		}
		t.Logf("%d wavelengths: CCT %v, %d moves", waves, cct, len(ran.State.Moves))
		if least := 4 * controller.Wire(50e6).Over(pathmap.Gbps) / time.Duration(waves); cct < least*99/100 {
			t.Errorf("%d wavelengths: CCT %v, less than the bytes take: %v", waves, cct, least)
		}
		if ratio := float64(one) / float64(cct); math.Abs(ratio/float64(waves)-1) > 0.03 {
			t.Errorf("%d wavelengths: CCT %v is %.3f times shorter than %v", waves, cct, ratio, one)
		}
	}
}

// TestNoMoreThanWavelengths runs random coflows under parts of every question, with the tables verified
// at each move: all jobs end, no rack ever has more circuits than wavelengths in either direction, and
// now and then it has as many.
func TestNoMoreThanWavelengths(t *testing.T) {
	const waves = 3
	for _, policy := range []string{"random+ecmp+sunflow", "random+ecmp+sunflow-preempt+maxmin",
		"fair+anneal+sunflow-turning+sebf", "coscheduler+sunflow"} {
		t.Run(policy, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 15))
			var jobs []controller.Job
			for i := range 12 {
				j := controller.Job{Name: fmt.Sprintf("job%d", i),
					Arrival: time.Duration(rng.IntN(3000)) * time.Millisecond,
					Edges:   []controller.Edge{{Kind: controller.Fixed}}}
				for range 2 + rng.IntN(12) {
					src, dst := rng.IntN(6), rng.IntN(5)
					if dst >= src {
						dst++
					}
					j.Edges[0].Flows = append(j.Edges[0].Flows,
						controller.Flow{Src: southbound.HostID(src), Dst: southbound.HostID(dst),
							Bytes: pathmap.Bytes(1e6 + rng.IntN(6e7)), Count: 1})
				}
				jobs = append(jobs, j)
			}
			slices.SortStableFunc(jobs, func(a, b controller.Job) int { return cmp.Compare(a.Arrival, b.Arrival) })
			fabric := strings.Replace(wavesFabric(waves), "eps=1Mbps", "eps=100Mbps", 1)
			c := replay.Case{Options: scenario.Options{
				Fabric: fabric, On: scenario.OnFlowsim, Policies: []string{policy}, Given: jobs, Seed: 1,
			}}
			ran, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for i, j := range ran.State.Jobs {
				if j.Ended == state.Unset {
					t.Errorf("job %d has not ended", i)
				}
			}
			if most := mostCircuits(ran.State.Moves, ran.End, 6); most != waves {
				t.Errorf("a rack had %d circuits at once, want %d at most and at some time", most, waves)
			}
		})
	}
}

// mostCircuits is the largest number of circuits that a rack has had at once, out of it or into it.
func mostCircuits(moves []state.Move, end time.Duration, racks southbound.Port) int {
	type change struct {
		at   time.Duration
		side int
		rack southbound.Port
		by   int
	}
	var all []change
	for _, m := range moves {
		to := m.Ended
		if to == state.Unset {
			to = end
		}
		for side, p := range [2]southbound.Port{m.In, m.Out} {
			all = append(all, change{m.Intent, side, p % racks, 1}, change{to, side, p % racks, -1})
		}
	}
	slices.SortStableFunc(all, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.at, b.at),
			cmp.Compare(a.by, b.by))
	})
	now, most := [2]map[southbound.Port]int{{}, {}}, 0
	for _, c := range all {
		now[c.side][c.rack] += c.by
		most = max(most, now[c.side][c.rack])
	}
	return most
}

// TestWavelengthsRefused: policies that assume one circuit a rack are refused, and so are real packets.
func TestWavelengthsRefused(t *testing.T) {
	for _, tc := range []struct {
		name, on, policy, light, want string
	}{
		{"rotor-vlb", scenario.OnFlowsim, "random+ecmp+rotor-vlb", "", "rotor-vlb sets up one circuit a rack"},
		{"a part in the place of sunflow", scenario.OnFlowsim, "random+ecmp+sunflow", "rotor-vlb",
			"rotor-vlb sets up one circuit a rack"},
		{"packets", scenario.OnNetns, "random+ecmp+sunflow", "",
			"a ToR has one interface to the optical switch"},
		{"sunflow", scenario.OnFlowsim, "coscheduler+sunflow", "", ""},
		{"joint", scenario.OnFlowsim, "joint", "", ""},
		{"a part in the place of rotor-vlb", scenario.OnFlowsim, "random+ecmp+rotor-vlb", "sunflow", ""},
		{"no circuits", scenario.OnFlowsim, "crosslayer", "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := scenario.Prepare(scenario.Options{Demo: true, Seed: 1, Policies: []string{tc.policy},
				Parts: policy.Overrides{Circuits: tc.light}, Fabric: wavesFabric(2), Scale: 1, Speedup: 1, Coflows: 2, On: tc.on},
				1)
			if tc.want == "" && err != nil || tc.want != "" &&
				(err == nil || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
}
