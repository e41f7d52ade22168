package circuits

import (
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// portState is what is known of one port since it was last touched. Instants only grow within one lay,
// so that a cursor serves.
type portState struct {
	until  time.Duration   // free until then; if that is over, it is taken, or free for no longer than is worth a look
	cursor int             // the first span of the port that ended after it was looked at
	last   southbound.Port // in a round that touches it: the other side of the span that ends just now, or NoPort
}

// round is one instant at which ports are released.
type round struct {
	s      *scheduler
	coflow southbound.CoflowID
	left   int // pairs that are not done
	made   []controller.CircuitReservation
	now    time.Duration
}

// play gives circuits to the pairs of the touched ports: first those that cost no reconfiguration delay.
func (r *round) play() {
	s := r.s
	switch {
	case !s.byPort || s.listed:
		r.playListed()
	case len(s.touched) == 1: // as most often
		r.playOne(int(s.touched[0]))
	default:
		r.playByPort()
	}
	for _, port := range s.touched {
		s.ports[port].last = southbound.NoPort
		s.events.set(int(port), s.nextRelease(int(port)))
	}
}

// playListed goes through the pairs that can begin in the order of todo.
func (r *round) playListed() {
	s := r.s
	r.candidates()
	if s.delta == 0 || s.deltas != nil { // pairs can cost nothing whose circuits are not there
		for k := s.among.next(0); k >= 0; k = s.among.next(k + 1) {
			if p := &s.todo[k]; r.setup(int(p.in), int(p.out)) == 0 {
				r.try(int(p.in), int(p.out), 0)
			}
		}
	} else {
		r.continueAll()
	}
	for w, word := range s.among.words[s.among.first:s.among.to] {
		for first := 64 * (s.among.first + w); word != 0; word &= word - 1 {
			p := &s.todo[first+bits.TrailingZeros64(word)]
			if s.ports[2*p.in].until > r.now && s.ports[2*p.out+1].until > r.now { // no pair before has taken either
				r.try(int(p.in), int(p.out), r.setup(int(p.in), int(p.out)))
			}
		}
	}
	s.among.clear()
}

// continueAll has the touched inputs keep their circuits, in the order of todo, where those are of pairs that can
// begin.
func (r *round) continueAll() {
	s := r.s
	if s.afresh {
		return
	}
	s.kept = s.kept[:0]
	for _, port := range s.touched {
		if port&1 == 1 {
			continue
		}
		input := int(port >> 1)
		for _, out := range [2]southbound.Port{s.ports[port].last, r.litAt(input)} {
			if out != southbound.NoPort && s.isPending(input, int(out)) && s.among.has(int(s.pairAt(int(port), 2*int(out)+1))) {
				s.kept = append(s.kept, s.pairAt(int(port), 2*int(out)+1))
			}
		}
	}
	slices.Sort(s.kept)
	for _, k := range s.kept {
		p := &s.todo[k]
		r.try(int(p.in), int(p.out), 0)
	}
}

// setup is the reconfiguration delay that a pair's circuit costs if it begins now.
func (r *round) setup(input, output int) time.Duration {
	if !r.s.afresh && (int(r.s.ports[2*input].last) == output || int(r.litAt(input)) == output) {
		return 0
	}
	return r.s.deltaAt(input)
}

// litAt returns where the circuit of an input leads that is lit when the schedule begins, NoPort at any
// later instant.
func (r *round) litAt(input int) southbound.Port {
	if r.now != r.s.start || input >= len(r.s.lit) {
		return southbound.NoPort
	}
	return r.s.lit[input]
}

// try gives a pair its circuit, with the given reconfiguration delay, if both ports are free for long
// enough, and reports whether it did. The caller has looked at both ports.
func (r *round) try(input, output int, setup time.Duration) bool {
	in, out := &r.s.ports[2*input], &r.s.ports[2*output+1]
	free := min(in.until, out.until) - r.now
	if free <= setup {
		return false
	}
	need := r.s.needs(input, output)
	// A piece shorter than its own reconfiguration delay wastes more than it carries: it is made only if
	// it finishes the pair.
	if need == 0 || free < setup+need && free < setup+max(r.s.deltaAt(input), 1) {
		return false
	}
	long := min(free, setup+need)
	if need > long-setup {
		r.s.carry(input, output, long-setup)
		r.take(input, output, long, true)
		return true
	}
	r.left--
	r.s.wait(input, output, false)
	r.take(input, output, long, false)
	return true
}

// take gives a pair its circuit for so long, which is partly what it needs, or all.
func (r *round) take(input, output int, long time.Duration, partly bool) {
	in, out := southbound.Port(input), southbound.Port(output)
	r.hold(2*input, span{r.now, r.now + long, out})
	r.hold(2*output+1, span{r.now, r.now + long, in})
	r.made = append(r.made, controller.CircuitReservation{NotBefore: r.now, NotAfter: r.now + long,
		In: in, Out: out,
		Coflow: r.coflow, Partial: partly})
}

// hold takes a port from now on, and touches it, to come back to when it is released.
func (r *round) hold(port int, x span) {
	s := r.s
	s.table.put(port, s.ports[port].cursor, x)
	s.ports[port].until = r.now
	s.free(port, false)
	s.touched = append(s.touched, int32(port))
}

// candidates lists the pairs of the touched ports that are free, in todo's order, each once.
func (r *round) candidates() {
	s := r.s
	for _, port := range s.touched {
		s.free(int(port), s.advance(int(port), r.now).until > r.now)
	}
	for _, port := range s.touched {
		if s.ports[port].until > r.now {
			r.list(int(port))
		}
	}
}

// list adds the pairs of a port that is free to those that can begin.
func (r *round) list(port int) {
	s := r.s
	for w, word := range s.waiting(port) {
		for word &= s.idle[1-port&1][w]; word != 0; word &= word - 1 {
			other := 2*(w*64+bits.TrailingZeros64(word)) + 1 - port&1
			if s.ports[other].until <= r.now {
				s.free(other, false)
				continue
			}
			s.among.add(int(s.pairAt(port, other)))
		}
	}
}

// positions is a set of places in a list. It is clear between uses.
type positions struct {
	words     []uint64
	first, to int // words outside of them are zero
}

func (p *positions) add(k int) {
	w := k / 64
	for len(p.words) <= w {
		p.words = append(p.words, 0)
	}
	if p.to == 0 {
		p.first = w
	}
	p.first, p.to = min(p.first, w), max(p.to, w+1)
	p.words[w] |= 1 << (k % 64)
}

func (p *positions) has(k int) bool {
	return k/64 < len(p.words) && p.words[k/64]>>(k%64)&1 == 1
}

// next returns the first place from one on, -1 if there is none.
func (p *positions) next(k int) int {
	w := max(k/64, p.first)
	if w >= p.to {
		return -1
	}
	word := p.words[w]
	if w == k/64 {
		word &= ^uint64(0) << (k % 64)
	}
	for word == 0 {
		if w++; w >= p.to {
			return -1
		}
		word = p.words[w]
	}
	return w*64 + bits.TrailingZeros64(word)
}

func (p *positions) clear() {
	clear(p.words[p.first:p.to])
	p.first, p.to = 0, 0
}
