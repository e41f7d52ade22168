package experiment

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/server"
	"lightloom/controller/workload/swim"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
)

// TestMain lets the test binary be the processes that a run on packets starts: the process inside, and
// a replica.
func TestMain(m *testing.M) {
	ctx := context.Background()
	var err error
	switch slices.Concat(os.Args, []string{""})[1] {
	case emulated.InsideCommand:
		err = emulated.Inside(ctx, os.Stderr, session.Keep)
	case server.ReplicaCommand:
		err = server.RunReplica(ctx, os.Stdin, os.Stderr)
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// trace makes records of input and shuffle in megabytes.
func trace(sizes ...[2]int) []swim.Record {
	var all []swim.Record
	for i, mb := range sizes {
		all = append(all, swim.Record{Name: fmt.Sprintf("job%d", i), Input: pathmap.Bytes(mb[0]) * 1e6,
			Shuffle: pathmap.Bytes(mb[1]) * 1e6, Line: i + 1})
	}
	return all
}

func TestPacketsSlice(t *testing.T) {
	all := trace([2]int{500, 99}, [2]int{500, 100}, [2]int{21_000, 5000}, [2]int{4000, 1125},
		[2]int{4000, 11_251},
		[2]int{300, 1124}, [2]int{9000, 9000})
	got, err := packetsSlice(all, 2, 2)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range got {
		names = append(names, r.Name)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"job1", "job3", "job5", "job6"}) {
		t.Errorf("drew %v", names)
	}
	if _, err := packetsSlice(all, 3, 2); err == nil || !strings.Contains(err.Error(), "lacks 1 jobs") {
		t.Errorf("a trace without jobs enough says %v", err)
	}
}

// TestPacketsRows: the comparison matches jobs by name, over the runs that have both results.
func TestPacketsRows(t *testing.T) {
	b := &Bench{Seeds: 2, First: 1}
	slice := trace([2]int{4000, 2000}, [2]int{300, 200})
	var runs []packetsRun
	for policy := range schedulers() {
		for seed := range 2 {
			r := packetsRun{policy: policy, seed: seed,
				packets: &measuredRun{jct: map[string]float64{"job0": 12, "job1": 5},
					cct: map[string]float64{"job0": 3}, end: 11, circuits: 0.5,
					places: map[string][]int32{"job0": {0, 1, 3}, "job1": {4}}},
				fluid: &measuredRun{jct: map[string]float64{"job0": 10, "job1": 5},
					cct: map[string]float64{"job0": 2}, end: 10,
					circuits: 0.25, places: map[string][]int32{"job1": {4}, "job0": {0, 2, 3}}}}
			if policy == 1 && seed == 1 {
				r.failed, r.packets = fmt.Errorf("no fabric"), nil
			}
			runs = append(runs, r)
		}
	}
	want := map[string]float64{
		"Fair, JCT, median job": 1, "Fair, JCT, most": 1.2, "Fair, jobs whose JCT is within 10 %": 50, "Fair, makespan": 1.1,
		"Fair, tasks on the same host":              75,
		"Corral, CCT, median shuffle between racks": 1.5, "Corral, failed on packets": 1, "Fair, failed on packets": 0,
		"Co-scheduler, bytes between racks over circuits, on packets": 50, "Fair, job0, JCT, packets ÷ flow level": 1.2,
		"Co-scheduler against Fair, at flow level, mean JCT smaller by": 0,
	}
	found := 0
	out := b.Result()
	packetsRows(runs, slice, b, out)
	for _, r := range out.Rows {
		w, ok := want[r.Setting+", "+r.Metric]
		if !ok {
			continue
		}
		found++
		if r.Measured == nil || *r.Measured < w-1e-9 || *r.Measured > w+1e-9 {
			t.Errorf("%s, %s: %v, want %v", r.Setting, r.Metric, r.Measured, w)
		}
	}
	if found != len(want) {
		t.Errorf("%d of %d rows", found, len(want))
	}
}

// TestCoschedulerOnPackets runs Co-scheduler, and in long runs the others, on packets and at flow
// level: the same jobs end on both, most of their tasks are on the same hosts, and only Co-scheduler's
// bytes take circuits.
func TestCoschedulerOnPackets(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds of real time: leave -short away")
	}
	if err := netns.Supported(false); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "netns") {
			t.Fatalf("LIGHTLOOM_MUST names netns: %v", err)
		}
		t.Skipf("needs netns: %v", err)
	}
	shared := netnstest.Share(t)
	slice := trace([2]int{9000, 9000}, [2]int{2000, 500}, [2]int{6000, 10_000})
	b := &Bench{Seeds: 1, First: 4, On: OnNetns, Quick: true}
	shared.Measure(t, 3, func() error { return onBoth(t, b, slice, schedulers()[tries.Of(2, 0):]) })
}

// onBoth returns how the decisions on packets differ from those at flow level. On a busy machine jobs
// arrive later and meet other hosts.
func onBoth(t *testing.T, b *Bench, slice []swim.Record, who []scheduler) (differ error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	runs, err := packetsRuns(ctx, b, slice, who)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runs {
		name := who[r.policy].name
		if r.failed != nil {
			t.Fatal(r.failed)
		}
		if len(r.packets.jct) != len(slice) || len(r.fluid.jct) != len(slice) {
			t.Errorf("%s: %d jobs ended on packets and %d at flow level, of %d", name, len(r.packets.jct),
				len(r.fluid.jct),
				len(slice))
		}
		for job, at := range r.packets.jct {
			if at < 0.9*r.fluid.jct[job] {
				t.Errorf("%s: %s took %.2f s on packets, %.2f s at flow level", name, job, at, r.fluid.jct[job])
			}
		}
		if same := sameHosts(r.packets, r.fluid); same < 0.25 {
			differ = fmt.Errorf("%s: of the tasks, %.2f stand on the same hosts: on packets %v, at flow level %v", name, same,
				r.packets.places, r.fluid.places)
		}
		if lit := r.packets.circuits > 0.3 && r.fluid.circuits > 0.3; lit != (name == "Co-scheduler") {
			differ = fmt.Errorf("%s: circuits carry %.2f of the bytes on packets, %.2f at flow level",
				name, r.packets.circuits,
				r.fluid.circuits)
		}
	}
	return differ
}
