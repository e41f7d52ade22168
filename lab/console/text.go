package console

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns text that others wrote as it is safe to show in one line: characters that a terminal
// would obey, or that would have other text read otherwise, are escaped as in Go.
func Line(s string) string { return escape(s, "") }

// mostWord bounds a word that is shown whole, in bytes: longer than a path is, shorter than a screen.
const mostWord = 500

// Short cuts words that no reader would read to the end, as an error repeats them from a damaged file.
func Short(s string) string {
	if len(s) <= mostWord {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		end := strings.IndexAny(s, " \n\t") + 1
		if end == 0 {
			end = len(s)
		}
		word := s[:end]
		if len(word) > mostWord {
			word = strings.ToValidUTF8(word[:mostWord/2], "") + "…" + strings.ToValidUTF8(word[end-mostWord/4:], "")
		}
		b.WriteString(word)
		s = s[end:]
	}
	return b.String()
}

// escape escapes what is not to be shown, but for the characters of except.
func escape(s, except string) string {
	escaped := func(r rune) bool { return hidden(r) && !strings.ContainsRune(except, r) }
	if isPrintableASCII(s) || !strings.ContainsFunc(s, escaped) {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch _, size := utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case !hidden(r) || strings.ContainsRune(except, r):
			b.WriteRune(r)
		default:
			quoted := fmt.Sprintf("%+q", r)
			b.WriteString(quoted[1 : len(quoted)-1])
		}
	}
	return b.String()
}

// isPrintableASCII is true of nearly all cells of a large report, each of which is looked at.
func isPrintableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// hidden reports whether a character has no picture of its own: controls, those that set the direction
// of writing or join others, and what is no character at all.
func hidden(r rune) bool {
	return r == utf8.RuneError || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp)
}

// plain is a writer of text for readers.
type plain struct {
	to   io.Writer
	part []byte // of a character whose rest is to come
}

// Text returns a writer that escapes what Line does, but for line breaks and tabs: whatever names are
// made of, they show as text. Width and IsTerminal are those of w.
func Text(w io.Writer) io.Writer { return &plain{to: w} }

// Raw returns what Text was given, for bytes that are no text.
func Raw(w io.Writer) io.Writer {
	if t, ok := w.(*plain); ok {
		return t.to
	}
	return w
}

// Write implements io.Writer.
func (t *plain) Write(b []byte) (int, error) {
	all := append(t.part, b...)
	whole := len(all)
	for n := 1; n < utf8.UTFMax && n <= len(all); n++ {
		if tail := all[len(all)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				whole -= n
			}
			break
		}
	}
	t.part = append([]byte(nil), all[whole:]...)
	if _, err := io.WriteString(t.to, escape(string(all[:whole]), "\n\t")); err != nil {
		return 0, err
	}
	return len(b), nil
}

// file returns the file that a writer writes to.
func file(w io.Writer) (*os.File, bool) {
	f, ok := Raw(w).(*os.File)
	return f, ok
}

// Cell returns text as it is safe in a file that programs for tables open: none takes it for a formula.
// Numbers stay.
func Cell(s string) string {
	s = Line(s)
	if len(s) < 2 || !strings.ContainsRune("=+-@", rune(s[0])) || isNumber(s) {
		return s
	}
	return "'" + s
}

func isNumber(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil
}

// Cells is Cell of each.
func Cells(all []string) []string {
	out := make([]string, len(all))
	for i, s := range all {
		out[i] = Cell(s)
	}
	return out
}
