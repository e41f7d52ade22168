package topo

import (
	"fmt"
	"io"
	"os"
	"strings"

	"lightloom/pathmap"
)

// Format is a way to write a topology down. All mean the same:
//
//   - a link is a cable with two directions; each has its capacity, of the way there where the way back is not given.
//     In a directed graph each two links that are each other's way back are one cable, and a link without one is
//     refused;
//   - links between the same two nodes are parallel cables, and make paths of their own; a link from a node to itself
//     is refused, and so is a capacity of zero or below: a link that is down is left out, or failed later;
//   - a link without a capacity has 1 Gb/s (in our YAML, what "capacity" at the top says); ports that are not named are
//     the lowest that are free; a node without a role is a switch; where no rack is named, ToRs are numbered in order
//     and their hosts stand beside them;
//   - names are unique. The nodes need not be connected: where no path joins two, their list of paths is empty.
type Format struct {
	Name  string   // as users say it
	Doc   string   // one line
	Ends  []string // of file names; the first is the usual one
	read  func(file string, data []byte) (*sketch, error)
	write func(w io.Writer, t *pathmap.Topology) error
}

// Formats lists the formats. An end that is part of another comes after it.
func Formats() []Format {
	return []Format{
		{"clab", "containerlab's topology file", []string{".clab.yml", ".clab.yaml"}, readClab, writeClab},
		{"yaml", "Lightloom's YAML: kind: topology, nodes and links", []string{".yaml", ".yml"}, readYAML, writeOurs},
		{"json", "node-link JSON, as networkx and D3 have it", []string{".json"}, readNodeLink, writeNodeLink},
		{"graphml", "GraphML, as the Topology Zoo has it", []string{".graphml", ".xml"}, readGraphML, writeGraphML},
		{"dot", "Graphviz' DOT", []string{".dot", ".gv"}, readDOT, writeDOT},
	}
}

// FormatNames lists the formats' names.
func FormatNames() []string {
	var names []string
	for _, f := range Formats() {
		names = append(names, f.Name)
	}
	return names
}

// FormatNamed returns the format with that name.
func FormatNamed(name string) (Format, error) {
	for _, f := range Formats() {
		if f.Name == name {
			return f, nil
		}
	}
	return Format{}, fmt.Errorf("format %q is unknown: write %s", name, oneOf(name, FormatNames()))
}

// FormatOf returns the format that a file's name implies.
func FormatOf(path string) (Format, error) {
	var ends []string
	for _, f := range Formats() {
		for _, end := range f.Ends {
			if strings.HasSuffix(strings.ToLower(path), end) {
				return f, nil
			}
			ends = append(ends, end)
		}
	}
	return Format{}, fmt.Errorf("%s: the name does not tell the format: end it in one of %s", path,
		strings.Join(ends, ", "))
}

// Parse reads a topology; file is what errors call it.
func (f Format) Parse(file string, data []byte) (*pathmap.Topology, error) {
	if len(data) > MaxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes: a controller holds no larger network", file, MaxFile)
	}
	s, err := f.read(file, data)
	if err != nil {
		return nil, err
	}
	return s.topology()
}

// Write writes a topology so that Parse reads the same nodes, links and ports back. Not every format can say every
// name.
func (f Format) Write(w io.Writer, t *pathmap.Topology) error { return f.write(w, t) }

// ReadFile reads a topology's file.
func (f Format) ReadFile(path string) (*pathmap.Topology, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read topology: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read topology: %w", err)
	}
	return f.Parse(path, data)
}

// readYAML reads what a YAML file holds: a topology, a fabric's spec, or containerlab's, whatever its name.
func readYAML(file string, data []byte) (*sketch, error) {
	top, err := tree{file}.root(data)
	if err != nil {
		return nil, err
	}
	kind, ok := oneKey(top, "kind")
	if _, clab := oneKey(top, "topology"); clab && !ok {
		return clabOf(file, top)
	}
	known := append([]string{KindTopology}, Kinds()...)
	if !ok {
		return nil, fileError(file, place{}, wrong("kind", "missing: write kind: %s", oneOf("", known)))
	}
	text, err := tree{file}.word(kind.value, "kind")
	switch {
	case err != nil:
		return nil, err
	case text == KindTopology:
		return readOurs(file, top)
	case text == FileKind: // which might name itself
		return nil, tree{file}.wrong(kind.value.GetToken(), "kind: %q only names another file: name that one instead", text)
	}
	for _, k := range Kinds() {
		if k == text {
			return sketchFabric(file, data)
		}
	}
	return nil, tree{file}.wrong(kind.value.GetToken(), "kind: %q is unknown: write %s", text, oneOf(text, known))
}

// sketchFabric builds the fabric of a spec's file.
func sketchFabric(file string, data []byte) (*sketch, error) {
	spec, err := ParseYAML(file, data)
	if err != nil {
		return nil, err
	}
	f, err := New(spec)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s := newSketch(file)
	for _, n := range f.Topology.Nodes() {
		s.nodes = append(s.nodes, sketchNode{name: n.Name, role: n.Role, rack: n.Rack})
	}
	for c := range cablesOf(f.Topology) {
		s.cables = append(s.cables, c)
	}
	return s, nil
}
