package leader

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"lightloom/controller/loop"
	"lightloom/controller/rollout"
	"lightloom/southbound"
)

// counter counts the Sets that it takes, and how often it is read.
type counter struct {
	southbound.Device
	sets, reads int
}

func (c *counter) Set(context.Context, *southbound.Change) error { c.sets++; return nil }

func (c *counter) Read(context.Context) (seen southbound.Seen, err error) {
	c.reads++
	return seen, nil
}

// TestEndedWorker: a worker that has been told to end calls its device no more, in whose place another
// can be by then. The loop gets an error for each Set that was left.
func TestEndedWorker(t *testing.T) {
	d := &counter{}
	l := &Leader{cfg: Config{Logger: slog.New(slog.DiscardHandler), Clock: func() time.Duration { return 0 }},
		inbox: newInbox(1, 1), claims: newClaims(slog.New(slog.DiscardHandler), nil)}
	w := newWorker(l, 3, d)
	w.open = true
	ctx, end := context.WithCancel(t.Context())
	end()
	for _, ends := range []func(context.Context){w.run, w.serve} {
		l.set(w, rollout.Set{Device: 3, Token: 1})
		if w.push(w.read); len(w.jobs) != 2 {
			t.Fatalf("%d jobs", len(w.jobs))
		}
		ends(ctx)
	}
	w.run(ctx) // serve may have left at once
	if d.reads > 0 || d.sets > 0 {
		t.Errorf("%d reads, %d Sets", d.reads, d.sets)
	}
	if in, _ := l.inbox.take(); len(in.Done) != 2 || in.Done[0].Err == nil || in.Done[1].Err == nil {
		t.Errorf("of the Sets the loop hears %+v", in.Done)
	}
}

// TestGate: no Set goes to a device that has not been claimed, ahead of the log or after it, nor one
// that was queued before the device had to be claimed again; the loop gets an error for each. Writes
// are allowed from the step on that takes what was read back, unless the device's stream has broken
// since.
func TestGate(t *testing.T) {
	l := &Leader{cfg: Config{Logger: slog.New(slog.DiscardHandler), Clock: func() time.Duration { return 0 }},
		inbox: newInbox(1, 1), claims: newClaims(slog.New(slog.DiscardHandler), nil)}
	d := &counter{}
	w := newWorker(l, 3, d)
	set := rollout.Set{Device: 3, Token: 1}
	told := func(unclaimed, accepted int) {
		t.Helper()
		in, _ := l.inbox.take()
		var n [2]int
		for _, x := range in.Done {
			switch {
			case x.Err == nil:
				n[1]++
			case errors.Is(x.Err, errUnclaimed) && !errors.Is(x.Err, southbound.ErrRefused):
				n[0]++
			}
		}
		if n != [2]int{unclaimed, accepted} || d.sets != accepted {
			t.Fatalf("told %d unclaimed and %d accepted, want %d and %d; the device took %d", n[0], n[1],
				unclaimed, accepted,
				d.sets)
		}
		d.sets = 0
	}
	call := func() { (<-w.jobs)(t.Context()) }

	l.set(w, set)
	l.reroute([]rollout.Set{set}, nil, 0, map[southbound.DeviceID]*worker{3: w})
	if len(w.jobs) > 0 {
		t.Fatal("a Set waits for the claim")
	}
	told(2, 0)
	l.inbox.claimed(w, w.current(), loop.DeviceSeen{Device: 3})
	if l.set(w, set); len(w.jobs) > 0 {
		t.Fatal("a Set is queued before the loop knows what was read back")
	}
	l.inbox.take()
	l.set(w, set)
	call()
	told(0, 1)
	l.set(w, set)
	l.set(w, set)
	w.giveUp()
	call()
	call()
	told(2, 0)
	before := w.current()
	w.giveUp()
	l.inbox.claimed(w, before, loop.DeviceSeen{Device: 3}) // read before the stream broke again
	l.inbox.take()
	l.set(w, set)
	told(1, 0)
}
