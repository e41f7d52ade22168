// Package plaintext gives the UTF-8 of text files that other programs wrote: editors and shells of some
// systems begin a file with a byte order mark, or write UTF-16. It parses nothing.
package plaintext

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Of returns the UTF-8 of a text: without its byte order mark, and decoded where that says UTF-16.
// Other data comes back as it is, without a copy.
func Of(data []byte) ([]byte, error) {
	if text, ok := bytes.CutPrefix(data, []byte(mark)); ok || !isUTF16(data) {
		return text, nil
	}
	out, _, err := transform.Bytes(decoder(), data)
	if err != nil {
		return nil, fmt.Errorf("decode UTF-16: %w", err)
	}
	return out, nil
}

// NewReader is Of for a stream.
func NewReader(r io.Reader) *bufio.Reader {
	in, ok := r.(*bufio.Reader)
	if !ok {
		in = bufio.NewReaderSize(r, 1<<16)
	}
	head, _ := in.Peek(len(mark)) // what is wrong with it is found when it is read
	switch {
	case bytes.Equal(head, []byte(mark)):
		_, _ = in.Discard(len(mark)) // it was peeked at
	case isUTF16(head):
		return bufio.NewReaderSize(transform.NewReader(in, decoder()), 1<<16)
	}
	return in
}

// mark is the byte order mark in UTF-8.
const mark = "\uFEFF"

func isUTF16(data []byte) bool {
	return bytes.HasPrefix(data, []byte{0xfe, 0xff}) || bytes.HasPrefix(data, []byte{0xff, 0xfe})
}

func decoder() transform.Transformer { return unicode.BOMOverride(transform.Nop) }

// maxNested bounds brackets within brackets in YAML, and dashes behind dashes.
const maxNested = 100

// CheckNesting refuses YAML of lists within lists without end: those who parse and walk it do so by
// recursion. By indentation alone such nesting takes more bytes than readers of YAML take. line is
// where it happens.
func CheckNesting(data []byte) (line int, err error) {
	brackets, dashes, begins := 0, 0, true
	for i, b := range data {
		blank := i+1 == len(data) || bytes.IndexByte([]byte(" \t\r\n"), data[i+1]) >= 0
		switch {
		case b == '\n':
			dashes, begins = 0, true
		case b == ' ' || b == '\t':
		case begins && blank && (b == '-' || b == '?' || b == ':'):
			dashes++
		case b == '{' || b == '[':
			brackets++
			begins = false
		case b == '}' || b == ']':
			brackets = max(brackets-1, 0)
			begins = false
		default:
			begins = b == '&' || b == '!'
		}
		if brackets > maxNested || dashes > maxNested {
			return 1 + bytes.Count(data[:i], []byte("\n")),
				fmt.Errorf("more than %d lists within each other: write a flatter file", maxNested)
		}
	}
	return 0, nil
}
