// Package version returns the version of this binary, as the go command recorded it.
package version

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// String returns the module's version, or "devel" with the commit that was built, and a mark if the
// work tree had changes.
func String(b *debug.BuildInfo) string {
	if b == nil {
		return "unknown"
	}
	v := b.Main.Version
	if v != "" && v != "(devel)" {
		return v
	}
	v = "devel"
	if rev := Setting(b, "vcs.revision"); rev != "" {
		v += "-" + rev[:min(12, len(rev))]
	}
	if Setting(b, "vcs.modified") == "true" {
		v += "-changed"
	}
	return v
}

// This returns String of the running binary.
func This() string { return String(thisBuild()) }

// thisBuild is what the go command recorded in the running binary; nil where there is nothing. go run
// records no commit, but compiles the tree as it is: git tells its commit.
func thisBuild() *debug.BuildInfo {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	exe, err := os.Executable()
	_, source, _, known := runtime.Caller(0) // no path of this machine in a binary built with -trimpath
	if err == nil && known && byGoRun(exe) && Setting(b, "vcs.revision") == "" && filepath.IsAbs(source) {
		b.Settings = append(b.Settings, askGit(filepath.Dir(source))...)
	}
	return b
}

// byGoRun reports whether go run has put a program there: in its directory for temporary files, or in
// its cache.
func byGoRun(exe string) bool {
	return strings.Contains(filepath.Dir(exe), "/go-build") && !strings.HasSuffix(exe, ".test")
}

// askGit returns the settings that go build records of a directory's commit; none where git cannot tell.
func askGit(dir string) []debug.BuildSetting {
	git := func(args ...string) (string, error) {
		out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).Output()
		return strings.TrimSpace(string(out)), err
	}
	commit, err := git("rev-parse", "HEAD")
	if err != nil {
		return nil
	}
	out := []debug.BuildSetting{{Key: "vcs.revision", Value: commit}}
	if changes, err := git("status", "--porcelain"); err != nil || changes != "" {
		out = append(out, debug.BuildSetting{Key: "vcs.modified", Value: "true"})
	}
	return out
}

// Time is that of the commit that this binary was built from; 1970 where the go command did not record it.
func Time() time.Time {
	if b, ok := debug.ReadBuildInfo(); ok {
		if t, err := time.Parse(time.RFC3339, Setting(b, "vcs.time")); err == nil {
			return t
		}
	}
	return time.Unix(0, 0).UTC()
}

// Setting returns a build setting, or the empty string.
func Setting(b *debug.BuildInfo, key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return strings.TrimSpace(s.Value)
		}
	}
	return ""
}

// Commit returns the commit that this binary was built from, and whether the work tree had changes; ""
// where neither the go command nor git knows one.
func Commit() (commit string, changed bool) {
	b := thisBuild()
	if b == nil {
		return "", false
	}
	return Setting(b, "vcs.revision"), Setting(b, "vcs.modified") == "true"
}
