package explain

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestScale: a file says that rates are divided, and nothing where they are not.
func TestScale(t *testing.T) {
	for name, want := range map[string]string{
		"why.txt":  "rates and bytes are those of the run: --scale 10 has divided them\n",
		"why.json": `{"what":"scale","scale":10}` + "\n",
	} {
		for by, want := range map[float64]string{10: want, 1: ""} {
			file := filepath.Join(t.TempDir(), name)
			x, err := Create(file)
			if err != nil {
				t.Fatal(err)
			}
			x.Scale(by)
			if err := x.Close(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(file)
			if err != nil || string(got) != want {
				t.Errorf("%s by %v: %q, %v; want %q", name, by, got, err, want)
			}
			if filepath.Ext(name) == ".json" && len(got) > 0 && !json.Valid(got) {
				t.Errorf("%q is no JSON", got)
			}
		}
	}
	(*Writer)(nil).Scale(10)
}
