package server

import (
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestQuiet: the same message is logged once in a while, whatever its attributes; other messages pass.
func TestQuiet(t *testing.T) {
	var b strings.Builder
	h := newQuiet(slog.NewTextHandler(&b, nil), time.Minute)
	begin := time.Unix(1_700_000_000, 0)
	for _, r := range []struct {
		after   time.Duration
		message string
		peer    string
	}{
		{0, "failed to heartbeat to", "controller0"}, {time.Second, "failed to heartbeat to", "controller1"},
		{2 * time.Second, "disk is full", ""}, {61 * time.Second, "failed to heartbeat to", "controller0"},
	} {
		rec := slog.NewRecord(begin.Add(r.after), slog.LevelError, r.message, 0)
		if err := h.WithAttrs([]slog.Attr{slog.String("peer", r.peer)}).Handle(t.Context(), rec); err != nil {
			t.Fatal(err)
		}
	}
	if n := strings.Count(b.String(), "heartbeat"); n != 2 || !strings.Contains(b.String(), "disk is full") {
		t.Errorf("%d heartbeats, want 2, and the disk:\n%s", n, b.String())
	}
}
