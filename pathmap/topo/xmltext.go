package topo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	"lightloom/pathmap/plaintext"
)

// declared decodes XML: by its byte order mark, else by the encoding that its declaration names.
func declared(r io.Reader) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	head, _ := in.Peek(1 << 8) // what is wrong with it is found when it is read
	text := plaintext.NewReader(in)
	if text != in || bytes.HasPrefix(head, []byte("\uFEFF")) {
		return text, nil
	}
	e, err := encodingOf(head)
	if err != nil || e == nil {
		return in, err
	}
	return bufio.NewReaderSize(e.NewDecoder().Reader(in), 1<<16), nil
}

// encodingOf returns the encoding that a document begins with; nil for UTF-8 and what is part of it.
func encodingOf(head []byte) (encoding.Encoding, error) {
	switch {
	case bytes.HasPrefix(head, []byte{'<', 0}):
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM), nil
	case bytes.HasPrefix(head, []byte{0, '<'}):
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM), nil
	}
	m := regexp.MustCompile(`^\s*<\?xml[^>]*encoding\s*=\s*["']([^"']*)["']`).FindSubmatch(head)
	if m == nil {
		return nil, nil
	}
	switch name := strings.ToLower(string(m[1])); name {
	case "utf-8", "utf8", "us-ascii", "ascii", "utf-16", "utf16": // that it is no UTF-16 was just seen
		return nil, nil
	case "iso-8859-1", "latin1", "latin-1", "l1":
		return charmap.ISO8859_1, nil
	case "iso-8859-15", "latin9", "latin-9":
		return charmap.ISO8859_15, nil
	case "windows-1252", "cp1252":
		return charmap.Windows1252, nil
	default:
		return nil, fmt.Errorf("encoding %q is not read: convert it, as by iconv -f %s -t UTF-8, and write "+
			"encoding=\"UTF-8\"",
			name, name)
	}
}

// sparing bounds what a decoder reads for one token. It has the buffer itself, since an XML decoder reads byte by byte.
type sparing struct {
	in     io.Reader
	buf    []byte // of which begin to end are not read yet
	begin  int
	end    int
	taken  int   // since the last token
	failed error // of the last read
}

func newSparing(in io.Reader) *sparing { return &sparing{in: in, buf: make([]byte, 64<<10)} }

func (s *sparing) Read(p []byte) (int, error) {
	if s.begin == s.end || s.taken > maxValue {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	n := copy(p, s.buf[s.begin:s.end])
	s.begin += n
	s.taken += n
	return n, nil
}

// ReadByte is what an XML decoder reads by.
func (s *sparing) ReadByte() (byte, error) {
	if s.taken++; s.begin == s.end || s.taken > maxValue {
		if err := s.fill(); err != nil {
			return 0, err
		}
	}
	b := s.buf[s.begin]
	s.begin++
	return b, nil
}

// fill reads on.
func (s *sparing) fill() error {
	if s.taken > maxValue {
		return fmt.Errorf("a value is longer than %d bytes: this is no graph", maxValue)
	}
	for s.begin == s.end {
		if s.failed != nil {
			return s.failed
		}
		s.begin = 0
		s.end, s.failed = s.in.Read(s.buf)
	}
	return nil
}
