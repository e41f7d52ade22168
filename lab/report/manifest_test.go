package report

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadWhatIsWritten(t *testing.T) {
	dir := t.TempDir()
	rep := sample(1)
	rep.Manifest = &Manifest{Format: Format, Version: "v", Command: "replay",
		Settings: []Setting{{Flag: "seed", Value: "1"}},
		Inputs:   []Input{{"trace", "t.txt", 3, "00ff"}}, Seeds: []uint64{1}, Fabric: "crossbar:ports=4"}
	if err := rep.WriteDir(dir, &Run{Version: "v", Inputs: []Place{{"t.txt", "/t.txt"}}}); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "report.json")} {
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		a, err := got.JSON()
		if err != nil {
			t.Fatal(err)
		}
		b, err := rep.JSON()
		if err != nil || string(a) != string(b) {
			t.Errorf("%s reads as another report (%v)", path, err)
		}
		if err := got.Manifest.Check(); err != nil {
			t.Error(err)
		}
	}
	if run, err := ReadRun(dir); err != nil || len(run.Inputs) != 1 {
		t.Errorf("%+v, %v", run, err)
	}
}

func TestReadBadReports(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "it is empty"},
		{"cut short", `{"policies": [`, "it ends in the middle"},
		{"no JSON", "{\n x", "line 2: invalid character 'x'"},
		{"another kind", "{\"format\":2,\"seed\":\n\"one\"}", "line 2: json: cannot unmarshal"},
		{"no format", `{"version":"0.1.1","policies":[{"name":"a"}]}`, `of format 1, written by version "0.1.1", and this ` +
			"lightloom reads format 2: take version 0.1.1"},
		{"a later format", `{"format":3,"version":"9"}`, `take the version that wrote it`},
		{"a key of no report", `{"format":2,"polices":[]}`, `unknown field "polices"`},
		{"two reports", `{"policies":[{"name":"a"}]} {}`, "line 1: more follows"},
		{"no policies", `{"format":2}`, "holds no policies"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "report.json")
			if err := os.WriteFile(file, []byte(tc.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if _, err := Read(file); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

func TestDifferences(t *testing.T) {
	const a = `{"same": 1, "n": 1.0, "list": [1, 2, {"x": "y"}], "gone": null, "only": true, "kind": {}}`
	const b = `{"same": 1, "n": 1, "list": [1, 3], "kind": [], "new": "` + "z" + `"}`
	lines, places, err := Differences([]byte(a), []byte(b), 3)
	if err != nil {
		t.Fatal(err)
	}
	// A null and an absence are the same nothing; 1.0 and 1 are written differently, and reports are compared as written.
	want := []string{"kind: a list, was an object", "list: \"2 entries\", was \"3 entries\"",
		"list[1]: 3, was 2"}
	if places != 6 || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("%d places:\n%s", places, strings.Join(lines, "\n"))
	}
	if _, _, err := Differences([]byte("{"), []byte(b), 3); err == nil {
		t.Error("half a report was compared")
	}
}

// FuzzDecode: whatever a report.json holds, reading it ends in a report or in an error.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"format":2,"policies":[{"name":"a","cct_seconds":{"mean":1}}],"manifest":{"format":2}}`))
	f.Add([]byte("{\n\"seed\": -1}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var r Report
		if decode(b, &r, true) == nil {
			_ = r.Manifest.Check()
		}
	})
}

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
