package scenario

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHashFile: the sum of a folder, such as a rolled Spark log, follows what its files are called and hold, and
// nothing else.
func TestHashFile(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sum := func() (string, int64) {
		t.Helper()
		s, n, err := HashFile(dir)
		if err != nil {
			t.Fatal(err)
		}
		return s, n
	}
	put("events_1_app", "one\n")
	put("events_2_app", "two\n")
	first, n := sum()
	if n != 8 || len(first) != 64 {
		t.Errorf("%q of %d bytes, want 8", first, n)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	if again, _ := sum(); again != first {
		t.Error("the same files have another sum, beside a folder")
	}
	seen := map[string]string{first: "at first"}
	for _, change := range []struct {
		name string
		do   func()
	}{
		{"another content", func() { put("events_2_app", "owt\n") }},
		{"a file more", func() { put("events_3_app", "") }},
		{"bytes that move between files", func() { put("events_1_app", "one\no"); put("events_2_app", "wt\n") }},
		{"another name", func() {
			if err := os.Rename(filepath.Join(dir, "events_3_app"),
				filepath.Join(dir, "appstatus_app")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		change.do()
		got, _ := sum()
		if same, ok := seen[got]; ok {
			t.Errorf("%s: the sum is that %s", change.name, same)
		}
		seen[got] = "with " + change.name
	}
	if _, _, err := HashFile(filepath.Join(dir, "none")); err == nil {
		t.Error("what is not there has a sum")
	}
}
