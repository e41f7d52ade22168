package explain

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"lightloom/controller/policy/route"
	"lightloom/controller/topoeng"
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

// TestClearance: a schedule's line has its bound and what it is above it, in seconds.
func TestClearance(t *testing.T) {
	var l Line
	l.why(nil, route.Why{Clearance: &route.ClearanceWhy{Makespan: topoeng.Certificate{Value: 1.2e9, Bound: 1e9}, Pairs: 7,
		Reserved: 800 * time.Millisecond}})
	want := Clearance{All: Certificate{Value: 1.2, Bound: 1}, Gap: 0.2, Pairs: 7, Reserved: 0.8}
	if got := l.Clearance; got == nil || math.Abs(got.Gap-want.Gap) > 1e-9 || l.What != "clearance" ||
		got.All != want.All || got.Pairs != want.Pairs || got.Reserved != want.Reserved {
		t.Errorf("%+v, want %+v", got, want)
	}
	text := "circuits carry what 7 pairs of racks have after 1.2 s, 20 % above the bound of 1 s, which counts one " +
		"circuit for each pair and the shortest delay for each new one; the first 0.8 s are reserved"
	if got := l.Clearance.String(); got != text {
		t.Errorf("%s\nwant %s", got, text)
	}
}
