package simulated_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/policy"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/controller/policy/circuits/schedule/scheduletest"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/simulated"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
	"lightloom/southbound/hint"
)

// Slots of the rotor are ten reconfiguration delays. At 8 Gb/s a byte takes a nanosecond.
const (
	rotorDelta = 10 * time.Millisecond
	rotorSlot  = 100 * time.Millisecond
)

// rotorSetup is a demand in bytes, a coflow a row, that all is there when the run begins, on a crossbar
// whose bytes take a nanosecond each.
func rotorSetup(t testing.TB, demand [][]pathmap.Bytes, name string) *scenario.Prepared {
	t.Helper()
	s := &scenario.Prepared{Options: scenario.Options{Seed: 1, Speedup: 1, Scale: 1, On: scenario.OnFlowsim,
		Policies: []string{name}}}
	var err error
	if s.Spec, err = topo.FromArgument(fmt.Sprintf("crossbar:ports=%d,rate=8Gbps,dark=10ms",
		len(demand))); err != nil {
		t.Fatal(err)
	}
	s.Spec = s.Spec.WithDefaults()
	if s.Delays, err = scenario.ParseDelays("", s.Spec); err != nil {
		t.Fatal(err)
	}
	for i, row := range demand {
		var flows []controller.Flow
		for k, b := range row {
			if b > 0 {
				flows = append(flows, controller.Flow{Src: southbound.HostID(i), Dst: southbound.HostID(k),
					Bytes: b, Count: 1})
			}
		}
		if len(flows) > 0 {
			s.Jobs = append(s.Jobs, controller.Job{Name: fmt.Sprint(i),
				Edges: []controller.Edge{{Kind: controller.Fixed, Flows: flows}}})
		}
	}
	if err := s.Choose(s.Spec); err != nil {
		t.Fatal(err)
	}
	return s
}

// turned runs a demand, checks that every byte arrived once, and returns the outcome. twice is the
// bytes that went over a third rack, which circuits count twice.
func turned(t testing.TB, demand [][]pathmap.Bytes, name string) (o *outcome.Outcome, twice pathmap.Bytes) {
	t.Helper()
	s := rotorSetup(t, demand, name)
	sc := s.Scenario(s.Rows[0])
	x, err := simulated.New(sc, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if o, err = testbed.Run(t.Context(), x, sc, nil); err != nil {
		t.Fatal(err)
	}
	var sum pathmap.Bytes
	for i := range demand {
		for _, b := range demand[i] {
			sum += b
		}
	}
	if got := x.Received(); got != sum {
		t.Fatalf("%d bytes have come, of %d", got, sum)
	}
	if o.OCS < sum || o.OCS > 2*sum || o.EPS != 0 {
		t.Fatalf("%d bytes over circuits and %d over packets, of %d", o.OCS, o.EPS, sum)
	}
	return o, o.OCS - sum
}

// matrix is a demand as times on a circuit.
func matrix(demand [][]pathmap.Bytes) schedule.Matrix {
	m := schedule.New(len(demand))
	for i, row := range demand {
		for k, b := range row {
			m[i][k] = time.Duration(b)
		}
	}
	return m
}

// slots is how many slots a run has taken, one that has only begun counted.
func slots(end time.Duration) int { return int((end + rotorSlot - 1) / rotorSlot) }

func square(n int) [][]pathmap.Bytes {
	m := make([][]pathmap.Bytes, n)
	for i := range m {
		m[i] = make([]pathmap.Bytes, n)
	}
	return m
}

// TestDetoursWhereTheyHelp runs the cases that TestDetours of package schedule computes: one pair of
// eight racks sends in every slot with detours, and in one of seven without. If all pairs fill their
// own slots, detours gain and lose nothing.
func TestDetoursWhereTheyHelp(t *testing.T) {
	hot, even := square(8), square(8)
	hot[0][1] = 70 * 90e6
	for i := range even {
		for k := range even {
			if i != k {
				even[i][k] = 90e6
			}
		}
	}
	for _, tc := range []struct {
		name           string
		demand         [][]pathmap.Bytes
		direct, detour int
		detours        bool
	}{
		// Without competition rotor's one circuit stays lit from turn to turn: its first slot carries 90 ms,
		// 62 more 100 each, and the 64th the rest. With detours all circuits of the two racks turn, and the
		// result is the model's.
		{"one hot pair", hot, 63*7 + 1, 74, true},
		{"all to all", even, 7, 7, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			direct, none := turned(t, tc.demand, "rotor")
			detour, twice := turned(t, tc.demand, "rotor-vlb")
			if none != 0 || (twice > 0) != tc.detours || slots(direct.End) != tc.direct ||
				slots(detour.End) != tc.detour {
				t.Errorf("rotor takes %v, %d bytes of it twice; rotor-vlb %v, %d twice; want %d and %d slots", direct.End, none,
					detour.End, twice, tc.direct, tc.detour)
			}
		})
	}
}

// TestDetoursConserve compares random demands with the slow reference implementation that goes slot by
// slot (scheduletest.RotorLB): every byte arrives once and in the same slot, with as many bytes over a
// third rack.
func TestDetoursConserve(t *testing.T) {
	t.Parallel()
	moved, seeds := 0, tries.Of[uint64](150, 500)
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 11))
		n := 3 + r.IntN(4)
		demand := square(n)
		for range 1 + r.IntN(2*n) {
			if i, k := r.IntN(n), r.IntN(n); i != k {
				demand[i][k] = pathmap.Bytes(1 + r.IntN(1500e6))
			}
		}
		if demand[0][1] == 0 {
			demand[0][1] = pathmap.Bytes(1 + r.IntN(1500e6))
		}
		o, twice := turned(t, demand, "rotor-vlb")
		want := scheduletest.RotorLB(matrix(demand), rotorDelta, rotorSlot, true)
		if twice > 0 {
			moved++
		}
		if slots(o.End) != want.Slots || twice != pathmap.Bytes(want.Twice) {
			t.Errorf("seed %d, %d racks: %d slots and %d bytes twice, the reference %d and %d", seed, n,
				slots(o.End), twice,
				want.Slots, want.Twice)
		}
	}
	if moved < int(seeds)*4/5 {
		t.Errorf("only %d of %d with detours", moved, seeds)
	}
}

// TestDetoursUnderRates: every byte arrives once when the policy also paces host flows.
func TestDetoursUnderRates(t *testing.T) {
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 12))
		demand := square(5)
		for range 8 {
			if i, k := r.IntN(5), r.IntN(5); i != k {
				demand[i][k] = pathmap.Bytes(1 + r.IntN(1500e6))
			}
		}
		demand[0][1] = 700e6
		for _, name := range []string{"rotor-vlb+sebf", "rotor-vlb+maxmin"} {
			if _, twice := turned(t, demand, name); twice == 0 {
				t.Errorf("seed %d, %s: nothing went over a third rack", seed, name)
			}
		}
	}
}

// TestDetoursSurvive kills controllers while racks keep bytes for each other: they continue, and all
// bytes arrive.
func TestDetoursSurvive(t *testing.T) {
	demand := square(5)
	demand[0][1], demand[2][1], demand[3][4] = 900e6, 400e6, 700e6
	s := rotorSetup(t, demand, "rotor-vlb")
	r := rand.New(rand.NewPCG(1, 7))
	o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(4) == 0 })
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckOutcome(t, s, o)
	if lives < 3 {
		t.Errorf("only %d controllers: nothing was tried", lives)
	}
}

// TestDetoursWantRacks: on real packets no rack keeps bytes for another, so the policy is refused
// before anything runs.
func TestDetoursWantRacks(t *testing.T) {
	s := rotorSetup(t, square(3), "rotor-vlb")
	_, err := scenario.Prepare(scenario.Options{Fabric: "hybrid:racks=3,hosts=2",
		Policies: []string{"rotor-vlb"},
		On:       scenario.OnNetns, Speedup: 1}, 1)
	var told *hint.Error
	if !errors.As(err, &told) || told.Hint() == "" {
		t.Errorf("netns: %v, want it refused with a hint", err)
	}
	s.Options.On, s.Options.Demand = scenario.OnFlowsim, []demand.Options{{Source: demand.FromBacklog}}
	if err := s.Choose(s.Spec); !errors.As(err, &told) {
		t.Errorf("by backlog: %v, want it refused", err)
	}
	p, err := policy.New("rotor", policy.Options{})
	if err != nil || p.Capabilities().Relays {
		t.Errorf("rotor: %v, it relays", err)
	}
}
