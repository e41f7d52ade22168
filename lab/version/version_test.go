package version

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

func TestString(t *testing.T) {
	info := func(version string, kv ...string) *debug.BuildInfo {
		b := &debug.BuildInfo{Main: debug.Module{Version: version}}
		for i := 0; i < len(kv); i += 2 {
			b.Settings = append(b.Settings, debug.BuildSetting{Key: kv[i], Value: kv[i+1]})
		}
		return b
	}
	for _, tc := range []struct {
		name string
		b    *debug.BuildInfo
		want string
	}{
		{"none", nil, "unknown"},
		{"released", info("v1.2.3"), "v1.2.3"},
		{"go run", info("(devel)"), "devel"},
		{"built from a commit", info("(devel)", "vcs.revision", "0123456789abcdef"), "devel-0123456789ab"},
		{"built from a changed tree", info("", "vcs.revision", "0123", "vcs.modified", "true"),
			"devel-0123-changed"},
	} {
		if got := String(tc.b); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if This() == "" {
		t.Error("this binary has no version")
	}
}

// TestGoRun: a program that go run has started names the commit of the clone, and whether something has
// changed there.
func TestGoRun(t *testing.T) {
	for exe, want := range map[string]bool{
		"/tmp/go-build2914/b001/exe/lightloom":        true,
		"/home/u/.cache/go-build/1a/1a2b-d/lightloom": true,
		"/tmp/go-build2914/b001/version.test":         false,
		"/usr/bin/lightloom":                          false,
		"/home/u/lightloom/lightloom":                 false,
	} {
		if got := byGoRun(exe); got != want {
			t.Errorf("%s: by go run: %v, want %v", exe, got, want)
		}
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is missing: apt-get install git")
	}
	dir := t.TempDir()
	if got := askGit(filepath.Join(dir, "absent")); got != nil {
		t.Errorf("no directory: %v", got)
	}
	git := func(args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c",
			"user.email=a@b"}, args...)...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	commit := git("rev-parse", "HEAD")
	short := "devel-" + commit[:12]
	if got := String(&debug.BuildInfo{Settings: askGit(dir)}); got != short {
		t.Errorf("clean: %s, want %s", got, short)
	}
	if err := os.WriteFile(filepath.Join(dir, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := String(&debug.BuildInfo{Settings: askGit(dir)}); got != short+"-changed" {
		t.Errorf("with a new file: %s, want %s-changed", got, short)
	}
}
