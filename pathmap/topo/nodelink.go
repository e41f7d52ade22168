package topo

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"lightloom/pathmap"
)

// Node-link JSON is what networkx writes (node_link_data) and D3 draws: "nodes" with "id", and "links" or "edges" with
// "source" and "target". Nodes are named by their id, a number being its digits. Attributes are fields of these
// objects; those that are not ours are passed over. In a directed graph each two links that are each other's way back
// are one cable.

// nodeLink reads the document, field by field: large graphs are never held as objects.
type nodeLink struct {
	s        *sketch
	data     []byte
	dec      *json.Decoder
	counted  int // bytes of data whose lines are counted
	at       place
	directed bool
	links    string // the key that held them
	nodes    bool
}

func readNodeLink(file string, data []byte) (*sketch, error) {
	r := &nodeLink{s: newSketch(file), data: data, dec: json.NewDecoder(bytes.NewReader(data)), at: place{1, 1}}
	if err := r.document(); err != nil {
		return nil, err
	}
	if !r.nodes {
		return nil, r.s.wrong(place{}, "no \"nodes\": write {\"nodes\": [{\"id\": \"a\"}, …], \"links\": [{\"source\": "+
			"\"a\", \"target\": \"b\"}, …]}")
	}
	for i := range r.s.cables {
		r.s.cables[i].oneWay = r.directed
	}
	return r.s, nil
}

// place counts lines up to an offset, which must not be smaller than before.
func (r *nodeLink) place(offset int64) place {
	for _, b := range r.data[r.counted:min(int(offset), len(r.data))] {
		r.at.col++
		if b == '\n' {
			r.at = place{r.at.line + 1, 1}
		}
	}
	r.counted = max(r.counted, min(int(offset), len(r.data)))
	return r.at
}

// next returns the place of the next value.
func (r *nodeLink) next() place {
	at := int(r.dec.InputOffset())
	for at < len(r.data) && bytes.IndexByte([]byte(" \t\r\n,:"), r.data[at]) >= 0 {
		at++
	}
	return r.place(int64(at))
}

// fail gives an error of the decoder its place.
func (r *nodeLink) fail(err error) error {
	offset := r.dec.InputOffset()
	if se := (*json.SyntaxError)(nil); errors.As(err, &se) {
		offset = se.Offset - 1
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		offset, err = int64(len(r.data)), errors.New("the file ends in the middle of the JSON")
	}
	if offset < int64(r.counted) { // the decoder counts some errors from where it began to read the value
		offset = int64(r.counted)
	}
	return fileError(r.s.file, r.place(offset), err)
}

func (r *nodeLink) document() error {
	at := r.next()
	t, err := r.dec.Token()
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
		return r.array(key, r.node)
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
	default:
		var other json.RawMessage
		if err := r.dec.Decode(&other); err != nil {
			return r.fail(err)
		}
	}
	return nil
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
		at := r.next()
		var fields map[string]json.RawMessage
		if err := r.dec.Decode(&fields); err != nil {
			if ue := (*json.UnmarshalTypeError)(nil); errors.As(err, &ue) {
				return r.s.wrong(at, "%q holds a %s where an object is due: write {…}", key, ue.Value)
			}
			return r.fail(err)
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

func (r *nodeLink) node(at place, fields map[string]json.RawMessage) error {
	name, ok := text(fields["id"])
	if !ok {
		return r.s.wrong(at, "node %d has no id that is a word or a number: write {\"id\": \"a\"}", len(r.s.nodes))
	}
	n := sketchNode{name: name, at: at}
	if err := fieldsOf(fields).node(&n); err != nil {
		return fileError(r.s.file, at, err)
	}
	n.label = fieldsOf(fields).labelled(n.name)
	return r.s.addNode(n)
}

func (r *nodeLink) link(at place, fields map[string]json.RawMessage) error {
	from, ok1 := text(fields["source"])
	to, ok2 := text(fields["target"])
	if !ok1 || !ok2 {
		return r.s.wrong(at, "link %d lacks a source or a target that is a word or a number: write {\"source\": \"a\", "+
			"\"target\": \"b\"}", len(r.s.cables))
	}
	c := sketchCable{from: from, to: to, at: at}
	if err := fieldsOf(fields).cable(&c); err != nil {
		return fileError(r.s.file, at, err)
	}
	return r.s.addCable(c)
}

// fieldsOf returns fields as attributes: it leaves out null fields, and writes a field that is no scalar as JSON.
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
	case c == '"':
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err == nil
	case c == '-' || c >= '0' && c <= '9':
		return string(raw), true
	}
	return "", false
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
	p.print("{\n\"directed\": false,\n\"multigraph\": true,\n\"graph\": {},\n\"nodes\": [")
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
