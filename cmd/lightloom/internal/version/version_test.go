package version

import (
	"runtime/debug"
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
		{"built from a changed tree", info("", "vcs.revision", "0123", "vcs.modified", "true"), "devel-0123-changed"},
	} {
		if got := String(tc.b); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if This() == "" {
		t.Error("this binary has no version")
	}
}
