package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// scheduler lays the pairs of one coflow into the table: Sunflow's intra-coflow schedule (Huang, Sun,
// Ng: Sunflow, CoNEXT 2016, Algorithm 1). A pair is given its circuit at the first instant at which
// both ports are free, for as long as it needs or until a reservation made before begins on either; it
// is never interrupted for another pair of the same coflow. So no port of the coflow idles while a pair
// of it could use it, and alone on the switch it ends within 2·T(C).
//
// Any order of the pairs keeps that bound. Pairs whose circuit is lit already come first. Then it is by
// port, as in the published simulator, or the longest first and then by the distance from input to
// output: a shuffle of equal parts then turns like a rotor, and meets T(C) itself.
type scheduler struct {
	table   *table
	delta   time.Duration
	deltas  []time.Duration   // by input, where OCSes differ; nil: all have delta
	start   time.Duration     // instant of the decision
	lit     []southbound.Port // by input: where its circuit leads at the start, if it is in service
	horizon time.Duration     // instant: pairs that would begin later are left for another day
	likely  time.Duration     // instant: until when most ports will have been released; 0: the horizon
	manner
	sorted bool // pairs come in order
	cut    bool // the horizon left something undone
	racks  int  // ports of each wavelength; 0: all are of one

	// Inputs are ports 2r, outputs 2r+1. Of each coflow that is laid:
	events  releases
	ports   []portState
	words   int             // of a set of racks
	pending []uint64        // by port: the other sides of its pairs that are not done
	idle    [2][]uint64     // inputs, and outputs, that were free when they were last looked at; no other can be
	where   []int32         // by input and output: the position of their pair
	own     []pair          // memory of lay
	todo    []pair          // borrowed
	book    *coflowPairs    // nil: its pairs are listed in todo
	covered []time.Duration // by input and output: what the pair need not be given any more
	made    []controller.CircuitReservation
	turn
}

// turn is what a scheduler knows of the round that it is in.
type turn struct {
	touched  []int32   // ports that are released in it, or taken
	turned   []uint64  // inputs that have become idle
	fresh    []uint64  // outputs that have
	mayBegin []uint64  // inputs with pairs that can begin
	among    positions // pairs that can
	kept     []int32   // of these, whose circuits are there when the round begins
}

// manner is how pairs come after each other.
type manner struct {
	byPort bool // by (in, out), not the longest first
	listed bool // by port as well, the pairs that can begin are listed and sorted before any does
	afresh bool // no circuit that is lit is preferred, or costs less
}

// setup is the reconfiguration delay that a circuit costs when it begins at that instant: none where it
// is lit already, or will be for a reservation that ends just then. Should that one be withdrawn later,
// the circuit carries less by a reconfiguration delay, which packets make up for.
func (s *scheduler) setup(in, out southbound.Port, at time.Duration) time.Duration {
	if at == s.start && int(in) < len(s.lit) && s.lit[in] == out || s.table.continues(in, out, at) {
		return 0
	}
	return s.deltaAt(int(in))
}

// deltaAt is the reconfiguration delay of the OCS of an input.
func (s *scheduler) deltaAt(in int) time.Duration {
	if s.deltas == nil {
		return s.delta
	}
	return s.deltas[in]
}

// layOut does what lay does with pairs that are sorted by ports, and uses them up.
func (s *scheduler) layOut(coflow southbound.CoflowID, todo []pair) []controller.CircuitReservation {
	if len(todo) == 0 {
		return nil
	}
	if !s.byPort && !s.sorted {
		s.sort(todo)
	}
	s.todo, s.book = todo, nil
	s.fit()
	clear(s.pending)
	for k := range todo {
		p := &todo[k]
		s.wait(int(p.in), int(p.out), true)
		s.where[int(p.in)*s.table.size()+int(p.out)] = int32(k)
	}
	return s.begin(coflow, len(todo))
}

// sort has the longest pairs come first, and then the nearest.
func (s *scheduler) sort(pairs []pair) {
	n := southbound.Port(cmp.Or(s.racks, s.table.size()))
	slices.SortFunc(pairs, func(a, b pair) int {
		if a.need != b.need { // as nearly always
			return cmp.Compare(b.need, a.need)
		}
		return cmp.Or(cmp.Compare((a.out-a.in+n)%n, (b.out-b.in+n)%n), cmp.Compare(a.in, b.in))
	})
}

// layPairs does what layOut does with what is not covered of coflowPairs, without listing them:
// it adds to covered what it has laid.
func (s *scheduler) layPairs(coflow southbound.CoflowID, b *coflowPairs, covered []time.Duration,
	begun ...[]controller.CircuitReservation) []controller.CircuitReservation {
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

// begin reserves for the pending pairs, of which left remain.
func (s *scheduler) begin(coflow southbound.CoflowID, left int) []controller.CircuitReservation {
	r := round{s: s, coflow: coflow, left: left, made: s.made[:0]}
	s.open()
	for r.left > 0 {
		if r.now, s.touched = s.events.due(s.touched[:0]); r.now >= s.horizon {
			break
		}
		r.play()
	}
	s.cut = s.cut || r.left > 0
	s.made = r.made
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
	n := s.table.size()
	if len(s.ports) == 2*n {
		return
	}
	s.words = wordsOf(n)
	set := func() []uint64 { return make([]uint64, s.words) }
	s.ports, s.pending, s.where = make([]portState, 2*n), make([]uint64, 2*n*s.words), make([]int32, n*n)
	s.idle = [2][]uint64{set(), set()}
	s.turned, s.fresh, s.mayBegin = set(), set(), set()
}

// wordsOf is how many words a set of ports takes.
func wordsOf(ports int) int { return (ports + 63) / 64 }

// open readies the ports of the pending pairs, and has them be released at the start.
func (s *scheduler) open() {
	s.events.open(len(s.ports), s.start, cmp.Or(min(s.likely, s.horizon), s.horizon))
	clear(s.idle[0])
	clear(s.idle[1])
	for p := range s.ports {
		if s.waits(p) {
			s.ports[p] = portState{cursor: next(s.table.ports[p], s.start-1), last: southbound.NoPort}
			s.events.set(p, s.start)
		}
	}
}

// advance brings what is known of a port up to an instant at which it is touched.
func (s *scheduler) advance(port int, now time.Duration) *portState {
	st, spans := &s.ports[port], s.table.ports[port]
	for st.cursor < len(spans) && spans[st.cursor].end <= now {
		if spans[st.cursor].end == now {
			st.last = spans[st.cursor].peer
		}
		st.cursor++
	}
	if st.until = southbound.Never; st.cursor < len(spans) {
		st.until = max(spans[st.cursor].start, now)
	}
	return st
}

// nextRelease returns when a port is next released, after it has been looked at, southbound.Never if no
// pair waits for it, it is free for ever, or that is beyond the horizon. It passes over spans that
// follow each other without a gap, and by port over gaps in which nothing can begin: those that are no
// longer than a reconfiguration delay, but for an input that can go on with the circuit that it has.
func (s *scheduler) nextRelease(port int) time.Duration {
	spans, k := s.table.ports[port], s.ports[port].cursor
	if k == len(spans) || !s.waits(port) {
		return southbound.Never
	}
	short := time.Duration(0)
	if s.byPort && !s.listed {
		short = s.deltaAt(port >> 1)
	}
	for ; k+1 < len(spans); k++ {
		gap := spans[k+1].start - spans[k].end
		if gap > short || gap > 0 && port&1 == 0 && s.isPending(port>>1, int(spans[k].peer)) {
			break
		}
	}
	if spans[k].end >= s.horizon {
		return southbound.Never
	}
	return spans[k].end
}

// free notes whether a port is free at the instant of a round.
func (s *scheduler) free(port int, yes bool) {
	word, bit := &s.idle[port&1][port>>1/64], uint64(1)<<(port>>1%64)
	if *word &^= bit; yes {
		*word |= bit
	}
}

// pairAt returns the position of the pair between two ports, one an input and one an output.
func (s *scheduler) pairAt(a, b int) int32 {
	if a&1 == 1 {
		a, b = b, a
	}
	return s.where[a>>1*s.table.size()+b>>1]
}

// needs returns how long what is left of a pair takes.
func (s *scheduler) needs(input, output int) time.Duration {
	at := input*s.table.size() + output
	if s.book == nil {
		return s.todo[s.where[at]].need
	}
	return s.book.needs[s.book.at(input, output)] - s.covered[at]
}

// carry notes that so much of a pair has been given its circuit, and not yet all.
func (s *scheduler) carry(input, output int, long time.Duration) {
	at := input*s.table.size() + output
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

// waiting returns the other sides of a port's pairs that are pending.
func (s *scheduler) waiting(port int) []uint64 {
	return s.pending[port*s.words : (port+1)*s.words]
}

// waits reports whether any pair of a port is pending.
func (s *scheduler) waits(port int) bool {
	for _, word := range s.waiting(port) {
		if word != 0 {
			return true
		}
	}
	return false
}
