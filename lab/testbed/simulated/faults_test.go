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
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestFaultsOnSimulator: under any fault every job ends with all its bytes, each received once, and the
// outcome lists the faults with their times.
func TestFaultsOnSimulator(t *testing.T) {
	for _, tc := range []struct {
		name, faults, policy string
		rerouted             bool // tables change for the first fault
		elections            int64
	}{
		{"link", "1s fail link tor0-spine0\n3s heal link spine0-tor0", "random+ecmp", true, 0},
		{"link, annealed", "1s fail link tor0-spine0\n3s heal link tor0-spine0", "crosslayer", true, 0},
		{"port", "1s fail port spine1:2\n3s heal port spine1-2", "crosslayer", true, 0},
		{"spine", "1s fail switch spine1\n3s heal switch spine1", "random+ecmp+maxmin", true, 0},
		{"ToR", "1s fail switch tor2\n3s heal switch tor2", "crosslayer", true, 0},
		{"OCS", "1s fail switch ocs\n2s heal switch ocs", "crosslayer+sunflow", false, 0},
		{"fibre", "500ms fail link tor1-ocs\n2s heal link tor1-ocs", "random+ecmp+sunflow", false, 0},
		{"fibre pulled", "500ms fail fibre pull:1:in\n2s heal fibre pull:1:in", "random+ecmp+sunflow", false, 0},
		{"fibres swapped", "500ms fail fibre swap:0:2\n3s heal fibre swap:0:2", "crosslayer+sunflow", false, 0},
		{"fibres swapped for good, one dead", "500ms fail fibre swap:0:2:out\n500ms fail fibre pull:3",
			"crosslayer+sunflow",
			false, 0},
		{"both spines", "1s fail switch spine0\n1s fail switch spine1\n3s heal switch spine0\n4s heal switch spine1",
			"random+ecmp", true, 0},
		{"host", "1s fail host h1-0\n3s heal host h1-0", "random+ecmp", false, 0},
		{"host, annealed", "1s fail host h1-0\n3s heal host h1-0", "crosslayer+sunflow", false, 0},
		{"every other host", "1s fail host h0-0\n1s fail host h1-1\n1.5s fail host h2-0\n1.6s heal host h0-0\n2s fail host " +
			"h0-0\n" +
			"3s heal host h0-0\n3s heal host h1-1\n3s heal host h2-0", "crosslayer", false, 0},
		{"leader", "1s fail controller controller0\n3s heal controller controller0",
			"random+ecmp+sunflow", false, 1},
		{"majority", "1s fail controller controller1\n1s fail controller controller2\n2s fail controller controller0\n" +
			"3s heal controller controller1\n3s heal controller controller2", "random+ecmp", false, 1},
		{"leader while a link is down and a host is lost", "900ms fail link tor0-spine0\n1s fail controller " +
			"controller0\n1.2s fail host h2-1\n" +
			"1.3s fail link tor1-spine1\n2.5s heal host h2-1\n2.6s heal link tor0-spine0", "crosslayer+sunflow", true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := labtest.WithFaults(t, labtest.FaultFabric, tc.policy, tc.faults, nil)
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatal(err)
			}
			var got, want pathmap.Bytes
			for _, c := range o.State.Coflows {
				got += c.Bytes + c.Local
			}
			want = workload.Sum(s.Jobs).Bytes
			if over := o.Unfinished(); over != nil || got != want {
				t.Fatalf("%d of %d bytes; %v", got, want, over)
			}
			if len(o.Lit) > 0 {
				if err := device.CheckLit(o.Lit); err != nil {
					t.Error(err)
				}
			}
			first := o.Faults[0]
			if o.LeaderChanges != tc.elections || (first.Settled != state.Unset) != tc.rerouted ||
				first.Kind == fault.Link &&
					first.To == state.Unset && o.End > 4*time.Second {
				t.Errorf("%d elections, faults %+v", o.LeaderChanges, o.Faults)
			}
			r := o.ResultOf(s)
			if len(r.Faults) != len(o.Faults) || len(r.Received) == 0 ||
				len(r.Coflows) != len(o.ResultOf(s).Coflows) {
				t.Errorf("report: %+v", r.Faults)
			}
			sum := pathmap.Bytes(0)
			for _, c := range r.Coflows {
				sum += c.Bytes
			}
			if sum != want {
				t.Errorf("the report's coflows hold %d of %d bytes", sum, want)
			}
		})
	}
}

// TestFaultThatStays: jobs that name a lost host wait, and the report says so; all others end.
func TestFaultThatStays(t *testing.T) {
	s := labtest.WithFaults(t, labtest.FaultFabric, "random+ecmp", "1s fail host h1-0", nil)
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := o.Unfinished()
	if len(notes) != 1 || !strings.Contains(notes[0], "its flows name host h1-0, which is lost") {
		t.Fatalf("notes %q", notes)
	}
	for _, j := range o.State.Jobs {
		names := slices.ContainsFunc(o.State.Coflows, func(c *state.Coflow) bool {
			return c.Job == j.ID && slices.ContainsFunc(c.Pairs, func(f controller.Flow) bool {
				return f.Src == 2 || f.Dst == 2
			})
		})
		if (j.Ended == state.Unset) != (names && len(j.Job.Stages) == 0) {
			t.Errorf("job %d (%q): ended at %v, names the lost host: %v", j.ID, j.Name, j.Ended, names)
		}
	}
	if r := o.ResultOf(s); len(r.Jobs) != countEnded(s, o) || !r.Faults[0].Lasts {
		t.Errorf("%d jobs in the report; faults %+v", len(r.Jobs), r.Faults)
	}
}

func countEnded(s *scenario.Prepared, o *outcome.Outcome) (n int) {
	for _, j := range o.State.Jobs {
		if j.Ended != state.Unset {
			n++
		}
	}
	return n
}

// TestFaultsAreDivided: instants of faults are those of the trace, and divided as arrivals are.
func TestFaultsAreDivided(t *testing.T) {
	s := labtest.WithFaults(t, labtest.FaultFabric, "random+ecmp",
		"10s fail host h1-0\n20 heal host h1-0", func(o *scenario.Options) {
			o.Speedup = 10
		})
	if s.Faults[0].At != time.Second || s.Faults[1].At != 2*time.Second {
		t.Errorf("faults %v", s.Faults)
	}
}

// TestFaultsOfRandomSeeds: random faults on four fabrics, with standalone coflows, map-reduce jobs and
// streams, under four policies. Everything is repaired in the end, so every job ends with all its
// bytes.
func TestFaultsOfRandomSeeds(t *testing.T) {
	t.Parallel()
	seeds := tries.Of[uint64](12, 48)
	fabrics := []struct {
		spec     string
		policies []string
	}{
		{labtest.FaultFabric, []string{"random+ecmp", "crosslayer", "random+ecmp+sunflow",
			"crosslayer+sunflow"}},
		{"fattree:k=4,hosts=12,rate=100Mbps,slots=6", []string{"random+ecmp", "crosslayer"}},
		{"jellyfish:switches=10,degree=3,hosts=12,rate=100Mbps,slots=6",
			[]string{"crosslayer", "random+ecmp+maxmin"}},
		{"leafspine:racks=4,hosts=3,spines=2,eps=50Mbps,nic=200Mbps,slots=6",
			[]string{"crosslayer-paper", "random+ecmp"}},
	}
	again := 0
	workloads := []string{"", fmt.Sprintf("storm:jobs=%d", tries.Of(5, 8)),
		fmt.Sprintf("hadoop:jobs=%d,maps=3,reduces=2,rounds=2,compute=200ms", tries.Of(4, 6))}
	for seed := range seeds {
		f := fabrics[seed%4]
		policy, work := f.policies[int(seed/4)%len(f.policies)], workloads[int(seed/2)%3]
		t.Run(fmt.Sprintf("seed_%d/%s/%s/%s", seed, f.spec[:4], policy, work), func(t *testing.T) {
			change := func(o *scenario.Options) { o.Seed, o.Workload = seed, work }
			rng := rand.New(rand.NewPCG(seed, 41))
			probe := labtest.WithFaults(t, f.spec, policy, "1s fail controller controller0", change)
			text := randomFaults(rng, fault.NewNames(probe.Fabric, 3), probe.Last()+2*time.Second)
			s := labtest.WithFaults(t, f.spec, policy, text, change)
			o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			labtest.CheckEdges(t, s, o)
			for _, c := range o.State.Coflows {
				if c.Resent && c.Bytes > 0 {
					again++
				}
			}
			if over := o.Unfinished(); over != nil {
				t.Fatalf("%v\n%s", over, text)
			}
		})
	}
	if again < int(seeds)/2 {
		t.Errorf("only %d coflows were carried again in %d runs", again, seeds)
	}
}

// randomFaults are some things that fail within a span, each healed within three seconds.
func randomFaults(rng *rand.Rand, names *fault.Names, span time.Duration) string {
	var events []fault.Event
	taken := map[fault.Fault]bool{}
	for range 1 + rng.IntN(8) {
		kind := fault.Kind(1 + rng.IntN(5))
		all := names.Known(kind)
		f := fault.Fault{Kind: kind, Name: all[rng.IntN(len(all))]}
		if taken[f] {
			continue
		}
		taken[f] = true
		from := time.Duration(rng.Int64N(int64(span)))
		events = append(events, fault.Event{At: from, Fault: f},
			fault.Event{At: from + 1 + time.Duration(rng.Int64N(int64(3*time.Second))), Fault: f, Heal: true})
	}
	var text strings.Builder
	for _, e := range events {
		fmt.Fprintln(&text, e)
	}
	return text.String()
}
