package plaintext

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/goccy/go-yaml/scanner"
	"github.com/goccy/go-yaml/token"
)

// maxNested bounds brackets within brackets in YAML, and dashes behind dashes.
const maxNested = 100

// CheckNesting refuses YAML of lists within lists without end, and of lists that do not end: those who
// parse and walk it do so by recursion, take time and memory by the square of the first, and hundreds of
// bytes a byte before they know of the second. line is where it happens.
func CheckNesting(data []byte) (line int, err error) {
	if line := checkIndents(data); line > 0 {
		return line, fmt.Errorf("more than %d values within each other: write a flatter file", maxNested)
	}
	if isFlat(data) {
		return 0, nil
	}
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

// checkIndents returns the first line that is within more than maxNested others by indentation; 0: none is.
func checkIndents(data []byte) int {
	var within []int // columns, each beyond the one before
	line := 0
	for text := range bytes.Lines(data) {
		line++
		rest := bytes.TrimLeft(text, " ")
		if len(bytes.TrimSpace(rest)) == 0 || rest[0] == '#' {
			continue
		}
		column := len(text) - len(rest)
		for len(within) > 0 && within[len(within)-1] >= column {
			within = within[:len(within)-1]
		}
		if within = append(within, column); len(within) > maxNested {
			return line
		}
	}
	return 0
}

// isFlat reports whether it is plain to see that a text's brackets close and are few within each other: on each line
// and without escapes, which a scan of bytes tells. Where it is not plain, the scanner of YAML looks closer.
func isFlat(data []byte) bool {
	for text := range bytes.Lines(data) {
		if !isFlatLine(text) {
			return false
		}
	}
	return true
}

func isFlatLine(line []byte) bool {
	depth, dashes := 0, 0
	before := byte(' ')
	for i := 0; i < len(line); i++ {
		b := line[i]
		switch b {
		case '[', '{':
			if depth++; depth > maxNested {
				return false
			}
		case ']', '}':
			if depth--; depth < 0 {
				return false
			}
		case '"', '\'':
			end := bytes.IndexByte(line[i+1:], b)
			if end < 0 || bytes.IndexByte([]byte(" [{,:-"), before) < 0 || bytes.IndexByte(line[i:i+1+end], '\\') >= 0 {
				return false
			}
			i += 1 + end
		case '#':
			if before == ' ' || depth > 0 {
				return depth == 0
			}
		case '-', '?', ':':
			if dashes++; dashes > maxNested {
				return false
			}
		}
		before = b
	}
	return depth == 0
}

// CheckMapping refuses YAML that begins with something else than a key, before it is parsed: parsers hold the whole
// tree of what a first look tells to be no mapping. line is where it begins.
func CheckMapping(data []byte) (line int, err error) {
	for text := range bytes.Lines(data) {
		line++
		text = bytes.TrimSpace(text)
		if len(text) == 0 || text[0] == '#' || text[0] == '%' || string(text) == "---" {
			continue
		}
		isKey := bytes.Contains(text, []byte(": ")) || text[len(text)-1] == ':'
		if bytes.IndexByte([]byte("{&!?\"'"), text[0]) >= 0 || isKey && !bytes.HasPrefix(text, []byte("- ")) {
			return 0, nil
		}
		return line, errors.New("the file is no mapping: write key: value")
	}
	return 0, nil
}
