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

// CheckUTF8 names the line of the first byte that is not UTF-8. A reader would put U+FFFD in its place, so that names
// which differ could become one.
func CheckUTF8(text []byte) error {
	if utf8.Valid(text) { // which is many times as fast
		return nil
	}
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

// LineError says of a scanner's error in plain words that a line is too long; another comes back as it is.
func LineError(err error) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return errors.New("the line is too long for such a file")
	}
	return err
}
