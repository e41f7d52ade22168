// Command rooms lists what a reader may want to judge in the structure of this module: within packages
// the calls from a lower file up to a higher one, and small packages that one other package alone
// imports. It judges nothing and fails on nothing: an arrow that runs up, or a small room with one
// door, can be right.
//
//	go run ./.ci/rooms [FOLDER...]
//
// It reads names as text, without types: a method counts if one file of the package alone defines its name.
package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// small is up to how many lines a package with one importer is listed.
const small = 150

// room is one package, tests aside.
type room struct {
	dir   string
	lines int
	files map[string]*ast.File
}

func main() {
	roots := os.Args[1:]
	if len(roots) == 0 {
		roots = []string{"."}
	}
	rooms := map[string]*room{}
	for _, root := range roots {
		if err := read(root, rooms); err != nil {
			fmt.Fprintln(os.Stderr, "rooms:", err)
			os.Exit(1)
		}
	}

	fmt.Println("Calls up, by package: of how many arrows between files, and which.")
	for _, dir := range slices.Sorted(maps.Keys(rooms)) {
		rooms[dir].printUp()
	}
	fmt.Printf("\nPackages of at most %d lines that one other package imports.\n", small)
	printSmall(rooms)
}

func read(root string, rooms map[string]*room) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name := d.Name()
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "testdata"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") ||
			strings.HasSuffix(name, ".pb.go") || strings.HasSuffix(name, ".connect.go"):
			return nil
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.Dir(path)
		if rooms[dir] == nil {
			rooms[dir] = &room{dir: dir, files: map[string]*ast.File{}}
		}
		rooms[dir].files[name] = f
		rooms[dir].lines += set.Position(f.FileEnd).Line
		return nil
	})
}

// arrow is that one file names what another defines.
type arrow struct{ from, to string }

// arrows returns, for each pair of files, the names that the first uses of the second.
func (r *room) arrows() map[arrow][]string {
	home := map[string]string{} // by name: its file; "" where several define it
	define := func(name, file string) {
		if was, there := home[name]; there && was != file {
			file = ""
		}
		home[name] = file
	}
	for file, f := range r.files {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				define(d.Name.Name, file)
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						define(s.Name.Name, file)
					case *ast.ValueSpec:
						for _, n := range s.Names {
							define(n.Name, file)
						}
					}
				}
			}
		}
	}
	out := map[arrow][]string{}
	for file, f := range r.files {
		ast.Inspect(f, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok {
				return true
			}
			if to := home[id.Name]; to != "" && to != file && !slices.Contains(out[arrow{file, to}], id.Name) {
				out[arrow{file, to}] = append(out[arrow{file, to}], id.Name)
			}
			return true
		})
	}
	return out
}

// printUp orders files so that few arrows run up (the greedy order of Eades, Lin and Smyth), and prints
// those that do.
func (r *room) printUp() {
	all := r.arrows()
	height := r.order(all)
	var up []arrow
	for a := range all {
		if height[a.from] > height[a.to] {
			up = append(up, a)
		}
	}
	if len(up) == 0 {
		return
	}
	slices.SortFunc(up, func(a, b arrow) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	fmt.Printf("%s: %d of %d\n", r.dir, len(up), len(all))
	for _, a := range up {
		names := all[a]
		slices.Sort(names)
		fmt.Printf("  %s → %s: %s\n", a.from, a.to, strings.Join(names, ", "))
	}
}

// order returns each file's place: callers before what they call, as far as that can be.
func (r *room) order(all map[arrow][]string) map[string]int {
	left := slices.Sorted(maps.Keys(r.files))
	var first, last []string
	for len(left) > 0 {
		best, most, sink := 0, -1<<31, false
		for i, f := range left {
			out, in := 0, 0
			for a := range all {
				if a.from == f && slices.Contains(left, a.to) {
					out++
				}
				if a.to == f && slices.Contains(left, a.from) {
					in++
				}
			}
			if out == 0 {
				best, sink = i, true
				break
			}
			if out-in > most {
				best, most = i, out-in
			}
		}
		if sink {
			last = append(last, left[best])
		} else {
			first = append(first, left[best])
		}
		left = slices.Delete(left, best, best+1)
	}
	slices.Reverse(last)
	height := map[string]int{}
	for i, f := range append(first, last...) {
		height[f] = i
	}
	return height
}

func printSmall(rooms map[string]*room) {
	importers := map[string][]string{}
	for _, dir := range slices.Sorted(maps.Keys(rooms)) {
		seen := map[string]bool{}
		for _, f := range rooms[dir].files {
			for _, i := range f.Imports {
				path, err := strconv.Unquote(i.Path.Value)
				if ours, ok := strings.CutPrefix(path, "lightloom/"); err == nil && ok && !seen[ours] {
					seen[ours] = true
					importers[ours] = append(importers[ours], dir)
				}
			}
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(rooms)) {
		if by := importers[filepath.ToSlash(dir)]; len(by) == 1 && rooms[dir].lines <= small {
			fmt.Printf("  %s, %d lines: %s\n", dir, rooms[dir].lines, by[0])
		}
	}
}
