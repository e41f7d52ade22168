package replay

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/workload"
	"lightloom/emulator/device"
	"lightloom/emulator/fault"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// withFaults prepares a run with a file of faults.
func withFaults(t *testing.T, fabric, policy, faults string, change func(*scenario.Options)) *scenario.Prepared {
	t.Helper()
	name := filepath.Join(t.TempDir(), "faults")
	if err := os.WriteFile(name, []byte(faults), 0o600); err != nil {
		t.Fatal(err)
	}
	opt := scenario.Options{Fabric: fabric, Policies: []string{policy}, Seed: 1, Scale: 1, Speedup: 1, Coflows: 30,
		On: scenario.OnFlowsim, Replicas: 3, Faults: name}
	if change != nil {
		change(&opt)
	}
	s, err := scenario.Prepare(opt, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const faultFabric = "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=1Gbps,dark=10ms,nic=500Mbps,slots=8"

// TestFaultsOnSimulator: under any fault every job ends with all its bytes, each received once, and the outcome lists
// the faults with their times.
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
		{"fibres swapped for good, one dead", "500ms fail fibre swap:0:2:out\n500ms fail fibre pull:3", "crosslayer+sunflow",
			false, 0},
		{"both spines", "1s fail switch spine0\n1s fail switch spine1\n3s heal switch spine0\n4s heal switch spine1",
			"random+ecmp", true, 0},
		{"host", "1s fail host h1-0\n3s heal host h1-0", "random+ecmp", false, 0},
		{"host, annealed", "1s fail host h1-0\n3s heal host h1-0", "crosslayer+sunflow", false, 0},
		{"every other host", "1s fail host h0-0\n1s fail host h1-1\n1.5s fail host h2-0\n1.6s heal host h0-0\n2s fail host " +
			"h0-0\n" +
			"3s heal host h0-0\n3s heal host h1-1\n3s heal host h2-0", "crosslayer", false, 0},
		{"leader", "1s fail controller controller0\n3s heal controller controller0", "random+ecmp+sunflow", false, 1},
		{"majority", "1s fail controller controller1\n1s fail controller controller2\n2s fail controller controller0\n" +
			"3s heal controller controller1\n3s heal controller controller2", "random+ecmp", false, 1},
		{"leader while a link is down and a host is lost", "900ms fail link tor0-spine0\n1s fail controller " +
			"controller0\n1.2s fail host h2-1\n" +
			"1.3s fail link tor1-spine1\n2.5s heal host h2-1\n2.6s heal link tor0-spine0", "crosslayer+sunflow", true, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := withFaults(t, faultFabric, tc.policy, tc.faults, nil)
			o, err := simulate(context.Background(), s, s.Rows[0], nil)
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
			if o.LeaderChanges != tc.elections || (first.Settled != state.Unset) != tc.rerouted || first.Kind == fault.Link &&
				first.To == state.Unset && o.End > 4*time.Second {
				t.Errorf("%d elections, faults %+v", o.LeaderChanges, o.Faults)
			}
			r := o.ResultOf(s)
			if len(r.Faults) != len(o.Faults) || len(r.Received) == 0 || len(r.Coflows) != len(o.ResultOf(s).Coflows) {
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
	s := withFaults(t, faultFabric, "random+ecmp", "1s fail host h1-0", nil)
	o, err := simulate(context.Background(), s, s.Rows[0], nil)
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
	s := withFaults(t, faultFabric, "random+ecmp", "10s fail host h1-0\n20 heal host h1-0", func(o *scenario.Options) {
		o.Speedup = 10
	})
	if s.Faults[0].At != time.Second || s.Faults[1].At != 2*time.Second {
		t.Errorf("faults %v", s.Faults)
	}
}

// TestFaultsOfRandomSeeds: random faults on four fabrics, with standalone coflows, map-reduce jobs and streams, under
// four policies. Everything is repaired in the end, so every job ends with all its bytes.
func TestFaultsOfRandomSeeds(t *testing.T) {
	t.Parallel()
	seeds := tries.Of[uint64](16, 48)
	fabrics := []struct {
		spec     string
		policies []string
	}{
		{faultFabric, []string{"random+ecmp", "crosslayer", "random+ecmp+sunflow", "crosslayer+sunflow"}},
		{"fattree:k=4,hosts=12,rate=100Mbps,slots=6", []string{"random+ecmp", "crosslayer"}},
		{"jellyfish:switches=10,degree=3,hosts=12,rate=100Mbps,slots=6", []string{"crosslayer", "random+ecmp+maxmin"}},
		{"leafspine:racks=4,hosts=3,spines=2,eps=50Mbps,nic=200Mbps,slots=6", []string{"crosslayer-paper", "random+ecmp"}},
	}
	again := 0
	workloads := []string{"", "storm:jobs=8", "hadoop:jobs=6,maps=3,reduces=2,rounds=2,compute=200ms"}
	for seed := range seeds {
		f := fabrics[seed%4]
		policy, work := f.policies[int(seed/4)%len(f.policies)], workloads[int(seed/2)%3]
		t.Run(fmt.Sprintf("seed_%d/%s/%s/%s", seed, f.spec[:4], policy, work), func(t *testing.T) {
			change := func(o *scenario.Options) { o.Seed, o.Workload = seed, work }
			rng := rand.New(rand.NewPCG(seed, 41))
			probe := withFaults(t, f.spec, policy, "1s fail controller controller0", change)
			text := randomFaults(rng, fault.NewNames(probe.Fabric, 3), probe.Last()+2*time.Second)
			s := withFaults(t, f.spec, policy, text, change)
			o, err := simulate(context.Background(), s, s.Rows[0], nil)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			checkEdges(t, s, o)
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

// checkEdges compares the ledger of every edge with the job's request.
func checkEdges(t *testing.T, s *scenario.Prepared, o *outcome.Outcome) {
	t.Helper()
	got := map[[2]int]pathmap.Bytes{}
	for _, c := range o.State.Coflows {
		got[[2]int{int(c.Job), int(c.Edge)}] += c.Bytes + c.Local
	}
	for i := range s.Jobs {
		j := &s.Jobs[i]
		numbers := make([]southbound.HostID, j.Tasks())
		for n := range numbers {
			numbers[n] = southbound.HostID(n)
		}
		for e := range j.Edges {
			all := controller.Expand(j, &j.Edges[e], numbers)
			want := all.Local
			for _, b := range all.Size {
				want += b
			}
			if got[[2]int{i, e}] != want {
				t.Errorf("edge %d of job %d (%q): %d of %d bytes", e, i, j.Name, got[[2]int{i, e}], want)
			}
		}
	}
}

// TestFaultsOnPackets makes a link, a spine, a host and the leader fail and recover under real packets: every job ends,
// the hosts have received each byte of the ledger, replicas agree, and the outcome lists the faults by the run's clock.
func TestFaultsOnPackets(t *testing.T) {
	shared := shareNetns(t, "netns", false)
	s := withFaults(t, "hybrid:racks=4,hosts=2,spines=2,eps=50Mbps,ocs=500Mbps,dark=10ms,nic=200Mbps,slots=8",
		"crosslayer+sunflow",
		"300ms fail link tor0-spine0\n500ms fail host h1-0\n700ms fail switch spine1\n800ms fail controller "+
			"controller0\n900ms fail link tor3-ocs\n"+
			"1.2s heal switch spine1\n1.5s heal link tor0-spine0\n1.8s heal host h1-0\n2s heal controller controller0\n2.2s "+
			"heal link tor3-ocs\n",
		func(o *scenario.Options) { o.On, o.Scale, o.Coflows = scenario.OnNetns, 4, 14 })
	scaled, err := scenario.Prepare(s.Options, 4)
	if err != nil {
		t.Fatal(err)
	}
	shared.Measure(t, 4, func() error { return faultsOnPackets(t, scaled) })
}

// faultsOnPackets returns the faults that came late, as on a busy machine.
func faultsOnPackets(t *testing.T, scaled *scenario.Prepared) (late error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), hanging)
	defer cancel()
	o, err := enter(ctx, scaled, scaled.Rows[0], emulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := pathmap.Bytes(0)
	for _, c := range o.State.Coflows {
		sum += c.Bytes + c.Local
	}
	if over := o.Unfinished(); over != nil || sum != workload.Sum(scaled.Jobs).Bytes {
		t.Fatalf("%d of %d bytes; %v", sum, workload.Sum(scaled.Jobs).Bytes, over)
	}
	if err := device.CheckLit(o.Lit); err != nil {
		t.Error(err)
	}
	if len(o.Faults) < 3 || o.Digest == "" {
		t.Fatalf("faults %+v, digest %q", o.Faults, o.Digest)
	}
	for i, at := range []time.Duration{300 * time.Millisecond, 500 * time.Millisecond, 700 * time.Millisecond} {
		d := o.Faults[i].From - at
		if d < 0 {
			t.Errorf("%v failed at %v, was to at %v", o.Faults[i].Fault, o.Faults[i].From, at)
		}
		if d > time.Second {
			late = fmt.Errorf("%v failed at %v, was to at %v", o.Faults[i].Fault, o.Faults[i].From, at)
		}
	}
	if r := o.ResultOf(scaled); len(r.Received) == 0 || len(r.Jobs) != len(scaled.Jobs) {
		t.Errorf("the report has %d intervals and %d jobs", len(r.Received), len(r.Jobs))
	}
	return late
}
