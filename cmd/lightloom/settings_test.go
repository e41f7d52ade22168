package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"lightloom/cmd/lightloom/internal/scenario"
)

// TestFilesAreKnown: a flag of replay or demo that names a file is either hashed by manifests, or names where results
// go. With any other, rerun would run other jobs.
func TestFilesAreKnown(t *testing.T) {
	root := newRoot(wired(), nil, strings.NewReader(""), io.Discard, io.Discard)
	for _, name := range []string{"replay", "demo"} {
		c, _, err := root.Find([]string{name})
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.Contains(strings.ToLower(f.Usage), "file") && !scenario.ReadsFile(f.Name) &&
				!slices.Contains(resultFlags(), f.Name) {
				t.Errorf("--%s of %s: %q: list it in run.ReadsFile or in resultFlags", f.Name, name, f.Usage)
			}
		})
	}
}
