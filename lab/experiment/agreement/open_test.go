package agreement

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"lightloom/controller/server"
	"lightloom/emulator/netns"
	"lightloom/emulator/netns/netnstest"
	"lightloom/lab/report"
	"lightloom/lab/session"
	"lightloom/lab/testbed/emulated"
	"lightloom/southbound/noise"
)

// TestMain lets the tests start fabrics and replicas out of this binary, as runs do out of theirs.
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

// TestOpenAgreement has a short window under sunflow with the loop closed, and under every policy of
// the open loop. It measures, so it needs the whole machine: LIGHTLOOM_MEASURE=agreement runs it. What
// a closed loop decides turns on when its counts arrive, and one other reservation shifts those after
// it (seed 102 moves 19, 23 or 24 circuits), so that ten seeds are judged together: of 41 single runs
// the widest were 5 % of the mean CCT and 21 % of the moves off, their mean less than 1 and 4 %.
func TestOpenAgreement(t *testing.T) {
	if os.Getenv("LIGHTLOOM_MEASURE") != "agreement" {
		t.Skip("it measures, and wants the machine for itself: set LIGHTLOOM_MEASURE=agreement")
	}
	if err := netns.Supported(false); err != nil {
		if slices.Contains(strings.Split(os.Getenv("LIGHTLOOM_MUST"), ","), "netns") {
			t.Fatalf("LIGHTLOOM_MUST names netns: %v", err)
		}
		t.Skipf("needs netns: %v", err)
	}
	netnstest.Lock(t)
	short, ten := load{"short", 8, 2 * time.Second}, []uint64{101, 102, 103, 104, 105, 106, 107, 108, 109, 110}
	for _, x := range []struct {
		setting
		seeds []uint64
		within
	}{
		{setting{policy: "random+ecmp+sunflow", load: short}, ten, within{0.05, 0.05, 0.10}},
		{setting{policy: "random+ecmp+sunflow", load: short, loop: open}, []uint64{102},
			within{0.10, 0.05, 0.15}},
		{setting{policy: "random+ecmp+edmonds", load: short, loop: open}, []uint64{102},
			within{0.10, 0.05, 0.15}},
		{setting{policy: "random+ecmp+rotor", load: short, loop: open}, []uint64{102}, within{0.10, 0.05, 0.15}},
		{setting{policy: "joint", load: short, loop: open}, []uint64{102}, within{0.10, 0.05, 0.15}},
	} {
		t.Run(x.String(), func(t *testing.T) {
			noise.Measure(t, 3, func() error { return agrees(t, x.setting, x.seeds, x.within) })
		})
	}
}

// within says how far apart runs on packets and on the simulator may be, as shares: mean CCT in the
// mean over the seeds, a coflow's in the median over all of them, and the moved circuits of all seeds.
type within struct{ mean, median, moves float64 }

// agrees makes both runs of a setting for every seed and returns by how much they are further apart
// than most.
func agrees(t *testing.T, s setting, seeds []uint64, most within) error {
	t.Helper()
	var off []float64
	var mean float64
	var moves [2]int
	for _, seed := range seeds {
		p, err := s.run(t.Context(), seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range p.Off {
			off = append(off, math.Abs(x))
		}
		mean += p.Mean / float64(len(seeds))
		moves[0] += p.Moves[0]
		moves[1] += p.Moves[1]
		t.Logf("seed %d: mean CCT %+.1f %% of %d coflows; moves %v; health %+v", seed, 100*p.Mean,
			len(p.Off), p.Moves,
			p.Health)
	}
	slices.Sort(off)
	median, more := report.Percentile(off, 0.5), float64(moves[0]-moves[1])
	if math.Abs(mean) > most.mean || median > most.median || math.Abs(more) > most.moves*float64(moves[1]) {
		return fmt.Errorf("mean CCT %+.1f %%, median of %d coflows %.1f %%, moves %v: further apart than %.0f, %.0f and "+
			"%.0f %%", 100*mean, len(off), 100*median, moves, 100*most.mean, 100*most.median, 100*most.moves)
	}
	return nil
}
