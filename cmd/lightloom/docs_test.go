package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestDocumentedCommands gives every lightloom command line of the documents to the parser: what a reader types is
// understood.
func TestDocumentedCommands(t *testing.T) {
	root := repository(t)
	for _, doc := range []string{"README.md", "docs/ARCHITECTURE.md", "docs/ADDING.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, line := range strings.Split(string(text), "\n") {
			line, _, _ = strings.Cut(line, "  #")
			command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ ")
			command = strings.TrimPrefix(command, "go run ./cmd/")
			if args := strings.Fields(command); ok && len(args) > 0 && args[0] == "lightloom" {
				found++
				r := &recorder{}
				if status, _, stderr := r.run(args[1:]...); status != 0 || r.asked == "" {
					t.Errorf("%s: %q: status %d: %s", doc, command, status, stderr)
				}
			}
		}
		if doc == "README.md" && found < 6 {
			t.Errorf("%s: %d commands were found", doc, found)
		}
	}
}

// TestDocumentedPaths: what the documents point at is there.
func TestDocumentedPaths(t *testing.T) {
	root := repository(t)
	ours := regexp.MustCompile("`((?:pathmap|southbound|controller|emulator|cmd|docs)/[a-z0-9_/.]*)`|\\]\\(([^)#:]+)\\)")
	for _, doc := range []string{"README.md", "docs/ARCHITECTURE.md", "docs/ADDING.md"} {
		text, err := os.ReadFile(filepath.Join(root, doc))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range ours.FindAllStringSubmatch(string(text), -1) {
			path := filepath.Join(root, m[1])
			if m[2] != "" {
				path = filepath.Join(root, filepath.Dir(doc), m[2])
			}
			if strings.HasSuffix(m[1], "/spread.go") { // ADDING's example, which the reader writes
				continue
			}
			if _, err := os.Stat(path); err != nil {
				t.Errorf("%s names %s, which is not there", doc, m[0])
			}
		}
	}
}

// TestPolicyHelp: -h lists what package policy has.
func TestPolicyHelp(t *testing.T) {
	r := &recorder{}
	_, help, _ := r.run("replay", "-h")
	for _, name := range []string{"crosslayer+sunflow ", "  place        random ", "  light        sunflow ", "place+route  crosslayer "} {
		if !strings.Contains(help, name) {
			t.Errorf("replay -h does not list %q:\n%s", name, help)
		}
	}
}
