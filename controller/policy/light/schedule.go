package light

import (
	"cmp"
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
// Any order of the pairs keeps that bound. Pairs whose circuit is lit already come first. Then it is by port, as in the
// published simulator, or the longest first and then by the distance from input to output: a shuffle of equal parts then
// turns like a rotor, and meets T(C) itself.
type scheduler struct {
	table   *table
	delta   time.Duration
	start   time.Duration     // instant of the decision
	lit     []southbound.Port // by input: where its circuit leads at the start, if it is usable
	horizon time.Duration     // instant: pairs that would begin later are left for another day
	byPort  bool              // pairs by (in, out), not the longest first
	cut     bool              // the horizon left something undone

	events releases
	ports  []portState // inputs are 2r, outputs 2r+1
}

// portState is what is known of one port at one instant. Instants only grow within one lay, so that a cursor serves.
type portState struct {
	todo   []int32 // positions of the pairs of the port that are not done
	cursor int     // the first span of the port that ends after at
	at     time.Duration
	until  time.Duration   // free until then; at itself: taken
	last   southbound.Port // the other side of the span that ends just at at, or NoPort
}

// setup is the outage that a circuit costs when it begins at that instant: none where it is lit already, or will be for
// a reservation that ends just then. Should that one be withdrawn later, the circuit carries less by an outage, which
// packets make up for.
func (s *scheduler) setup(in, out southbound.Port, at time.Duration) time.Duration {
	if at == s.start && int(in) < len(s.lit) && s.lit[in] == out || s.table.continues(in, out, at) {
		return 0
	}
	return s.delta
}

// lay schedules pairs from the start on and returns the reservations in the order of their beginning.
func (s *scheduler) lay(coflow southbound.CoflowID, pairs []pair) []controller.Reservation {
	if len(pairs) == 0 {
		return nil
	}
	todo := slices.Clone(pairs)
	n := southbound.Port(len(s.table.in))
	slices.SortFunc(todo, func(a, b pair) int {
		if s.byPort {
			return cmp.Or(cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out))
		}
		return cmp.Or(cmp.Compare(b.need, a.need), cmp.Compare((a.out-a.in+n)%n, (b.out-b.in+n)%n), cmp.Compare(a.in, b.in))
	})
	s.open(todo)
	r := round{s: s, coflow: coflow, todo: todo, left: len(todo)}
	for r.left > 0 && s.events.len() > 0 {
		if r.now = s.events.first().at; r.now >= s.horizon {
			s.cut = true
			break
		}
		r.touched = r.touched[:0]
		for s.events.len() > 0 && s.events.first().at == r.now {
			r.touched = append(r.touched, s.events.pop().port)
		}
		r.play()
	}
	return r.made
}

// open readies the ports of some pairs at the start.
func (s *scheduler) open(todo []pair) {
	if s.ports == nil {
		s.ports = make([]portState, 2*len(s.table.in))
	}
	for p := range s.ports {
		s.ports[p].todo = s.ports[p].todo[:0]
	}
	for k, p := range todo {
		in, out := &s.ports[2*p.in], &s.ports[2*p.out+1]
		in.todo, out.todo = append(in.todo, int32(k)), append(out.todo, int32(k))
	}
	s.events.heap = s.events.heap[:0]
	for p := range s.ports {
		if st := &s.ports[p]; len(st.todo) > 0 {
			st.at, st.cursor = -1, next(s.spans(p), s.start-1)
			s.events.push(release{s.start, p})
		}
	}
}

func (s *scheduler) spans(port int) []span {
	if port&1 == 0 {
		return s.table.in[port>>1]
	}
	return s.table.out[port>>1]
}

// look brings what is known of a port up to an instant.
func (s *scheduler) look(port int, now time.Duration) *portState {
	st := &s.ports[port]
	if st.at == now {
		return st
	}
	spans := s.spans(port)
	st.at, st.last = now, southbound.NoPort
	for st.cursor < len(spans) && spans[st.cursor].end <= now {
		if spans[st.cursor].end == now {
			st.last = spans[st.cursor].peer
		}
		st.cursor++
	}
	switch {
	case st.cursor == len(spans):
		st.until = southbound.Never
	default:
		st.until = max(spans[st.cursor].start, now)
	}
	return st
}

// round is one instant at which ports are released.
type round struct {
	s       *scheduler
	coflow  southbound.CoflowID
	todo    []pair
	left    int // pairs that are not done
	made    []controller.Reservation
	now     time.Duration
	touched []int   // ports that may have become free
	among   []int32 // pairs that may begin
	first   []int32 // memory of merge
}

// play gives circuits to the pairs of the touched ports: first those that cost no outage.
func (r *round) play() {
	r.candidates()
	for _, lit := range [2]bool{true, false} {
		for _, k := range r.among {
			p := &r.todo[k]
			in, out := r.s.look(2*int(p.in), r.now), r.s.look(2*int(p.out)+1, r.now)
			free := min(in.until, out.until) - r.now
			if free == 0 || p.need == 0 {
				continue
			}
			setup := r.s.delta
			if in.last == p.out || r.now == r.s.start && int(p.in) < len(r.s.lit) && r.s.lit[p.in] == p.out {
				setup = 0
			}
			// A piece shorter than its own outage wastes more than it carries: it is made only if it finishes the pair.
			if lit && setup > 0 || free < setup+p.need && free < setup+max(r.s.delta, 1) {
				continue
			}
			r.take(p, setup, min(free, setup+p.need))
			in.until, out.until = r.now, r.now
		}
	}
	for _, port := range r.touched {
		if end, ok := released(r.s.spans(port)[r.s.look(port, r.now).cursor:]); ok {
			r.s.events.push(release{end, port})
		}
	}
}

// released returns when a port is next released, passing over spans that follow each other without a gap; false if it
// is free for ever.
func released(spans []span) (time.Duration, bool) {
	if len(spans) == 0 {
		return 0, false
	}
	k := 0
	for k+1 < len(spans) && spans[k+1].start == spans[k].end {
		k++
	}
	return spans[k].end, true
}

func (r *round) take(p *pair, setup, long time.Duration) {
	if p.need -= long - setup; p.need == 0 {
		r.left--
	}
	r.s.table.take(p.in, p.out, r.now, r.now+long)
	r.made = append(r.made, controller.Reservation{NotBefore: r.now, NotAfter: r.now + long, In: p.in, Out: p.out, Coflow: r.coflow})
	for _, port := range [2]int{2 * int(p.in), 2*int(p.out) + 1} {
		if !slices.Contains(r.touched, port) {
			r.touched = append(r.touched, port) // to come back to when it is released
		}
	}
}

// candidates lists the pairs of the touched ports that are free, in todo's order, each once.
func (r *round) candidates() {
	slices.Sort(r.touched)
	r.touched = slices.Compact(r.touched)
	r.among = r.among[:0]
	few := len(r.touched) <= 4 // each port's pairs are sorted: merging a few spares the sorting of many
	for _, port := range r.touched {
		st := r.s.look(port, r.now)
		if st.until == r.now {
			continue
		}
		st.todo = slices.DeleteFunc(st.todo, func(k int32) bool { return r.todo[k].need == 0 })
		before := len(r.among)
		for _, k := range st.todo {
			other := 2*int(r.todo[k].out) + 1
			if port&1 == 1 {
				other = 2 * int(r.todo[k].in)
			}
			if r.s.look(other, r.now).until > r.now {
				r.among = append(r.among, k)
			}
		}
		if few {
			r.merge(before)
		}
	}
	if !few {
		slices.Sort(r.among)
	}
	r.among = slices.Compact(r.among)
}

// merge brings two sorted runs of among, that up to k and that from k on, into one.
func (r *round) merge(k int) {
	if k == 0 || k == len(r.among) {
		return
	}
	r.first = append(r.first[:0], r.among[:k]...)
	at, from, second := 0, k, r.among
	for _, x := range r.first {
		for from < len(second) && second[from] < x {
			r.among[at] = second[from]
			at, from = at+1, from+1
		}
		r.among[at] = x
		at++
	}
}

// release is an instant at which a port may become free.
type release struct {
	at   time.Duration
	port int
}

// releases is a binary heap by (at, port).
type releases struct{ heap []release }

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
