package hostagent

import (
	"fmt"

	"lightloom/southbound"
)

// Fail makes a host fail, or come back: its tasks and the host flows from it and to it are void, and an
// event reports this. A failed host runs no tasks and sends nothing. A repeated call has no effect.
func (a *Agent) Fail(h southbound.HostID, up bool) error {
	if h < 0 || int(h) >= a.net().hosts() || !a.isLocal(h) {
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

// Regard is Fail without an event, for any host of the fabric: its caller reports the failure to the
// controller itself.
func (a *Agent) Regard(h southbound.HostID, up bool) error {
	if n := a.net().hosts(); h < 0 || int(h) >= n {
		return fmt.Errorf("regard host %d: the fabric's hosts are 0 to %d: %w", h, n-1, southbound.ErrRefused)
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

// voidAt ends what a host does.
func (a *Agent) voidAt(h southbound.HostID) {
	a.tasks.voidAt(h)
	a.table.reading++
	for i := len(a.table.order) - 1; i >= 0; i-- { // the last host flow of a coflow takes it from the list
		a.voidRows(a.table.order[i], func(b *hostFlow) bool { return b.src == h || b.dst == h })
	}
}

// voidRows ends host flows of a coflow without a word.
func (a *Agent) voidRows(c *coflow, which func(*hostFlow) bool) {
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
		a.table.move(c, b, 0)
		a.table.void(b)
	}
}

// isLost reports whether a host flow between two hosts could not be.
func (a *Agent) isLost(b *hostFlow) bool { return a.lost[b.src] || a.lost[b.dst] }

// drop closes the connection that adds to a receiver, and lets no other begin.
func (r *receiver) drop() {
	if conn := r.leave(); conn != nil {
		conn.Close()
	}
}
