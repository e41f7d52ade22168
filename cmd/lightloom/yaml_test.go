package main

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/workload"
	"lightloom/pathmap/topo"
	"lightloom/southbound/inventory"
	"lightloom/southbound/marking"
	"lightloom/southbound/yamlfile"
)

// TestDeepYAML: whatever reads YAML refuses lists within lists without end, at once and by its line. Nested
// so, 96 kB took 1.4 GB to parse, and twice as much takes four times that.
func TestDeepYAML(t *testing.T) {
	fabric, err := topo.ParseSpec("hybrid:racks=2,hosts=1")
	if err != nil {
		t.Fatal(err)
	}
	net, err := topo.New(fabric)
	if err != nil {
		t.Fatal(err)
	}
	readers := map[string]func(data []byte) error{
		"fabric":    func(data []byte) error { _, err := topo.ParseYAML("deep.yaml", data); return err },
		"lab":       func(data []byte) error { _, err := topo.LabNodes("deep.yaml", data); return err },
		"jobs":      func(data []byte) error { _, err := workload.ReadJobs("deep.yaml", data); return err },
		"inventory": func(data []byte) error { _, err := inventory.Parse("deep.yaml", data, net); return err },
		"record":    func(data []byte) error { _, err := inventory.ParseRecord(string(data)); return err },
		"marking":   func(data []byte) error { _, err := marking.Parse("deep.yaml", data); return err },
		"others": func(data []byte) error {
			_,
				err := yamlfile.Decode("deep.yaml", data, new(any))
			return err
		},
	}
	for _, unit := range []string{"[", "{a: ", "- ", "? - ", "- !a ", `["]", `, `{"}": `, "[ #]\n"} {
		data := []byte("\n" + strings.Repeat(unit, 20_000/len(unit)))
		for _, name := range slices.Sorted(maps.Keys(readers)) {
			if err := readers[name](data); err == nil ||
				!strings.Contains(err.Error(), "lists within each other") {
				t.Errorf("%s of %q: %.200v", name, unit, err)
			}
		}
	}
}

// TestYAMLIsChecked: who parses YAML has its nesting checked before.
func TestYAMLIsChecked(t *testing.T) {
	root := repository(t)
	parses := regexp.MustCompile(`\bparser\.Parse(Bytes|File)\(|\byaml\.(NewDecoder|Unmarshal\w*)\(`)
	for _, name := range goFiles(t, root) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") && strings.Contains(string(text), "goccy/go-yaml") &&
			parses.Match(text) && !strings.Contains(string(text), "plaintext.CheckNesting(") {
			t.Errorf("%s parses YAML without a check of its nesting", name)
		}
	}
}
