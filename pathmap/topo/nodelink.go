package topo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"lightloom/pathmap"
)

// Node-link JSON is what networkx writes (node_link_data) and D3 draws: "nodes" with "id", and "links"
// or "edges" with "source" and "target". Nodes are named by their id, a number being its digits. Where
// no node has an id, as in D3 to version 3, or where all ids are names, as in networkx to version 1,
// links name nodes by their place in the list. Attributes are fields of these objects; those that are
// not ours are passed over. Infinity and NaN are read as Python writes them. In a directed graph each
// two links that are each other's way back are one cable.
//
// Where "nodes" is an object, the document is containerlab's topology-data.json.

// nodeLink reads the document, field by field: neither large graphs nor their files are ever held whole.
type nodeLink struct {
	s        *sketch
	dec      *json.Decoder
	text     *window
	at       place
	directed bool
	links    string // the key that held them
	nodes    bool

	named    int        // nodes with an id
	numbered bool       // one of these is a JSON number
	digits   bool       // one is a word of digits
	counted  bool       // networkx 1 wrote it: links count nodes
	ends     int        // of links
	indexes  int        // of these, numbers
	lab      *labSketch // containerlab's
}

func readNodeLink(file string, in io.Reader) (*sketch, error) {
	text := &window{in: newPython(in)}
	r := &nodeLink{s: newSketch(file), text: text, dec: json.NewDecoder(text), at: place{1, 1}}
	if err := r.document(); err != nil {
		return nil, err
	}
	if !r.nodes {
		return nil, r.s.wrong(place{}, "no \"nodes\": write {\"nodes\": [{\"id\": \"a\"}, …], \"links\": [{\"source\": "+
			"\"a\", \"target\": \"b\"}, …]}")
	}
	if r.links == "" {
		return nil, r.s.wrong(place{}, "no \"links\": write \"links\": [] where there are none; networkx writes them by "+
			"node_link_data, and not by adjacency_data")
	}
	if r.lab != nil {
		return r.s, r.lab.ports()
	}
	if err := r.settle(); err != nil {
		return nil, err
	}
	for i := range r.s.cables {
		r.s.cables[i].oneWay = r.directed
	}
	return r.s, nil
}

// settle finds the nodes of links where they have no ids, or where links count them.
func (r *nodeLink) settle() error {
	switch {
	case r.named == len(r.s.nodes) && r.ends > 0 && r.indexes == r.ends && (r.counted || !r.numbered):
		return r.byIndex()
	case r.named == 0 && r.indexes == 0:
		for i := range r.s.nodes {
			if n := &r.s.nodes[i]; n.label != "" {
				n.name, n.label = n.label, ""
			} else if r.ends > 0 {
				return r.s.wrong(n.at, "node %d has neither an id nor a name, and links name nodes: write {\"id\": \"a\"}", i)
			}
		}
	case r.named == 0 && r.indexes == r.ends:
		return r.byLabel()
	case r.named == 0:
		return r.s.wrong(r.s.cables[0].at, "some links name nodes and others count them, and nodes have no ids: write ids")
	}
	return nil
}

// byLabel calls nodes without ids by their names, where each has one of its own, and has links that count them follow.
func (r *nodeLink) byLabel() error {
	seen := map[string]bool{}
	for _, n := range r.s.nodes {
		if n.label == "" || seen[n.label] {
			return nil // their numbers stay
		}
		seen[n.label] = true
	}
	for i := range r.s.nodes {
		r.s.nodes[i].name, r.s.nodes[i].label = r.s.nodes[i].label, ""
	}
	return r.byIndex()
}

// byIndex has links that count nodes name them. Where ids are words of digits, such a number has two meanings.
func (r *nodeLink) byIndex() error {
	for i := range r.s.cables {
		c := &r.s.cables[i]
		for _, end := range []*string{&c.from, &c.to} {
			n, err := strconv.Atoi(*end)
			if err != nil || n < 0 || n >= len(r.s.nodes) {
				continue
			}
			name := r.s.nodes[n].name
			if r.digits && !r.counted && name != *end {
				return r.s.wrong(c.at, "an end %d can be the node with the id %q or the one of index %d, which is %q: write "+
					"its id, in quotes", n, *end, n, name)
			}
			*end = name
		}
	}
	return nil
}

// place counts lines up to an offset, which must not be smaller than before.
func (r *nodeLink) place(offset int64) place {
	for _, b := range r.text.take(offset) {
		r.at.col++
		if b == '\n' {
			r.at = place{r.at.line + 1, 1}
		}
	}
	return r.at
}

// next returns the place of the next value.
func (r *nodeLink) next() place {
	at := r.dec.InputOffset()
	for b, ok := r.text.at(at); ok && strings.IndexByte(" \t\r\n,:", b) >= 0; b, ok = r.text.at(at) {
		at++
	}
	return r.place(at)
}

// fail gives an error of the decoder its place.
func (r *nodeLink) fail(err error) error {
	offset := r.dec.InputOffset()
	if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
		offset = se.Offset - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, err = r.text.end(), errors.New("the file ends in the middle of the JSON")
	}
	return fileError(r.s.file, r.place(offset), err)
}

func (r *nodeLink) document() error {
	at := r.next()
	t, err := r.dec.Token()
	if errors.Is(err, io.EOF) {
		return r.s.wrong(place{}, "the file is empty: write {\"nodes\": […], \"links\": […]}")
	}
	if err != nil {
		return r.fail(err)
	}
	if t != json.Delim('{') {
		return r.s.wrong(at, "no JSON object: write {\"nodes\": […], \"links\": […]}")
	}
	for r.dec.More() {
		if err := r.field(); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.fail(err)
	}
	at = r.next()
	if _, err := r.dec.Token(); !errors.Is(err, io.EOF) {
		return r.s.wrong(at, "something stands behind the JSON object: leave it out")
	}
	return nil
}

func (r *nodeLink) field() error {
	at := r.next()
	t, err := r.dec.Token()
	if err != nil {
		return r.fail(err)
	}
	switch key := t.(string); key {
	case "nodes":
		if r.nodes {
			return r.s.wrong(at, "\"nodes\" comes twice: leave one out")
		}
		r.nodes = true
		return r.all(key)
	case "links", "edges":
		if r.links != "" {
			return r.s.wrong(at, "%q beside %q: leave one out", key, r.links)
		}
		r.links = key
		return r.array(key, r.link)
	case "directed":
		if err := r.dec.Decode(&r.directed); err != nil {
			return r.s.wrong(at, "\"directed\" is no truth value: write true or false")
		}
	case "graph":
		return r.graph()
	default:
		return r.skip()
	}
	return nil
}

// maxSkipped bounds values within values of what is passed over.
const maxSkipped = 1000

// maxPassedOver bounds the words of one value that is passed over.
const maxPassedOver = 1 << 20

// skip passes over a value.
func (r *nodeLink) skip() error {
	words := 0
	for depth := 0; ; {
		t, err := r.dec.Token()
		if err != nil {
			return r.fail(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		at := r.place(r.dec.InputOffset())
		if depth > maxSkipped {
			return r.s.wrong(at, "more than %d values within each other: this is no graph", maxSkipped)
		}
		if words++; words > maxPassedOver {
			return r.s.wrong(at, "a value of more than %d words that is neither nodes nor links: leave it out", maxPassedOver)
		}
		if depth == 0 {
			return nil
		}
	}
}

// graph reads what is said of the whole graph: an object, or a list of pairs as networkx once wrote it.
func (r *nodeLink) graph() error {
	at := r.next()
	var raw json.RawMessage
	if err := r.dec.Decode(&raw); err != nil {
		return r.fail(err)
	}
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(raw, &fields) != nil {
		r.counted = raw[0] == '[' // networkx 1 writes a list of pairs here
		var pairs [][]json.RawMessage
		if json.Unmarshal(raw, &pairs) != nil {
			return nil // another tool's, of no interest
		}
		for _, p := range pairs {
			if key, ok := text(append(p, nil)[0]); ok && len(p) == 2 {
				fields[key] = p[1]
			}
		}
	}
	if unit, ok := fieldsOf(fields)(attrUnit); ok {
		var err error
		if r.s.unit, err = unitOf(unit); err != nil {
			return fileError(r.s.file, at, err)
		}
	}
	return nil
}

// all reads the nodes, in a list or, as containerlab writes them, in an object by name.
func (r *nodeLink) all(key string) error {
	r.next()
	if b, _ := r.text.at(r.text.base + int64(r.text.told)); b == '{' {
		return r.labNodes()
	}
	return r.array(key, r.node)
}

// array gives each object of an array to read.
func (r *nodeLink) array(key string, read func(place, map[string]json.RawMessage) error) error {
	at := r.next()
	t, err := r.dec.Token()
	if err != nil {
		return r.fail(err)
	}
	if t != json.Delim('[') {
		return r.s.wrong(at, "%q is no list: write [{…}, {…}]", key)
	}
	for r.dec.More() {
		at, fields, err := r.object(key)
		if err != nil {
			return err
		}
		if err := read(at, fields); err != nil {
			return err
		}
	}
	if _, err := r.dec.Token(); err != nil {
		return r.fail(err)
	}
	return nil
}

// object reads the next value, which must be an object.
func (r *nodeLink) object(key string) (place, map[string]json.RawMessage, error) {
	at := r.next()
	var fields map[string]json.RawMessage
	if err := r.dec.Decode(&fields); err != nil {
		if ue := (*json.UnmarshalTypeError)(nil); errors.As(err, &ue) {
			return at, nil, r.s.wrong(at, "%q holds a %s where an object is due: write {…}", key, ue.Value)
		}
		return at, nil, r.fail(err)
	}
	for key, raw := range fields {
		if !isText([]byte(key)) || !isText(raw) {
			return at, nil, r.s.wrong(at, "it holds what is not UTF-8: convert the file, as by iconv -f LATIN1 -t UTF-8")
		}
	}
	return at, fields, nil
}

// isText reports whether nothing in a JSON text is lost as it is decoded: neither bytes nor halves of a pair of UTF-16.
func isText(raw []byte) bool {
	if !utf8.Valid(raw) {
		return false
	}
	if !bytes.Contains(raw, []byte(`\u`)) {
		return true
	}
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return true // another error
	}
	s, ok := v.(string)
	return !ok || strings.Count(s, "\uFFFD") ==
		bytes.Count(raw, []byte("\uFFFD"))+bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
}

func (r *nodeLink) node(at place, fields map[string]json.RawMessage) error {
	n := sketchNode{name: strconv.Itoa(len(r.s.nodes)), at: at}
	if id, has := fields["id"]; has {
		name, ok := text(id)
		if !ok {
			return r.s.wrong(at, "node %d has no id that is a word or a number: write {\"id\": \"a\"}",
				len(r.s.nodes))
		}
		n.name = name
		r.named++
		r.numbered = r.numbered || id[0] != '"'
		r.digits = r.digits || isNumber(name)
	}
	if r.named > 0 && r.named <= len(r.s.nodes) {
		return r.s.wrong(at, "node %d has an id or none, unlike those before it: write {\"id\": \"a\"}",
			len(r.s.nodes))
	}
	if err := fieldsOf(fields).node(&n); err != nil {
		return fileError(r.s.file, at, err)
	}
	n.label = fieldsOf(fields).labelled(n.name)
	return r.s.addNode(n)
}

func (r *nodeLink) link(at place, fields map[string]json.RawMessage) error {
	if _, ok := fields["source"]; !ok && isLabLink(fields) {
		return r.labLink(at, fields)
	}
	from, ok1 := text(fields["source"])
	to, ok2 := text(fields["target"])
	if !ok1 || !ok2 {
		return r.s.wrong(at, "link %d lacks a source or a target that is a word or a number: write {\"source\": \"a\", "+
			"\"target\": \"b\"}", len(r.s.cables))
	}
	for _, raw := range []json.RawMessage{fields["source"], fields["target"]} {
		if r.ends++; raw[0] != '"' {
			r.indexes++
		}
	}
	c := sketchCable{from: from, to: to, at: at}
	if err := fieldsOf(fields).cable(r.s, &c); err != nil {
		return fileError(r.s.file, at, err)
	}
	return r.s.addCable(c)
}

// fieldsOf returns fields as attributes: it leaves out null fields, and writes a field that is no
// scalar as JSON.
func fieldsOf(fields map[string]json.RawMessage) attributes {
	return func(name string) (string, bool) {
		raw, ok := fields[name]
		if !ok || string(raw) == "null" {
			return "", false
		}
		if s, ok := text(raw); ok {
			return s, true
		}
		return string(raw), true
	}
}

// text returns a string's text or a number's digits.
func text(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 {
		return "", false
	}
	switch c := raw[0]; {
	case c == '"' && bytes.IndexByte(raw, '\\') < 0 && utf8.Valid(raw):
		return string(raw[1 : len(raw)-1]), true // the decoder has seen both quotes
	case c == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err == nil
	case c == '-' || c >= '0' && c <= '9':
		return digits(string(raw)), true
	}
	return "", false
}

// digits writes a number that is whole without point and exponent: 1.0 is 1, as it is to those who wrote it.
func digits(number string) string {
	if !strings.ContainsAny(number, ".eE-") {
		return number
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) > 1<<53 {
		return number
	}
	return strconv.FormatInt(int64(v), 10)
}

func isNumber(name string) bool {
	_, err := strconv.ParseFloat(name, 64)
	return err == nil
}

// The document as it is written: one node and one link a line.
type (
	jsonNode struct {
		ID   string `json:"id"`
		Role string `json:"role"`
		Rack *int32 `json:"rack,omitempty"`
	}
	jsonLink struct {
		Source     string                `json:"source"`
		Target     string                `json:"target"`
		SourcePort int32                 `json:"source_port"`
		TargetPort int32                 `json:"target_port"`
		Capacity   pathmap.BitsPerSecond `json:"capacity"`
		Back       pathmap.BitsPerSecond `json:"back,omitempty"`
	}
)

// writeNodeLink writes t with "links", undirected, capacities in bits a second.
func writeNodeLink(w io.Writer, t *pathmap.Topology) error {
	p := newPrinter(w)
	p.print("{\n\"directed\": false,\n\"multigraph\": true,\n\"graph\": {\"" + attrUnit + "\": \"bps\"},\n\"nodes\": [")
	sep := "\n"
	for _, n := range t.Nodes() {
		j := jsonNode{ID: n.Name, Role: n.Role.String()}
		if n.Rack != pathmap.None {
			j.Rack = &n.Rack
		}
		p.json(sep, j)
		sep = ",\n"
	}
	p.print("\n],\n\"links\": [")
	sep = "\n"
	for c := range cablesOf(t) {
		p.json(sep, jsonLink{c.from, c.to, c.fromPort, c.toPort, c.there, c.differing()})
		sep = ",\n"
	}
	p.print("\n]\n}\n")
	return p.flush()
}

func (p *printer) json(sep string, v any) {
	if p.err != nil {
		return
	}
	line, err := json.Marshal(v)
	if err != nil {
		p.err = fmt.Errorf("write %T: %w", v, err)
		return
	}
	p.print(sep + string(line))
}
