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
		return Policy{Name: name, Completion: Completion{CCT: Seconds{Mean: mean}}, Slower: Slower{Count: slower, Of: 9}}
	}
	for _, tc := range []struct {
		name string
		rows []Policy
		want string
	}{
		{"none", nil, "Nothing was run."},
		{"one", []Policy{row("a", 2, 0)}, "a: coflows take 2.00 s in the mean"},
		{"another wins", []Policy{row("a", 2, 0), row("b", 0.5, 3), row("c", 1, 0)},
			"b wins: a coflow takes 0.500 s in the mean, and 4.00 times as long under a (the first row, 2.00 s). 3 of 9 " +
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
