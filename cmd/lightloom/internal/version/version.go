// Package version returns the version of this binary, as the go command recorded it.
package version

import (
	"runtime/debug"
	"strings"
	"time"
)

// String returns the module's version, or "devel" with the commit that was built, and a mark if the work tree had
// changes.
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
func This() string {
	b, _ := debug.ReadBuildInfo() // nil where there is none
	return String(b)
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

// Commit returns the commit that this binary was built from, and whether the work tree had changes; "" where the go
// command did not record one.
func Commit() (commit string, changed bool) {
	b, ok := debug.ReadBuildInfo()
	if !ok {
		return "", false
	}
	return Setting(b, "vcs.revision"), Setting(b, "vcs.modified") == "true"
}
