package topo

import (
	"errors"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"lightloom/pathmap/plaintext"
)

// maxYAML bounds a topology's YAML, in bytes: its tree takes a hundred and fifty bytes for each of the file's.
const maxYAML = 16 << 20

// tree is a YAML file as nodes, with errors that know their place.
type tree struct{ file string }

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

// root returns the mapping that the file is.
func (t tree) root(data []byte) ([]entry, error) {
	if len(data) > maxYAML {
		return nil, t.wrong(nil, "longer than %d bytes: convert it to node-link JSON, which is read at any size", maxYAML)
	}
	if line, err := plaintext.CheckNesting(data); err != nil {
		return nil, fileError(t.file, place{line: line}, err)
	}
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
	return t.mapping(body, "the file")
}

// plain takes an anchor or a tag away.
func plain(n ast.Node) ast.Node {
	for {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		default:
			return n
		}
	}
}

// mapping returns the pairs of a mapping, what being its name for errors; null is an empty one.
func (t tree) mapping(n ast.Node, what string) ([]entry, error) {
	n = plain(n)
	if n == nil || n.Type() == ast.NullType {
		return nil, nil
	}
	m, ok := n.(*ast.MappingNode)
	if !ok {
		return nil, t.wrong(n.GetToken(), "%s is no mapping: write key: value", what)
	}
	entries := make([]entry, 0, len(m.Values))
	for _, v := range m.Values {
		key, ok := text0(v.Key)
		if !ok {
			return nil, t.wrong(v.Key.GetToken(), "a key must be a plain word")
		}
		entries = append(entries, entry{key, v.Key.GetToken(), v.Value})
	}
	return entries, nil
}

// list returns the elements of a list; null is an empty one.
func (t tree) list(n ast.Node, what string) ([]ast.Node, error) {
	n = plain(n)
	if n == nil || n.Type() == ast.NullType {
		return nil, nil
	}
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		return nil, t.wrong(n.GetToken(), "%s is no list: write - before each", what)
	}
	return s.Values, nil
}

// word returns a scalar's text as it is written.
func (t tree) word(n ast.Node, what string) (string, error) {
	text, ok := text0(plain(n))
	if !ok || text == "" {
		return "", t.wrong(n.GetToken(), "%s is no word or number", what)
	}
	return text, nil
}

// text0 returns the text of any scalar, as it was written.
func text0(n any) (string, bool) {
	switch n := n.(type) {
	case *ast.FloatNode:
		return n.Token.Value, true
	case *ast.BoolNode:
		return n.Token.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
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
