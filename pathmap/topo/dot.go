package topo

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/graph/formats/dot"
	"gonum.org/v1/gonum/graph/formats/dot/ast"

	"lightloom/pathmap"
)

// DOT is Graphviz' language. Every node that a statement names is a node; chains and subgraphs join as in Graphviz;
// attributes are taken from the statement, else from the node and edge defaults before it. A node's port that is a
// number is our port; compass points mean nothing. In a digraph each two edges that are each other's way back are one
// cable. A strict graph has no parallel links: an edge that comes again is the same one.

// maxDOT bounds a file, in bytes: the parser keeps the whole tree, some hundred bytes for each of the file's.
const maxDOT = 16 << 20

// maxProduct bounds the links that two subgraphs make between each other.
const maxProduct = MaxCables

type dotReader struct {
	s      *sketch
	words  *dotWords
	node   map[string]int // by name, in s.nodes
	joined map[[2]string]bool
	graph  *ast.Graph
}

// scope is the defaults that hold in a graph or subgraph.
type scope struct{ node, edge map[string]string }

func readDOT(file string, in io.Reader) (*sketch, error) {
	data, err := whole(file, in, maxDOT)
	if err != nil {
		return nil, err
	}
	s := newSketch(file)
	if len(data) > maxDOT {
		return nil, s.wrong(place{}, "longer than %d bytes: convert it to node-link JSON, which is read at any size", maxDOT)
	}
	if err := checkNesting(data); err != nil {
		return nil, fileError(file, place{}, err)
	}
	f, err := dot.ParseBytes(data)
	if err != nil {
		return nil, dotError(file, data, err)
	}
	if len(f.Graphs) != 1 {
		return nil, s.wrong(place{}, "%d graphs: one file holds one topology", len(f.Graphs))
	}
	r := &dotReader{s: s, words: newDOTWords(data), node: map[string]int{}, graph: f.Graphs[0],
		joined: map[[2]string]bool{}}
	if _, err := r.statements(f.Graphs[0].Stmts, scope{map[string]string{}, map[string]string{}}); err != nil {
		return nil, err
	}
	return s, nil
}

// maxNesting bounds brackets within brackets: trees as deep as a file is long would be walked by recursion.
const maxNesting = 64

func checkNesting(data []byte) error {
	depth := 0
	for _, b := range data {
		switch b {
		case '{', '<':
			if depth++; depth > maxNesting && b == '{' {
				return fmt.Errorf("subgraphs within more than %d subgraphs: write one flat graph", maxNesting)
			}
		case '}', '>':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// dotError gives the parser's "4:1: error: …" our form.
func dotError(file string, data []byte, err error) error {
	// The parser names no place where -> joins nodes of a graph, and takes -- in a digraph.
	if strings.Contains(err.Error(), "contains directed edge") {
		at := newDOTWords(data).first("->")
		return fileError(file, at, errors.New("-> in an undirected graph: write --, or digraph"))
	}
	text := strings.Replace(err.Error(), "graphx", "graph", 1) // as the parser's grammar calls that word
	m := regexp.MustCompile(`^(\d+):(\d+): (?:error: )?`).FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("%s: DOT syntax: %w", file, err)
	}
	line, _ := strconv.Atoi(m[1])
	col, _ := strconv.Atoi(m[2])
	return fileError(file, place{line, col}, errors.New("DOT syntax: "+strings.TrimPrefix(text, m[0])))
}

// statements reads a graph's or subgraph's, and returns the nodes named in it, in order, each once.
func (r *dotReader) statements(list []ast.Stmt, in scope) ([]*ast.Node, error) {
	in = scope{maps.Clone(in.node), maps.Clone(in.edge)}
	var nodes []*ast.Node
	seen := map[string]bool{}
	note := func(more ...*ast.Node) {
		for _, n := range more {
			if name := unquote(n.ID); !seen[name] {
				seen[name] = true
				nodes = append(nodes, n)
			}
		}
	}
	for _, st := range list {
		switch st := st.(type) {
		case *ast.NodeStmt:
			if err := r.mention(st.Node, in, st.Attrs); err != nil {
				return nil, err
			}
			note(st.Node)
		case *ast.EdgeStmt:
			named, err := r.edges(st, in)
			if err != nil {
				return nil, err
			}
			note(named...)
		case *ast.AttrStmt:
			switch st.Kind {
			case ast.NodeKind:
				set(in.node, st.Attrs)
			case ast.EdgeKind:
				set(in.edge, st.Attrs)
			case ast.GraphKind:
				if err := r.whole(st.Attrs); err != nil {
					return nil, err
				}
			}
		case *ast.Attr:
			if err := r.whole([]*ast.Attr{st}); err != nil {
				return nil, err
			}
		case *ast.Subgraph:
			named, err := r.statements(st.Stmts, in)
			if err != nil {
				return nil, err
			}
			note(named...)
		}
	}
	return nodes, nil
}

// whole reads what is said of the whole graph.
func (r *dotReader) whole(attrs []*ast.Attr) error {
	for _, a := range attrs {
		if unquote(a.Key) != attrUnit {
			continue
		}
		var err error
		if r.s.unit, err = unitOf(unquote(a.Val)); err != nil {
			return fileError(r.s.file, r.words.find(a.Key), err)
		}
	}
	return nil
}

func set(to map[string]string, attrs []*ast.Attr) {
	for _, a := range attrs {
		to[unquote(a.Key)] = unquote(a.Val)
	}
}

// mention adds the node, unless an earlier statement did, and reads its attributes: the defaults for a new one.
func (r *dotReader) mention(n *ast.Node, in scope, attrs []*ast.Attr) error {
	values := map[string]string{}
	name := unquote(n.ID)
	at, known := r.node[name]
	if !known {
		maps.Copy(values, in.node)
	}
	set(values, attrs)
	read := sketchNode{name: name, at: r.words.find(n.ID)}
	if err := attributesOf(values).node(&read); err != nil {
		return fileError(r.s.file, read.at, err)
	}
	if !known {
		r.node[name] = len(r.s.nodes)
		return r.s.addNode(read)
	}
	if read.role != 0 {
		r.s.nodes[at].role = read.role
	}
	if read.rack != pathmap.None {
		r.s.nodes[at].rack = read.rack
	}
	return nil
}

func attributesOf(values map[string]string) attributes {
	return func(name string) (string, bool) {
		v, ok := values[name]
		return v, ok
	}
}

// edges adds the links of a chain, and returns the nodes it names.
func (r *dotReader) edges(st *ast.EdgeStmt, in scope) ([]*ast.Node, error) {
	from, err := r.vertex(st.From, in)
	if err != nil {
		return nil, err
	}
	values := maps.Clone(in.edge)
	set(values, st.Attrs)
	named := from
	for e := st.To; e != nil; e = e.To {
		to, err := r.vertex(e.Vertex, in)
		if err != nil {
			return nil, err
		}
		if len(from)*len(to) > maxProduct {
			return nil, r.s.wrong(place{}, "two subgraphs make %d links between each other, more than %d",
				len(from)*len(to),
				maxProduct)
		}
		for _, a := range from {
			for _, b := range to {
				if err := r.join(a, b, values); err != nil {
					return nil, err
				}
			}
		}
		named = append(named[:len(named):len(named)], to...)
		from = to
	}
	return named, nil
}

// vertex returns the nodes at one side of an edge.
func (r *dotReader) vertex(v ast.Vertex, in scope) ([]*ast.Node, error) {
	switch v := v.(type) {
	case *ast.Node:
		return []*ast.Node{v}, r.mention(v, in, nil)
	case *ast.Subgraph:
		return r.statements(v.Stmts, in)
	}
	return nil, nil
}

func (r *dotReader) join(a, b *ast.Node, values map[string]string) error {
	c := sketchCable{from: unquote(a.ID), to: unquote(b.ID), oneWay: r.graph.Directed}
	key := [2]string{c.from, c.to}
	if !r.graph.Directed {
		key = [2]string{min(c.from, c.to), max(c.from, c.to)}
	}
	if r.graph.Strict && r.joined[key] {
		return nil
	}
	r.joined[key] = r.graph.Strict
	c.at = r.words.find(a.ID, "--", b.ID)
	if err := attributesOf(values).cable(r.s, &c); err != nil {
		return fileError(r.s.file, c.at, err)
	}
	for _, p := range []struct {
		node *ast.Node
		port *int32
	}{{a, &c.fromPort}, {b, &c.toPort}} {
		if p.node.Port == nil || *p.port != pathmap.None {
			continue
		}
		if n, err := numberOf("port", unquote(p.node.Port.ID), maxPort); err == nil {
			*p.port = n
		}
	}
	return r.s.addCable(c)
}

// unquote returns what an identifier means: in quotes, \" is a quote and an escaped line end is nothing.
func unquote(id string) string {
	if len(id) < 2 || id[0] != '"' || id[len(id)-1] != '"' {
		return id
	}
	return strings.NewReplacer(`\"`, `"`, "\\\r\n", "", "\\\n", "").Replace(id[1 : len(id)-1])
}

// quote writes a name as a quoted identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `\"`) + `"` }

// writeDOT writes t, undirected, capacities as rates.
func writeDOT(w io.Writer, t *pathmap.Topology) error {
	p := newPrinter(w)
	p.print("graph {\n")
	for _, n := range t.Nodes() {
		if strings.HasSuffix(n.Name, `\`) {
			return fmt.Errorf("write DOT: node %q: the language has no way to write a name that ends in a backslash", n.Name)
		}
		p.printf("  %s [role=%v", quote(n.Name), n.Role)
		if n.Rack != pathmap.None {
			p.printf(", rack=%d", n.Rack)
		}
		p.print("];\n")
	}
	for c := range cablesOf(t) {
		p.printf("  %s -- %s [capacity=%q", quote(c.from), quote(c.to), c.there.String())
		if back := c.differing(); back != 0 {
			p.printf(", back=%q", back.String())
		}
		p.printf(", source_port=%d, target_port=%d];\n", c.fromPort, c.toPort)
	}
	p.print("}\n")
	return p.flush()
}
