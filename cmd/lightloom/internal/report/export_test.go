package report

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
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
		if got := column(t, to, "policies.csv", "cct_seconds.mean")[i]; got != mean {
			t.Errorf("%s: the mean CCT is %s, not %s", r.Policies[i].Name, got, mean)
		}
	}
	if got := len(column(t, to, "jobs.csv", "took_seconds")); got != jobs || jobs == 0 {
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
	if got := column(t, to, "report.csv", "key"); !slices.Contains(got, "fabric.racks") {
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
