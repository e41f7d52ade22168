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
	racks   int               // ports of each wavelength; 0: all are of one

	// Inputs are ports 2r, outputs 2r+1. Of each coflow that is laid:
	events   releases
	ports    []portState
	known    []bool          // by port: among those touched; false between rounds
	words    int             // of a set of racks
	pending  []uint64        // by port: the other sides of its pairs that are not done
	idle     [2][]uint64     // inputs, and outputs, that were free when they were last looked at; no other can be
	where    []int32         // by input and output: the position of their pair
	fresh    []uint64        // outputs that have become free in this round
	turned   []uint64        // inputs that have
	mayBegin []uint64        // inputs with pairs that may begin in this round
	own      []pair          // memory of lay
	todo     []pair          // borrowed
	book     *book           // nil: the pairs are todo
	covered  []time.Duration // by input and output: what the book's pair need not be given any more
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
	s.own = append(s.own[:0], pairs...)
	if s.byPort && !slices.IsSortedFunc(s.own, byPorts) {
		slices.SortFunc(s.own, byPorts)
	}
	return s.layOut(coflow, s.own)
}

// layOut does what lay does with pairs that are sorted by ports, and uses them up.
func (s *scheduler) layOut(coflow southbound.CoflowID, todo []pair) []controller.Reservation {
	if len(todo) == 0 {
		return nil
	}
	if !s.byPort {
		n := southbound.Port(cmp.Or(s.racks, len(s.table.in)))
		slices.SortFunc(todo, func(a, b pair) int {
			return cmp.Or(cmp.Compare(b.need, a.need), cmp.Compare((a.out-a.in+n)%n, (b.out-b.in+n)%n), cmp.Compare(a.in, b.in))
		})
	}
	s.todo, s.book = todo, nil
	s.fit()
	clear(s.pending)
	for k := range todo {
		p := &todo[k]
		s.wait(int(p.in), int(p.out), true)
		s.where[int(p.in)*len(s.table.in)+int(p.out)] = int32(k)
	}
	return s.begin(coflow, len(todo))
}

// layBook does what layOut does with what is not covered of the pairs of a book, without listing them: it adds to covered
// what it has laid.
func (s *scheduler) layBook(coflow southbound.CoflowID, b *book, covered []time.Duration, begun ...[]controller.Reservation) []controller.Reservation {
	s.todo, s.book, s.covered = nil, b, covered
	s.fit()
	copy(s.pending, b.live)
	left := b.alive
	for _, all := range begun {
		for i := range all {
			in, out := int(all[i].In), int(all[i].Out)
			if s.isPending(in, out) && s.needs(in, out) <= 0 {
				s.wait(in, out, false)
				left--
			}
		}
	}
	if left == 0 {
		return nil
	}
	return s.begin(coflow, left)
}

// begin lays the pairs that are pending, so many.
func (s *scheduler) begin(coflow southbound.CoflowID, left int) []controller.Reservation {
	r := round{s: s, coflow: coflow, left: left, made: s.made[:0], touched: s.open(s.touched[:0]), among: s.among[:0], now: s.start}
	for r.now < s.horizon {
		r.play()
		if r.left == 0 || s.events.len() == 0 {
			break
		}
		r.now = s.events.first().at
		r.touched = r.touched[:0]
		for s.events.len() > 0 && s.events.first().at == r.now {
			r.touched = append(r.touched, s.events.pop().port)
		}
	}
	s.cut = s.cut || r.now >= s.horizon
	s.made, s.touched, s.among = r.made, r.touched, r.among
	return r.made
}

func byPorts(a, b pair) int {
	if a.in != b.in {
		return cmp.Compare(a.in, b.in)
	}
	return cmp.Compare(a.out, b.out)
}

// fit makes the memory of as many ports as the table has.
func (s *scheduler) fit() {
	n := len(s.table.in)
	if len(s.ports) == 2*n {
		return
	}
	s.words = wordsOf(n)
	s.ports, s.known, s.where = make([]portState, 2*n), make([]bool, 2*n), make([]int32, n*n)
	s.pending, s.idle = make([]uint64, 2*n*s.words), [2][]uint64{make([]uint64, s.words), make([]uint64, s.words)}
	s.fresh = make([]uint64, s.words)
}

// wordsOf is how many words a set of ports takes.
func wordsOf(ports int) int { return (ports + 63) / 64 }

// open readies the ports of the pending pairs at the start, and appends them to touched.
func (s *scheduler) open(touched []int) []int {
	clear(s.idle[0])
	clear(s.idle[1])
	s.events.heap = s.events.heap[:0]
	for p := range s.ports {
		if s.waits(p) {
			s.ports[p].at, s.ports[p].cursor = -1, next(s.spans(p), s.start-1)
			touched = append(touched, p)
		}
	}
	return touched
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
	left    int // pairs that are not done
	made    []controller.Reservation
	now     time.Duration
	touched []int   // ports that may have become free
	among   []int32 // pairs that may begin
}

// play gives circuits to the pairs of the touched ports: first those that cost no outage.
func (r *round) play() {
	if len(r.touched) > 1 {
		slices.Sort(r.touched)
		r.touched = slices.Compact(r.touched)
	}
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
		if end, ok := r.s.released(port, r.s.look(port, r.now).cursor); ok {
			r.s.events.push(release{end, port})
		}
	}
}

// playListed goes through the pairs that may begin in the order of todo.
func (r *round) playListed() {
	r.candidates()
	for _, lit := range [2]bool{true, false} {
		for _, k := range r.among {
			p := &r.s.todo[k]
			in := r.s.look(2*int(p.in), r.now)
			r.s.look(2*int(p.out)+1, r.now)
			if lit && r.setup(in, int(p.in), int(p.out)) > 0 {
				continue
			}
			r.try(int(p.in), int(p.out))
		}
	}
}

// setup is the outage that a pair's circuit costs if it begins now.
func (r *round) setup(in *portState, input, output int) time.Duration {
	if int(in.last) == output || r.now == r.s.start && input < len(r.s.lit) && int(r.s.lit[input]) == output {
		return 0
	}
	return r.s.delta
}

// try gives a pair its circuit if both ports, which have been looked at, are free for long enough, and says whether it did.
func (r *round) try(input, output int) bool {
	in, out := &r.s.ports[2*input], &r.s.ports[2*output+1]
	free := min(in.until, out.until) - r.now
	if free == 0 {
		return false
	}
	setup := r.setup(in, input, output)
	if free <= setup {
		return false
	}
	need := r.s.needs(input, output)
	// A piece shorter than its own outage wastes more than it carries: it is made only if it finishes the pair.
	if need == 0 || free < setup+need && free < setup+max(r.s.delta, 1) {
		return false
	}
	long := min(free, setup+need)
	r.take(input, output, long, need-(long-setup))
	r.s.carry(input, output, long-setup)
	in.until, out.until = r.now, r.now
	r.s.free(2*input, false)
	r.s.free(2*output+1, false)
	return true
}

// released returns when a port is next released, given its first span to look at; false if it is free for ever. It passes
// over spans that follow each other without a gap, and by port over gaps in which nothing can begin: those that are no longer
// than an outage, but for an input that may go on with the circuit that it has.
func (s *scheduler) released(port, first int) (time.Duration, bool) {
	spans := s.spans(port)
	if first == len(spans) {
		return 0, false
	}
	short := time.Duration(0)
	if s.byPort && !s.listed {
		short = s.delta
	}
	for ; first+1 < len(spans); first++ {
		gap := spans[first+1].start - spans[first].end
		if gap > short || gap > 0 && port&1 == 0 && s.isPending(port>>1, int(spans[first].peer)) {
			break
		}
	}
	return spans[first].end, true
}

// take gives a pair its circuit for so long, and leaves so much of it for later.
func (r *round) take(input, output int, long, rest time.Duration) {
	if rest == 0 {
		r.left--
		r.s.wait(input, output, false)
	}
	in, out := southbound.Port(input), southbound.Port(output)
	r.s.insert(2*input, span{r.now, r.now + long, out})
	r.s.insert(2*output+1, span{r.now, r.now + long, in})
	r.made = append(r.made, controller.Reservation{NotBefore: r.now, NotAfter: r.now + long, In: in, Out: out, Coflow: r.coflow, Partly: rest > 0})
	for _, port := range [2]int{2 * input, 2*output + 1} {
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

// needs returns how long what is left of a pair takes.
func (s *scheduler) needs(input, output int) time.Duration {
	at := input*len(s.table.in) + output
	if s.book == nil {
		return s.todo[s.where[at]].need
	}
	return s.book.pairs[s.book.at(input, output)].need - s.covered[at]
}

// carry notes that so much of a pair has been given its circuit.
func (s *scheduler) carry(input, output int, long time.Duration) {
	at := input*len(s.table.in) + output
	if s.book == nil {
		s.todo[s.where[at]].need -= long
		return
	}
	s.covered[at] += long
}

// wait adds a pair to those pending, or takes it out.
func (s *scheduler) wait(input, output int, yes bool) {
	mark(s.pending, s.words, input, output, yes)
}

// mark puts a pair into sets by port of the ports at the other sides, or takes it out.
func mark(sets []uint64, words, input, output int, yes bool) {
	for _, x := range [2][2]int{{2 * input, output}, {2*output + 1, input}} {
		word, bit := &sets[x[0]*words+x[1]/64], uint64(1)<<(x[1]%64)
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
