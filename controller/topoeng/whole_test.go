package topoeng

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/pathmap/tries"
	"lightloom/southbound"
)

// switchesLike returns switches whose ports can all be used and lead nowhere.
func switchesLike(pods, switches int, delta time.Duration) (all []Switch) {
	for range switches {
		all = append(all, Switch{Delta: delta, Usable: slices.Repeat([]bool{true}, pods),
			There: slices.Repeat([]int32{none}, pods)})
	}
	return all
}

// randomSwitches differ in their delays, lack ports, and have circuits already, a pair one at most.
func randomSwitches(rng *rand.Rand, pods int) []Switch {
	all := switchesLike(pods, 1+rng.IntN(4), 0)
	pairs := map[[2]int]bool{}
	for k := range all {
		all[k].Delta = time.Duration(rng.IntN(int(2 * time.Millisecond)))
		for range rng.IntN(3) {
			all[k].Usable[rng.IntN(pods)] = false
		}
		for range rng.IntN(3) {
			i, j := rng.IntN(pods), rng.IntN(pods)
			if i != j && !pairs[[2]int{i, j}] && all[k].There[i] < 0 && !slices.Contains(all[k].There, int32(j)) {
				all[k].There[i], pairs[[2]int{i, j}] = int32(j), true
			}
		}
	}
	return all
}

// checkTurns returns an error unless the turns carry each pair that can be carried once, and use no port twice.
func checkTurns(m schedule.Matrix, switches []Switch, turns []Turn) error {
	type side struct{ sw, way, pod int }
	until, left := map[side]time.Duration{}, m.Clone()
	turns = slices.SortedFunc(slices.Values(turns), func(a, b Turn) int { return cmp.Compare(a.Begin, b.Begin) })
	for _, t := range turns {
		s := &switches[t.Switch]
		dark := s.Delta
		for k := range switches {
			if int(switches[k].There[t.From]) == t.To {
				if dark = 0; k != t.Switch || t.Begin != 0 {
					return fmt.Errorf("%+v is on switch %d already", t, k)
				}
			}
		}
		if !s.Usable[t.From] || !s.Usable[t.To] || t.Dark != dark {
			return fmt.Errorf("%+v: its ports cannot be used, or it takes %v", t, dark)
		}
		if d := left[t.From][t.To]; d == 0 || t.End-t.Begin != dark+d {
			return fmt.Errorf("%+v carries %v", t, d)
		}
		left[t.From][t.To] = 0
		for _, p := range []side{{t.Switch, 0, t.From}, {t.Switch, 1, t.To}} {
			if until[p] > t.Begin {
				return fmt.Errorf("%+v begins before %v", t, until[p])
			}
			until[p] = t.End
		}
	}
	for i := range left {
		for j, d := range left[i] {
			if d > 0 && canCarry(switches, i, j) {
				return fmt.Errorf("%d→%d is not carried", i, j)
			}
		}
	}
	return nil
}

// canCarry reports whether a pair can be carried: where it is already, or else anywhere.
func canCarry(switches []Switch, i, j int) bool {
	joins := func(s Switch) bool { return s.Usable[i] && s.Usable[j] }
	for _, s := range switches {
		if int(s.There[i]) == j {
			return joins(s)
		}
	}
	return slices.ContainsFunc(switches, joins)
}

// TestClearWhole: on switches that differ, lack ports and have circuits, all that can be carried is, once.
func TestClearWhole(t *testing.T) {
	for seed := range uint64(tries.Of(300, 5000)) {
		rng := rand.New(rand.NewPCG(seed, 8))
		m := randomMatrix(rng, 2+rng.IntN(8), rng.Float64())
		switches := randomSwitches(rng, len(m))
		turns, c := ClearWhole(m, switches, time.Duration(rng.IntN(int(50*time.Millisecond))))
		if err := checkTurns(m, switches, turns); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		last := time.Duration(0)
		for _, x := range turns {
			last = max(last, x.End)
		}
		if c.Value != float64(last) || c.Value < c.Bound {
			t.Fatalf("seed %d: %+v, and the last turn ends after %v", seed, c, last)
		}
	}
}

// TestClearWholeWindow: input 0 has a circuit for three windows, and then another pair for twenty. That pair waits for
// both, and no output waits for it: what another input has for the same one is carried at once. A turn that would be
// dark for all that is left of the window comes after all others, too.
func TestClearWholeWindow(t *testing.T) {
	const window = time.Second
	standing := switchesLike(4, 1, 10*time.Millisecond)
	standing[0].There[0] = 1
	long := schedule.New(4)
	long[0][1], long[0][2], long[3][2] = 3*window, 20*window, window
	late := schedule.New(4)
	late[0][1], late[0][2], late[3][2] = window-10*time.Millisecond, 500*time.Millisecond, 400*time.Millisecond
	for _, tc := range []struct {
		name     string
		m        schedule.Matrix
		switches []Switch
		begins   map[[2]int]time.Duration
	}{
		{"a standing circuit", long, standing, map[[2]int]time.Duration{{0, 1}: 0, {3, 2}: 0, {0, 2}: 3 * window}},
		{"dark until the window is over", late, standing,
			map[[2]int]time.Duration{{0, 1}: 0, {3, 2}: 0, {0, 2}: window - 10*time.Millisecond}},
	} {
		turns, _ := ClearWhole(tc.m, tc.switches, window)
		got := map[[2]int]time.Duration{}
		for _, x := range turns {
			got[[2]int{x.From, x.To}] = x.Begin
		}
		if !maps.Equal(got, tc.begins) {
			t.Errorf("%s: pairs begin after %v, want %v", tc.name, got, tc.begins)
		}
	}
}

// TestClearWholeNothing: nobody to join, and nothing to join them with.
func TestClearWholeNothing(t *testing.T) {
	for _, tc := range []struct{ pods, switches int }{{0, 0}, {0, 2}, {3, 0}} {
		m := schedule.New(tc.pods)
		if tc.pods > 0 {
			m[0][1] = time.Second
		}
		turns, c := ClearWhole(m, switchesLike(tc.pods, tc.switches, 0), southbound.Never)
		if len(turns) > 0 || c.Value != 0 {
			t.Errorf("%+v: %v, %+v", tc, turns, c)
		}
	}
}

// TestLastEnd: the longest job, the mean over machines, or the shortest of those that some machine has together.
func TestLastEnd(t *testing.T) {
	for _, tc := range []struct {
		name     string
		jobs     []time.Duration
		machines int
		want     time.Duration
	}{
		{"none", nil, 2, 0},
		{"of no length", []time.Duration{0, 0}, 2, 0},
		{"no machine", []time.Duration{5}, 0, 0},
		{"the longest", []time.Duration{3, 20, 2}, 2, 20},
		{"the mean, rounded up", []time.Duration{3, 3, 2, 1}, 2, 5},
		{"two on one machine", []time.Duration{10, 0, 10, 10}, 2, 20},
		{"three on one machine", []time.Duration{10, 10, 10, 10, 10}, 2, 30},
		{"the two shortest of three", []time.Duration{9, 10, 4}, 2, 13},
		{"fewer jobs than machines", []time.Duration{7, 8}, 3, 8},
	} {
		if got := lastEnd(tc.jobs, tc.machines); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

// shortest tries all orders of the pairs and all switches for each.
func shortest(m schedule.Matrix, switches []Switch) time.Duration {
	best := time.Duration(1 << 62)
	var free [4][2][4]time.Duration
	var try func(left schedule.Matrix, end time.Duration)
	try = func(left schedule.Matrix, end time.Duration) {
		if end >= best {
			return
		}
		done := true
		for i := range left {
			for j, d := range left[i] {
				if d == 0 || !canCarry(switches, i, j) {
					continue
				}
				done = false
				left[i][j] = 0
				for k, s := range switches {
					there := slices.ContainsFunc(switches, func(s Switch) bool { return int(s.There[i]) == j })
					if !s.Usable[i] || !s.Usable[j] || there && int(s.There[i]) != j {
						continue
					}
					long := d
					if !there {
						long += s.Delta
					}
					a, b := free[k][0][i], free[k][1][j]
					over := max(a, b) + long
					free[k][0][i], free[k][1][j] = over, over
					try(left, max(end, over))
					free[k][0][i], free[k][1][j] = a, b
				}
				left[i][j] = d
			}
		}
		if done {
			best = end
		}
	}
	try(m.Clone(), 0)
	return best
}

// TestClearWholeShortest: no schedule is below the bound, by trying all; and ours is not far above the shortest.
func TestClearWholeShortest(t *testing.T) {
	sum, most, n := 0.0, 0.0, 0.0
	for seed := range uint64(tries.Of(200, 3000)) {
		rng := rand.New(rand.NewPCG(seed, 9))
		m := schedule.New(3 + rng.IntN(2))
		for range 1 + rng.IntN(5) {
			if i, j := rng.IntN(len(m)), rng.IntN(len(m)); i != j {
				m[i][j] = time.Duration(1 + rng.IntN(int(10*time.Millisecond)))
			}
		}
		switches := randomSwitches(rng, len(m))
		switches = switches[:min(2, len(switches))]
		_, c := ClearWhole(m, switches, southbound.Never)
		best := float64(shortest(m, switches))
		if c.Bound > best || c.Value < best || c.Exact && c.Value != best {
			t.Fatalf("seed %d: %+v, and the shortest takes %v", seed, c, best)
		}
		if best > 0 {
			sum, n = sum+c.Value/best, n+1
			most = max(most, c.Value/best)
		}
	}
	t.Logf("above the shortest: %.2f %% in the mean, %.1f %% at most", 100*(sum/n-1), 100*(most-1))
	if sum/n > 1.03 {
		t.Errorf("%.3f times the shortest", sum/n)
	}
}

// TestClearWholeGap: dense and sparse demand is carried in little more than the bound, and the better the more switches
// there are. Pairs that may not be divided take more than those that may.
func TestClearWholeGap(t *testing.T) {
	for _, tc := range []struct {
		switches int
		most     float64
	}{{1, 0.20}, {2, 0.12}, {4, 0.08}} {
		for _, share := range []float64{0.1, 0.4, 1} {
			sum := 0.0
			const seeds = 10
			for seed := range uint64(seeds) {
				rng := rand.New(rand.NewPCG(seed, 10))
				m := schedule.New(24)
				for i := range m {
					for j := range m {
						if i != j && rng.Float64() < share {
							m[i][j] = time.Duration(1 + rng.ExpFloat64()*1e8)
						}
					}
				}
				_, c := ClearWhole(m, switchesLike(len(m), tc.switches, 10*time.Millisecond), southbound.Never)
				sum += c.Gap()
				if split := ClearBound(m, tc.switches, 10*time.Millisecond); c.Bound < float64(split) {
					t.Errorf("seed %d: bound %v, %v where pairs may be divided", seed, c.Bound, split)
				}
			}
			t.Logf("%d switches, %.0f %% of all pairs: %.1f %% above the bound", tc.switches, 100*share, 100*sum/seeds)
			if sum/seeds > tc.most {
				t.Errorf("%d switches, share %g: %.3f above the bound", tc.switches, share, sum/seeds)
			}
		}
	}
}
