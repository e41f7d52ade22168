package agent

import (
	"fmt"
	"time"

	"lightloom/southbound"
)

// running is the last try of a task that the agent was told of.
type running struct {
	timer *time.Timer // nil once it has ended or is void
	host  southbound.HostID
	try   int32
}

// Fail lets a host fail, or come back: its tasks and the bundles from it and to it are void, and an event says so. A
// host that has failed runs and sends nothing that it is told to. The same again is nothing.
func (a *Agent) Fail(h southbound.HostID, up bool) error {
	if h < 0 || int(h) >= a.cfg.Hosts || !a.cfg.Local(h) {
		return fmt.Errorf("fail host %d: it is none of this agent's", h)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return fmt.Errorf("fail host %d: %w", h, errClosed)
	}
	if a.lost[h] == !up {
		return nil
	}
	e := southbound.Event{At: a.cfg.Now(), Kind: southbound.HostFound, Host: h}
	if up {
		delete(a.lost, h)
	} else {
		a.lost[h] = true
		e.Kind = southbound.HostLost
		a.voidAt(h)
	}
	a.events.add(e)
	return nil
}

// Regard is Fail without an event, of any host of the fabric: whoever tells has told the controller as well.
func (a *Agent) Regard(h southbound.HostID, up bool) error {
	if h < 0 || int(h) >= a.cfg.Hosts {
		return fmt.Errorf("regard host %d: the fabric's hosts are 0 to %d: %w", h, a.cfg.Hosts-1, southbound.ErrRefused)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
		return fmt.Errorf("regard host %d: %w", h, errClosed)
	case a.lost[h] == !up:
	case up:
		delete(a.lost, h)
	default:
		a.lost[h] = true
		a.voidAt(h)
	}
	return nil
}

// voidAt ends what a host does. The order of the tasks does not show.
func (a *Agent) voidAt(h southbound.HostID) {
	for id, t := range a.tasks {
		if t.host == h {
			a.forget(id)
		}
	}
	a.beat++
	for i := len(a.table.order) - 1; i >= 0; i-- { // the last bundle of a coflow takes it from the list
		a.voidRows(a.table.order[i], func(b *bundle) bool { return b.src == h || b.dst == h })
	}
}

// forget ends a task of which nobody will hear any more.
func (a *Agent) forget(id southbound.TaskID) {
	t := a.tasks[id]
	if t.timer == nil {
		return
	}
	t.timer.Stop()
	t.timer = nil
	a.tasks[id] = t
	a.running--
}

// voidRows ends bundles of a coflow without a word.
func (a *Agent) voidRows(c *coflow, which func(*bundle) bool) {
	for i := range c.rows {
		b := &c.rows[i]
		if b.void || !b.toSend && !b.toTake || !which(b) {
			continue
		}
		b.void = true
		if b.out != nil {
			b.out.stop()
		}
		if b.in != nil {
			b.in.drop()
		}
		a.table.move(c, b, 0, a.beat)
		a.table.void(b)
	}
}

// isLost says whether a bundle between two hosts could not be.
func (a *Agent) isLost(b *bundle) bool { return a.lost[b.src] || a.lost[b.dst] }

// drop closes the connection that adds to a receiver, and lets no other begin.
func (r *receiver) drop() {
	if conn := r.leave(); conn != nil {
		conn.Close()
	}
}
