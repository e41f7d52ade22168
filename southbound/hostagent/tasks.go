package hostagent

import (
	"time"

	"lightloom/southbound"
)

// tasks is the last try of each task that the agent knows. The agent's lock guards it.
type tasks struct {
	last map[southbound.TaskID]running
	live int64 // those that neither have ended nor are void
}

// running is a try of a task.
type running struct {
	timer *time.Timer // nil once it has ended or is void
	host  southbound.HostID
	try   int32
}

// begin runs a try that is newer than the one known, and calls ended after it. On a host that is lost
// it is void.
func (ts *tasks) begin(t southbound.Task, lost bool, ended func()) {
	was, known := ts.last[t.Task]
	if known && was.try >= t.Try {
		return
	}
	ts.void(t.Task)
	now := running{host: t.Host, try: t.Try}
	if !lost {
		ts.live++
		now.timer = time.AfterFunc(t.Compute, ended)
	}
	ts.last[t.Task] = now
}

// end records that a try has ended, and reports whether it is still valid.
func (ts *tasks) end(t southbound.Task) bool {
	if now := ts.last[t.Task]; now.try != t.Try || now.timer == nil {
		return false
	}
	ts.last[t.Task] = running{host: t.Host, try: t.Try}
	ts.live--
	return true
}

// void ends a task without an event.
func (ts *tasks) void(id southbound.TaskID) {
	t := ts.last[id]
	if t.timer == nil {
		return
	}
	t.timer.Stop()
	t.timer = nil
	ts.last[id] = t
	ts.live--
}

// voidAt ends the tasks of a host. Their order does not show.
func (ts *tasks) voidAt(h southbound.HostID) {
	for id, t := range ts.last {
		if t.host == h {
			ts.void(id)
		}
	}
}

// stop stops all timers.
func (ts *tasks) stop() {
	for _, t := range ts.last {
		if t.timer != nil {
			t.timer.Stop()
		}
	}
}
