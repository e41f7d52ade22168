// Package yamlfile reads what users write in YAML, and says of what is wrong in which line and column
// it stands.
package yamlfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"lightloom/pathmap/plaintext"
)

// maxFile bounds a file, in bytes.
const maxFile = 1 << 20

// File is a file that has been read, for errors to say where their cause stands.
type File struct {
	name string
	tree *ast.File
}

// Keys lead to a value of the file: a string is a key of a mapping, an int a place in a list.
type Keys []any

// Read reads a file of at most 1 MiB.
func Read(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(io.LimitReader(file, maxFile+1))
}

// Decode decodes data, the content of a file of that name, into into. Unknown keys and a file above 1
// MiB are errors; an empty file leaves into unchanged.
func Decode(name string, data []byte, into any) (*File, error) {
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: longer than %d bytes: at most that many are taken", name, maxFile)
	}
	data, err := plaintext.Of(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if line, err := plaintext.CheckNesting(data); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	if line, err := plaintext.CheckMapping(data); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line, err)
	}
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, placed(name, err)
	}
	if err := decode(data, into); err != nil && !errors.Is(err, io.EOF) {
		return nil, placed(name, err)
	}
	return &File{name: name, tree: tree}, nil
}

// decode decodes YAML. The library panics on some values that are none, such as a tag alone where a list belongs.
func decode(data []byte, into any) (err error) {
	defer func() {
		if recover() != nil {
			err = errors.New("it holds a value that cannot be read: write plain values, without tags")
		}
	}()
	return yaml.NewDecoder(bytes.NewReader(data), yaml.DisallowUnknownField()).Decode(into)
}

// placed puts file, line and column before a YAML error's own words.
func placed(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return fmt.Errorf("%s: %w", name, err)
	}
	if t := y.GetToken(); t != nil && t.Position != nil {
		return fmt.Errorf("%s:%d:%d: %s", name, t.Position.Line, t.Position.Column, y.GetMessage())
	}
	return fmt.Errorf("%s: %s", name, y.GetMessage())
}

// At puts the file before an error, with line and column of what keys lead to, or of the last of them
// that is there.
func (f *File) At(at Keys, err error) error { return fmt.Errorf("%s%s: %w", f.name, f.place(at), err) }

func (f *File) place(at Keys) string {
	for ; len(at) > 0; at = at[:len(at)-1] {
		b := (&yaml.PathBuilder{}).Root()
		for _, k := range at {
			if i, ok := k.(int); ok {
				b = b.Index(uint(i))
			} else {
				b = b.Child(k.(string))
			}
		}
		if n, err := b.Build().FilterFile(f.tree); err == nil && n != nil && n.GetToken() != nil {
			p := n.GetToken().Position
			return fmt.Sprintf(":%d:%d", p.Line, p.Column)
		}
	}
	return ""
}
