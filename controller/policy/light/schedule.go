package light

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// scheduler lays the pairs of one coflow into the table: Sunflow's intra-coflow schedule (Huang, Sun, Ng: Sunflow,
// CoNEXT 2016, Algorithm 1). A pair is given its circuit at the first instant at which both ports are free, for as long
// as it needs or until a reservation made before begins on either; it is never interrupted for another pair of the same
// coflow. So no port of the coflow idles while a pair of it could use it, and alone on the switch it ends within 2·T(C).
//
// Any order of the pairs keeps that bound. Here pairs come first whose circuit is lit already, then the longest, then by
// the distance from input to output: a shuffle of equal parts then turns like a rotor, and meets T(C) itself.
type scheduler struct {
	table   *table
	delta   time.Duration
	horizon time.Duration // instant: pairs that would begin later are left for another day
	setup   func(in, out southbound.Port, at time.Duration) time.Duration
	events  releases
	cut     bool // the horizon left something undone
}

// lay schedules pairs from the instant at on and returns the reservations in the order of their beginning.
func (s *scheduler) lay(at time.Duration, coflow southbound.CoflowID, pairs []pair) []controller.Reservation {
	todo := slices.Clone(pairs)
	n := southbound.Port(len(s.table.in))
	slices.SortFunc(todo, func(a, b pair) int {
		return cmp.Or(cmp.Compare(b.need, a.need), cmp.Compare((a.out-a.in+n)%n, (b.out-b.in+n)%n), cmp.Compare(a.in, b.in))
	})
	of := byPort(todo)
	s.events.reset()
	for _, port := range slices.Sorted(maps.Keys(of)) {
		s.events.push(release{at, port})
	}
	var made []controller.Reservation
	left := len(todo)
	for left > 0 && s.events.len() > 0 {
		now := s.events.first().at
		if now >= s.horizon {
			s.cut = true
			break
		}
		var touched []int
		for s.events.len() > 0 && s.events.first().at == now {
			touched = append(touched, s.events.pop().port)
		}
		made, left = s.round(now, coflow, todo, of, touched, made, left)
	}
	return made
}

// round gives circuits at one instant to the pairs of the ports that may have become free.
func (s *scheduler) round(now time.Duration, coflow southbound.CoflowID, todo []pair, of map[int][]int32, touched []int,
	made []controller.Reservation, left int) ([]controller.Reservation, int) {
	after := touched // ports to come back to when they are released
	among := candidates(touched, of)
	for _, lit := range [2]bool{true, false} {
		for _, k := range among {
			p := &todo[k]
			setup := s.setup(p.in, p.out, now)
			if p.need == 0 || lit && setup > 0 {
				continue
			}
			free := s.table.free(p.in, p.out, now)
			// A piece shorter than its own outage wastes more than it carries: it is made only if it finishes the pair.
			if free < setup+p.need && free < setup+max(s.delta, 1) {
				continue
			}
			long := min(free, setup+p.need)
			if p.need -= long - setup; p.need == 0 {
				left--
			}
			s.table.take(p.in, p.out, now, now+long)
			made = append(made, controller.Reservation{NotBefore: now, NotAfter: now + long, In: p.in, Out: p.out, Coflow: coflow})
			after = append(after, int(p.in)*2, int(p.out)*2+1)
		}
	}
	slices.Sort(after)
	for _, port := range slices.Compact(after) {
		spans := s.table.out[port>>1]
		if port&1 == 0 {
			spans = s.table.in[port>>1]
		}
		if end, ok := busyUntil(spans, now); ok {
			s.events.push(release{end, port})
		}
	}
	return made, left
}

// byPort lists the positions in todo of the pairs of each port; inputs are 2r, outputs 2r+1. Lists keep todo's order.
func byPort(todo []pair) map[int][]int32 {
	of := map[int][]int32{}
	for k, p := range todo {
		of[int(p.in)*2] = append(of[int(p.in)*2], int32(k))
		of[int(p.out)*2+1] = append(of[int(p.out)*2+1], int32(k))
	}
	return of
}

// candidates returns the pairs of some ports, in todo's order, each once.
func candidates(touched []int, of map[int][]int32) []int32 {
	var all []int32
	for _, port := range touched {
		all = append(all, of[port]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// release is an instant at which a port may become free.
type release struct {
	at   time.Duration
	port int
}

// releases is a binary heap by (at, port).
type releases struct{ heap []release }

func (r *releases) reset()         { r.heap = r.heap[:0] }
func (r *releases) len() int       { return len(r.heap) }
func (r *releases) first() release { return r.heap[0] }

func (r *releases) less(a, b int) bool {
	x, y := r.heap[a], r.heap[b]
	return x.at < y.at || x.at == y.at && x.port < y.port
}

func (r *releases) push(x release) {
	r.heap = append(r.heap, x)
	for i := len(r.heap) - 1; i > 0 && r.less(i, (i-1)/2); i = (i - 1) / 2 {
		r.heap[i], r.heap[(i-1)/2] = r.heap[(i-1)/2], r.heap[i]
	}
}

func (r *releases) pop() release {
	top, last := r.heap[0], len(r.heap)-1
	r.heap[0] = r.heap[last]
	r.heap = r.heap[:last]
	for i := 0; ; {
		c := 2*i + 1
		if c >= last {
			return top
		}
		if c+1 < last && r.less(c+1, c) {
			c++
		}
		if !r.less(c, i) {
			return top
		}
		r.heap[i], r.heap[c] = r.heap[c], r.heap[i]
		i = c
	}
}
