package report

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/southbound"
)

// TestDrawnCircuits: the circuits that are drawn of many are the same in whatever order they come, and
// no input is left out.
func TestDrawnCircuits(t *testing.T) {
	for seed := range uint64(4) {
		rng := rand.New(rand.NewPCG(seed, 14))
		var m Moved
		all := make([]CircuitInterval, 6*drawnCircuits)
		for i, at := range rng.Perm(len(all)) {
			if seed%2 == 0 {
				at = i // as they come of a run
			}
			all[i] = CircuitInterval{In: southbound.Port(rng.IntN(9)), Out: southbound.Port(rng.IntN(9)),
				Moving: time.Duration(at)}
			m.Circuit(all[i])
		}
		got := m.First()
		if !slices.Equal(got, thinned(all)) || m.Circuits != len(all) {
			t.Errorf("seed %d: %d of %d circuits depend on their order", seed, len(got), m.Circuits)
		}
		lanes := map[southbound.Port]int{}
		for _, c := range got {
			lanes[c.In]++
		}
		for in := range southbound.Port(9) {
			if n := lanes[in]; n < drawnCircuits/9/2 {
				t.Errorf("seed %d: %d circuits of input %d are drawn, of %d in all", seed, n, in, len(got))
			}
		}
	}
}

// TestMovedLikeLists: sums of moves give the figures that lists of the same times give.
func TestMovedLikeLists(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 15))
		listed := PolicyResult{MoveTimes: MoveTimes{ReconfigurationDelayAssumed: 15 * time.Millisecond,
			DarkAsked: 10 * time.Millisecond, DarkSource: "model"}}
		summed := listed
		summed.Moved = new(Moved)
		for _, name := range StageNames()[:1+rng.IntN(len(StageNames()))] {
			listed.Stages = append(listed.Stages, StageTimes{Name: name})
			summed.Moved.Stage(name)
		}
		for range rng.IntN(200) {
			took := func() time.Duration { return time.Duration(10+rng.IntN(30)) * time.Millisecond }
			delay, dark := took(), took()
			listed.ReconfigurationDelays, listed.Darks = append(listed.ReconfigurationDelays,
				delay), append(listed.Darks, dark)
			summed.Moved.ReconfigurationDelays.Add(delay)
			summed.Moved.Darks.Add(dark)
			for i := range listed.Stages {
				stage := took()
				listed.Stages[i].Took = append(listed.Stages[i].Took, stage)
				summed.Moved.Stage(listed.Stages[i].Name).Add(stage)
			}
		}
		if a, b := reconfigurationDelay(&listed), reconfigurationDelay(&summed); a != b ||
			a.Count != len(listed.Darks) {
			t.Errorf("seed %d: reconfiguration delays %+v of a list, %+v of sums", seed, a, b)
		}
		if a, b := dark(&listed), dark(&summed); a != b || a.Count != len(listed.Darks) {
			t.Errorf("seed %d: dark times %+v of a list, %+v of sums", seed, a, b)
		}
		if a, b := stages(&listed), stages(&summed); !slices.Equal(a, b) {
			t.Errorf("seed %d: stages %+v of lists, %+v of sums", seed, a, b)
		}
	}
}
