package target

import "testing"

// TestInbox: an event that comes while the target's lock is held wakes the target on release, and none
// is woken for nothing.
func TestInbox(t *testing.T) {
	b := inbox{kick: make(chan struct{}, 1)}
	woken := func() bool {
		select {
		case <-b.kick:
			return true
		default:
			return false
		}
	}
	b.hold()
	b.put(happening{})
	if woken() {
		t.Error("woken while held")
	}
	b.release()
	if !woken() || len(b.take()) != 1 {
		t.Error("not woken for what came while held")
	}
	b.hold()
	b.release()
	if woken() {
		t.Error("woken for nothing")
	}
	b.put(happening{})
	if !woken() {
		t.Error("not woken")
	}
}
