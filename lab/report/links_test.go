package report

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
)

// TestUtilisation: shares follow from bytes, capacities and times; the file has every link and time.
func TestUtilisation(t *testing.T) {
	job := JobResult{ID: controller.JobID(0), End: 2 * time.Second}
	loads := &LinkLoads{Links: []LoadedLink{{"tor0", "spine0", 8 * pathmap.Mbps},
		{"spine0", "tor0", 8 * pathmap.Mbps}},
		At: []time.Duration{0, time.Second, 2 * time.Second}, Bytes: [][]pathmap.Bytes{{0, 100}, {500_000, 100},
			{1_500_000, 200_100}}}
	for _, tc := range []struct {
		name     string
		links    *LinkLoads
		circuits []CircuitInterval
		want     *Utilisation
	}{
		{"not read", nil, nil, nil},
		{"read once", &LinkLoads{Links: loads.Links, At: loads.At[:1], Bytes: loads.Bytes[:1]}, nil, nil},
		{"without circuits", loads, nil, &Utilisation{2, 0.425, 0.75, "tor0→spine0", 0}},
		{"two ports, one of them half of the time", loads, []CircuitInterval{
			{In: 0, InService: time.Second, End: 2 * time.Second}, {In: 1, End: 2 * time.Second},
			{In: 1, InService: 3 * time.Second, End: 2 * time.Second}}, &Utilisation{2, 0.425, 0.75, "tor0→spine0", 0.75}},
	} {
		p := PolicyResult{Name: "a", Jobs: []JobResult{job}, Links: tc.links, Circuits: tc.circuits}
		got := p.utilisation()
		if (got == nil) != (tc.want == nil) || got != nil && *got != *tc.want {
			t.Errorf("%s: %+v, want %+v", tc.name, got, tc.want)
		}
	}

	r, dir := Summarise(Meta{}, []PolicyResult{{Name: "a", Jobs: []JobResult{job}, Links: loads},
		{Name: "b"}}),
		t.TempDir()
	if err := r.WriteDir(dir, &Run{Host: ThisHost()}); err != nil {
		t.Fatal(err)
	}
	if _, err := Export(dir, ""); err != nil {
		t.Fatal(err)
	}
	for _, in := range []string{dir, filepath.Join(dir, "csv")} {
		if got := column(t, in, linksFile, "utilisation"); !slices.Equal(got, []string{"0.5", "1", "0", "0.2"}) {
			t.Errorf("%s: %q", in, got)
		}
	}
	for _, l := range r.utilised() {
		if got := l.of(&r.Policies[1]); got != "–" {
			t.Errorf("%s of a row that was not read: %s", l.name, got)
		}
	}
	r = Summarise(Meta{}, []PolicyResult{{Name: "b"}})
	other := t.TempDir()
	if err := r.WriteDir(other, &Run{Host: ThisHost()}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(other, linksFile)); err == nil || len(r.utilised()) > 0 {
		t.Errorf("a report without such readings has %s, or lines of them: %v", linksFile, err)
	}
}
