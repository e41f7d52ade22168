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

// TestBuildTime: a fabric that takes more than seconds to come up is announced, and how long it takes.
func TestBuildTime(t *testing.T) {
	for nodes, want := range map[int]time.Duration{24: time.Second, 293: 2 * time.Second,
		585: 5 * time.Second, 1169: 15 * time.Second, 8403: 8 * time.Minute} {
		if got := buildTime(nodes); got > want || got < want/2 && nodes > 100 {
			t.Errorf("%d switches and hosts: %v, want about %v", nodes, got, want)
		}
	}
}
