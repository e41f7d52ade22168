package circuits

import (
	"slices"
	"time"

	"lightloom/controller"
)

// keeper takes the ports of reservations of one coflow that stand already, in the order of their
// beginning, so that of each port it goes through the spans but once.
type keeper struct {
	table  *table
	now    time.Duration
	before []before // by port
}

// before is what of a port lies before the reservation that is looked at.
type before struct {
	spans int
	end   time.Duration // of the last of them; the instant of the decision where there are none
	gap   time.Duration // the longest between them, from the decision on
}

func (k *keeper) open(b *table, now time.Duration) {
	k.table, k.now = b, now
	k.before = slices.Grow(k.before[:0], len(b.ports))[:len(b.ports)]
	for p := range k.before {
		k.before[p] = before{end: now}
	}
}

// keep takes the ports of a reservation and returns true if they are free then, and were not free for
// as long earlier, by more than the slack, from now on. None may begin before one that was kept.
func (k *keeper) keep(r *controller.CircuitReservation, slack time.Duration) bool {
	in, out := 2*int(r.In), 2*int(r.Out)+1
	if !k.pass(in, r) || !k.pass(out, r) || k.earlier(in, out, r.NotBefore-slack, r.NotAfter-r.NotBefore) {
		return false
	}
	k.table.put(in, k.before[in].spans, span{r.NotBefore, r.NotAfter, r.Out})
	k.table.put(out, k.before[out].spans, span{r.NotBefore, r.NotAfter, r.In})
	return true
}

// pass goes on to a reservation's beginning, and reports whether the port is free for it.
func (k *keeper) pass(port int, r *controller.CircuitReservation) bool {
	spans, x := k.table.ports[port], &k.before[port]
	for x.spans < len(spans) && spans[x.spans].end <= r.NotBefore {
		x.gap = max(x.gap, spans[x.spans].start-x.end)
		x.end = spans[x.spans].end
		x.spans++
	}
	return x.spans == len(spans) || spans[x.spans].start >= r.NotAfter
}

// earlier reports whether two ports, free at the reservation that both have passed to, are free for as
// long already before a given instant.
func (k *keeper) earlier(in, out int, until, long time.Duration) bool {
	x, y := &k.before[in], &k.before[out]
	switch {
	case until <= k.now:
		return false
	case max(x.end, y.end) < until: // nothing lies between that and the reservation
		return true
	case x.gap < long && x.end >= until || y.gap < long && y.end >= until:
		return false // one of them has no room by itself
	}
	return earliest(k.table.ports[in][:x.spans], k.table.ports[out][:y.spans], k.now, long) < until
}

// drop gives back what was kept.
func (k *keeper) drop(kept []controller.CircuitReservation) {
	for i := range kept {
		k.table.drop(kept[i].In, kept[i].Out, kept[i].NotBefore)
	}
}
