package switches

import (
	"strings"
	"testing"

	"lightloom/southbound"
)

// TestCircuitFiles: errors name file and line, and what to type.
func TestCircuitFiles(t *testing.T) {
	for text, says := range map[string]string{
		"in=0":                     "f:1: a line has in, out",
		"in=0 out=x":               "f:1: ports are numbers",
		"in=0 out=1\n\nin=0 out=2": "f:3: a port of it stands in line 1",
		"in=0 out=1 via=3":         "f:1: a line has in, out",
	} {
		if _, err := parseCircuits("f", strings.NewReader(text)); err == nil ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %q", text, err, says)
		}
	}
}

func FuzzCircuitFile(f *testing.F) {
	f.Add("in=0 out=3\nin=1 out=2 # x\n")
	f.Fuzz(func(t *testing.T, text string) {
		all, err := parseCircuits("f", strings.NewReader(text))
		ins := map[southbound.Port]bool{}
		for _, x := range all {
			if ins[x.In] && err == nil {
				t.Fatalf("input %d twice", x.In)
			}
			ins[x.In] = true
		}
	})
}
