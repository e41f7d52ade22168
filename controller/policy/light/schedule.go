package light

import (
	"cmp"
	"math/bits"
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

	// Inputs are ports 2r, outputs 2r+1. Of each coflow that is laid:
	events   releases
	ports    []portState
	known    []bool      // by port: among those touched; false between rounds
	words    int         // of a set of racks
	pending  []uint64    // by port: the other sides of its pairs that are not done
	idle     [2][]uint64 // inputs, and outputs, that were free when they were last looked at; no other can be
	where    []int32     // by input and output: the position of their pair
	fresh    []uint64    // outputs that have become free in this round
	mayBegin []uint64    // inputs with pairs that may begin in this round
	todo     []pair
	made     []controller.Reservation
	touched  []int
	among    []int32
	listed   bool // by port as well, the pairs that may begin are listed and sorted before any does
}

// portState is what is known of one port at one instant. Instants only grow within one lay, so that a cursor serves.
type portState struct {
	cursor int // the first span of the port that ends after at
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

// lay schedules pairs from the start on and returns the reservations in the order of their beginning, borrowed until the
// next call.
func (s *scheduler) lay(coflow southbound.CoflowID, pairs []pair) []controller.Reservation {
	s.todo = append(s.todo[:0], pairs...)
	if s.byPort && !slices.IsSortedFunc(s.todo, byPorts) {
		slices.SortFunc(s.todo, byPorts)
	}
	return s.layOut(coflow, s.todo)
}

// layOut does what lay does with pairs that are sorted by ports, and uses them up.
func (s *scheduler) layOut(coflow southbound.CoflowID, todo []pair) []controller.Reservation {
	if len(todo) == 0 {
		return nil
	}
	n := southbound.Port(len(s.table.in))
	if !s.byPort {
		slices.SortFunc(todo, func(a, b pair) int {
			return cmp.Or(cmp.Compare(b.need, a.need), cmp.Compare((a.out-a.in+n)%n, (b.out-b.in+n)%n), cmp.Compare(a.in, b.in))
		})
	}
	s.open(todo)
	r := round{s: s, coflow: coflow, todo: todo, left: len(todo), made: s.made[:0], touched: s.touched[:0], among: s.among[:0]}
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
	s.made, s.touched, s.among = r.made, r.touched, r.among
	return r.made
}

func byPorts(a, b pair) int {
	if a.in != b.in {
		return cmp.Compare(a.in, b.in)
	}
	return cmp.Compare(a.out, b.out)
}

// open readies the ports of some pairs at the start.
func (s *scheduler) open(todo []pair) {
	n := len(s.table.in)
	if len(s.ports) != 2*n {
		s.words = (n + 63) / 64
		s.ports, s.known, s.where = make([]portState, 2*n), make([]bool, 2*n), make([]int32, n*n)
		s.pending, s.idle = make([]uint64, 2*n*s.words), [2][]uint64{make([]uint64, s.words), make([]uint64, s.words)}
		s.fresh = make([]uint64, s.words)
	}
	clear(s.pending)
	clear(s.idle[0])
	clear(s.idle[1])
	for k := range todo {
		p := &todo[k]
		s.wait(p, true)
		s.where[int(p.in)*n+int(p.out)] = int32(k)
	}
	s.events.heap = s.events.heap[:0]
	for p := range s.ports {
		if s.waits(p) {
			s.ports[p].at, s.ports[p].cursor = -1, next(s.spans(p), s.start-1)
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
}

// play gives circuits to the pairs of the touched ports: first those that cost no outage.
func (r *round) play() {
	slices.Sort(r.touched)
	r.touched = slices.Compact(r.touched)
	for _, port := range r.touched {
		r.s.known[port] = true
		r.s.free(port, r.s.look(port, r.now).until > r.now)
	}
	if r.s.byPort && !r.s.listed {
		r.playByPort()
	} else {
		r.playListed()
	}
	for _, port := range r.touched {
		r.s.known[port] = false
		if !r.s.waits(port) {
			continue
		}
		if end, ok := released(r.s.spans(port)[r.s.look(port, r.now).cursor:]); ok {
			r.s.events.push(release{end, port})
		}
	}
}

// playListed goes through the pairs that may begin in the order of todo.
func (r *round) playListed() {
	r.candidates()
	for _, lit := range [2]bool{true, false} {
		for _, k := range r.among {
			p := &r.todo[k]
			in, out := r.s.look(2*int(p.in), r.now), r.s.look(2*int(p.out)+1, r.now)
			if lit && r.setup(in, p) > 0 {
				continue
			}
			r.try(p, in, out)
		}
	}
}

// setup is the outage that a pair's circuit costs if it begins now.
func (r *round) setup(in *portState, p *pair) time.Duration {
	if in.last == p.out || r.now == r.s.start && int(p.in) < len(r.s.lit) && r.s.lit[p.in] == p.out {
		return 0
	}
	return r.s.delta
}

// try gives a pair its circuit if both ports are free for long enough, and says whether it did.
func (r *round) try(p *pair, in, out *portState) bool {
	free := min(in.until, out.until) - r.now
	if free == 0 || p.need == 0 {
		return false
	}
	setup := r.setup(in, p)
	// A piece shorter than its own outage wastes more than it carries: it is made only if it finishes the pair.
	if free < setup+p.need && free < setup+max(r.s.delta, 1) {
		return false
	}
	r.take(p, setup, min(free, setup+p.need))
	in.until, out.until = r.now, r.now
	r.s.free(2*int(p.in), false)
	r.s.free(2*int(p.out)+1, false)
	return true
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
		r.s.wait(p, false)
	}
	r.s.insert(2*int(p.in), span{r.now, r.now + long, p.out})
	r.s.insert(2*int(p.out)+1, span{r.now, r.now + long, p.in})
	r.made = append(r.made, controller.Reservation{NotBefore: r.now, NotAfter: r.now + long, In: p.in, Out: p.out, Coflow: r.coflow, Partly: p.need > 0})
	for _, port := range [2]int{2 * int(p.in), 2*int(p.out) + 1} {
		if !r.s.known[port] {
			r.s.known[port] = true
			r.touched = append(r.touched, port) // to come back to when it is released
		}
	}
}

// candidates lists the pairs of the touched ports that are free, in todo's order, each once.
func (r *round) candidates() {
	s := r.s
	r.among = r.among[:0]
	sorted := true
	for _, port := range r.touched {
		if s.ports[port].until == r.now {
			continue
		}
		for w, word := range s.pending[port*s.words : (port+1)*s.words] {
			for word &= s.idle[1-port&1][w]; word != 0; word &= word - 1 {
				other := 2*(w*64+bits.TrailingZeros64(word)) + 1 - port&1
				if s.look(other, r.now).until == r.now {
					s.free(other, false)
					continue
				}
				k := s.pairAt(port, other)
				sorted = sorted && (len(r.among) == 0 || r.among[len(r.among)-1] < k)
				r.among = append(r.among, k)
			}
		}
	}
	if !sorted {
		slices.Sort(r.among)
		r.among = slices.Compact(r.among)
	}
}

// free notes whether a port is free at the instant of a round.
func (s *scheduler) free(port int, yes bool) {
	word, bit := &s.idle[port&1][port>>1/64], uint64(1)<<(port>>1%64)
	if *word &^= bit; yes {
		*word |= bit
	}
}

// insert puts a span that begins at the instant of a round into its port's.
func (s *scheduler) insert(port int, x span) {
	all := &s.table.in[port>>1]
	if port&1 == 1 {
		all = &s.table.out[port>>1]
	}
	*all = slices.Insert(*all, s.ports[port].cursor, x)
}

// pairAt returns the position of the pair between two ports, one an input and one an output.
func (s *scheduler) pairAt(a, b int) int32 {
	if a&1 == 1 {
		a, b = b, a
	}
	return s.where[a>>1*len(s.table.in)+b>>1]
}

// wait adds a pair to those pending, or takes it out.
func (s *scheduler) wait(p *pair, yes bool) {
	for _, x := range [2][2]int{{2 * int(p.in), int(p.out)}, {2*int(p.out) + 1, int(p.in)}} {
		word, bit := &s.pending[x[0]*s.words+x[1]/64], uint64(1)<<(x[1]%64)
		if *word &^= bit; yes {
			*word |= bit
		}
	}
}

// waits says whether any pair of a port is pending.
func (s *scheduler) waits(port int) bool {
	for _, word := range s.pending[port*s.words : (port+1)*s.words] {
		if word != 0 {
			return true
		}
	}
	return false
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
