package plaintext

import (
	"bytes"
	"iter"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
)

// A tree of YAML takes hundreds of bytes for each of the file's. So the long lists and mappings of a large file are
// parsed some elements at a time, as they are read, and the first that is wrong ends it.

// piecewiseFrom is the size, in bytes, from which files are read so. Smaller ones are parsed whole.
const piecewiseFrom = 1 << 16

// MaxWhole bounds, in bytes, what of a large file is parsed at once.
const MaxWhole = 1 << 20

// BodyOf is a key at the top of a file or, if Inner, within the mapping there that CutBodies was told of.
type BodyOf struct {
	Key   string
	Inner bool
}

// Body is the lines below a key.
type Body struct {
	Text []byte
	Line int // of the first, from 1
}

// CutBodies takes the lines below keys out of a text and returns them by their key. The keys stand at the top or within
// the mapping there that is called within ("": at the top alone). Empty lines
// stand in their place, so null is the value there. It cuts nothing where aliases could reach from one element to
// another, nor where a text has lines of its own.
func CutBodies(data []byte, within string, keys ...string) (rest []byte, bodies map[BodyOf]Body) {
	if len(data) < piecewiseFrom || LineOfReference(data) > 0 {
		return data, nil
	}
	rest, bodies = make([]byte, 0, 1<<12), map[BodyOf]Body{}
	outer := 0 // the column of the keys within, 0 outside of it and -1 before the first
	for line := 1; len(data) > 0; line++ {
		text := firstLine(data)
		rest, data = append(rest, text...), data[len(text):]
		word := bytes.TrimLeft(text, " ")
		indent := len(text) - len(word)
		switch {
		case isBlank(word):
			continue
		case indent == 0 && within != "" && isLongKey(word, within):
			outer = -1
		case indent == 0:
			outer = 0
		case outer < 0:
			outer = indent
		}
		for _, key := range keys {
			if indent != outer || !isLongKey(word, key) {
				continue
			}
			if n, lines := below(data, indent); n > 0 {
				bodies[BodyOf{key, outer > 0}] = Body{data[:n], line + 1}
				rest = append(rest, bytes.Repeat(text[len(bytes.TrimRight(text, "\r\n")):], lines)...)
				data, line = data[n:], line+lines
			}
		}
	}
	return rest, bodies
}

// LineOfReference returns the first line where a value begins like an anchor (&), an alias (*), a text in lines of its
// own (| or >) or a merge key (<<); 0: none does. Comments do not count.
func LineOfReference(data []byte) (line int) {
	for text := range bytes.Lines(data) {
		line++
		for i := 0; ; i++ {
			next := bytes.IndexAny(text[i:], "&*|><#")
			if next < 0 {
				break
			}
			i += next
			before := byte(' ')
			if i > 0 {
				before = text[i-1]
			}
			if bytes.IndexByte([]byte(" \t[{,:"), before) < 0 {
				continue
			}
			if text[i] == '#' && before != ':' {
				break
			}
			if text[i] != '#' && text[i] != '<' || bytes.HasPrefix(text[i:], []byte("<<")) {
				return line
			}
		}
	}
	return 0
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

// Pieces cuts a body between elements into parts of some 64 KiB, or of one element where that is longer.
func (b Body) Pieces() iter.Seq[Body] {
	return func(yield func(Body) bool) {
		for indent := -1; len(b.Text) > 0; {
			n, lines := 0, 0
			for n < len(b.Text) {
				text := firstLine(b.Text[n:])
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
			if !yield(Body{b.Text[:n], b.Line}) {
				return
			}
			b = Body{b.Text[n:], b.Line + lines}
		}
	}
}

// Parse returns what a body or piece of one holds, with places as in the file: at most one document, or an error of the
// YAML library.
func (b Body) Parse() (*ast.File, error) {
	tokens := lexer.Tokenize(string(b.Text))
	for _, at := range tokens {
		at.Position.Line += b.Line - 1
	}
	return parser.Parse(tokens, 0)
}
