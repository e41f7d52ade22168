package experiment

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// TestEntered: everybody runs on seeds that choose; on held-out ones joint, its twin and the frozen
// rival, and all compositions where none is frozen. Frozen names are those of grounds and compositions.
func TestEntered(t *testing.T) {
	var grounds, names []string
	for _, g := range contested(2, heldOut) {
		grounds = append(grounds, g.name)
	}
	for _, c := range contestants() {
		if c.role == composed {
			names = append(names, c.name)
		}
	}
	for line := range strings.Lines(frozen) {
		of, who, ok := strings.Cut(strings.TrimSpace(line), ";")
		if !strings.HasPrefix(of, "#") && (!ok || !slices.Contains(grounds, of) ||
			!slices.Contains(names, who)) {
			t.Errorf("frozen.csv: %q is no ground and composition", line)
		}
	}
	for _, tc := range []struct {
		ground string
		seed   uint64
		want   int
	}{
		{"wide", 1, len(contestants())},
		{"wide", heldOut, 3},
		{"of no name", heldOut, len(names) + 2},
	} {
		got := entered(tc.ground, tc.seed)
		if len(got) != tc.want || got[len(got)-1].role != together {
			t.Errorf("%s, seed %d: %d entered, want %d, joint last", tc.ground, tc.seed, len(got), tc.want)
		}
	}
}

// TestMatches: the rival is the composition with the least mean CCT, and p-values of two grounds and
// two metrics are corrected for four.
func TestMatches(t *testing.T) {
	runs := func(cct ...float64) (out Runs) {
		for _, v := range cct {
			out = append(out, Figures{makespan: 9, meanJCT: 1 + v, meanCCT: v, perJob + "0": 1, perJob + "1": v})
		}
		return out
	}
	who := []contestant{{rival{name: "a"}, composed}, {rival{name: "b"}, composed},
		{rival{name: "half"}, halfway},
		{rival{name: "joint"}, together}}
	m := &matches{ground{name: "ground"}, who, Systems{"a": runs(4, 6, 8, 5, 7, 9, 6, 5),
		"b": runs(3, 5, 7, 4, 6, 8, 5, 4), "half": runs(make([]float64, 8)...), "joint": runs(2, 4, 6,
			3, 5, 7, 4, 3)}}
	if got := m.rival().name; got != "b" {
		t.Errorf("the rival is %s", got)
	}
	out := (&Bench{First: 1}).Result()
	holm([]*matches{m, m}, out)
	rows := out.Rows
	if len(rows) != 4 || *rows[0].Measured != 4*2/256.0 {
		t.Errorf("%d p-values, the first %v, want 4 and 1/32", len(rows), *rows[0].Measured)
	}
	if got := slower(m.got["a"], m.got["joint"]); got[0] != 50 {
		t.Errorf("%v %% slower, want half of the jobs", got[0])
	}
}

// TestGoesOn: after the first seeds joint, its twin and the compositions near the best go on, and only
// these can be the rival.
func TestGoesOn(t *testing.T) {
	runs := func(n int, cct float64) (out Runs) {
		for range n {
			out = append(out, Figures{meanCCT: cct})
		}
		return out
	}
	m := &matches{got: Systems{}}
	for _, x := range []struct {
		name string
		role int
		cct  float64
	}{{"a", composed, 2}, {"b", composed, 2.9}, {"c", composed, 3.1}, {"d", halfway, 1}, {"e", retied, 1},
		{"joint", together, 1}} {
		m.who = append(m.who, contestant{rival{name: x.name}, x.role})
		m.got[x.name] = runs(firstSeeds, x.cct)
	}
	var on []string
	for _, c := range m.goOn() {
		on = append(on, c.name)
	}
	if got := strings.Join(on, " "); got != "a b e joint" {
		t.Errorf("%s go on", got)
	}
	m.got["b"], m.got["joint"] = runs(firstSeeds+2, 2.9), runs(firstSeeds+2, 1)
	if got := m.rival().name; got != "b" {
		t.Errorf("the rival is %s, which did not run on all seeds", got)
	}
}

// TestSideRows: joint is held against each other policy on the same fabric, run by run.
func TestSideRows(t *testing.T) {
	who := []string{"rival", "apart", "joint"}
	var got [][]bothSides
	for k := range who {
		v := float64(4 - k)
		got = append(got, []bothSides{{OnNetns: {meanJCT: 2 * v, meanCCT: v, overOCS: 50},
			OnFlowsim: {meanJCT: v, meanCCT: v}}})
	}
	want := map[string]float64{"rival mean JCT": 8, "rival mean CCT": 4, "apart mean JCT": 6,
		"joint mean CCT":               2,
		"joint against rival mean JCT": -50, "joint against apart mean CCT": -100.0 / 3,
		"joint on packets bytes between racks over circuits": 50}
	out := (&Bench{First: 1}).Result()
	sideRows(OnNetns, who, got, out)
	for _, r := range out.Rows {
		if w, ok := want[r.Setting+" "+r.Metric]; ok && math.Abs(*r.Measured-w) > 1e-9 {
			t.Errorf("%s, %s: %v, want %v", r.Setting, r.Metric, *r.Measured, w)
		}
		delete(want, r.Setting+" "+r.Metric)
	}
	if len(want) > 0 {
		t.Errorf("no rows for %v", want)
	}
}
