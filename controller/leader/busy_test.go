package leader

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// TestBusy holds that a Set that its device's full queue rejects, or that has no driver, is reported to
// the loop as failed in transit: a move that waited for it for ever would hold its ports.
func TestBusy(t *testing.T) {
	l := &Leader{cfg: Config{Logger: slog.New(slog.DiscardHandler)}, inbox: newInbox(1, 1)}
	w := &worker{leader: l, jobs: make(chan func(context.Context), 1), open: true}
	l.set(w, rollout.Set{Device: 3, Token: 1})
	l.set(w, rollout.Set{Device: 3, Token: 2})
	l.set(nil, rollout.Set{Device: 4, Token: 3})
	in, _ := l.inbox.take()
	if len(in.Done) != 2 || in.Done[0].Token != 2 || errors.Is(in.Done[0].Err, southbound.ErrRefused) ||
		in.Done[0].Err == nil {
		t.Fatalf("told %+v, want the second Set as one that may be tried again, and the third", in.Done)
	}
	if d := in.Done[1]; d.Token != 3 || !errors.Is(d.Err, southbound.ErrRefused) {
		t.Errorf("told %+v of a device without a driver, want a refusal", d)
	}
	if len(w.jobs) != 1 {
		t.Errorf("%d calls are queued, want the first", len(w.jobs))
	}
}
