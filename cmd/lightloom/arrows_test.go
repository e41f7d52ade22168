package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "lightloom"

// arrow lists the packages that a package can import beside itself, and the reason why no others.
type arrow struct {
	room string
	may  []string
	why  string
}

// arrows are DESIGN's: lab joins controller and emulator, which share only southbound's types; cmd has
// the commands.
func arrows() []arrow {
	return []arrow{
		{"pathmap", nil, "paths and units are the ground floor: everything stands on them, so they stand on nothing of ours"},
		{"southbound", []string{"pathmap"}, "what can be touched must not know who touches it, or real switches could not " +
			"stand behind it"},
		{"controller", []string{"southbound", "pathmap"},
			"the controller never knows which fabric it drives: the same " +
				"policy code runs on all three, so that results can be compared"},
		{"emulator", []string{"southbound", "pathmap"},
			"a fabric that knew the controller would prove nothing about real " +
				"switches: they meet in southbound's words, and lab introduces them"},
		{"documents.go", nil, "it holds the documents, and nothing else"},
		{"mininet", []string{"southbound", "pathmap"}, "as the emulator"},
		{"lab", []string{"controller", "emulator", "southbound", "pathmap"},
			"runs are driven from Go programs too, " +
				"which have no command line"},
		{"docs", []string{"lab", "controller", "southbound"},
			"a program of a user's drives runs as lab offers them"},
		{"cmd", []string{"lab", "controller", "emulator", "mininet", "southbound", "pathmap"}, ""},
	}
}

// TestArrows reads the imports of every package in this process, so that no tool's cached result is used.
func TestArrows(t *testing.T) {
	root := repository(t)
	seen := map[string]bool{}
	for _, f := range goFiles(t, root) {
		room, _, _ := strings.Cut(f, "/")
		i := slices.IndexFunc(arrows(), func(a arrow) bool { return a.room == room })
		if i < 0 {
			t.Errorf("%s stands in %q, which is no room of the house: put it in one, or add the room to arrows()", f, room)
			continue
		}
		seen[room] = true
		a := arrows()[i]
		for _, imported := range imports(t, filepath.Join(root, f)) {
			ours, ok := strings.CutPrefix(imported, module+"/")
			if !ok {
				continue
			}
			if to, _, _ := strings.Cut(ours, "/"); to != room && !slices.Contains(a.may, to) {
				t.Errorf("%s imports %s: %s may import %q only, because %s", f, imported, room, a.may, a.why)
			}
		}
	}
	for _, room := range []string{"pathmap", "southbound", "controller", "emulator", "lab", "cmd"} {
		if !seen[room] {
			t.Errorf("no file of %s was read: the test looks in the wrong place", room)
		}
	}
}

// TestNoInit: nothing runs before main. Generated code is exempt.
func TestNoInit(t *testing.T) {
	root := repository(t)
	for _, f := range goFiles(t, root) {
		if strings.HasSuffix(f, "_test.go") || strings.HasSuffix(f, ".pb.go") ||
			strings.HasSuffix(f, ".connect.go") {
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, f))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "\nfunc init()") {
			t.Errorf("%s has an init function: hand in what it makes instead", f)
		}
	}
}

// TestNoReplace: a replace directive breaks `go install lightloom/cmd/lightloom@latest`.
func TestNoReplace(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(repository(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(string(text), "\n") {
		if f := strings.Fields(line); len(f) > 0 && f[0] == "replace" {
			t.Errorf("go.mod:%d: %s: go install of this module would refuse it", i+1, line)
		}
	}
}

// repository returns the folder that holds go.mod.
func repository(t *testing.T) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
	}
	t.Fatal("no go.mod above the working directory")
	return ""
}

// goFiles returns every Go file's path below root, with slashes.
func goFiles(t *testing.T, root string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
			name == "testdata"):
			return fs.SkipDir
		case !d.IsDir() && strings.HasSuffix(name, ".go"):
			rel, err := filepath.Rel(root, path)
			out = append(out, filepath.ToSlash(rel))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func imports(t *testing.T, path string) []string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, i := range f.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}
