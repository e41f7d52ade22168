package topo

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"lightloom/pathmap"
)

// GraphML (graphml.graphdrawing.org) as networkx, yEd and the Topology Zoo write it: one graph of nodes
// and edges. Nodes are named by their id. Attributes are <data> of keys with an attr.name; an edge's
// sourceport and targetport are the ports where they are numbers. Directed edges are each other's way
// back in pairs.

type graphML struct {
	s        *sketch
	dec      *xml.Decoder
	in       *sparing
	keys     map[string]graphKey
	defaults bool // some key has one
	directed bool
	graphs   int
	depth    int
	start    place // of the last token
}

type graphKey struct {
	name, domain string
	def          string
	has          bool // a default
}

func readGraphML(file string, text io.Reader) (*sketch, error) {
	in := newSparing(text)
	r := &graphML{s: newSketch(file), dec: xml.NewDecoder(in), in: in, keys: map[string]graphKey{}}
	r.dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil } // it was decoded before
	root := false
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		el, ok := t.(xml.StartElement)
		if !ok {
			continue
		}
		if root || el.Name.Local != "graphml" {
			return nil, r.s.wrong(r.place(), "<%s> where one <graphml> is due: this is no GraphML", el.Name.Local)
		}
		root = true
		if err := r.root(); err != nil {
			return nil, err
		}
	}
	if r.graphs == 0 {
		return nil, r.s.wrong(place{}, "no <graph> in a <graphml>: this is no GraphML")
	}
	return r.s, nil
}

// place returns where the last token begins.
func (r *graphML) place() place {
	return r.start
}

// token returns the next token, errors with their place; io.EOF stays itself.
func (r *graphML) token() (xml.Token, error) {
	r.start.line, r.start.col = r.dec.InputPos()
	r.in.taken = 0
	t, err := r.dec.Token()
	switch t.(type) {
	case xml.StartElement:
		r.depth++
	case xml.EndElement:
		r.depth--
	}
	if r.depth > maxSkipped {
		return nil, r.s.wrong(r.start, "more than %d elements within each other: this is no graph", maxSkipped)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return t, err
	}
	line, col := r.dec.InputPos()
	cause := err.Error()
	if se := (*xml.SyntaxError)(nil); errors.As(err, &se) {
		cause = "XML syntax: " + se.Msg
	}
	return nil, r.s.wrong(place{line, col}, "%s", cause)
}

// within reads up to the end of an element and gives each element in it to read, which reads to its end.
func (r *graphML) within(read func(xml.StartElement) error) error {
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return r.s.wrong(r.place(), "the file ends in the middle of the XML")
		}
		if err != nil {
			return err
		}
		switch t := t.(type) {
		case xml.StartElement:
			if err := read(t); err != nil {
				return err
			}
		case xml.EndElement:
			return nil
		}
	}
}

// pass skips to the end of an unknown element.
func (r *graphML) pass() error {
	for depth := 1; depth > 0; {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return r.s.wrong(r.place(), "the file ends in the middle of the XML")
		}
		if err != nil {
			return err
		}
		switch t.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}

func (r *graphML) root() error {
	return r.within(func(el xml.StartElement) error {
		switch el.Name.Local {
		case "key":
			return r.key(el)
		case "graph":
			if r.graphs++; r.graphs > 1 {
				return r.s.wrong(r.place(), "a second <graph>: one file holds one topology")
			}
			switch way := attribute(el, "edgedefault"); way {
			case "directed", "undirected", "": // many leave it out where no edge has a direction
				r.directed = way == "directed"
			default:
				return r.s.wrong(r.place(), "edgedefault=%q: write \"directed\" or \"undirected\"", way)
			}
			return r.graph()
		}
		return r.pass()
	})
}

// key notes what a key stands for.
func (r *graphML) key(el xml.StartElement) error {
	k := graphKey{name: attribute(el, "attr.name"), domain: attribute(el, "for")}
	err := r.within(func(in xml.StartElement) error {
		if in.Name.Local != "default" {
			return r.pass()
		}
		var err error
		k.has = true
		k.def, err = r.chars()
		return err
	})
	r.keys[attribute(el, "id")] = k
	r.defaults = r.defaults || k.has
	return err
}

// chars reads an element that holds text alone.
func (r *graphML) chars() (string, error) {
	var b strings.Builder
	for {
		t, err := r.token()
		if errors.Is(err, io.EOF) {
			return "", r.s.wrong(r.place(), "the file ends in the middle of the XML")
		}
		if err != nil {
			return "", err
		}
		switch t := t.(type) {
		case xml.CharData:
			b.Write(t)
		case xml.StartElement:
			if err := r.pass(); err != nil {
				return "", err
			}
		case xml.EndElement:
			return strings.TrimSpace(b.String()), nil
		}
	}
}

func (r *graphML) graph() error {
	return r.within(func(el xml.StartElement) error {
		switch el.Name.Local {
		case "node":
			return r.node(el)
		case "edge":
			return r.edge(el)
		case "data":
			return r.graphData(el)
		case "hyperedge":
			return r.s.wrong(r.place(), "a <hyperedge>: a link joins two nodes; write <edge>s")
		}
		return r.pass()
	})
}

// graphData reads what is said of the whole graph.
func (r *graphML) graphData(el xml.StartElement) error {
	at := r.place()
	value, err := r.chars()
	if err != nil || r.keys[attribute(el, "key")].name != attrUnit {
		return err
	}
	if r.s.unit, err = unitOf(value); err != nil {
		return fileError(r.s.file, at, err)
	}
	return nil
}

func (r *graphML) node(el xml.StartElement) error {
	n := sketchNode{name: attribute(el, "id"), at: r.place()}
	data, err := r.data("node")
	if err != nil {
		return err
	}
	if err := data.node(&n); err != nil {
		return fileError(r.s.file, n.at, err)
	}
	n.label = data.labelled(n.name)
	return r.s.addNode(n)
}

func (r *graphML) edge(el xml.StartElement) error {
	c := sketchCable{from: attribute(el, "source"), to: attribute(el, "target"), at: r.place(),
		oneWay: r.directed}
	if c.from == "" || c.to == "" {
		return r.s.wrong(c.at, "an <edge> without source or target: write <edge source=\"a\" target=\"b\"/>")
	}
	switch attribute(el, "directed") {
	case "true":
		c.oneWay = true
	case "false":
		c.oneWay = false
	}
	data, err := r.data("edge")
	if err != nil {
		return err
	}
	if err := data.cable(r.s, &c); err != nil {
		return fileError(r.s.file, c.at, err)
	}
	for _, p := range []struct {
		name string
		to   *int32
	}{{"sourceport", &c.fromPort}, {"targetport", &c.toPort}} {
		text := attribute(el, p.name)
		if text == "" || *p.to != pathmap.None {
			continue
		}
		if n, err := numberOf(p.name, text, maxPort); err == nil {
			*p.to = n
		}
	}
	return r.s.addCable(c)
}

// data reads the <data> of a node or an edge, to the element's end.
func (r *graphML) data(domain string) (attributes, error) {
	found := map[string]string{}
	err := r.within(func(el xml.StartElement) error {
		switch el.Name.Local {
		case "data":
			value, err := r.chars()
			if k, ok := r.keys[attribute(el, "key")]; ok && err == nil {
				found[k.name] = value
			}
			return err
		case "graph":
			return r.s.wrong(r.place(), "a <graph> in a <%s>: write one flat graph", domain)
		}
		return r.pass()
	})
	return func(name string) (string, bool) {
		value, ok := found[name]
		if ok {
			return value, true
		}
		return r.byDefault(name, domain)
	}, err
}

// byDefault returns the default of the key with that name.
func (r *graphML) byDefault(name, domain string) (string, bool) {
	if !r.defaults {
		return "", false
	}
	var ids []string
	for id, k := range r.keys {
		if k.has && k.name == name && (k.domain == domain || k.domain == "all" || k.domain == "") {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return "", false
	}
	return r.keys[slices.Min(ids)].def, true
}

func attribute(el xml.StartElement, name string) string {
	for _, a := range el.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// writeGraphML writes t, undirected, capacities in bits a second.
func writeGraphML(w io.Writer, t *pathmap.Topology) error {
	p := newPrinter(w)
	p.print(xml.Header + "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n")
	for _, k := range []struct{ domain, name, kind string }{{"graph", attrUnit, "string"},
		{"node", attrRole, "string"}, {"node", attrRack, "int"},
		{"edge", attrCapacity, "long"}, {"edge", attrBack, "long"}, {"edge", attrSourcePort, "int"},
		{"edge", attrTargetPort, "int"}} {
		p.printf("  <key id=%q for=%q attr.name=%q attr.type=%q/>\n", k.name, k.domain, k.name, k.kind)
	}
	p.print("  <graph edgedefault=\"undirected\">\n    <data key=\"" + attrUnit + "\">bps</data>\n")
	for _, n := range t.Nodes() {
		p.printf("    <node id=\"%s\"><data key=\"role\">%v</data>", escape(n.Name), n.Role)
		if n.Rack != pathmap.None {
			p.printf("<data key=\"rack\">%d</data>", n.Rack)
		}
		p.print("</node>\n")
	}
	for c := range cablesOf(t) {
		p.printf("    <edge source=\"%s\" target=\"%s\"><data key=\"capacity\">%d</data>",
			escape(c.from), escape(c.to),
			int64(c.there))
		if back := c.differing(); back != 0 {
			p.printf("<data key=\"back\">%d</data>", int64(back))
		}
		p.printf("<data key=\"source_port\">%d</data><data key=\"target_port\">%d</data></edge>\n",
			c.fromPort, c.toPort)
	}
	p.print("  </graph>\n</graphml>\n")
	return p.flush()
}

func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		panic(fmt.Sprintf("topo: escape %q: %v", s, err)) // a Builder takes everything
	}
	return b.String()
}
