package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lightloom/lab/report"
)

// TestFilesAreKnown: a flag of replay or demo that names a file is either hashed by manifests, or names
// where results go. With any other, rerun would run other jobs.
func TestFilesAreKnown(t *testing.T) {
	root := newRoot(commandActions(), nil, strings.NewReader(""), io.Discard, io.Discard)
	for _, name := range []string{"replay", "demo"} {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(strings.ToLower(f.Usage), "file") && !marked(f, inputMark) &&
				!marked(f, placeMark) && f.Name != "config" {
				t.Errorf("--%s of %s: %q: mark it as an input, or as a place of results", f.Name, name, f.Usage)
			}
		})
	}
}

// TestNoteIsKept: what controller run is told of its testbed, such as Mininet's exchanged fibres, is
// among the settings that compare holds against each other.
func TestNoteIsKept(t *testing.T) {
	root := newRoot(commandActions(), nil, strings.NewReader(""), io.Discard, io.Discard)
	c, _, err := root.Find([]string{"controller", "run"})
	if err != nil {
		t.Fatal(err)
	}
	const note = "fibres 0 and 2 are swapped"
	if err := c.Flags().Set("note", note); err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(settings(c), report.Setting{Flag: "note", Value: note}) {
		t.Errorf("it is not among %v", settings(c))
	}
}
