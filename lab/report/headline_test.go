package report

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestHeadline(t *testing.T) {
	row := func(name string, mean float64, slower int) Policy {
		return Policy{Name: name, Completion: Completion{CCT: Seconds{Mean: mean}},
			Slower: Slower{Count: slower, Of: 9}}
	}
	for _, tc := range []struct {
		name string
		rows []Policy
		want string
	}{
		{"none", nil, "Nothing was run."},
		{"one", []Policy{row("a", 2, 0)}, "a: coflows take 2.00 s in the mean"},
		{"another wins", []Policy{row("a", 2, 0), row("b", 0.5, 3), row("c", 1, 0)},
			"b wins: a coflow takes 0.500 s in the mean, and 4.00 times as long under a (the baseline, 2.00 s). 3 of 9 " +
				"coflows are slower under it."},
		{"the first wins", []Policy{row("a", 1, 0), row("b", 4, 0), row("c", 3, 0)},
			"a wins: a coflow takes 1.00 s in the mean, and 3.00 times as long under c (the next best, 3.00 s)."},
		{"equal", []Policy{row("a", 1, 0), row("b", 0.995, 0)}, "No policy is better by more than 1.0 %"},
		{"no coflows", []Policy{row("a", 0, 0), row("b", 0, 0)}, "a: coflows take 0 s"},
	} {
		if got := (&Report{Policies: tc.rows}).Headline(); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestHeadlineHedges: no winner is named where its lead can be an error of the measurement, or chance.
func TestHeadlineHedges(t *testing.T) {
	sick := func(p Policy, h Health) Policy {
		p.Health = &h
		return p
	}
	runs := func(a, b []float64) *Repeat {
		r := &Repeat{Seeds: []uint64{1, 2, 3}}
		for i := range a {
			r.Runs = append(r.Runs, SeedRun{Policies: []Measured{{Name: "a", CCT: Seconds{Mean: a[i]}},
				{Name: "b", CCT: Seconds{Mean: b[i]}}}})
		}
		return r
	}
	for _, tc := range []struct {
		name   string
		rows   []Policy
		repeat *Repeat
		want   string
	}{
		{"errors apart", []Policy{sick(mean("a", 2), Health{Expected: .1}),
			sick(mean("b", 1), Health{Expected: .1})}, nil,
			"b wins: "},
		{"errors overlap", []Policy{sick(mean("a", 1.1), Health{Expected: .1}),
			sick(mean("b", 1), Health{Expected: .02})},
			nil, "No winner: coflows take 1.00 s in the mean under b and 1.10 s under a, but their expected errors, " +
				"±2.0 % and ±10.0 %, overlap."},
		{"an error not known", []Policy{sick(mean("a", 9), Health{Unknown: true}),
			sick(mean("b", 1), Health{})}, nil,
			"No winner: coflows take 1.00 s in the mean under b and 9.00 s under a, but the error of a is not known, " +
				"since this machine was too busy."},
		{"runs agree", []Policy{mean("a", 1), mean("b", 9)},
			runs([]float64{4, 5, 6, 4, 5, 6}, []float64{2, 2.6, 2.9, 2, 2.6, 2.9}),
			"b wins: a coflow takes 2.50 s in the mean over 6 runs, and 2.00 times as long under a"},
		{"too few runs", []Policy{mean("a", 1), mean("b", 9)}, runs([]float64{4, 5, 6}, []float64{2, 2.6, 2.9}),
			"No winner: coflows take 2.50 s in the mean under b and 5.00 s under a over 3 runs, but 3 runs can differ " +
				"like that by chance (p = 0.250)."},
		{"runs differ", []Policy{mean("a", 1), mean("b", 9)}, runs([]float64{4, 2, 6}, []float64{2, 4, 5}),
			"No winner: coflows take 3.67 s in the mean under b and 4.00 s under a over 3 runs, but the 95 % interval " +
				"of their ratio, "},
	} {
		r := &Report{Policies: tc.rows}
		if tc.repeat != nil {
			r.Add(tc.repeat)
		}
		if got := r.Headline(); !strings.HasPrefix(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

// TestCommand: the page says how the run is repeated, without what says nothing.
func TestCommand(t *testing.T) {
	r := &Report{Manifest: &Manifest{Command: "replay", Commit: "0123", Changed: true,
		Settings: []Setting{{Flag: "coflows", Value: "0"}, {Flag: "fabric", Value: "hybrid:racks=4"},
			{Flag: "mtu", Value: "1500"}, {Flag: "seed", Value: "1"},
			{Flag: "trace", Value: "t.txt"}}}}
	if got, want := r.command(), "lightloom replay --trace t.txt --fabric hybrid:racks=4 --seed 1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := r.commit(); got != "0123, with changes" {
		t.Errorf("%q", got)
	}
}

// TestCSV: the tables beside a report hold a line for each row, and for each coflow of each row.
func TestCSV(t *testing.T) {
	dir := t.TempDir()
	if err := Summarise(Meta{}, two()).WriteDir(dir, &Run{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{policiesFile: 1 + 2, coflowsFile: 1 + 4} {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		lines, err := csv.NewReader(f).ReadAll()
		f.Close()
		if err != nil || len(lines) != want {
			t.Errorf("%s: %d lines, %v; want %d", name, len(lines), err, want)
		}
	}
}
