// Package plaintext gives the UTF-8 of text files that other programs wrote: editors and shells of some
// systems begin a file with a byte order mark, or write UTF-16. It parses nothing.
package plaintext

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Of returns the UTF-8 of a text: without its byte order mark, and decoded where that says UTF-16.
// Other data comes back as it is, without a copy.
func Of(data []byte) ([]byte, error) {
	if text, ok := bytes.CutPrefix(data, []byte(mark)); ok || !isUTF16(data) {
		return text, CheckUTF8(text)
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

// CheckNesting refuses YAML of lists within lists without end, and of lists that do not end: those who
// parse and walk it do so by recursion, take time and memory by the square of the first, and hundreds of
// bytes a byte before they know of the second. By indentation alone such nesting takes more bytes than
// readers of YAML take. line is where it happens.
func CheckNesting(data []byte) (line int, err error) {
	var s scanner.Scanner
	s.Init(string(data))
	var open []int // by bracket that is open: its line
	dashes := 0
	for {
		tokens, end := s.Scan()
		for _, t := range tokens {
			if t.Position.Line != line {
				line, dashes = t.Position.Line, 0
			}
			switch t.Type {
			case token.SequenceStartType, token.MappingStartType:
				open = append(open, line)
			case token.SequenceEndType, token.MappingEndType:
				open = open[:max(len(open)-1, 0)]
			case token.SequenceEntryType, token.MappingKeyType, token.MappingValueType:
				dashes++
			case token.TagType, token.AnchorType: // what they are of comes next
			default:
				dashes = 0
			}
			if len(open) > maxNested || dashes > maxNested {
				return line, fmt.Errorf("more than %d lists within each other: write a flatter file", maxNested)
			}
		}
		if errors.Is(end, io.EOF) {
			break
		}
	}
	if len(open) > 0 {
		return open[0], errors.New("a list or mapping that begins here does not end: close it by ] or }")
	}
	return 0, nil
}

// CheckUTF8 names the line of the first byte that is not UTF-8. A reader would put U+FFFD in its place, so that names
// which differ could become one.
func CheckUTF8(text []byte) error {
	for at := 0; at < len(text); {
		r, n := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && n == 1 {
			return fmt.Errorf("line %d: the byte 0x%x is not UTF-8: convert the file, as by iconv -f LATIN1 -t UTF-8",
				1+bytes.Count(text[:at], []byte("\n")), text[at])
		}
		at += n
	}
	return nil
}
