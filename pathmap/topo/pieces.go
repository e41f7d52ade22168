package topo

import (
	"bytes"
	"errors"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// A tree of YAML takes hundreds of bytes for each of the file's. So the long lists and mappings of a large file are
// parsed some elements at a time, as they are read, and the first that is wrong ends it.

// piecewiseFrom is the size, in bytes, from which files are read so. Smaller ones are parsed whole.
const piecewiseFrom = 1 << 16

// maxWhole bounds, in bytes, what is parsed at once.
const maxWhole = 1 << 20

// bodyOf is a key at the top of a file, or within topology:.
type bodyOf struct {
	key   string
	inner bool
}

func (e entry) bodyOf() bodyOf { return bodyOf{e.key, e.at.Position.Column > 1} }

// body is the lines below a key.
type body struct {
	text []byte
	line int // of the first
}

// cutBodies takes the lines below nodes: and links: out of a text and returns them by their key. Empty lines stand in
// their place, so null is the value there. It cuts nothing where aliases could reach from one element to
// another, nor where a text has lines of its own.
func cutBodies(data []byte) (rest []byte, bodies map[bodyOf]body) {
	if len(data) < piecewiseFrom || bytes.ContainsAny(data, "&*|>") || bytes.Contains(data, []byte("<<")) {
		return data, nil
	}
	rest, bodies = make([]byte, 0, 1<<12), map[bodyOf]body{}
	outer := 0 // the column of the keys below topology:, 0 outside of it and -1 before the first
	for line := 1; len(data) > 0; line++ {
		text := firstLine(data)
		rest, data = append(rest, text...), data[len(text):]
		word := bytes.TrimLeft(text, " ")
		indent := len(text) - len(word)
		switch {
		case isBlank(word):
			continue
		case indent == 0 && isLongKey(word, "topology"):
			outer = -1
		case indent == 0:
			outer = 0
		case outer < 0:
			outer = indent
		}
		for _, key := range []string{"nodes", "links"} {
			if indent != outer || !isLongKey(word, key) {
				continue
			}
			if n, lines := below(data, indent); n > 0 {
				bodies[bodyOf{key, outer > 0}] = body{data[:n], line + 1}
				rest = append(rest, bytes.Repeat(text[len(bytes.TrimRight(text, "\r\n")):], lines)...)
				data, line = data[n:], line+lines
			}
		}
	}
	return rest, bodies
}

func firstLine(data []byte) []byte {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return data[:i+1]
	}
	return data
}

// isLongKey reports whether a line is that key with its value below it.
func isLongKey(word []byte, key string) bool {
	rest, ok := bytes.CutPrefix(word, []byte(key+":"))
	rest = bytes.TrimSpace(rest)
	return ok && (len(rest) == 0 || rest[0] == '#')
}

// below returns the length, in bytes and lines, of what stands below a key at a column: lines that begin further
// in, and those of a list that begin where the key does.
func below(data []byte, indent int) (n, lines int) {
	for n < len(data) {
		text := firstLine(data[n:])
		word := bytes.TrimLeft(text, " ")
		in := len(text) - len(word)
		isItem := bytes.HasPrefix(word, []byte("- ")) || len(bytes.TrimSpace(word)) == 1 && word[0] == '-'
		if !isBlank(word) && (in < indent || in == indent && !isItem) {
			break
		}
		n += len(text)
		lines++
	}
	return n, lines
}

// isBlank reports whether a line, without its indentation, says nothing.
func isBlank(word []byte) bool { return len(bytes.TrimSpace(word)) == 0 || word[0] == '#' }

// each parses the elements of a body, some at a time, and calls read with what they are: a list, or a mapping.
func (b body) each(t tree, read func(ast.Node) error) error {
	for indent := -1; len(b.text) > 0; {
		n, lines := 0, 0
		for n < len(b.text) {
			text := firstLine(b.text[n:])
			word := bytes.TrimLeft(text, " ")
			in := len(text) - len(word)
			if indent < 0 && !isBlank(word) {
				indent = in
			}
			if n >= piecewiseFrom && in == indent && !isBlank(word) {
				break
			}
			n, lines = n+len(text), lines+1
		}
		if err := b.parse(t, b.text[:n], read); err != nil {
			return err
		}
		b = body{b.text[n:], b.line + lines}
	}
	return nil
}

// parse reads the piece that a body begins with.
func (b body) parse(t tree, piece []byte, read func(ast.Node) error) error {
	tokens := lexer.Tokenize(string(piece))
	for _, at := range tokens {
		at.Position.Line += b.line - 1
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		if ye := yaml.Error(nil); errors.As(err, &ye) {
			return t.wrong(ye.GetToken(), "YAML: %s", ye.GetMessage())
		}
		return t.wrong(nil, "YAML: %w", err)
	}
	for _, d := range file.Docs {
		if d == nil || d.Body == nil {
			continue
		}
		if err := read(d.Body); err != nil {
			return err
		}
	}
	return nil
}

// elements calls read with each element of a pair's list.
func (t tree) elements(e entry, read func(ast.Node) error) error {
	all := func(n ast.Node) error {
		list, err := t.list(n, e.key)
		if err != nil {
			return err
		}
		for _, n := range list {
			if err := read(n); err != nil {
				return err
			}
		}
		return nil
	}
	if b, ok := t.bodies[e.bodyOf()]; ok {
		return b.each(t, all)
	}
	return all(e.value)
}

// pairs calls read with each pair of a pair's mapping.
func (t tree) pairs(e entry, read func(entry) error) error {
	all := func(n ast.Node) error {
		pairs, err := t.mapping(n, e.key)
		if err != nil {
			return err
		}
		for _, p := range pairs {
			if err := read(p); err != nil {
				return err
			}
		}
		return nil
	}
	if b, ok := t.bodies[e.bodyOf()]; ok {
		return b.each(t, all)
	}
	return all(e.value)
}
