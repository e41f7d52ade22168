package hostagent

import (
	"log/slog"
	"time"

	"lightloom/southbound"
)

// tasks is the last try of each task that the agent knows. The agent's lock guards it.
type tasks struct {
	last  map[southbound.TaskID]running
	live  int64 // those that neither have ended nor are void
	vcpus VCPUs // nil: nothing limits programs
	log   *slog.Logger
}

// running is a try of a task.
type running struct {
	timer   *time.Timer // nil once it has ended or is void
	host    southbound.HostID
	try     int32
	limited bool // it has vCPUs to give back
}

// begin runs a try that is newer than the one known, and calls ended after it. On a host that is lost
// it is void. Its programs have their vCPUs from now on; it runs even where they cannot have them.
func (ts *tasks) begin(t southbound.Task, lost bool, ended func()) error {
	was, known := ts.last[t.Task]
	if known && was.try >= t.Try {
		return nil
	}
	ts.halt(&was)
	now := running{host: t.Host, try: t.Try, limited: was.limited}
	if lost || t.MilliVCPUs == 0 || ts.vcpus == nil {
		ts.unlimit(t.Task, &now)
	}
	var err error
	if !lost {
		ts.live++
		now.timer = time.AfterFunc(t.Compute, ended)
		if t.MilliVCPUs > 0 && ts.vcpus != nil {
			now.limited = true
			err = ts.vcpus.Set(t.Task, t.MilliVCPUs)
		}
	}
	ts.last[t.Task] = now
	return err
}

// end records that a try has ended, and reports whether it is still valid.
func (ts *tasks) end(t southbound.Task) bool {
	now := ts.last[t.Task]
	if now.try != t.Try || now.timer == nil {
		return false
	}
	now.timer = nil
	ts.live--
	ts.unlimit(t.Task, &now)
	ts.last[t.Task] = now
	return true
}

// halt stops the timer of a try.
func (ts *tasks) halt(t *running) {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
		ts.live--
	}
}

// unlimit gives the vCPUs of a try back.
func (ts *tasks) unlimit(id southbound.TaskID, t *running) {
	if t.limited {
		t.limited = false
		if err := ts.vcpus.Remove(id); err != nil {
			ts.log.Warn("vCPUs of a task are not given back", "task", id, "err", err)
		}
	}
}

// void ends a task without an event.
func (ts *tasks) void(id southbound.TaskID) {
	t := ts.last[id]
	ts.halt(&t)
	ts.unlimit(id, &t)
	ts.last[id] = t
}

// voidAt ends the tasks of a host. Their order does not show.
func (ts *tasks) voidAt(h southbound.HostID) {
	for id, t := range ts.last {
		if t.host == h {
			ts.void(id)
		}
	}
}

// stop stops all timers, and gives all vCPUs back.
func (ts *tasks) stop() {
	for id, t := range ts.last {
		if t.timer != nil {
			t.timer.Stop()
		}
		ts.unlimit(id, &t)
	}
}
