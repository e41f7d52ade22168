package packets

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/controller/state"
	"lightloom/lab/labtest"
	"lightloom/lab/outcome"
	"lightloom/lab/scenario"
	"lightloom/lab/testbed"
	"lightloom/lab/testbed/emulated"
	"lightloom/lab/testbed/simulated"
	"lightloom/pathmap"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// endlessSetup is two endless streams, one of them mortal, and a batch job beside them.
func endlessSetup(t *testing.T, until time.Duration, policies ...string) (*scenario.Prepared, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jobs.yaml")
	if err := os.WriteFile(file, []byte(labtest.EndlessJobs), 0o600); err != nil {
		t.Fatal(err)
	}
	return scenario.Prepare(scenario.Options{Workload: file, Seed: 3, Speedup: 1, Until: until, Replicas: 1,
		Policies: policies,
		Fabric:   "leafspine:racks=4,hosts=2,spines=2,eps=50Mbps,nic=200Mbps,slots=4"},
		1)
}

// checkEndless checks that the streams had their rates throughout, except for a share that other jobs
// or a busy machine can take, and that the batch job ended by itself. It returns deviations that a busy
// machine can cause.
func checkEndless(t *testing.T, s *scenario.Prepared, o *outcome.Outcome, share float64) error {
	t.Helper()
	var late []error
	const off = 0.03
	ran := map[string]float64{"wordcount": 3, "mortal": 1.5}
	rate := map[string]float64{"wordcount": 6e6, "mortal": 20e6}
	for _, j := range o.ResultOf(s).Jobs {
		if want, endless := rate[j.Name]; j.Cancelled != endless {
			t.Errorf("job %q was cancelled: %v", j.Name, j.Cancelled)
		} else if got := j.Throughput(); endless && got > want*(1+off) {
			t.Errorf("job %q had %.3g bit/s, want %.3g", j.Name, got, want)
		} else if endless && got < want*(1-off-share) {
			late = append(late, fmt.Errorf("job %q had %.3g bit/s, want %.3g", j.Name, got, want))
		} else if took := (j.End - j.Start).Seconds(); endless &&
			(took < ran[j.Name]*(1-off) || took > ran[j.Name]+0.5) {
			late = append(late, fmt.Errorf("job %q ran for %.3f s, want %.3f s", j.Name, took, ran[j.Name]))
		}
	}
	for i := range o.State.Tasks {
		if o.State.Tasks[i].Ended == state.Unset {
			t.Errorf("task %d has not ended", i)
		}
	}
	if n := len(s.Notes); n == 0 || !strings.Contains(strings.Join(s.Notes, "\n"),
		"no host has more than 4") ||
		!strings.Contains(strings.Join(s.Notes, "\n"), "has no source") {
		t.Errorf("notes %q do not say of both jobs that were left out why", s.Notes)
	}
	return errors.Join(late...)
}

// TestEndlessStreams: streams with a rate run until the run or their lifetime ends: on the simulator
// under fair shares, paces and rates of pairs, and on packets.
func TestEndlessStreams(t *testing.T) {
	if _, err := endlessSetup(t, 0, "crosslayer"); err == nil ||
		!strings.Contains(err.Error(), `"wordcount" has a stream that goes on and on`) {
		t.Errorf("a run that would never end: %v", err)
	}
	s, err := endlessSetup(t, 3*time.Second, "random+ecmp", "random+ecmp+sebf",
		"random+ecmp+maxmin", "crosslayer")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range s.Rows {
		o, err := labtest.Simulate(context.Background(), s, r, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := checkEndless(t, s, o, map[string]float64{"random+ecmp": 0, "crosslayer": 0,
			"random+ecmp+sebf":   0.2,
			"random+ecmp+maxmin": 0.2}[r.Name]); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	shared := labtest.ShareNetns(t, "netns", false)
	ctx, cancel := context.WithTimeout(context.Background(), labtest.Hanging)
	defer cancel()
	for _, r := range s.Rows[:tries.Of(1, 2)] {
		shared.Measure(t, 4, func() error {
			o, err := labtest.Enter(ctx, s, r, emulated.Options{})
			if err != nil {
				t.Fatal(err)
			}
			return checkEndless(t, s, o, 0.7)
		})
	}
}

// TestCancelledInCrashes: controllers die at random after they have committed and before they act,
// around the ends of streams. The next one stops hosts from sending bytes of cancelled jobs, and all
// jobs end as they do without crashes.
func TestCancelledInCrashes(t *testing.T) {
	s, err := endlessSetup(t, 3*time.Second, "random+ecmp")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		o, lives, err := labtest.SimulateCrashes(s, func() bool { return rng.IntN(4) == 0 })
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if lives < 2 {
			t.Errorf("seed %d: no controller died", seed)
		}
		if err := checkEndless(t, s, o, 0); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

// TestCancelledIsSilent: a controller dies while it cancels a job; after the next has taken over, no
// bytes of the job are sent.
func TestCancelledIsSilent(t *testing.T) {
	s, err := endlessSetup(t, 3*time.Second, "random+ecmp")
	if err != nil {
		t.Fatal(err)
	}
	sc := s.Scenario(s.Rows[0])
	x, err := simulated.New(sc, simulated.Options{})
	if err != nil {
		t.Fatal(err)
	}
	died := false
	x.Env.Crash = func() bool {
		d := x.State.Live()
		if !died && len(d.Jobs) > 0 && d.Jobs[0].Cancelled {
			died = true
			return true
		}
		return false
	}
	if _, err := testbed.Run(context.Background(), x, sc, nil); err != nil {
		t.Fatal(err)
	}
	if !died {
		t.Fatal("no controller died")
	}
	left := func() (sum pathmap.Bytes) {
		for id := range x.State.Live().Coflows {
			if l, ok := x.Sim.Host().Remaining(southbound.CoflowID(id)); ok {
				for r := range l.Base {
					sum += pathmap.Bytes(l.Row(int32(r)))
				}
			}
		}
		return sum
	}
	before := left()
	if err := x.Advance(x.Sim.Now() + time.Second); err != nil {
		t.Fatal(err)
	}
	if after := left(); before == 0 || after != before {
		t.Errorf("a second after the end of all jobs %d bytes are left of %d: a host still sends", after, before)
	}
}
