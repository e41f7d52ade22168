package report

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// withoutFiles runs f while this process can open no file.
func withoutFiles(t *testing.T, f func()) {
	t.Helper()
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
		t.Skip(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: was.Max}); err != nil {
		t.Skip(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &was); err != nil {
			t.Error(err)
		}
	}()
	f()
}

// TestDiskError: the error names the folder and what went wrong, and each cause has its own hint.
func TestDiskError(t *testing.T) {
	const full = "the disk is full: free some space, or name another place with --report-dir DIR"
	const denied = "name a directory that you may write to with --report-dir DIR"
	const taken = "a file has that name: name a directory with --report-dir DIR"
	for cause, want := range map[error]string{syscall.ENOSPC: full, syscall.EDQUOT: full,
		syscall.EACCES:   denied,
		fs.ErrPermission: denied, syscall.EROFS: denied, syscall.ENOTDIR: taken, fs.ErrExist: taken, syscall.EEXIST: taken,
		syscall.EIO: "name another directory with --report-dir DIR"} {
		e := &DiskError{"some dir", fmt.Errorf("wrapped: %w", cause)}
		if got := e.Hint(); got != want {
			t.Errorf("%v: hint %q, want %q", cause, got, want)
		}
		if !errors.Is(e, cause) || e.Error() != `write report to "some dir": wrapped: `+cause.Error() {
			t.Errorf("%v: error %q", cause, e)
		}
	}
}

// TestCheckDir: a folder that can be written to is there afterwards and empty.
func TestCheckDir(t *testing.T) {
	parent := t.TempDir()
	for range 2 {
		if err := CheckDir(filepath.Join(parent, "a", "b")); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(t, filepath.Join(parent, "a", "b")); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
}

// TestNothingWritable: where no file can be written, the folders made for it are gone again, and others
// stay.
func TestNothingWritable(t *testing.T) {
	parent := t.TempDir()
	r := sample(1)
	dir := filepath.Join(parent, "a", "b")
	var check, write error
	withoutFiles(t, func() { check, write = CheckDir(dir), r.WriteDir(dir, &Run{}) })
	for what, err := range map[string]error{"check": check, "write": write} {
		var disk *DiskError
		if !errors.As(err, &disk) || disk.Dir != dir || !errors.Is(err, syscall.EMFILE) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if got := names(t, parent); len(got) != 0 {
		t.Errorf("left behind: %q", got)
	}
	withoutFiles(t, func() { check, write = CheckDir(parent), r.WriteDir(parent, &Run{}) })
	if _, err := os.Stat(parent); err != nil || check == nil || write == nil {
		t.Errorf("the folder that was there before: %v; check %v, write %v", err, check, write)
	}
}

// TestRenameFails: files before the one that cannot be replaced stand, and nothing half written stays.
func TestRenameFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, pageFile, "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	err := sample(1).WriteDir(dir, &Run{})
	var disk *DiskError
	if !errors.As(err, &disk) || disk.Dir != dir {
		t.Errorf("a folder in a file's place: %v", err)
	}
	if got, want := names(t, dir), []string{pageFile, reportFile, runFile}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	info, err := os.Stat(filepath.Join(dir, reportFile))
	if err != nil || info.Mode() != 0o644 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestNoNumber: figures that JSON cannot hold are refused before any folder is made.
func TestNoNumber(t *testing.T) {
	for want, change := range map[string]func(*Report, *Run){
		"encode report.json: json: unsupported value: NaN": func(r *Report, _ *Run) {
			r.Policies[0].Makespan = math.NaN()
		},
		"encode run.json: json: unsupported value: +Inf": func(_ *Report, run *Run) { run.Wall = math.Inf(1) },
	} {
		parent := t.TempDir()
		r, run := sample(1), &Run{}
		change(r, run)
		if err := r.WriteDir(filepath.Join(parent, "a"), run); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		if got := names(t, parent); len(got) != 0 {
			t.Errorf("left behind: %q", got)
		}
	}
}

// TestMakeDir: the folders that were made are named, the deepest first, and only empty ones are removed.
func TestMakeDir(t *testing.T) {
	parent := t.TempDir()
	a := filepath.Join(parent, "a")
	b := filepath.Join(a, "b")
	for i, want := range [][]string{{b, a}, nil} {
		if made, err := makeDir(b + "/"); err != nil || !slices.Equal(made, want) {
			t.Errorf("call %d: made %q, %v, want %q", i, made, err, want)
		}
	}
	name, err := writeTemp(a, "probe", []byte("x"))
	if err != nil || filepath.Dir(name) != a || !strings.HasPrefix(filepath.Base(name), ".probe-") {
		t.Errorf("temporary file %q, %v", name, err)
	}
	removeDirs([]string{b, a})
	if got, want := names(t, a), []string{filepath.Base(name)}; !slices.Equal(got, want) {
		t.Errorf("%q is there, want %q", got, want)
	}
}

// TestLinkStays: a link that leads nowhere is no folder, and is not removed either.
func TestLinkStays(t *testing.T) {
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("nowhere", link); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{link, filepath.Join(link, "below")} {
		if err := CheckDir(dir); err == nil {
			t.Errorf("%s can be written to", dir)
		}
		if to, err := os.Readlink(link); err != nil || to != "nowhere" {
			t.Errorf("after %s the link leads to %q, %v", dir, to, err)
		}
	}
}

// TestLinksAreReplaced: links that stand in a report's folder under the names of its files are replaced;
// where they lead to, nothing is written. A folder behind a link is written to.
func TestLinksAreReplaced(t *testing.T) {
	parent := t.TempDir()
	dir, other := filepath.Join(parent, "report"), filepath.Join(parent, "other")
	if err := sample(1).WriteDir(dir, &Run{}); err != nil {
		t.Fatal(err)
	}
	all := names(t, dir)
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if err := errors.Join(os.Remove(filepath.Join(dir, name)),
			os.Symlink(other, filepath.Join(dir, name))); err != nil {
			t.Fatal(err)
		}
	}
	behind := filepath.Join(parent, "behind")
	if err := errors.Join(os.Symlink(dir, behind), sample(1).WriteDir(behind, &Run{})); err != nil {
		t.Fatal(err)
	}
	for _, name := range all {
		if info, err := os.Lstat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" {
		t.Errorf("where the links led to stands %.40q, %v", got, err)
	}
	if _, err := Export(dir, filepath.Join(dir, "tables")); err != nil {
		t.Fatal(err)
	}
	tables := names(t, filepath.Join(dir, "tables"))
	for _, name := range tables {
		at := filepath.Join(dir, "tables", name)
		if err := errors.Join(os.Remove(at), os.Symlink(other, at)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Export(dir, filepath.Join(dir, "tables")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(other); err != nil || string(got) != "mine" || len(tables) == 0 {
		t.Errorf("after an export of %q stands %.40q there, %v", tables, got, err)
	}
}
