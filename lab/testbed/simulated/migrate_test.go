package simulated_test

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"lightloom/controller/policy"
	"lightloom/controller/state"
	"lightloom/lab/console"
	"lightloom/lab/labtest"
	"lightloom/lab/replay"
	"lightloom/lab/scenario"
	"lightloom/pathmap/tries"
)

// meanJCT runs a setup, checks its invariants, and returns the mean of its jobs' times in seconds.
func meanJCT(t *testing.T, s *scenario.Prepared) (float64, *state.Migrated) {
	t.Helper()
	o, err := labtest.Simulate(context.Background(), s, s.Rows[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	labtest.CheckEdges(t, s, o)
	if over := o.Unfinished(); over != nil {
		t.Fatal(over)
	}
	sum := 0.0
	for _, j := range o.State.Jobs {
		sum += (j.Ended - j.Arrival).Seconds()
	}
	told := strings.Contains(strings.Join(o.ResultOf(s).Notes, "\n"), "were moved")
	if m := o.State.Migrated; told != (m != nil) {
		t.Errorf("the report tells of tasks that moved: %v; %+v", told, m)
	}
	return sum / float64(len(o.State.Jobs)), o.State.Migrated
}

// TestMigrateHelps: over some storms jobs end sooner, each byte of an edge is received once, and
// restarts are counted. With a factor that makes every costly move too expensive, fewer bytes are sent
// again.
func TestMigrateHelps(t *testing.T) {
	t.Parallel()
	still, moved, again, dearer := 0.0, 0.0, int64(0), int64(0)
	seeds := tries.Of[uint64](2, 5)
	for seed := range seeds {
		jct, m := meanJCT(t, labtest.Migrating(t, seed, 0, nil))
		if m != nil {
			t.Errorf("seed %d: %d tasks moved without --migrate", seed, m.Tasks)
		}
		still += jct / float64(seeds)
		jct, m = meanJCT(t, labtest.Migrating(t, seed, 1, nil))
		moved += jct / float64(seeds)
		if m != nil {
			again += int64(m.Bytes)
		}
		if _, m = meanJCT(t, labtest.Migrating(t, seed, 1e6, nil)); m != nil {
			dearer += int64(m.Bytes)
		}
	}
	t.Logf("mean JCT %.3f s, and %.3f s with --migrate: %d bytes sent again, %d at a million times the cost", still, moved,
		again, dearer)
	if moved >= still || again == 0 || dearer*100 > again {
		t.Errorf("mean JCT %.3f s, and %.3f s with --migrate: %d bytes sent again, %d at a million times the cost", still,
			moved, again, dearer)
	}
}

// TestMigrateAmongFaults: tasks are moved while hosts, links and leaders fail, with and without
// circuits, and of batch jobs too: every job ends with all its bytes, each received once.
func TestMigrateAmongFaults(t *testing.T) {
	t.Parallel()
	faults := filepath.Join(t.TempDir(), "faults")
	err := os.WriteFile(faults, []byte("300ms fail host h1-0\n400ms fail controller controller0\n500ms fail link "+
		"tor0-spine0\n700ms heal host h1-0\n"+
		"800ms fail host h2-1\n1s heal controller controller0\n1.5s heal link tor0-spine0\n2s heal host h2-1"), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*scenario.Options){
		"storm": func(o *scenario.Options) { o.Faults = faults },
		"circuits": func(o *scenario.Options) {
			o.Fabric, o.Policies[0] = labtest.FaultFabric,
				"crosslayer+sunflow"
		},
		"circuits, faults": func(o *scenario.Options) {
			o.Fabric, o.Policies[0], o.Faults = labtest.FaultFabric, "crosslayer+sunflow", faults
		},
		"rates":  func(o *scenario.Options) { o.Policies[0] = "crosslayer+sebf" },
		"maxmin": func(o *scenario.Options) { o.Policies[0], o.Faults = "crosslayer+maxmin", faults },
		"hadoop": func(o *scenario.Options) { o.Workload, o.Faults = "hadoop:jobs=12", faults },
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range tries.Of[uint64](1, 3) {
				_, m := meanJCT(t, labtest.Migrating(t, seed, 1, change))
				t.Logf("seed %d: %+v", seed, m)
			}
		})
	}
}

// TestMigrateCrashes kills leaders again and again, also between a move's entry and its calls to hosts:
// every job ends, and each byte is received once.
func TestMigrateCrashes(t *testing.T) {
	t.Parallel()
	moved, killed := int64(0), 0
	seeds := tries.Of(4, 12)
	for seed := range uint64(seeds) {
		s := labtest.Migrating(t, seed, 1, nil)
		r := rand.New(rand.NewPCG(seed, 7))
		o, lives, err := labtest.SimulateCrashes(s, func() bool { return r.IntN(8) == 0 })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		killed += lives - 1
		labtest.CheckOutcome(t, s, o)
		labtest.CheckEdges(t, s, o)
		if m := o.State.Migrated; m != nil {
			moved += m.Tasks
		}
	}
	if moved == 0 || killed*12 < 40*seeds {
		t.Errorf("%d tasks were moved and %d leaders killed: nothing was tried", moved, killed)
	}
}

// TestMigrateDeterministic: a run that moves tasks depends only on its arguments, on one processor and
// on all.
func TestMigrateDeterministic(t *testing.T) {
	file := func(procs int) []byte {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		dir := t.TempDir()
		opt := replay.Options{Options: scenario.Options{
			Fabric:   "leafspine:racks=4,hosts=2,spines=2,eps=50Mbps,nic=500Mbps,slots=8",
			Workload: "storm:jobs=8,rate=30/min", Policies: []string{"crosslayer"}, Parts: policy.Overrides{Migrate: 1}, Seed: 1,
			Scale: 1, Speedup: 20, On: scenario.OnFlowsim, Replicas: 3},
			Console: replay.Console{Output: console.OutputTable, ReportDir: dir, Stdout: io.Discard,
				Stderr: io.Discard}}
		if err := replay.Replay(context.Background(), opt); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "report.json"))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	if one, all := file(1), file(0); !bytes.Equal(one, all) || !bytes.Contains(one, []byte("were moved")) {
		t.Error("two runs with the same arguments differ, or no task was moved")
	}
}

// TestMigrateRefused: a policy without support for migration refuses it, and names what to do.
func TestMigrateRefused(t *testing.T) {
	for _, name := range []string{"random+ecmp", "random+anneal", "application", "crosslayer-paper"} {
		_, err := scenario.Prepare(scenario.Options{Demo: true, Policies: []string{name},
			Parts:   policy.Overrides{Migrate: 1},
			Speedup: 1, On: scenario.OnFlowsim},
			1)
		if err == nil || !strings.Contains(err.Error(), "never moves what runs") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
