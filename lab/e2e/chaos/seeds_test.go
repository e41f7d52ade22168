package chaos

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/controller/workload"
	"lightloom/pathmap/tries"
)

// perMinute is how many jobs arrive in a minute of virtual time.
const perMinute = 120

func jobsOf(seed uint64, minutes int) ([]controller.Job, error) {
	return workload.Synthetic(workload.SyntheticOptions{Seed: seed, Jobs: perMinute * minutes,
		Racks: 4, HostsPerRack: 2,
		Window: time.Duration(minutes) * time.Minute, Elephant: 2 << 20})
}

func request(job int) string { return fmt.Sprintf("job-%d", job) }

// fewSeedsOf are the seeds of a normal run that have every kind of faults once, and lies with half of the kinds, or all
// below a number. They are for fabrics beside that of TestSeeds, which has each kind and each policy twice.
func fewSeedsOf(all uint64) (seeds []uint64) {
	for _, seed := range seedsOf(all) {
		if tries.Of(0, 1) == 1 || slices.Contains([]uint64{0, 6, 9, 15}, seed) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// seedsOf are the seeds of a normal run, which have every kind of faults and every policy twice, or all below a number.
func seedsOf(all uint64) (seeds []uint64) {
	for seed := range all {
		if kind, policy := seed%4, seed/4%4; tries.Of(0, 1) == 1 || seed < 16 && (kind == policy || kind == 3-policy) {
			seeds = append(seeds, seed)
		}
	}
	return seeds
}

// TestSeeds runs three controllers over a simulated fabric for a minute of virtual time for each of
// eight seeds, and with LIGHTLOOM_MEASURE=seeds for ten minutes for each of a thousand. Leaders are
// killed, stopped at random points, cut off in one direction or both, and have disks that are slow or
// fail; clocks step at restarts; messages are late and come twice; devices, links and hosts fail, and
// one agent reports what is not so. Devices refuse former leaders by what they know from Sets alone. In
// the end every acknowledged job is done, every byte was received once, every switch holds what it
// should, and the replicas agree.
//
// A seed that fails does so again: run it alone with -run 'TestSeeds/seed_7$'.
func TestSeeds(t *testing.T) {
	t.Parallel()
	seeds, minutes := seedsOf(20), 1
	if os.Getenv("LIGHTLOOM_MEASURE") == "seeds" {
		minutes, seeds = 10, nil
		for seed := range uint64(1000) {
			seeds = append(seeds, seed)
		}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) { t.Log(live(t, seed, minutes)) })
	}
}

// live runs one seed and returns the digest of all that happened.
func live(t *testing.T, seed uint64, minutes int) string {
	t.Helper()
	return weathered(t, seed, minutes, storm(seed))
}

// weathered is live under faults of the caller's choice.
func weathered(t *testing.T, seed uint64, minutes int, faults weather) string {
	t.Helper()
	return weatheredOn(t, chaosFabric, seed, minutes, faults, "random+ecmp+sunflow", "crosslayer+sunflow",
		"random+ecmp+sunflow-preempt", "random+ecmp+maxmin")
}

// weatheredOn is weathered on a fabric, under one of some policies.
func weatheredOn(t *testing.T, fabric string, seed uint64, minutes int, faults weather, policies ...string) string {
	t.Helper()
	w, err := newWorld(fabric, seed, policies[seed/4%uint64(len(policies))], minutes, faults)
	if err != nil {
		t.Fatal(err)
	}
	w.run(time.Duration(minutes) * time.Minute)
	w.check(t)
	if t.Failed() {
		t.Logf("seed %d ended so:\n%s", seed, strings.Join(w.history.last(recent), "\n"))
	}
	return w.described()
}

// TestSeedsOfFourOCSes is TestSeeds with four OCSes under the racks, and one of them restarting, lying, failing or cut
// off from everybody now and then: no port is lit twice, both ends of a circuit are of one OCS, and each OCS holds
// what it should in the end.
func TestSeedsOfFourOCSes(t *testing.T) {
	t.Parallel()
	for _, seed := range fewSeedsOf(200) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			faults := storm(seed)
			faults.Kinds = append(faults.Kinds, "part", "part", "ocs", "ocs", "ocs")
			t.Log(weatheredOn(t, chaosFabric+",ocses=4", seed, 1, faults, "random+ecmp+sunflow", "joint",
				"random+ecmp+rotor", "random+ecmp+solstice"))
		})
	}
}

// TestSeedsOfSeveralCircuits is TestSeeds with paths over several circuits of two OCSes: no switch keeps a rule of one
// that no leader wants, and no flow goes round.
func TestSeedsOfSeveralCircuits(t *testing.T) {
	t.Parallel()
	for _, seed := range fewSeedsOf(200) {
		t.Run(fmt.Sprintf("seed_%d", seed), func(t *testing.T) {
			faults := storm(seed)
			faults.Kinds = append(faults.Kinds, "part", "ocs", "ocs")
			t.Log(weatheredOn(t, chaosFabric+",ocses=2", seed, 1, faults, "random+ecmp-multihop+circulant",
				"random+ecmp-multihop+sunflow", "random+ecmp-multihop+static", "random+ecmp-multihop+rotor"))
		})
	}
}

// TestSeedsRepeat runs seeds twice: their histories are the same to the last byte, and those of two
// seeds differ.
func TestSeedsRepeat(t *testing.T) {
	t.Parallel()
	known := map[string]uint64{}
	for seed := range tries.Of[uint64](2, 40) {
		first, again := live(t, seed, 1), live(t, seed, 1)
		if first != again {
			t.Errorf("seed %d went\n%s, and then\n%s", seed, first, again)
		}
		if other, in := known[first]; in {
			t.Errorf("seeds %d and %d have one history", seed, other)
		}
		known[first] = seed
	}
}

// TestClocksStep: replicas whose clocks are an hour or ten years off when they start, before or ahead,
// lead one after the other, and hold all that TestSeeds asks for.
func TestClocksStep(t *testing.T) {
	t.Parallel()
	for _, off := range []time.Duration{time.Hour, 10 * 365 * 24 * time.Hour} {
		for seed := range tries.Of[uint64](2, 100) {
			t.Run(fmt.Sprintf("%v/seed_%d", off, seed), func(t *testing.T) {
				faults := storm(seed)
				faults.Clock, faults.Whole, faults.Known = off, true, 3*time.Minute
				t.Log(weathered(t, seed, 1, faults))
			})
		}
	}
}
