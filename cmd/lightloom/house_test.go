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

// Sizes of functions, structs and lines that a reader can still keep in mind.
const (
	mostLines   = 60 // of a function, tests aside
	mostFields  = 25 // of a struct that does things
	mostColumns = 120
)

// TestInnerArrows checks the imports within lab: a scenario is plain data and imports no testbed, and
// no testbed imports another.
func TestInnerArrows(t *testing.T) {
	root := repository(t)
	const inner = "lab/"
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
			if i.Name != nil && strings.HasPrefix(p, module+"/") && p != module+"/controller/api/v1" &&
				!generated(name) {
				t.Errorf("%s imports %s as %s: call it by its own name", name, p, i.Name.Name)
			}
		}
	}
}

// TestSizes bounds functions, structs and lines. A package is as large as what it is about.
func TestSizes(t *testing.T) {
	t.Parallel()
	root := repository(t)
	for _, name := range goFiles(t, root) {
		if generated(name) {
			continue
		}

		columns(t, root, name)
		if strings.HasSuffix(name, "_test.go") {
			continue
		}

		set := token.NewFileSet()
		f, err := parser.ParseFile(set, filepath.Join(root, name), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if lines := set.Position(n.End()).Line - set.Position(n.Pos()).Line + 1; lines > mostLines {
					t.Errorf("%s: %s has %d lines: split it by what it does, at most %d", name, n.Name.Name,
						lines, mostLines)
				}
			case *ast.TypeSpec:
				if st, ok := n.Type.(*ast.StructType); ok && st.Fields.NumFields() > mostFields {
					t.Errorf("%s.%s has %d fields: split it by concern, at most %d", path.Dir(name), n.Name.Name,
						st.Fields.NumFields(), mostFields)
				}
			}
			return true
		})
	}
}

// columns reports the lines of a file that are too wide.
func columns(t *testing.T, root, name string) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s, n := bufio.NewScanner(f), 1; s.Scan(); n++ {
		if utf8.RuneCountInString(s.Text()) > mostColumns {
			t.Errorf("%s:%d: more than %d columns", name, n, mostColumns)
		}
	}
}

func generated(name string) bool {
	return strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".connect.go") ||
		strings.Contains(name, "_bpfel")
}

// TestSharesAreNotWaitedFor: no test that holds netnstest's Lock or Share has parallel tests within,
// which can wait for each other for ever. It goes through helpers, but not through methods.
func TestSharesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	root := repository(t)
	type function struct {
		dir  string
		body *ast.BlockStmt
	}
	functions := map[string]function{} // by package and name, such as "netnstest.Lock"
	for _, name := range goFiles(t, root) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil,
			parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil {
				dir := path.Base(path.Dir(name))
				functions[dir+"."+d.Name.Name] = function{dir, d.Body}
			}
		}
	}
	// calls tells whether a part of a function calls one of those found, outside of the tests within,
	// which run hands out.
	calls := func(dir string, part ast.Node, found map[string]bool, run func(*ast.FuncLit)) (is bool) {
		ast.Inspect(part, func(n ast.Node) bool {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			switch f := c.Fun.(type) {
			case *ast.Ident:
				is = is || found[dir+"."+f.Name]
			case *ast.SelectorExpr:
				x, _ := f.X.(*ast.Ident)
				is = is || x != nil && found[x.Name+"."+f.Sel.Name]
				if len(c.Args) == 2 && f.Sel.Name == "Run" {
					if lit, ok := c.Args[1].(*ast.FuncLit); ok {
						run(lit)
						return false
					}
				}
			}
			return true
		})
		return is
	}
	callers := func(of ...string) map[string]bool {
		found := map[string]bool{}
		for _, name := range of {
			found[name] = true
		}
		for before := 0; before < len(found); {
			before = len(found)
			for name, f := range functions {
				if calls(f.dir, f.body, found, func(*ast.FuncLit) {}) {
					found[name] = true
				}
			}
		}
		return found
	}
	hold, parallel := callers("netnstest.Lock", "netnstest.Share"), callers("t.Parallel")
	if !hold["mininet.newLaboratory"] || !parallel["labtest.ShareNetns"] {
		t.Error("known helpers are not found: the test looks in the wrong place")
	}
	for name, f := range functions {
		var within []*ast.FuncLit
		if !calls(f.dir, f.body, hold, func(lit *ast.FuncLit) { within = append(within, lit) }) {
			continue
		}
		for _, lit := range within {
			if calls(f.dir, lit.Body, parallel, func(*ast.FuncLit) {}) {
				t.Errorf("%s holds the machine while parallel tests within wait for a place: let each take a share itself", name)
			}
		}
	}
}
