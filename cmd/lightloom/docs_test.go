package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lightloom/controller/policy"
)

// documents are the pages whose commands and paths are checked. Those of tasks.md and coming-from.md are run:
// TestTasks.
func documents() []string {
	return []string{"README.md", "docs/ARCHITECTURE.md", "docs/ADDING.md", "docs/reference.md",
		"docs/GLOSSARY.md"}
}

// TestDocumentedCommands parses every lightloom command line of the documents, so that what a reader types is accepted.
func TestDocumentedCommands(t *testing.T) {
	root := repository(t)
	for _, doc := range documents() {
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
				if slices.Contains(args, "-d") {
					t.Errorf("%s: %q starts this test again: run it in a script, as TestTasks' pages do", doc, command)
					continue
				}
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

// TestDocumentedPaths: every path that the documents name exists.
func TestDocumentedPaths(t *testing.T) {
	root := repository(t)
	ours := regexp.MustCompile("`((?:pathmap|southbound|controller|emulator|lab|cmd|docs)/[a-z0-9_/.]*)`" +
		`|\]\(([^)#:]+)\)`)
	for _, doc := range documents() {
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

// TestDocumentedNames: "`Type.Name` in `file.go`" of ARCHITECTURE and ADDING names a declaration or a field of that
// file.
func TestDocumentedNames(t *testing.T) {
	root := repository(t)
	for _, doc := range []string{"docs/ARCHITECTURE.md", "docs/ADDING.md"} {
		found := regexp.MustCompile("`([A-Za-z.]+)`\\s+in\\s+`([a-z0-9_/]+\\.go)`").FindAllStringSubmatch(
			read(t, filepath.Join(root, doc)), -1)
		if len(found) < 15 {
			t.Errorf("%s: %d names were found", doc, len(found))
		}
		for _, m := range found {
			owner, name, _ := strings.Cut(m[1], ".")
			declared := `(?m)^(func|type|const) ` + owner + `\b|^\t` + owner + ` += `
			if name != "" {
				declared = `(?m)^func \(\w+ \*?` + owner + `\) ` + name + `\(|^\t` + name + ` `
			}
			if !regexp.MustCompile(declared).MatchString(read(t, filepath.Join(root, m[2]))) {
				t.Errorf("%s names %s in %s, which does not declare it", doc, m[1], m[2])
			}
		}
	}
}

// TestDocumentLinks: every link of a page of docs, or of one at the top, leads to a file.
func TestDocumentLinks(t *testing.T) {
	root := repository(t)
	pages, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	walk := func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	}
	if err := filepath.WalkDir(filepath.Join(root, "docs"), walk); err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		for _, m := range regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)`).FindAllStringSubmatch(read(t, page), -1) {
			if strings.HasPrefix(m[1], "http") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s links to %s, which is not there", page, m[1])
			}
		}
	}
}

// TestGlossary: the page of words has at most 40 terms, each once, and what its last column names is in the code.
func TestGlossary(t *testing.T) {
	root := repository(t)
	var code strings.Builder
	for _, name := range goFiles(t, root) {
		if !strings.HasSuffix(name, "_test.go") {
			code.WriteString(read(t, filepath.Join(root, name)))
		}
	}

	span := regexp.MustCompile("`([^`]+)`")
	terms := map[string]bool{}
	for line := range strings.Lines(read(t, filepath.Join(root, "docs", "GLOSSARY.md"))) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " **") {
			continue
		}
		if terms[cells[1]] {
			t.Errorf("%s is there twice", cells[1])
		}
		terms[cells[1]] = true
		named := span.FindAllStringSubmatch(cells[3], -1)
		if len(named) == 0 {
			t.Errorf("%s: where is it met?", cells[1])
		}
		for _, m := range named {
			if word := inCode(m[1]); !strings.Contains(code.String(), word) {
				t.Errorf("%s is said to be met in %s, but no code has %q", cells[1], m[1], word)
			}
		}
	}
	if len(terms) < 30 || len(terms) > 40 {
		t.Errorf("%d terms", len(terms))
	}
}

// inCode is how the code writes what the glossary names: a flag by its name, a command by its last word, a key of a
// fabric as in a YAML file, a metric without the prefix of all metrics.
func inCode(word string) string {
	if flag, ok := strings.CutPrefix(word, "--"); ok {
		return `"` + flag + `"`
	}
	word = word[strings.LastIndex(word, " ")+1:]
	return strings.TrimPrefix(strings.TrimSuffix(word, "="), "lightloom_")
}

// TestBenchTraces: every page of bench names its trace, for conclusions can turn on another one of the same kind: a
// public one, the demo's synthetic jobs, what the page says it draws, or none.
func TestBenchTraces(t *testing.T) {
	root := repository(t)
	pages, err := filepath.Glob(filepath.Join(root, "docs", "bench", "*", "README.md"))
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	named := regexp.MustCompile(`FB2010-1Hr-150-0|FB-2009_samples_24_times_1hr_0|\bsynthetic (jobs|workload)|` +
		`--trace synthetic|Trace: (none|drawn)\b`)
	for _, page := range pages {
		if !named.MatchString(read(t, page)) {
			t.Errorf("%s names no trace: write its file, or Trace: drawn, or Trace: none", page)
		}
	}
}

// TestPolicyHelp: -h lists the policies that users meet first, and policies lists them and all parts.
func TestPolicyHelp(t *testing.T) {
	r := &recorder{}
	_, help, _ := r.run("replay", "-h")
	for _, p := range policy.All() {
		if !strings.Contains(help, "  "+p.Name+" ") {
			t.Errorf("replay -h does not list %q:\n%s", p.Name, help)
		}
	}
	if n := strings.Count(help, "\n"); n > 120 {
		t.Errorf("replay -h has %d lines: flags are hard to find", n)
	}
	_, list, _ := r.run("policies")
	for _, p := range policy.Parts() {
		if !strings.Contains(list, " "+p.Name+" ") {
			t.Errorf("policies does not list %q:\n%s", p.Name, list)
		}
	}
	_, want, _ := r.run("policy", "list", "-o", "json")
	for _, name := range []string{"policies", "policy"} {
		if status, got, stderr := r.run(name, "-o", "json"); status != statusOK || got != want {
			t.Errorf("%s -o json: status %d, %q, prints\n%s", name, status, stderr, got)
		}
	}
}

// TestDocumentedTests: every test that faults.md names is there.
func TestDocumentedTests(t *testing.T) {
	root := repository(t)
	var all strings.Builder
	if err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, "_test.go") {
			all.WriteString(read(t, path))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	page := read(t, filepath.Join(root, "docs", "faults.md"))
	named := regexp.MustCompile("`(Test\\w+)`").FindAllStringSubmatch(page, -1)
	if len(named) < 30 {
		t.Errorf("%d tests are named", len(named))
	}
	for _, m := range named {
		if !strings.Contains(all.String(), "\nfunc "+m[1]+"(t *testing.T) {") {
			t.Errorf("faults.md names %s, which is not there", m[1])
		}
	}
}

// TestMininetReadmeParses: the lightloom command lines of mininet/README.md are understood.
func TestMininetReadmeParses(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "mininet", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(string(text)) {
		args, ok := strings.CutPrefix(line, "$ lightloom ")
		if !ok {
			continue
		}
		found++
		c, rest, err := newRoot(commandActions(), nil, nil, io.Discard, io.Discard).Find(strings.Fields(args))
		if err == nil && !c.Runnable() {
			err = errors.New("it runs nothing")
		}
		if err == nil {
			err = c.ParseFlags(rest)
		}
		if err != nil {
			t.Errorf("lightloom %s: %v", args, err)
		}
	}
	if found < 4 {
		t.Errorf("%d commands were found", found)
	}
}
