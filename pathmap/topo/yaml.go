package topo

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"lightloom/pathmap/plaintext"
)

// maxFile bounds a spec's file, in bytes.
const maxFile = 1 << 16

// FromArgument reads a spec as users name one on a command line: the path of a YAML file, if it ends in
// .yaml or .yml, or of a topology in another format, else the text form. A topology's file is read
// here, once: the spec holds it.
func FromArgument(arg string) (Spec, error) {
	if strings.HasPrefix(arg, FileKind+":") {
		s, err := ParseSpec(arg)
		if err != nil {
			return Spec{}, err
		}
		return s.read()
	}
	if strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") {
		return ReadSpec(arg)
	}
	if _, err := FormatOf(arg); err == nil && !strings.Contains(arg, ":") {
		return Spec{Kind: FileKind, File: arg}.read()
	}
	return ParseSpec(arg)
}

// ReadSpec reads a YAML file: one mapping with "kind" and the keys that ParseSpec knows, with values
// written as there, or a topology. Errors name file, line and column.
func ReadSpec(path string) (Spec, error) {
	data, err := readAll(path, maxYAML)
	if err != nil {
		return Spec{}, fmt.Errorf("read fabric spec: %w", err)
	}
	if len(data) > maxYAML {
		return Spec{}, fmt.Errorf("%s: longer than %d bytes: convert it to node-link JSON, which is read at any size", path,
			maxYAML)
	}
	if f, err := FormatOf(path); err == nil && f.Name == "clab" || holdsTopology(path, data) {
		return Spec{Kind: FileKind, File: path}.take(bytes.NewReader(data))
	}
	s, err := ParseYAML(path, data)
	if err != nil || s.Kind != FileKind {
		return s, err
	}
	return s.read()
}

// readAll reads the text of a file of at most most bytes, and of a longer one most+1 bytes.
func readAll(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(plaintext.NewReader(f), most+1))
}

// holdsTopology reports whether YAML lists nodes and links, ours or containerlab's, and is no spec.
func holdsTopology(path string, data []byte) bool {
	t, top, err := parseTree(path, data)
	if err != nil {
		return beginsTopology(data)
	}
	kind, ok := oneKey(top, "kind")
	if !ok {
		_, clab := oneKey(top, "topology")
		return clab
	}
	word, err := t.word(kind.value, "kind")
	return err == nil && word == KindTopology
}

// read opens the file of a spec and keeps what it holds.
func (s Spec) read() (Spec, error) {
	f, err := os.Open(s.File)
	if err != nil {
		return Spec{}, fmt.Errorf("read topology: %w", err)
	}
	defer f.Close()
	return s.take(f)
}

// take keeps the content of a spec's file and the fields that follow from it.
func (s Spec) take(in io.Reader) (Spec, error) {
	format, err := FormatOf(s.File)
	if err != nil {
		return Spec{}, err
	}
	if file, ok := in.(*os.File); ok {
		if err := format.fits(file, s.File); err != nil {
			return Spec{}, err
		}
	}
	var text strings.Builder
	t, err := format.from(s.File, io.TeeReader(in, &text))
	if err != nil {
		return Spec{}, err
	}
	if s.Text, err = format.valid(text.String()); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", s.File, err)
	}
	if err := s.Check(); err != nil {
		return Spec{}, fmt.Errorf("%s: %w", s.File, err)
	}
	f, err := s.WithDefaults().plotted(t)
	if err != nil {
		return Spec{}, err
	}
	return f.Spec, nil
}

// valid returns a text in UTF-8, with a mark that it is, where it was not: a spec travels as JSON.
func (f Format) valid(text string) (string, error) {
	if utf8.ValidString(text) {
		return text, nil
	}
	in, err := f.utf8(strings.NewReader(text))
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(in)
	return "\uFEFF" + string(data), err
}

// ParseYAML reads what ReadSpec reads from a file, name being what errors call it.
func ParseYAML(name string, data []byte) (Spec, error) {
	data, err := plaintext.Of(data)
	if err != nil {
		return Spec{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxFile {
		return Spec{}, fmt.Errorf("%s: longer than %d bytes: a fabric spec is a handful of lines", name, maxFile)
	}
	if line, err := plaintext.CheckNesting(data); err != nil {
		return Spec{}, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	s, at, err := parseMapping(data)
	switch {
	case err == nil:
		return s, nil
	case at == nil || at.Position == nil:
		return Spec{}, fmt.Errorf("%s: %w", name, err)
	}
	return Spec{}, fmt.Errorf("%s:%d:%d: %w", name, at.Position.Line, at.Position.Column, err)
}

// parseMapping is ParseYAML with the place of what is wrong.
func parseMapping(data []byte) (Spec, *token.Token, error) {
	pairs, at, err := pairsOf(data)
	if err != nil {
		return Spec{}, at, err
	}
	d := newDraft()
	places := map[string]*token.Token{}
	for _, p := range pairs {
		if p.key != "kind" {
			continue
		}
		if places["kind"] != nil {
			return Spec{}, p.keyAt, wrong("kind", "given twice: leave one out")
		}
		if err := d.kind(p.value); err != nil {
			return Spec{}, p.valueAt, err
		}
		places["kind"] = p.valueAt
	}
	if places["kind"] == nil {
		return Spec{}, nil, wrong("kind", "missing: write kind: %s", oneOf("", Kinds()))
	}
	for _, p := range pairs {
		if p.key == "kind" {
			continue
		}
		if err := d.set(p.key, p.value); err != nil {
			return Spec{}, p.keyAt, err
		}
		places[p.key] = p.keyAt
	}
	s, err := d.spec()
	if ke := (*keyError)(nil); errors.As(err, &ke) {
		return Spec{}, places[ke.key], err
	}
	return s, nil, err
}

// pair is one line of the mapping.
type pair struct {
	key, value     string
	keyAt, valueAt *token.Token
}

// pairsOf returns the pairs of the one mapping that data holds.
func pairsOf(data []byte) ([]pair, *token.Token, error) {
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		if ye := yaml.Error(nil); errors.As(err, &ye) {
			return nil, ye.GetToken(), errors.New(ye.GetMessage())
		}
		return nil, nil, err
	}
	var docs []*ast.DocumentNode
	for _, d := range file.Docs {
		if d != nil && d.Body != nil {
			docs = append(docs, d)
		}
	}
	const want = "write one mapping, beginning with kind: hybrid"
	switch len(docs) {
	case 0:
		return nil, nil, errors.New("empty: " + want)
	case 1:
	default:
		return nil, docs[1].Body.GetToken(), errors.New("more than one document: " + want)
	}
	m, ok := docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, docs[0].Body.GetToken(), errors.New("no mapping: " + want)
	}
	pairs := make([]pair, len(m.Values))
	for i, v := range m.Values {
		p, at, err := pairOf(v)
		if err != nil {
			return nil, at, err
		}
		pairs[i] = p
	}
	return pairs, nil, nil
}

// pairOf reads one pair: both sides are plain words or quoted.
func pairOf(v *ast.MappingValueNode) (pair, *token.Token, error) {
	key, ok := scalar(v.Key)
	if !ok {
		return pair{}, v.Key.GetToken(), errors.New("a key must be a plain word, such as racks")
	}
	value, ok := scalar(v.Value)
	if !ok || value == "" {
		return pair{}, v.Key.GetToken(), wrong(key, "the value must be a number or a word, such as %s: 16", key)
	}
	return pair{key, value, v.Key.GetToken(), v.Value.GetToken()}, nil, nil
}

// scalar returns the text of a string or a number as it was written.
func scalar(n any) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.IntegerNode:
		return n.Token.Value, true
	case *ast.FloatNode:
		return n.Token.Value, true
	}
	return "", false
}
