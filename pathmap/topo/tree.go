package topo

import (
	"bytes"
	"errors"
	"fmt"
	"sort"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"lightloom/pathmap/plaintext"
)

// maxYAML bounds a topology's YAML, in bytes.
const maxYAML = 16 << 20

// tree is a YAML file as nodes, with errors that know their place. Aliases stand for what their anchors
// hold, and merge keys (<<) add pairs that the mapping lacks.
type tree struct {
	file    string
	anchors map[string][]*ast.AnchorNode        // by name, in the file's order
	left    *int                                // pairs and elements that may still be read
	bodies  map[plaintext.BodyOf]plaintext.Body // what is parsed as it is read
}

// maxEntries bounds the pairs and elements that are read of a file, for aliases can stand for many in
// few bytes.
const maxEntries = 1 << 21

// entry is one pair of a mapping.
type entry struct {
	key   string
	at    *token.Token
	value ast.Node
}

func (t tree) wrong(at *token.Token, format string, args ...any) error {
	return fileError(t.file, placeOf(at), fmt.Errorf(format, args...))
}

func placeOf(at *token.Token) place {
	if at == nil || at.Position == nil {
		return place{}
	}
	return place{at.Position.Line, at.Position.Column}
}

// parseTree returns the file and the mapping that it is.
func parseTree(file string, data []byte) (tree, []entry, error) {
	left := maxEntries
	rest, bodies := plaintext.CutBodies(data, "topology", "nodes", "links")
	t := tree{file: file, anchors: map[string][]*ast.AnchorNode{}, left: &left, bodies: bodies}
	if len(data) > maxYAML {
		return t, nil, t.wrong(nil, "longer than %d bytes: convert it to node-link JSON, which is read at any size", maxYAML)
	}
	if len(rest) > plaintext.MaxWhole {
		return t, nil, t.wrong(nil, "longer than %d bytes beside nodes and links, or these do not stand in lines of "+
			"their own below nodes: and links:, without anchors: convert it to node-link JSON, which is read at any "+
			"size", plaintext.MaxWhole)
	}
	if line, err := plaintext.CheckNesting(data); err != nil {
		return t, nil, fileError(file, place{line: line}, err)
	}
	body, err := t.parse(rest)
	if err != nil {
		return t, nil, err
	}
	if bytes.IndexByte(data, '&') >= 0 {
		ast.Walk(t, body)
	}
	top, err := t.mapping(body, "the file")
	return t, top, err
}

// Visit notes an anchor (ast.Visitor).
func (t tree) Visit(n ast.Node) ast.Visitor {
	if a, ok := n.(*ast.AnchorNode); ok {
		name := a.Name.GetToken().Value
		t.anchors[name] = append(t.anchors[name], a)
	}
	return t
}

// parse returns the one value that the file holds.
func (t tree) parse(data []byte) (ast.Node, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		if ye := yaml.Error(nil); errors.As(err, &ye) {
			return nil, t.wrong(ye.GetToken(), "YAML: %s", ye.GetMessage())
		}
		return nil, t.wrong(nil, "YAML: %w", err)
	}
	var body ast.Node
	for _, d := range file.Docs {
		switch {
		case d == nil || d.Body == nil:
		case body != nil:
			return nil, t.wrong(d.Body.GetToken(), "more than one document: one file holds one topology")
		default:
			body = d.Body
		}
	}
	if body == nil {
		return nil, t.wrong(nil, "empty: a topology has nodes and links")
	}
	return body, nil
}

// maxHops bounds aliases that stand for aliases.
const maxHops = 100

// plain takes anchors and tags away, and puts what an alias stands for in its place.
func (t tree) plain(n ast.Node) (ast.Node, error) {
	for range maxHops {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.AliasNode:
			to := t.anchored(v)
			if to == nil {
				return nil, t.wrong(v.GetToken(), "*%s stands for nothing: write &%s before what it is to stand for, above it",
					v.Value.GetToken().Value, v.Value.GetToken().Value)
			}
			n = to
		default:
			return n, nil
		}
	}
	return nil, t.wrong(n.GetToken(), "an alias that stands for itself: write the value")
}

// anchored returns what the last anchor of an alias's name before it holds.
func (t tree) anchored(v *ast.AliasNode) ast.Node {
	at := v.GetToken().Position.Offset
	all := t.anchors[v.Value.GetToken().Value]
	after := sort.Search(len(all), func(i int) bool { return all[i].GetToken().Position.Offset >= at })
	if after == 0 {
		return nil
	}
	return all[after-1].Value
}

// spend counts what is read.
func (t tree) spend(n int, at *token.Token) error {
	if *t.left -= n; *t.left < 0 {
		return t.wrong(at, "more than %d values, with what aliases stand for: write fewer", maxEntries)
	}
	return nil
}

// mapping returns the pairs of a mapping, what being its name for errors; null is an empty one.
func (t tree) mapping(n ast.Node, what string) ([]entry, error) {
	return t.mappingWithin(n, what, 0)
}

func (t tree) mappingWithin(n ast.Node, what string, depth int) ([]entry, error) {
	n, err := t.plain(n)
	if err != nil || n == nil || n.Type() == ast.NullType {
		return nil, err
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, t.wrong(n.GetToken(), "%s is no mapping: write key: value", what)
	}
	if err := t.spend(len(m.Values), n.GetToken()); err != nil {
		return nil, err
	}
	entries := make([]entry, 0, len(m.Values))
	var merged []*ast.MappingValueNode
	for _, v := range m.Values {
		if v.Key.IsMergeKey() {
			merged = append(merged, v)
			continue
		}
		key, err := t.key(v.Key)
		if err != nil {
			return nil, err
		}
		entries = append(entries, entry{key, v.Key.GetToken(), v.Value})
	}
	for _, v := range merged {
		if entries, err = t.merge(entries, v, depth); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (t tree) key(n ast.Node) (string, error) {
	plain, err := t.plain(n)
	if err != nil {
		return "", err
	}
	key, ok := text0(plain)
	if !ok {
		return "", t.wrong(n.GetToken(), "a key must be a plain word")
	}
	return key, nil
}

// merge adds the pairs of a merge key, a mapping or a list of such, whose keys entries lacks.
func (t tree) merge(entries []entry, v *ast.MappingValueNode, depth int) ([]entry, error) {
	if depth == maxHops {
		return nil, t.wrong(v.Key.GetToken(), "more than %d merge keys within each other: write the values", maxHops)
	}
	from, err := t.plain(v.Value)
	if err != nil {
		return nil, err
	}
	parts := []ast.Node{from}
	if s, ok := from.(*ast.SequenceNode); ok {
		parts = s.Values
	}
	known := make(map[string]bool, len(entries))
	for _, e := range entries {
		known[e.key] = true
	}
	for _, p := range parts {
		more, err := t.mappingWithin(p, "what << merges", depth+1)
		if err != nil {
			return nil, err
		}
		for _, e := range more {
			if !known[e.key] {
				known[e.key] = true
				entries = append(entries, e)
			}
		}
	}
	return entries, nil
}

// list returns the elements of a list; null is an empty one.
func (t tree) list(n ast.Node, what string) ([]ast.Node, error) {
	n, err := t.plain(n)
	if err != nil || n == nil || n.Type() == ast.NullType {
		return nil, err
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, t.wrong(n.GetToken(), "%s is no list: write - before each", what)
	}
	return s.Values, t.spend(len(s.Values), n.GetToken())
}

// word returns a scalar's text as it is written.
func (t tree) word(n ast.Node, what string) (string, error) {
	plain, err := t.plain(n)
	if err != nil {
		return "", err
	}
	text, ok := text0(plain)
	if !ok || text == "" || plain.Type() == ast.NullType {
		return "", t.wrong(n.GetToken(), "%s is no word or number", what)
	}
	return text, nil
}

// text0 returns the text of any scalar, as it was written.
func text0(n any) (string, bool) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.BoolNode, *ast.NullNode, *ast.InfinityNode, *ast.NanNode:
		return n.(ast.Node).GetToken().Value, true
	}
	return scalar(n)
}

// oneKey reports whether the file's mapping has a key at its top.
func oneKey(entries []entry, key string) (entry, bool) {
	for _, e := range entries {
		if e.key == key {
			return e, true
		}
	}
	return entry{}, false
}
