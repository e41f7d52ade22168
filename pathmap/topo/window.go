package topo

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
)

// window keeps what a decoder has read of a stream and is not done with, so that its errors can name lines.
type window struct {
	in    io.Reader
	base  int64  // offset of held
	held  []byte // within buf
	buf   []byte
	given int // bytes of held that the decoder has
	told  int // bytes of held that were taken
	err   error
}

// maxValue bounds a value of a file, in bytes: names and numbers are short, and a decoder holds the
// value whole.
const maxValue = 4 << 20

func (w *window) Read(p []byte) (int, error) {
	if w.given > maxValue {
		return 0, fmt.Errorf("a value is longer than %d bytes: this is no graph", maxValue)
	}
	if w.given == len(w.held) {
		w.more()
	}
	n := copy(p, w.held[w.given:])
	if w.given += n; n == 0 {
		return 0, w.err
	}
	return n, nil
}

// chunk is how many bytes are read at once.
const chunk = 1 << 15

// more reads ahead of the decoder.
func (w *window) more() {
	if w.err != nil {
		return
	}
	if at := len(w.held); cap(w.held)-at < chunk {
		if len(w.buf) < at+chunk {
			w.buf = make([]byte, 2*(at+chunk))
		}
		w.held = w.buf[:copy(w.buf, w.held)]
	}
	at := len(w.held)
	n, err := w.in.Read(w.held[at : at+chunk])
	w.held, w.err = w.held[:at+n], err
}

// end is the offset of what has not been read yet.
func (w *window) end() int64 { return w.base + int64(len(w.held)) }

// at returns the byte at an offset that has not been taken; false at the end.
func (w *window) at(offset int64) (byte, bool) {
	i := int(offset - w.base)
	if i < 0 {
		return 0, false
	}
	for i >= len(w.held) && w.err == nil && len(w.held) <= maxValue {
		w.more()
	}
	if i >= len(w.held) {
		return 0, false
	}
	return w.held[i], true
}

// take returns what stands between the offset before and this one; it is valid until the next read.
// What the decoder has of it is forgotten.
func (w *window) take(offset int64) []byte {
	n := int(min(max(offset-w.base, int64(w.told)), int64(len(w.held))))
	out := w.held[w.told:n]
	gone := min(n, w.given)
	w.held, w.base = w.held[gone:], w.base+int64(gone)
	w.given, w.told = w.given-gone, n-gone
	return out
}

// python mends JSON of Python's in place: Infinity becomes "inf", which is read as a number wherever
// one is due, and NaN an empty text. Blanks fill the rest, so that columns stay.
type python struct {
	in              *bufio.Reader
	quoted, escaped bool
}

func newPython(r io.Reader) *python {
	in, ok := r.(*bufio.Reader)
	if !ok {
		in = bufio.NewReaderSize(r, 1<<16)
	}
	return &python{in: in}
}

// longest is the longest word that is mended.
const longest = "-Infinity"

func (r *python) Read(p []byte) (int, error) {
	ask := min(len(p), r.in.Size())
	buf, err := r.in.Peek(ask)
	if len(buf) == 0 {
		return 0, err
	}
	if len(buf) == ask { // a word might go on
		for n := unfinished(buf); n > 0; n = unfinished(buf) {
			buf = buf[:len(buf)-n]
		}
	}
	n := copy(p, buf)
	if _, err := r.in.Discard(n); err != nil {
		return 0, err
	}
	r.mend(p[:n])
	return n, nil
}

// unfinished is how many bytes at the end may begin a word that is mended; all but those, if there is
// nothing else.
func unfinished(b []byte) int {
	for n := min(len(longest)-1, len(b)-1); n > 0; n-- {
		for _, word := range []string{longest, "Infinity", "NaN"} {
			if n < len(word) && word[:n] == string(b[len(b)-n:]) {
				return n
			}
		}
	}
	return 0
}

// mend goes byte by byte only where a word may stand or a quote may be escaped.
func (r *python) mend(b []byte) {
	if !r.escaped && bytes.IndexByte(b, 'I') < 0 && bytes.IndexByte(b, 'N') < 0 &&
		bytes.IndexByte(b, '\\') < 0 {
		r.quoted = r.quoted != (bytes.Count(b, []byte{'"'})%2 == 1)
		return
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case r.escaped:
			r.escaped = false
		case r.quoted:
			r.escaped, r.quoted = c == '\\', c != '"'
		case c == '"':
			r.quoted = true
		case c == 'I' && bytes.HasPrefix(b[i:], []byte("Infinity")):
			if i > 0 && b[i-1] == '-' {
				copy(b[i-1:], `"-inf"   `)
			} else {
				copy(b[i:], `"inf"   `)
			}
			i += len("Infinity") - 1
		case c == 'N' && bytes.HasPrefix(b[i:], []byte("NaN")):
			i += copy(b[i:], `"" `) - 1
		}
	}
}
