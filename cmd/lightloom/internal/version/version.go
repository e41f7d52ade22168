// Package version returns the version of this binary, as the go command recorded it.
package version

import (
	"runtime/debug"
	"strings"
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

// Setting returns a build setting, or the empty string.
func Setting(b *debug.BuildInfo, key string) string {
	for _, s := range b.Settings {
		if s.Key == key {
			return strings.TrimSpace(s.Value)
		}
	}
	return ""
}
