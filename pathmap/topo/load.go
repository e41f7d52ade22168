package topo

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"lightloom/pathmap"
)

// Generators lists lines of text that Load takes beside those of the fabrics with racks, with the
// values that keys have where they are left out.
func Generators() []string {
	var lines []string
	for _, kind := range []string{FatTreeKind, JellyfishKind} {
		lines = append(lines, Spec{Kind: kind}.String())
	}
	return lines
}

// Load returns the topology that a user names on a command line: the path of a file, whose name implies
// its format, or a line of text, as in "hybrid:racks=8", "fattree:k=16" or
// "jellyfish:switches=200,degree=10". The topology of a file need not be a fabric.
func Load(arg string) (*pathmap.Topology, error) {
	if f, err := FormatOf(arg); err == nil && !strings.HasPrefix(arg, FileKind+":") {
		return f.ReadFile(arg)
	} else if _, missing := os.Stat(arg); missing == nil {
		return nil, err
	}
	kind, _, _ := strings.Cut(arg, ":")
	if !slices.Contains(Kinds(), kind) {
		return nil, fmt.Errorf("%q is no topology: name a file that ends in .yaml, .clab.yml, .json, .graphml or .dot, or "+
			"write %s", arg, oneOf(kind, Kinds()))
	}
	spec, err := FromArgument(arg)
	if err != nil {
		return nil, err
	}
	f, err := New(spec)
	if err != nil {
		return nil, err
	}
	return f.Topology, nil
}
