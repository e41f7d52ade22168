package main

import (
	"bufio"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// Sizes of packages, structs and lines that a reader can still keep in mind.
const (
	mostLines   = 5000 // of a package, tests aside
	mostFields  = 25   // of a struct that does things
	mostColumns = 120
)

// TestInnerArrows checks the imports within cmd: a scenario is plain data and imports no testbed, and no testbed
// imports another.
func TestInnerArrows(t *testing.T) {
	root := repository(t)
	const inner = "cmd/lightloom/internal/"
	for _, f := range goFiles(t, root) {
		room, ok := strings.CutPrefix(path.Dir(f), inner)
		if !ok || strings.HasSuffix(f, "_test.go") {
			continue
		}
		for _, imported := range imports(t, filepath.Join(root, f)) {
			to, ok := strings.CutPrefix(imported, module+"/"+inner)
			_, sub, _ := strings.Cut(to, "testbed/")
			switch {
			case !ok:
			case room == "scenario" && strings.HasPrefix(to, "testbed"):
				t.Errorf("%s imports %s: a scenario is plain data, which runs on any testbed", f, imported)
			case strings.HasPrefix(room, "testbed/") && sub != "" && sub != strings.TrimPrefix(room, "testbed/"):
				t.Errorf("%s imports %s: testbeds share package testbed and nothing else", f, imported)
			}
		}
	}
}

// TestOwnNames: every import uses the package's own name. Generated code is exempt.
func TestOwnNames(t *testing.T) {
	root := repository(t)
	for _, name := range goFiles(t, root) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			p, _ := strconv.Unquote(i.Path.Value)
			if i.Name != nil && strings.HasPrefix(p, module+"/") && p != module+"/controller/api/v1" && !generated(name) {
				t.Errorf("%s imports %s as %s: call it by its own name", name, p, i.Name.Name)
			}
		}
	}
}

// TestSizes bounds packages, structs and lines.
func TestSizes(t *testing.T) {
	root := repository(t)
	lines := map[string]int{}
	for _, name := range goFiles(t, root) {
		if generated(name) {
			continue
		}
		n := columns(t, root, name)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		lines[path.Dir(name)] += n
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if st, ok := s.Type.(*ast.StructType); ok {
					id := path.Dir(name) + "." + s.Name.Name
					if n := st.Fields.NumFields(); n > mostFields {
						t.Errorf("%s has %d fields: split it by concern, at most %d", id, n, mostFields)
					}
				}
			}
			return true
		})
	}
	for dir, n := range lines {
		if n > mostLines {
			t.Errorf("package %s has %d lines: split it, at most %d", dir, n, mostLines)
		}
	}
}

// columns counts a file's lines, and reports those that are too wide.
func columns(t *testing.T, root, name string) (n int) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		if n++; utf8.RuneCountInString(s.Text()) > mostColumns {
			t.Errorf("%s:%d: more than %d columns", name, n, mostColumns)
		}
	}
	return n
}

func generated(name string) bool {
	return strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".connect.go") || strings.Contains(name, "_bpfel")
}
