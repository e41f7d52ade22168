package topo

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"lightloom/pathmap"
	"lightloom/pathmap/plaintext"
)

// Format is a way to write a topology down. All mean the same:
//
//   - a link is a cable with two directions; each has its capacity, of the way there where the way back is not given.
//     In a directed graph each two links that are each other's way back are one cable, and a link without one is
//     refused;
//   - links between the same two nodes are parallel cables, and make paths of their own; a link from a node to itself
//     is refused, and so is a capacity of zero or below: a link that is down is left out, or failed later;
//   - a capacity without a unit is in bits a second, or in what the graph's attribute capacity_unit says; below 1 Mb/s
//     it is refused without one;
//   - a link without a capacity has 1 Gb/s (in our YAML, what "capacity" at the top says); ports that are not named are
//     the lowest that are free; a node without a role is a switch; where no rack is named, ToRs are numbered in order
//     and their hosts stand beside them;
//   - names are unique. The nodes need not be connected: where no path joins two, their list of paths is empty.
type Format struct {
	Name  string   // as users say it
	Doc   string   // one line
	Ends  []string // of file names; the first is the usual one
	read  func(file string, text io.Reader) (*sketch, error)
	write func(w io.Writer, t *pathmap.Topology) error
	utf8  func(r io.Reader) (*bufio.Reader, error) // decodes what is not in UTF-8
	most  int                                      // bytes of a file
}

// Formats lists the formats. An end that is part of another comes after it.
func Formats() []Format {
	return []Format{
		{"clab", "containerlab's topology file", []string{".clab.yml", ".clab.yaml"}, readClab, writeClab,
			marked, maxYAML},
		{"yaml", "Lightloom's YAML: kind: topology, nodes and links", []string{".yaml", ".yml"},
			readYAML, writeOurs,
			marked, maxYAML},
		{"json", "node-link JSON, as networkx and D3 have it, or containerlab's topology-data.json",
			[]string{".json"},
			readNodeLink, writeNodeLink, marked, MaxFile},
		{"graphml", "GraphML, as the Topology Zoo has it", []string{".graphml", ".xml"}, readGraphML,
			writeGraphML, declared, MaxFile},
		{"dot", "Graphviz' DOT", []string{".dot", ".gv"}, readDOT, writeDOT, marked, maxDOT},
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
	return f.from(file, bytes.NewReader(data))
}

// from reads a topology from a stream, to its end.
func (f Format) from(file string, in io.Reader) (*pathmap.Topology, error) {
	text, err := f.utf8(&capped{in, file, MaxFile})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	s, err := f.read(file, text)
	if err != nil {
		return nil, err
	}
	return s.topology()
}

// capped is a file that is refused beyond so many bytes.
type capped struct {
	in   io.Reader
	file string
	left int
}

func (c *capped) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if c.left -= n; c.left < 0 {
		return 0, fmt.Errorf("longer than %d bytes: a controller holds no larger network", MaxFile)
	}
	return n, err
}

// marked decodes by a byte order mark.
func marked(r io.Reader) (*bufio.Reader, error) { return plaintext.NewReader(r), nil }

// whole reads a file of at most most bytes, and of a longer one most+1 bytes.
func whole(file string, in io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, most+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := plaintext.CheckUTF8(data); err != nil && int64(len(data)) <= most { // else it is cut
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return data, nil
}

// Write writes a topology so that Parse reads the same nodes, links and ports back. Not every format
// can say every name.
func (f Format) Write(w io.Writer, t *pathmap.Topology) error { return f.write(w, t) }

// ReadFile reads a topology's file.
func (f Format) ReadFile(path string) (*pathmap.Topology, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read topology: %w", err)
	}
	defer file.Close()
	if err := f.fits(file, path); err != nil {
		return nil, err
	}
	return f.from(path, file)
}

// fits refuses a file that is too long, before any of it is read.
func (f Format) fits(file *os.File, path string) error {
	st, err := file.Stat()
	if err != nil || st.Size() <= int64(f.most) {
		return nil // what is wrong is said when it is read
	}
	if f.most == MaxFile {
		return fmt.Errorf("%s: longer than %d bytes: a controller holds no larger network", path, f.most)
	}
	return fmt.Errorf("%s: longer than %d bytes: convert it to node-link JSON, which is read at any size", path, f.most)
}

// readYAML reads what a YAML file holds: a topology, a fabric's spec, or containerlab's, whatever its name.
func readYAML(file string, in io.Reader) (*sketch, error) {
	data, err := whole(file, in, maxYAML)
	if err != nil {
		return nil, err
	}
	t, top, err := parseTree(file, data)
	if err != nil {
		if beginsTopology(data) {
			return nil, cmp.Or(untemplated(file, data), unparsed(file, data, err))
		}
		return nil, err
	}
	kind, ok := oneKey(top, "kind")
	if _, clab := oneKey(top, "topology"); clab && !ok {
		if err := untemplated(file, data); err != nil {
			return nil, err
		}
		l, err := labOfTree(t, top)
		if err != nil {
			return nil, err
		}
		return l.s, nil
	}
	known := append([]string{KindTopology}, Kinds()...)
	if !ok {
		return nil, fileError(file, place{}, wrong("kind", "missing: write kind: %s", oneOf("", known)))
	}
	text, err := t.word(kind.value, "kind")
	switch {
	case err != nil:
		return nil, err
	case text == KindTopology:
		return readOurs(t, top)
	case text == FileKind: // which might name itself
		return nil, t.wrong(kind.value.GetToken(),
			"kind: %q only names another file: name that one instead", text)
	}
	for _, k := range Kinds() {
		if k == text {
			return sketchFabric(file, data)
		}
	}
	return nil, t.wrong(kind.value.GetToken(), "kind: %q is unknown: write %s", text, oneOf(text, known))
}

// beginsTopology reports whether a text that is no YAML looks like containerlab's.
func beginsTopology(data []byte) bool { return bytes.Contains(data, []byte("\ntopology:")) }

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
