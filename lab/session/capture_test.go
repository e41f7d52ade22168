package session

import (
	"os"
	"path/filepath"
	"testing"
)

// TestCaptureFile: an older file stays until a capture has begun, and nothing else is left behind.
func TestCaptureFile(t *testing.T) {
	for _, tc := range []struct {
		name  string
		begun bool
		want  string
	}{
		{"refused", false, "older"},
		{"begun", true, "packets"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			name := filepath.Join(dir, "x.pcapng")
			if err := os.WriteFile(name, []byte("older"), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := openCaptureFile(CaptureOptions{File: name})
			if err != nil {
				t.Fatal(err)
			}
			defer out.file.Close()
			if tc.begun {
				if err := out.begun(); err != nil {
					t.Fatal(err)
				}
				if _, err := out.file.WriteString("packets"); err != nil {
					t.Fatal(err)
				}
			}
			out.discard()
			got, err := os.ReadFile(name)
			if err != nil || string(got) != tc.want {
				t.Errorf("%q, %v; want %q", got, err, tc.want)
			}
			if files, _ := os.ReadDir(dir); len(files) != 1 {
				t.Errorf("%d files are left, want 1", len(files))
			}
		})
	}
}
