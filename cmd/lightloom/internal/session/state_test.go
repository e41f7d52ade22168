package session

import (
	"path/filepath"
	"strings"
	"testing"

	"lightloom/southbound/hint"
)

// TestStateSeenInside: a directory of logs must be there, and not below /run, which the process inside has one of its
// own of.
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
