package leader

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// acceptor takes every Set.
type acceptor struct{ southbound.Device }

func (acceptor) Set(context.Context, *southbound.Change) error { return nil }

// TestFastReroute: Sets that packets wait for go to every device's queue, and when all are answered the
// log holds how long each stage took since the device's port changed.
func TestFastReroute(t *testing.T) {
	now := 100 * time.Millisecond
	var log bytes.Buffer
	l := &Leader{cfg: Config{Logger: slog.New(slog.NewTextHandler(&log, nil)), Clock: func() time.Duration {
		return now
	}}, inbox: newInbox(1, 1), claims: newClaims(slog.New(slog.DiscardHandler), nil)}
	workers := map[southbound.DeviceID]*worker{}
	var sets []rollout.Set
	for id := range southbound.DeviceID(2) {
		workers[id] = &worker{id: id, dev: acceptor{}, leader: l,
			jobs: make(chan func(context.Context), 1), open: true}
		sets = append(sets, rollout.Set{Device: id, Token: uint64(id) + 1})
	}
	told := []southbound.DeviceEvent{{Kind: southbound.Synced, At: time.Millisecond},
		{Kind: southbound.PortDown, At: 97 * time.Millisecond}, {Kind: southbound.PortDown}}
	l.reroute(nil, told, now, workers)
	l.reroute(sets, told, 99*time.Millisecond, workers)
	now = 103 * time.Millisecond
	(<-workers[1].jobs)(t.Context())
	if log.Len() > 0 {
		t.Fatalf("says %q before all have answered", log.String())
	}
	now = 108 * time.Millisecond
	(<-workers[0].jobs)(t.Context())
	if want := "sets=2 told=2ms sent=3ms first=6ms last=11ms"; !strings.Contains(log.String(), want) {
		t.Errorf("log %q, want %q", log.String(), want)
	}
	if in, _ := l.inbox.take(); len(in.Done) != 2 {
		t.Errorf("the loop is told %+v", in.Done)
	}
}
