package console

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// hostile are names that a terminal would obey, or a reader take for something else.
func hostile() []string {
	return []string{"\x1b]0;title\a", "a\x1b[2J\x1b[Hok: nothing has failed", "a\nok: all is well",
		"a\rb", "a\u009b31mb",
		"a\x7fb", "a\u202egpj.exe", "a\u200bb", "a\u2028b", "a\xffb\xc3", "a\tb"}
}

func obeyed(s, but string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune(but, r) && (unicode.IsControl(r) ||
			unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp))
	})
}

// TestHostileNames: whatever a name is made of, a table, text and JSON show it in its line, and it is
// told from others.
func TestHostileNames(t *testing.T) {
	seen := map[string]string{}
	for _, name := range hostile() {
		line := Line(name)
		if was, twice := seen[line]; twice || obeyed(line, "") {
			t.Errorf("%q is shown as %q, %q is too", name, line, was)
		}
		seen[line] = name

		var b strings.Builder
		table := newTable(&b, 0, "name")
		table.Row(name)
		if err := table.Print(); err != nil || obeyed(b.String(), "\n") || strings.Count(b.String(), "\n") != 5 {
			t.Errorf("a table with %q: %q, %v", name, b.String(), err)
		}

		b.Reset()
		fmt.Fprintf(Text(&b), "job %s\n", name)
		if obeyed(b.String(), "\n\t") {
			t.Errorf("text with %q: %q", name, b.String())
		}

		b.Reset()
		var back string
		if err := WriteJSON(Text(&b), name); err != nil || obeyed(b.String(), "\n") {
			t.Errorf("JSON of %q: %q, %v", name, b.String(), err)
		}
		if err := json.Unmarshal([]byte(b.String()), &back); err != nil ||
			back != strings.ToValidUTF8(name, "\ufffd") {
			t.Errorf("JSON of %q is read as %q, %v", name, back, err)
		}
	}
	for _, name := range []string{"job-1", "Größe 3", "任务", "a+b → c", ""} {
		if got := Line(name); got != name {
			t.Errorf("%q is shown as %q", name, got)
		}
	}
}

// TestTextInParts: characters that come in parts are kept together.
func TestTextInParts(t *testing.T) {
	var b strings.Builder
	w := Text(&b)
	for i := range len("a→任\x1bb\n") {
		if n, err := io.WriteString(w, "a→任\x1bb\n"[i:i+1]); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if got := b.String(); got != "a→任\\x1bb\n" {
		t.Errorf("%q", got)
	}
	if Raw(w) != io.Writer(&b) || Raw(&b) != io.Writer(&b) {
		t.Error("what is written to is not found again")
	}
}

// TestCells: no cell is a formula, and numbers are what they were.
func TestCells(t *testing.T) {
	in := []string{"=HYPERLINK(\"x\")", "+1+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "-0.5",
		"+1e-3", "-", "a=b",
		"\t=1", ""}
	want := []string{"'=HYPERLINK(\"x\")", "'+1+cmd|' /C calc'!A0", "'-2+3", "'@SUM(A1)", "-0.5",
		"+1e-3", "-", "a=b",
		`\t=1`, ""}
	for i, got := range Cells(in) {
		if got != want[i] {
			t.Errorf("%q is written as %q, want %q", in[i], got, want[i])
		}
	}
}

// TestShort: what a damaged file holds does not fill the screen, and sentences stay whole.
func TestShort(t *testing.T) {
	sentence := strings.Repeat("a policy of many words ", 100)
	if got := Short(sentence); got != sentence {
		t.Errorf("a sentence became %q", got)
	}
	long := "line 3: \"" + strings.Repeat("é", 4000) + "\": write a shorter one"
	got := Short(long)
	if len(got) > 600 || !utf8.ValidString(got) || !strings.HasPrefix(got, "line 3: \"éé") ||
		!strings.HasSuffix(got, "éé\": write a shorter one") || !strings.Contains(got, "é…é") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}
