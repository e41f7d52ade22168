package report

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestFigures: a report's figures are drawn as SVG and PDF, those alone that have values, and again to the byte.
func TestFigures(t *testing.T) {
	dir, to := t.TempDir(), filepath.Join(t.TempDir(), "new", "figures")
	r := sample(1)
	var runs []SeedRun
	for seed := range uint64(3) {
		run := SeedRun{Seed: seed + 1}
		for i := range r.Policies {
			run.Policies = append(run.Policies, Measure(&r.Policies[i]))
		}
		runs = append(runs, run)
	}
	r.Add(&Repeat{Seeds: []uint64{1, 2, 3}, Runs: runs})
	if err := r.WriteDir(dir, &Run{Host: ThisHost()}); err != nil {
		t.Fatal(err)
	}
	var first [][]byte
	for again := range 2 {
		files, err := Figures(dir, to)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i, f := range files {
			names = append(names, filepath.Base(f))
			b, err := os.ReadFile(f)
			if err != nil || !bytes.HasPrefix(b, []byte("<svg")) && !bytes.HasPrefix(b, []byte("%PDF-")) {
				t.Errorf("%s: %d bytes, %v", f, len(b), err)
			}
			if again == 0 {
				first = append(first, b)
			} else if !bytes.Equal(b, first[i]) {
				t.Errorf("%s is another file when it is drawn again", f)
			}
		}
		want := []string{"cct-distribution.svg", "cct-distribution.pdf", "jct-distribution.svg",
			"jct-distribution.pdf",
			"coflows-over-time.svg", "coflows-over-time.pdf", "circuits-over-time.svg", "circuits-over-time.pdf",
			"cct-by-seed.svg", "cct-by-seed.pdf"}
		if !slices.Equal(names, want) {
			t.Errorf("figures %q, want %q", names, want)
		}
	}
	if len(curve("", nil).X) != 0 {
		t.Error("no coflows have a distribution")
	}
	l := curve("", took([]Row{{Took: 2}, {Took: 1}, {Took: 9, Cancelled: true}}))
	if !slices.Equal(l.X, []float64{1, 1, 2}) || !slices.Equal(l.Y, []float64{0, 0.5, 1}) {
		t.Errorf("times of 2 s and 1 s, and a cancelled job, are distributed as %v, %v", l.X, l.Y)
	}
}
