package circuits

import (
	"math/bits"
	"time"

	"lightloom/southbound"
)

// releases holds when each port next becomes free. There is at most one instant per port, and none
// before one that has been due, so that buckets of time hold the ports released in them: a calendar
// queue, which is faster than a heap.
type releases struct {
	at         []time.Duration // by port; southbound.Never: none
	next, prev []int32         // by port: the others of its stretch, none (-1)
	from       time.Duration
	shift      int      // of a time after from, to its stretch
	head       []int32  // by stretch: its first port, if it has any
	some       []uint64 // stretches that have
	word       int      // of some: those before have no bits
}

// stretches is about as many as instants at which ports are released in one lay of a big coflow. A
// stretch with many ports is looked through.
const stretches = 1024

// open clears r, and prepares it for a number of ports and the instants from one on, of which most are before another.
func (r *releases) open(ports int, from, to time.Duration) {
	if len(r.at) != ports {
		r.at, r.next, r.prev = make([]time.Duration, ports), make([]int32, ports), make([]int32, ports)
		r.head, r.some = make([]int32, stretches), make([]uint64, stretches/64)
	}
	for port := range r.at {
		r.at[port] = southbound.Never
	}
	clear(r.some)
	r.word, r.from = 0, from
	for r.shift = 0; (to-from)>>r.shift >= stretches; r.shift++ {
	}
}

// set has a port be released at an instant, and then alone; southbound.Never: not at all.
func (r *releases) set(port int, at time.Duration) {
	if was := r.at[port]; was != southbound.Never {
		r.drop(int32(port), r.stretch(was))
	}
	if r.at[port] = at; at != southbound.Never {
		r.add(int32(port), r.stretch(at))
	}
}

// stretch is where an instant belongs: those that come late are in the last one.
func (r *releases) stretch(at time.Duration) int { return min(int(at-r.from)>>r.shift, stretches-1) }

func (r *releases) add(port int32, to int) {
	r.next[port], r.prev[port] = -1, -1
	if word, bit := &r.some[to/64], uint64(1)<<(to%64); *word&bit == 0 {
		*word |= bit
	} else {
		r.next[port] = r.head[to]
		r.prev[r.head[to]] = port
	}
	r.head[to] = port
}

func (r *releases) drop(port int32, from int) {
	next, prev := r.next[port], r.prev[port]
	if next >= 0 {
		r.prev[next] = prev
	}
	switch {
	case prev >= 0:
		r.next[prev] = next
	case next >= 0:
		r.head[from] = next
	default:
		r.some[from/64] &^= 1 << (from % 64)
	}
}

// due returns the first instant at which ports are released, and adds these to a list, in no order;
// southbound.Never if none are.
func (r *releases) due(list []int32) (time.Duration, []int32) {
	for w := r.word; w < len(r.some); w++ {
		if r.some[w] == 0 {
			continue
		}
		r.word = w
		head := r.head[w*64+bits.TrailingZeros64(r.some[w])]
		first := r.at[head]
		for port := r.next[head]; port >= 0; port = r.next[port] {
			first = min(first, r.at[port])
		}
		for port := head; port >= 0; port = r.next[port] {
			if r.at[port] == first {
				list = append(list, port)
			}
		}
		return first, list
	}
	return southbound.Never, list
}
