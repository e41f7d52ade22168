package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/hint"
)

func TestOpenFolder(t *testing.T) {
	const jobs = "jobs:\n  - name: a\n    stages: [{name: a, tasks: 1}]\n"
	for _, tc := range []struct {
		name  string
		files map[string]string // nil: there is no directory
		want  []string          // files found, or what the error or its hint says
		wrong bool
	}{
		{"all three", map[string]string{"fabric.yaml": "x", "jobs.yaml": jobs, "faults.txt": "x", "README": "x"},
			[]string{"fabric.yaml", "jobs.yaml", "faults.txt"}, false},
		{"fabric alone", map[string]string{"fabric.yaml": "x"}, []string{"fabric.yaml", "", ""}, false},
		{"no fabric", map[string]string{"jobs.yaml": jobs}, []string{"no fabric.yaml", "faults.txt"}, true},
		{"jobs with a mistake", map[string]string{"fabric.yaml": "x", "jobs.yaml": "jobs: [{nome: a}]\n"},
			[]string{"jobs.yaml:1", "nome"}, true},
		{"no directory", nil, []string{"no such directory", "up --fabric"}, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "lab")
			if tc.files != nil {
				if err := os.Mkdir(dir, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			for name, text := range tc.files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			f, err := OpenFolder(dir)
			if (err != nil) != tc.wrong {
				t.Fatalf("%+v, %v", f, err)
			}
			if tc.wrong {
				for _, want := range tc.want {
					if got := err.Error() + "\n" + hint.Of(err); !strings.Contains(got, want) {
						t.Errorf("%q does not say %q", got, want)
					}
				}
				return
			}
			for i, got := range []string{f.Fabric, f.Jobs, f.Faults} {
				if want := tc.want[i]; got != want && got != filepath.Join(dir, want) {
					t.Errorf("%q, want %q", got, want)
				}
			}
		})
	}
	if _, err := OpenFolder("https://example.org/lab.git"); err == nil ||
		!strings.Contains(hint.Of(err), "git clone") {
		t.Errorf("an address: %v", err)
	}
}
