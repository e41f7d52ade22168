package session

import (
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/hint"
)

// TestStateSeenInside: a directory of logs must exist, and not below /run, because the process inside has a /run of its
// own.
func TestStateSeenInside(t *testing.T) {
	dir := t.TempDir()
	if got, err := stateSeenInside(dir); err != nil || !filepath.IsAbs(got) {
		t.Errorf("%q, %v", got, err)
	}
	for at, mend := range map[string]string{filepath.Join(dir, "nowhere"): "lightloom cluster init", "/run": "elsewhere"} {
		if got, err := stateSeenInside(at); err == nil || !strings.Contains(hint.Of(err), mend) {
			t.Errorf("%s: %q, %v, hint %q", at, got, err, hint.Of(err))
		}
	}
}
