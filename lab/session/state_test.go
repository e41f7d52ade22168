package session

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lightloom/southbound/hint"
)

// TestStateSeenInside: a directory of logs must exist, and not below /run, because the process inside
// has a /run of its own.
func TestStateSeenInside(t *testing.T) {
	dir := t.TempDir()
	if got, err := stateSeenInside(dir); err != nil || !filepath.IsAbs(got) {
		t.Errorf("%q, %v", got, err)
	}
	for at, mend := range map[string]string{filepath.Join(dir, "nowhere"): "lightloom cluster init",
		"/run": "elsewhere"} {
		if got, err := stateSeenInside(at); err == nil || !strings.Contains(hint.Of(err), mend) {
			t.Errorf("%s: %q, %v, hint %q", at, got, err, hint.Of(err))
		}
	}
}

// TestBuildTime: how long a fabric takes to come up is foreseen within a tenth of what was measured.
func TestBuildTime(t *testing.T) {
	for nodes, want := range map[int]time.Duration{293: 1400 * time.Millisecond, 585: 2900 * time.Millisecond,
		1169: 10600 * time.Millisecond} {
		if got := buildTime(nodes); (got - want).Abs() > want/10 {
			t.Errorf("%d switches and hosts: %v, measured were %v", nodes, got, want)
		}
	}
}
