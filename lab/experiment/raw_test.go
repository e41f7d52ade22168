package experiment

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "judge the committed raw figures again")

// TestRawVerdicts judges the committed figures by the rules of today, so that a verdict on a page never
// outlives its rule. Figures that no rule compares any more lose the document's figure.
func TestRawVerdicts(t *testing.T) {
	for _, pattern := range []string{"crosslayer/raw-*.csv", "coscheduler/raw-coscheduler*.csv",
		"dawn/raw-dawn*.csv", "pushbox/raw-pushbox*.csv"} {
		files, err := filepath.Glob(filepath.Join("../../docs/bench", pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no files: %v", pattern, err)
		}
		for _, name := range files {
			head, rows := readRaw(t, name)
			was := slices.Clone(rows)
			rejudge(filepath.Base(name), rows)
			if *update {
				writeRaw(t, name, head, rows)
				continue
			}
			for i := range rows {
				if rows[i].Verdict != was[i].Verdict || (rows[i].Paper == nil) != (was[i].Paper == nil) {
					t.Errorf("%s: %s, %s: committed as %q, the rules say %q (%s): run this test with -update", name,
						rows[i].Setting, rows[i].Metric, was[i].Verdict, rows[i].Verdict, rows[i].Note)
				}
			}
		}
	}
}

// readRaw returns the lines before the rows, and the rows.
func readRaw(t *testing.T, name string) (head []string, rows []Row) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	for strings.HasPrefix(text, "#") {
		line, rest, _ := strings.Cut(text, "\n")
		head, text = append(head, line), rest
	}
	lines, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	number := func(s string) *float64 {
		if s == "" {
			return nil
		}
		v, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return &v
	}
	for _, l := range lines[1:] {
		n, err := strconv.Atoi(l[8])
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, Row{Figure: l[0], Setting: l[1], Metric: l[2], Unit: l[3], Paper: number(l[4]),
			Measured: number(l[5]), Low: number(l[6]), High: number(l[7]), N: n, Verdict: Verdict(l[9]), Note: l[10]})
	}
	return head, rows
}

func writeRaw(t *testing.T, name string, head []string, rows []Row) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintln(f, strings.Join(head, "\n")); err != nil {
		t.Fatal(err)
	}
	if err := (&Page{Rows: rows}).CSV(f); err != nil {
		t.Fatal(err)
	}
}

var gapNote = regexp.MustCompile(`^(smaller by|larger by|undecided:) (\S+) % \((\S+) to (\S+)\)`)

// rejudge judges the rows of one file.
func rejudge(file string, rows []Row) {
	papers := map[string]*float64{} // of the document's whole system, by what it is compared in
	for i := range rows {
		r := &rows[i]
		if at, ok := wholeSystem(r.Setting); ok && r.Paper != nil {
			papers[at+r.Metric] = r.Paper
		}
	}
	for i := range rows {
		r := &rows[i]
		if strings.HasPrefix(file, "raw-crosslayer") {
			comparedAsPrinted(r, papers)
		}
		switch m := gapNote.FindStringSubmatch(r.Note); {
		case r.Verdict == NoTest && strings.HasPrefix(r.Note, "a network that costs nothing saves"): // by rows of runs
		case strings.HasSuffix(r.Figure, ", order") && m != nil:
			*r = r.JudgeOrder(gap(m))
		case strings.HasSuffix(r.Figure, ", trend"):
			*r = r.JudgeRise(strings.HasSuffix(r.Note, "falls"))
		case r.Metric == "time of a decision":
			r.Verdict = NoClaim
		case r.Metric == "worst job slower by":
			*r = r.JudgeAtMost(&rows[i-1], r.Note)
		case r.Paper != nil:
			*r = r.Judge(0, r.Note)
		case r.Measured != nil:
			r.Verdict = NoClaim
		}
	}
	if strings.HasPrefix(file, "raw-crosslayer-storm") || strings.HasPrefix(file, "raw-crosslayer-hadoop") {
		overHosts(rows)
	}
}

// gap is the row of a note on an order.
func gap(m []string) Row {
	var v [3]float64
	for i := range v {
		v[i], _ = strconv.ParseFloat(m[i+2], 64)
	}
	if m[1] == "larger by" {
		v = [3]float64{-v[0], -v[2], -v[1]}
	}
	return Row{Measured: &v[0], Low: &v[1], High: &v[2]}
}

// wholeSystem cuts the name of our default mode of both levels, or of the printed one, off a setting.
func wholeSystem(setting string) (at string, ok bool) {
	for _, name := range []string{", " + asPrinted + ", in either reading", ", " + asPrinted +
		", pairs of tasks do not share", ", " + asPrinted, ", both"} {
		if at, ok = strings.CutSuffix(setting, name); ok {
			return strings.Replace(at, " at 100 Mb/s", "", 1), true
		}
	}
	return "", false
}

// comparedAsPrinted leaves the document's figure on rows of the document's algorithm as printed alone,
// in both readings of its rates. Rows of throughput, and of systems without a mode, stay as they are.
func comparedAsPrinted(r *Row, papers map[string]*float64) {
	at, whole := wholeSystem(r.Setting)
	printed := slices.ContainsFunc([]string{", as printed", ", pairs of tasks share a path",
		", pairs of tasks do not share", ", in either reading", "crosslayer-paper", "random"},
		func(end string) bool { return strings.HasSuffix(r.Setting, end) })
	switch {
	case printed && whole:
		r.Paper = papers[at+r.Metric]
	case !printed && r.Metric != "time of a decision":
		r.Paper = nil
	}
}
