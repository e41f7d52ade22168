package topo

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// clab reads a containerlab topology's YAML into a sketch. Names and labels are texts as they are
// written: containerlab gives 01, 0x10 and yes to their nodes so.
type clab struct {
	tree
	lab      *labSketch
	defaults definition
	kindOf   map[string]definition
	groups   map[string]definition
}

// definition is what is read of a node, or of what nodes inherit.
type definition struct {
	kind, group string
	labels      map[string]string
}

func readClab(file string, in io.Reader) (*sketch, error) {
	data, err := whole(file, in, maxYAML)
	if err != nil {
		return nil, err
	}
	l, err := labOf(file, data)
	if err != nil {
		return nil, err
	}
	return l.s, nil
}

func labOf(file string, data []byte) (*labSketch, error) {
	if err := untemplated(file, data); err != nil {
		return nil, err
	}
	t, top, err := parseTree(file, data)
	if err != nil {
		return nil, unparsed(file, data, err)
	}
	return labOfTree(t, top)
}

// untemplated refuses a Go template, wherever it stands: containerlab expands those in comments, too.
func untemplated(file string, data []byte) error {
	at := bytes.Index(data, []byte("{{"))
	if at < 0 {
		return nil
	}
	return fileError(file, lineOf(data, at), unexpanded("a Go template",
		"write what containerlab makes of it, or "+
			"name the "+
			"topology-data.json that containerlab deploy leaves in the lab's directory"))
}

// unparsed explains why a file is no YAML where ${VAR} is the likely cause.
func unparsed(file string, data []byte, err error) error {
	if at := bytes.Index(data, []byte("${")); at >= 0 {
		return fileError(file, lineOf(data, at),
			fmt.Errorf("%w: %w", unexpanded("${…}", "write the value of the "+
				"environment variable, or its default"), err))
	}
	return err
}

func lineOf(data []byte, at int) place { return place{line: 1 + bytes.Count(data[:at], []byte("\n"))} }

// unexpanded says that containerlab would put something in the place of a text.
func unexpanded(what, instead string) error {
	return fmt.Errorf("%s stands for what is not in this file: expand it first: %s", what, instead)
}

func labOfTree(t tree, top []entry) (*labSketch, error) {
	r := clab{tree: t, lab: labIn(newSketch(t.file))}
	e, ok := oneKey(top, "topology")
	if !ok {
		return nil, r.wrong(nil, "no topology: this is no containerlab file, which has nodes and links below topology:")
	}
	parts, err := r.mapping(e.value, "topology")
	if err != nil {
		return nil, err
	}
	if err := r.inherited(parts); err != nil {
		return nil, err
	}
	for _, part := range parts {
		switch part.key {
		case "nodes":
			err = r.pairs(part, r.node)
		case "links":
			err = r.links(part)
		}
		if err != nil {
			return nil, err
		}
	}
	return r.lab, r.lab.ports()
}

// inherited reads what nodes inherit.
func (r *clab) inherited(parts []entry) (err error) {
	if d, ok := oneKey(parts, "defaults"); ok {
		if r.defaults, err = r.definition(d, "defaults"); err != nil {
			return err
		}
	}
	if r.kindOf, err = r.definitions(parts, "kinds"); err != nil {
		return err
	}
	r.groups, err = r.definitions(parts, "groups")
	return err
}

func (r *clab) definitions(parts []entry, key string) (map[string]definition, error) {
	e, ok := oneKey(parts, key)
	if !ok {
		return nil, nil
	}
	pairs, err := r.mapping(e.value, key)
	all := make(map[string]definition, len(pairs))
	for _, p := range pairs {
		if err == nil {
			all[p.key], err = r.definition(p, key+": "+strconv.Quote(p.key))
		}
	}
	return all, err
}

func (r *clab) definition(e entry, what string) (d definition, err error) {
	fields, err := r.mapping(e.value, what)
	if err != nil {
		return d, err
	}
	if err := r.misspelt(fields, "kind", "group", "labels"); err != nil {
		return d, err
	}
	if d.kind, err = r.field(fields, "kind"); err != nil {
		return d, err
	}
	if d.group, err = r.field(fields, "group"); err != nil {
		return d, err
	}
	d.labels, err = r.labels(fields)
	return d, err
}

// misspelt refuses a key that is nearly one of those that are read: containerlab takes no unknown keys. The others of
// its keys, and those of later versions, are passed over.
func (r *clab) misspelt(fields []entry, read ...string) error {
	for _, f := range fields {
		if near, ok := nearest(f.key, read); ok && near != f.key {
			return r.wrong(f.at, "%q is no key of containerlab: write %s", f.key, near)
		}
	}
	return nil
}

// field returns the text of a field; "" where it is left out or null.
func (r *clab) field(fields []entry, key string) (string, error) {
	e, ok := oneKey(fields, key)
	if !ok {
		return "", nil
	}
	n, err := r.plain(e.value)
	if err != nil || n.Type() == ast.NullType {
		return "", err
	}
	text, ok := text0(n)
	if !ok {
		return "", r.wrong(n.GetToken(), "%s is no word or number", key)
	}
	return text, r.expanded(n, text)
}

// expanded refuses a text that containerlab would put an environment variable's value in.
func (r *clab) expanded(n ast.Node, text string) error {
	if !strings.Contains(text, "$") {
		return nil
	}
	return r.wrong(n.GetToken(), "%w", unexpanded(strconv.Quote(text),
		"write the value of the environment variable, or "+
			"its default"))
}

// labels returns those of a definition or a link that are read; what is no word in them is left out.
func (r *clab) labels(fields []entry) (map[string]string, error) {
	e, ok := oneKey(fields, "labels")
	if !ok {
		return nil, nil
	}
	pairs, err := r.mapping(e.value, "labels")
	if err != nil {
		return nil, err
	}
	words := map[string]string{}
	for _, key := range ourLabels() {
		p, ok := oneKey(pairs, key)
		if !ok {
			continue
		}
		n, err := r.plain(p.value)
		if err != nil {
			return nil, err
		}
		text, ok := text0(n)
		if !ok || n.Type() == ast.NullType {
			continue
		}
		if err := r.expanded(n, text); err != nil {
			return nil, err
		}
		words[key] = text
	}
	return words, nil
}

// ourLabels are the labels that are read.
func ourLabels() []string {
	return append([]string{labelRole, labelRack, attrBack, attrSourcePort, attrTargetPort}, capacityNames()...)
}

func (r *clab) node(n entry) error {
	d, err := r.definition(n, "node "+strconv.Quote(n.key))
	if err != nil {
		return err
	}
	if strings.Contains(n.key, "$") {
		return r.wrong(n.at, "%w", unexpanded("node "+strconv.Quote(n.key), "write its name"))
	}
	if _, defined := r.groups[d.group]; d.group != "" && !defined {
		if near, ok := nearest(d.group, slices.Sorted(maps.Keys(r.groups))); ok {
			return r.wrong(n.at, "node %q is of group %q, which groups has not: write %s", n.key, d.group, near)
		}
	}
	kind := cmp.Or(d.kind, r.groups[d.group].kind, r.groups[r.defaults.group].kind, r.defaults.kind, linux)
	group := cmp.Or(d.group, r.kindOf[kind].group, r.defaults.group)
	return r.lab.node(n.key, kind, merged(r.defaults.labels, r.kindOf[kind].labels, r.groups[group].labels, d.labels),
		placeOf(n.at))
}

// merged returns the labels of all, of equal ones the last.
func merged(all ...map[string]string) map[string]string {
	var out map[string]string
	for _, labels := range all {
		for k, v := range labels {
			if out == nil {
				out = map[string]string{}
			}
			out[k] = v
		}
	}
	return out
}

func (r *clab) links(e entry) error {
	return r.elements(e, func(n ast.Node) error {
		fields, err := r.mapping(n, "a link")
		if err != nil {
			return err
		}
		at := placeOf(n.GetToken())
		if len(fields) > 0 {
			at = placeOf(fields[0].at)
		}
		return r.link(at, fields)
	})
}

func (r *clab) link(at place, fields []entry) error {
	kind, err := r.field(fields, "type")
	if err != nil || slices.Contains(outsideEnds(), kind) {
		return err
	}
	if kind != "" && kind != "veth" {
		return r.lab.s.wrong(at, "a link of type %q: write veth, or leave the type out", kind)
	}
	e, ok := oneKey(fields, "endpoints")
	if !ok {
		return r.lab.s.wrong(at, "a link without endpoints: write endpoints: [\"a:eth1\", \"b:eth1\"]")
	}
	list, err := r.list(e.value, "endpoints")
	if err != nil {
		return err
	}
	if len(list) != 2 {
		return r.wrong(e.at, "endpoints: %d where two are due: write endpoints: [\"a:eth1\", \"b:eth1\"]", len(list))
	}
	var ends [2]endpoint
	for i, n := range list {
		if ends[i], err = r.endpoint(n); err != nil {
			return err
		}
	}
	if slices.ContainsFunc(ends[:], func(e endpoint) bool { return slices.Contains(outsideEnds(), e.node) }) {
		return nil
	}
	labels, err := r.labels(fields)
	if err != nil {
		return err
	}
	return r.lab.link(at, labels, ends[0], ends[1])
}

// endpoint reads "node:interface", or a mapping with both.
func (r *clab) endpoint(n ast.Node) (endpoint, error) {
	plain, err := r.plain(n)
	if err != nil {
		return endpoint{}, err
	}
	if _, long := plain.(*ast.MappingNode); long {
		return r.extended(plain)
	}
	text, err := r.word(plain, "an endpoint")
	if err == nil {
		err = r.expanded(n, text)
	}
	if err != nil {
		return endpoint{}, err
	}
	node, iface, ok := strings.Cut(text, ":")
	if slices.Contains(outsideEnds(), node) {
		return endpoint{node, iface}, nil
	}
	if strings.Contains(iface, ":") {
		return endpoint{}, r.wrong(n.GetToken(), "endpoint %q has more than a node and an interface: write \"%s:eth1\"", text,
			node)
	}
	if !ok || node == "" || iface == "" {
		return endpoint{}, r.wrong(n.GetToken(), "endpoint %q names no interface: write \"%s:eth1\"", text, node)
	}
	return endpoint{node, iface}, nil
}

func (r *clab) extended(n ast.Node) (out endpoint, err error) {
	fields, err := r.mapping(n, "an endpoint")
	if err != nil {
		return out, err
	}
	for _, f := range []struct {
		key string
		to  *string
	}{{"node", &out.node}, {"interface", &out.iface}} {
		e, _ := oneKey(fields, f.key)
		value, err := r.plain(e.value)
		if err != nil {
			return out, err
		}
		text, ok := text0(value)
		if !ok || text == "" {
			return out, r.wrong(n.GetToken(), "an endpoint without node or interface: write {node: a, interface: eth1}")
		}
		if *f.to = text; strings.Contains(text, "$") {
			return out, r.expanded(value, text)
		}
	}
	return out, nil
}
