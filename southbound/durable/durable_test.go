package durable_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/durable"
)

// TestReplace: a file is made and replaced whole, and nothing else is left beside it; also where that fails.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	for i, text := range []string{"first", "", strings.Repeat("x", 1<<16)} {
		if err := durable.Replace(path, []byte(text), i%2 == 0); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%d bytes, want %d: %v", len(got), len(text), err)
		}
	}
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v: %v", st.Mode(), err)
	}
	if err := os.Mkdir(filepath.Join(dir, "taken"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := durable.Replace(filepath.Join(dir, "taken"), nil, true); err == nil {
		t.Error("a directory was replaced")
	}
	if err := durable.Replace(filepath.Join(dir, "nowhere", "file"), nil, true); err == nil {
		t.Error("a file was made in a directory that is not there")
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 2 {
		t.Errorf("left behind: %v, %v", all, err)
	}
}
