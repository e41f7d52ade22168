package report

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

func column(t *testing.T, dir, file, name string) (all []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(strings.NewReader(string(b))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(lines[0], name)
	if at < 0 {
		t.Fatalf("%s has no column %s: %q", file, name, lines[0])
	}
	for _, l := range lines[1:] {
		all = append(all, l[at])
	}
	return all
}

func TestExport(t *testing.T) {
	dir := t.TempDir()
	r := sample(1)
	if err := r.WriteDir(dir, &Run{Host: ThisHost()}); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "new", "tables")
	for _, path := range []string{dir, filepath.Join(dir, "report.json")} {
		x, err := Export(path, to)
		if err != nil || x.Dir != to || x.Tables[0].File != "report.csv" {
			t.Fatalf("%+v, %v", x, err)
		}
	}
	jobs, circuits := 0, 0
	for i := range r.Policies {
		jobs += len(r.Policies[i].Jobs)
		circuits += len(r.results[i].Circuits)
		mean := strconv.FormatFloat(r.Policies[i].CCT.Mean, 'g', -1, 64)
		if got := column(t, to, "policies.csv", "cct_seconds_mean")[i]; got != mean {
			t.Errorf("%s: the mean CCT is %s, not %s", r.Policies[i].Name, got, mean)
		}
	}
	if got := len(column(t, to, "jobs.csv", "jct_seconds")); got != jobs || jobs == 0 {
		t.Errorf("%d jobs, not %d", got, jobs)
	}
	if got := len(column(t, to, "circuits.csv", "in_service_seconds")); got != circuits || circuits == 0 {
		t.Errorf("%d circuits, not %d", got, circuits)
	}
	for _, name := range []string{"in_service_share", "reconfiguring_share"} {
		for _, v := range column(t, to, "ports.csv", name) {
			if f, err := strconv.ParseFloat(v, 64); err != nil || f < 0 || f > 1 {
				t.Errorf("%s is %s", name, v)
			}
		}
	}
	if got := len(column(t, to, "series.csv", "coflows")); got != len(r.Policies)*(instants+1) {
		t.Errorf("%d instants", got)
	}
	for _, file := range []string{"jobs.csv", "circuits.csv", "ports.csv", "series.csv"} {
		if got := column(t, to, file, "seed"); slices.Compact(got)[0] != strconv.FormatUint(r.Seed, 10) {
			t.Errorf("%s is of seeds %q", file, slices.Compact(got))
		}
	}
	if got := column(t, to, "report.csv", "key"); !slices.Contains(got, "fabric_racks") {
		t.Errorf("report.csv has %q", got)
	}
}

func TestExportErrors(t *testing.T) {
	dir := t.TempDir()
	if err := sample(1).WriteDir(dir, &Run{}); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(filepath.Join(dir, "none"), ""); err == nil {
		t.Error("a report that is not there was exported")
	}
	if _, err := Export(dir, filepath.Join(dir, "report.json")); err == nil ||
		!strings.Contains(err.Error(), "report.json") {
		t.Errorf("a file as folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "circuits.csv"), []byte("a,b\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(dir, ""); err == nil || !strings.Contains(err.Error(), "line 1") {
		t.Errorf("other circuits: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, "circuits.csv")); err != nil {
		t.Fatal(err)
	}
	if x, err := Export(dir, ""); err != nil || slices.ContainsFunc(x.Tables, func(e ExportedTable) bool {
		return e.File == "circuits.csv"
	}) {
		t.Errorf("a report of before circuits.csv: %+v, %v", x, err)
	}
}

// sheets are tables as text: of each its name, its columns, and its rows' cells in the order of columns.
func sheets(x *exporter) (out []string) {
	for _, s := range x.sheets {
		text := s.name + ": " + strings.Join(s.columns, " ")
		for _, r := range s.rows {
			var cells []string
			for _, c := range s.columns {
				cells = append(cells, r[c])
			}
			text += "; " + strings.Join(cells, " ")
		}
		out = append(out, text)
	}
	return out
}

// TestTakenApart: single values are lines of their table, lists are tables, and their rows name what they are of.
func TestTakenApart(t *testing.T) {
	x := &exporter{}
	err := x.report([]byte(`{"title": "t", "seed": 4, "ratio": 1.50, "none": null, "sure": true,
		"fabric": {"racks": 8, "of": {"a": 1}}, "notes": ["n", 2], "losses": [], "policies": [
		{"name": "p", "cct": {"mean": 0.10}, "jobs": [{"id": 1}, {"id": 2, "parts": [{"at": 5}, 6]}],
			"coflows": [{"id": 8, "took_seconds": 1.0}, {"id": 9, "took_seconds": 2}]},
		{"name": "q", "extra": "e", "tags": [7]}],
		"repeat": {"shown": 4, "runs": [{"seed": 4, "order": ["q", "p"], "policies": [
			{"name": "p", "cct": {"mean": 3}, "cct_each_seconds": [1.0, 2]}]}]}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"report: key value; title t; seed 4; ratio 1.50; sure true; fabric_racks 8; fabric_of_a 1; " +
		"repeat_shown 4", "notes: value; n; 2", "policies: seed policy cct_mean extra; 4 p 0.10 ; 4 q  e",
		"jobs: seed policy job; 4 p 1; 4 p 2", "jobs.parts: seed policy at value; 4 p 5 ; 4 p  6",
		"coflows: seed policy coflow cct_seconds; 4 p 8 1.0; 4 p 9 2", "tags: seed policy value; 4 q 7",
		"repeat.runs: seed; 4", "repeat.runs.order: seed value; 4 q; 4 p",
		"repeat.runs.policies: seed policy cct_mean; 4 p 3",
		"repeat.coflows: seed policy coflow cct_seconds; 4 p 8 1.0; 4 p 9 2"}
	if got := sheets(x); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("tables\n%q, want\n%q", got, want)
	}
	o := object{{"a", "1"}, {"b", 2}}
	if o.text("b") != "2" || o.text("c") != "" || len(o.without("a")) != 1 ||
		o.without("a")[0].key != "b" || len(o) != 2 {
		t.Errorf("texts %q and %q, without a %v", o.text("b"), o.text("c"), o.without("a"))
	}
}

// TestNoObject: what is no JSON object, or ends too early, is refused.
func TestNoObject(t *testing.T) {
	for text, want := range map[string]string{"[1]": "it is no JSON object",
		"1": "it is no JSON object", "": "EOF",
		"{": "EOF", `{"a"`: "EOF", `{"a":`: "EOF", `{"a":1`: "EOF", `{"a":[`: "EOF", `{"a":[1`: "EOF", `{"a":[1}`: "invalid",
		"{1:2}": "invalid", `{"a":{"b":1]}`: "invalid"} {
		x := &exporter{}
		if err := x.report([]byte(text)); err == nil || !strings.Contains(err.Error(), want) ||
			len(x.sheets) != 0 {
			t.Errorf("%q: %v, want %q; tables %q", text, err, want, sheets(x))
		}
	}
}

// TestWriteTables: the files that were written are listed with their rows and columns, and cells without a value are
// empty.
func TestWriteTables(t *testing.T) {
	x := &exporter{}
	x.sheet("one").add([]field{{"a", "1"}, {"b", "2"}})
	x.sheet("one").add([]field{{"c", "x,y"}, {"a", "3"}})
	x.copied("two", []string{"d", "e"}, [][]string{{"4", "5"}})
	x.copied("none", []string{"d"}, nil)
	dir := filepath.Join(t.TempDir(), "new")
	got, err := x.write(dir)
	want := &Exported{Dir: dir, Tables: []ExportedTable{{"one.csv", 2, []string{"a", "b", "c"}},
		{"two.csv", 1, []string{"d", "e"}}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%+v, %v, want %+v", got, err, want)
	}
	for file, want := range map[string]string{"one.csv": "a,b,c\n1,2,\n3,,\"x,y\"\n",
		"two.csv": "d,e\n4,5\n"} {
		if b, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(b) != want {
			t.Errorf("%s is %q, %v, want %q", file, b, err, want)
		}
	}
	if err := os.Remove(filepath.Join(dir, "two.csv")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "two.csv", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	var disk *DiskError
	if _, err := x.write(dir); !errors.As(err, &disk) || disk.Dir != dir {
		t.Errorf("a folder in a file's place: %v", err)
	}
	if _, err := x.write(filepath.Join(dir, "one.csv")); !errors.As(err, &disk) || disk.Dir == dir {
		t.Errorf("a file in the folder's place: %v", err)
	}
}

// TestReadTable: a table that is not there is empty, and one that is broken or of other columns is refused with advice.
func TestReadTable(t *testing.T) {
	dir := t.TempDir()
	columns := []string{"a", "b"}
	path := filepath.Join(dir, "t.csv")
	if lines, err := readTable(path, columns); lines != nil || err != nil {
		t.Errorf("no file: %q, %v", lines, err)
	}
	const advice = ": run it again, or remove this file"
	quoted := "read table " + strconv.Quote(path) + ": "
	other := quoted + "line 1 is not a,b" + advice
	for text, want := range map[string]string{"a,b\n1,2\n": "", "a,b\n": "", "": other,
		"b,a\n1,2\n": other, "a\n": other,
		"a,b\n1\n": quoted + "record on line 2: wrong number of fields" + advice} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		lines, err := readTable(path, columns)
		if want == "" && (err != nil || len(lines) != strings.Count(text, "\n")-1) || want != "" &&
			(err == nil ||
				err.Error() != want) {
			t.Errorf("%q: %q, %v, want %q", text, lines, err, want)
		}
	}
	if _, err := readTable(filepath.Join(path, "x"), columns); !errors.Is(err, syscall.ENOTDIR) ||
		!strings.HasPrefix(err.Error(), "read table: open ") {
		t.Errorf("below a file: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, linksFile), []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Tables(dir); err == nil || !strings.Contains(err.Error(), linksFile) {
		t.Errorf("other links: %v", err)
	}
}
