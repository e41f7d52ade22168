package light

import (
	"math/bits"

	"lightloom/southbound"
)

// playByPort does what playListed does where pairs are sorted by (input, output), without listing them: an input that
// has found its pair needs to look at no other.
func (r *round) playByPort() {
	s := r.s
	inputs := r.inputs()
	for w := range s.turned {
		for word := s.turned[w]; word != 0 && s.delta > 0; word &= word - 1 { // without an outage, none is cheaper than others
			r.continueLit(w*64 + bits.TrailingZeros64(word))
		}
	}
	fresh := s.anyFresh()
	for w := range inputs {
		for word := inputs[w]; word != 0; word &= word - 1 {
			if !fresh { // those that were free before have found nothing else then, and do not now
				if word &= s.turned[w]; word == 0 {
					break
				}
			}
			if r.first(w*64 + bits.TrailingZeros64(word)) {
				fresh = s.anyFresh()
			}
		}
	}
}

// inputs returns the inputs that have pairs which may begin, as a set: those that have become free, which it notes in
// turned, and those whose output has. It notes the outputs in fresh. Ports that are free for no longer than an outage are
// left out, but for inputs, which may go on with the circuit that they have. Borrowed until the next round.
func (r *round) inputs() []uint64 {
	s := r.s
	if len(s.mayBegin) != s.words {
		s.mayBegin, s.turned = make([]uint64, s.words), make([]uint64, s.words)
	}
	clear(s.fresh)
	clear(s.mayBegin)
	clear(s.turned)
	for _, port := range r.touched {
		free := s.ports[port].until - r.now
		if port&1 == 0 {
			if free > 0 {
				s.turned[port>>1/64] |= 1 << (port >> 1 % 64)
				s.mayBegin[port>>1/64] |= 1 << (port >> 1 % 64)
			}
			continue
		}
		if free <= s.delta {
			continue
		}
		s.fresh[port>>1/64] |= 1 << (port >> 1 % 64)
		for w, word := range s.pending[port*s.words : (port+1)*s.words] {
			s.mayBegin[w] |= word & s.idle[0][w]
		}
	}
	return s.mayBegin
}

// anyFresh says whether an output that has become free in this round is still free.
func (s *scheduler) anyFresh() bool {
	for w, word := range s.fresh {
		if word&s.idle[1][w] != 0 {
			return true
		}
	}
	return false
}

// continueLit has an input that has become free go on with the circuit that it has, if that is one of its pairs. Any other
// input has none: it was free before.
func (r *round) continueLit(input int) {
	s := r.s
	in := s.look(2*input, r.now)
	if in.until == r.now {
		s.free(2*input, false)
		return
	}
	a, b := in.last, r.litAt(input)
	for _, lit := range [2]southbound.Port{min(a, b), max(a, b)} {
		if lit == southbound.NoPort || !s.isPending(input, int(lit)) {
			continue
		}
		if out := s.look(2*int(lit)+1, r.now); out.until > r.now && r.try(input, int(lit)) {
			return
		}
	}
}

// litAt returns where the circuit of an input leads that is lit when the schedule begins, NoPort at any later instant.
func (r *round) litAt(input int) southbound.Port {
	if r.now != r.s.start || input >= len(r.s.lit) {
		return southbound.NoPort
	}
	return r.s.lit[input]
}

// first gives an input the first of its pairs that may begin, and says whether there is one. What costs no outage has been
// tried.
func (r *round) first(input int) bool {
	s := r.s
	in := s.look(2*input, r.now)
	if in.until == r.now {
		s.free(2*input, false)
	}
	if in.until-r.now <= s.delta {
		return false
	}
	for w, word := range s.pending[2*input*s.words : (2*input+1)*s.words] {
		if word &= s.idle[1][w]; !s.known[2*input] {
			word &= s.fresh[w]
		}
		for ; word != 0; word &= word - 1 {
			output := w*64 + bits.TrailingZeros64(word)
			if s.look(2*output+1, r.now).until == r.now {
				s.free(2*output+1, false)
				continue
			}
			if r.try(input, output) {
				return true
			}
		}
	}
	return false
}

// isPending says whether a pair has something left to be given a circuit for.
func (s *scheduler) isPending(input, output int) bool {
	return s.pending[2*input*s.words+output/64]>>(output%64)&1 == 1
}
