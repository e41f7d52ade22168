package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestManFooter: a page's footer names a release or a commit, and a day, as people write them.
func TestManFooter(t *testing.T) {
	const commit = "65818f9237075e55051a5883d7e17bdd9185e1a0"
	for _, tc := range []struct{ version, commit, want string }{
		{"v1.2.3", commit, "lightloom v1.2.3"},
		{"v0.0.0-20261129051943-65818f923707", commit, "lightloom, commit 65818f923707"},
		{"v1.2.4-0.20261129051943-65818f923707+dirty", commit, "lightloom, commit 65818f923707"},
		{"devel-65818f923707", commit, "lightloom, commit 65818f923707"},
		{"devel", "", "lightloom devel"},
	} {
		if got := edition(tc.version, tc.commit); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.version, got, tc.want)
		}
	}

	for built, want := range map[time.Time]string{
		time.Date(2026, 11, 29, 5, 19, 43, 0, time.UTC): `.TH "A" "1" "2026-11-29" "b"`,
		time.Unix(0, 0).UTC():                           `.TH "A" "1" "" "b"`,
	} {
		if got := string(dated([]byte(`.TH "A" "1" "`+built.Format("Jan 2006")+`" "b"`), built)); got != want {
			t.Errorf("%v: %s, want %s", built, got, want)
		}
	}
}

// TestManPages: every command has a page, and its title line is whole.
func TestManPages(t *testing.T) {
	dir := t.TempDir()
	r := &recorder{}
	if status, _, stderr := r.run("man", dir); status != 0 {
		t.Fatal(stderr)
	}
	title := regexp.MustCompile(`(?m)^\.TH "[A-Z-]+" "1" "(\d{4}-\d\d-\d\d)?" "lightloom[ ,][^"]+" "Lightloom"$`)
	pages, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil || len(pages) < 60 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, page := range pages {
		if text := read(t, page); !title.MatchString(text) {
			head, _, _ := strings.Cut(text, "\n\n")
			t.Errorf("%s: %s", filepath.Base(page), head)
		}
	}
}
