package loop

import (
	"fmt"
	"time"

	"lightloom/controller/state"
	"lightloom/southbound"
)

// host takes up that a host has failed or is back.
func (l *Loop) host(s *state.State, now time.Duration, e *southbound.Event) {
	up := e.Kind == southbound.HostFound
	switch {
	case e.Host < 0 || int(e.Host) >= l.fabric.Hosts():
		l.pass.fail(fmt.Errorf("host %d is reported to be up: %v: no such host", e.Host, up))
		return
	case l.pass.hostUp(s, e.Host) == up:
		return
	}
	l.pass.add(state.Entry{Kind: state.HostSeen, At: now, Host: e.Host, OK: up})
	if !up {
		l.pass.down = append(l.pass.down, e.Host)
	}
	l.pending.changed(now)
	if up {
		l.pending.freed = true
		return
	}
	for _, id := range s.Active() {
		if c := s.Coflow(id); c.Started != state.Unset {
			l.abandon(id, c, e.Host)
		}
	}
}

// abandon has the host flows of a coflow that a lost host took part in send nothing any more: its agent
// may have come back before it heard of them.
func (l *Loop) abandon(id southbound.CoflowID, c *state.Coflow, h southbound.HostID) {
	touched := false
	for row, done := range c.Done {
		if done || c.Columns.Src[row] != h && c.Columns.Dst[row] != h {
			continue
		}
		touched = true
		l.pass.steer(id, int32(row), southbound.TagHold)
	}
	if touched {
		l.reservations.idle.fill()
		l.pending.touch(id)
	}
}
