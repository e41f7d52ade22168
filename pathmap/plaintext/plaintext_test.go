package plaintext

import (
	"encoding/binary"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// as16 encodes a text in UTF-16 with a byte order mark.
func as16(text string, order binary.AppendByteOrder) []byte {
	var out []byte
	for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
		out = order.AppendUint16(out, u)
	}
	return out
}

func TestOf(t *testing.T) {
	const text = "nodes: [é, 𝄞]\r\n"
	for name, data := range map[string][]byte{
		"as it is":                []byte(text),
		"with a byte order mark":  []byte("\uFEFF" + text),
		"UTF-16, high byte first": as16(text, binary.BigEndian),
		"UTF-16, low byte first":  as16(text, binary.LittleEndian),
		"nothing":                 nil,
		"a mark alone":            []byte("\uFEFF"),
	} {
		t.Run(name, func(t *testing.T) {
			want := text
			if len(data) < 4 {
				want = strings.TrimPrefix(string(data), "\uFEFF")
			}
			got, err := Of(data)
			if err != nil || string(got) != want {
				t.Errorf("%q, %v", got, err)
			}
			for _, r := range []io.Reader{strings.NewReader(string(data)),
				iotest.OneByteReader(strings.NewReader(string(data)))} {
				if got, err := io.ReadAll(NewReader(r)); err != nil || string(got) != want {
					t.Errorf("as a stream %q, %v", got, err)
				}
			}
		})
	}
}

// TestCheckUTF8: Latin-1 is refused with its line. What a reader of streams passes on, its caller checks.
func TestCheckUTF8(t *testing.T) {
	for text, line := range map[string]string{"a\né: \uFFFD\n": "", "a\n\xe9: 1\n": "line 2: the byte 0xe9 is not UTF-8",
		"\xff": "line 1"} {
		_, err := Of([]byte(text))
		if (err == nil) != (line == "") || err != nil && !strings.HasPrefix(err.Error(), line) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestCheckNesting(t *testing.T) {
	for text, want := range map[string]int{
		"a: [1, [2]]\n- - x\n":                 0,
		"x: 1\n" + strings.Repeat("[", 10_000): 2,
		strings.Repeat("- ", 10_000):           1,
		strings.Repeat("{a: ", 101):            1,
		strings.Repeat("{a: ", 100):            1, // none of them ends
		"a: 1\nb: [c,\n  {d: 1}\n":             2,
		strings.Repeat(`["]", `, 101):          1,
		strings.Repeat("[ #]\n", 102):          101,
		strings.Repeat("- !a ", 101):           1,
		strings.Repeat("- &a ", 101):           0, // none within each other: an anchor is of a value
		strings.Repeat("? - ", 51):             1,
		strings.Repeat("- a\n", 1000):          0,
		strings.Repeat("a: '[['\n", 1000):      0,
		strings.Repeat("[[], {}]\n", 1000):     0,
	} {
		if line, err := CheckNesting([]byte(text)); line != want || (err == nil) != (want == 0) {
			t.Errorf("%.20q: line %d, %v", text, line, err)
		}
	}
}

func TestCheckNestingByIndentation(t *testing.T) {
	deep := ""
	for i := range 101 {
		deep += strings.Repeat(" ", i) + "a:\n"
	}
	if line, err := CheckNesting([]byte(deep)); err == nil || line != 101 {
		t.Errorf("line %d, %v", line, err)
	}
	flat := strings.Repeat("a:\n  b:\n    c: 1\n\n# d\n", 1000)
	if line, err := CheckNesting([]byte(flat)); err != nil {
		t.Errorf("line %d, %v", line, err)
	}
}

// TestIsFlat: what a scan of bytes lets pass, the scanner of YAML lets pass, too.
func TestIsFlat(t *testing.T) {
	for text, want := range map[string]bool{
		"a: [1, {b: c}] # ]":           true,
		`a: ["[", '{']`:                true,
		"a: [1,\n 2]":                  false,
		`a: "\\"[`:                     false,
		`a: don't [`:                   false,
		"a: ]":                         false,
		strings.Repeat("- ", 101):      false,
		strings.Repeat("[", 101):       false,
		"a: {b: [#c]}\n":               false,
		`{"a": [1, 2], "b": {"c": 3}}`: true,
	} {
		if got := isFlat([]byte(text)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestCheckMapping(t *testing.T) {
	for text, line := range map[string]int{
		"# a\n---\na: 1\n": 0, "{a: 1}": 0, "": 0, "a:\n": 0, "\"a b\": 1": 0, "? a\n: b": 0,
		"- a: 1\n": 1, "\n# x\nword\n": 3, "<?xml version=\"1.0\"?>": 1, "aaaa": 1,
	} {
		if got, err := CheckMapping([]byte(text)); got != line || (err == nil) != (line == 0) {
			t.Errorf("%q: line %d, %v", text, got, err)
		}
	}
}
