package dissertation

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"lightloom/lab/experiment"
)

// TestRawVerdicts judges the committed figures by the rules of today, so that a verdict on the page
// never outlives its rule.
func TestRawVerdicts(t *testing.T) {
	files, err := filepath.Glob("../../../docs/bench/dissertation/*.csv")
	if err != nil || len(files) < 7 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		r := csv.NewReader(f)
		r.Comment = '#'
		lines, err := r.ReadAll()
		if f.Close(); err != nil || len(lines) < 2 {
			t.Fatalf("%s: %d lines: %v", name, len(lines), err)
		}
		for _, l := range lines[1:] {
			if got := judged(t, l).Verdict; string(got) != l[9] {
				t.Errorf("%s: %s, %s, %s: committed as %q, the rules say %q", name, l[0], l[1], l[2], l[9], got)
			}
		}
	}
}

// judged is a line of a file with the verdict that the rules give it.
func judged(t *testing.T, l []string) experiment.Row {
	t.Helper()
	number := func(s string) *float64 {
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			if s != "" {
				t.Fatal(err)
			}
			return nil
		}
		return &v
	}
	n, err := strconv.Atoi(l[8])
	if err != nil {
		t.Fatal(err)
	}
	r := experiment.Row{Figure: l[0], Metric: l[2], Paper: number(l[4]), Measured: number(l[5]),
		Low:  number(l[6]),
		High: number(l[7]), N: n, Note: l[10]}
	switch {
	case strings.HasSuffix(r.Figure, ", order"):
		var gap, low, high float64
		if _, err := fmt.Sscanf(r.Note, "smaller by %g %% (%g to %g)", &gap, &low, &high); err != nil {
			t.Fatalf("%q: %v", r.Note, err)
		}
		return r.JudgeOrder(experiment.Row{Measured: &gap, Low: &low, High: &high})
	case strings.HasSuffix(r.Figure, ", trend"):
		return r.JudgeRise(strings.HasSuffix(r.Note, "falls"))
	case strings.HasPrefix(r.Note, "alike means"):
		return judgeAlike(r)
	case strings.Contains(r.Metric, " ÷ "), strings.Contains(r.Metric, " less that of "):
		return r.JudgeAtMost(nil, "")
	}
	return r.Judge(0, "")
}
