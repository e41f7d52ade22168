package circuits

import (
	"slices"
	"time"

	"lightloom/southbound"
)

// span is a time for which one port is taken, [start, end), and by which port at the other side.
type span struct {
	start, end time.Duration
	peer       southbound.Port
}

// table is the reservation table: for every input and output of the OCS the times it is taken, sorted
// and disjoint. Inputs are ports 2r, outputs 2r+1.
type table struct{ ports [][]span }

func newTable(ports int) *table {
	return &table{make([][]span, 2*ports)}
}

func (b *table) clear() {
	for p := range b.ports {
		b.ports[p] = b.ports[p][:0]
	}
}

// size is how many inputs there are, and outputs.
func (b *table) size() int { return len(b.ports) / 2 }

func (b *table) in(r southbound.Port) []span  { return b.ports[2*r] }
func (b *table) out(r southbound.Port) []span { return b.ports[2*r+1] }

// next returns the position of the first span of a port that ends after t.
func next(spans []span, t time.Duration) int {
	if n := len(spans); n == 0 || spans[n-1].end <= t { // as mostly where spans come in their order
		return n
	}
	i, _ := slices.BinarySearchFunc(spans, t, func(s span, t time.Duration) int {
		if s.end > t {
			return 1
		}
		return -1
	})
	return i
}

// gap returns until when a port is free from t on: t itself if it is taken at t.
func gap(spans []span, t time.Duration) time.Duration {
	switch i := next(spans, t); {
	case i == len(spans):
		return southbound.Never
	case spans[i].start <= t:
		return t
	default:
		return spans[i].start
	}
}

// free returns for how long both ports of a pair are free from t on.
func (b *table) free(in, out southbound.Port, t time.Duration) time.Duration {
	return min(gap(b.in(in), t), gap(b.out(out), t)) - t
}

// fits reports whether both ports are free in [from, to).
func (b *table) fits(in, out southbound.Port, from, to time.Duration) bool {
	return b.free(in, out, from) >= to-from
}

// earliest returns the first instant from t on at which none of two lists of spans has any for that long.
func earliest(x, y []span, t, long time.Duration) time.Duration {
	x, y = x[next(x, t):], y[next(y, t):]
	for t <= southbound.Never-long {
		switch {
		case len(x) > 0 && x[0].start < t+long:
			t = max(t, x[0].end)
			x = x[1:]
		case len(y) > 0 && y[0].start < t+long:
			t = max(t, y[0].end)
			y = y[1:]
		default:
			return t
		}
	}
	return southbound.Never
}

// put adds a span of a port at its position.
func (b *table) put(port, at int, x span) {
	b.ports[port] = slices.Insert(b.ports[port], at, x)
}

// take marks both ports as taken in [from, to). The caller has seen that they are free.
func (b *table) take(in, out southbound.Port, from, to time.Duration) {
	b.put(2*int(in), next(b.in(in), from), span{from, to, out})
	b.put(2*int(out)+1, next(b.out(out), from), span{from, to, in})
}

// continues reports whether the same two ports are joined until just that instant.
func (b *table) continues(in, out southbound.Port, at time.Duration) bool {
	x := b.in(in)
	i := next(x, at) - 1
	return i >= 0 && x[i].end == at && x[i].peer == out
}

// drop gives back what was taken from that instant on.
func (b *table) drop(in, out southbound.Port, from time.Duration) {
	for _, port := range [2]int{2 * int(in), 2*int(out) + 1} {
		spans := b.ports[port]
		i := len(spans) - 1
		if spans[i].start != from { // as mostly where what came last goes first
			i = next(spans, from)
		}
		b.ports[port] = slices.Delete(spans, i, i+1)
	}
}
