package light

import (
	"math/bits"

	"lightloom/southbound"
)

// playByPort does what playListed does where pairs are sorted by (input, output), without listing them: an input that
// has found its pair needs to look at no other.
func (r *round) playByPort() {
	s := r.s
	clear(s.fresh)
	inputs := r.inputs()
	for w := range inputs {
		for word := inputs[w]; word != 0 && s.delta > 0; word &= word - 1 { // without an outage, none is cheaper than others
			r.continueLit(w*64 + bits.TrailingZeros64(word))
		}
	}
	for w := range inputs {
		for word := inputs[w]; word != 0; word &= word - 1 {
			r.first(w*64 + bits.TrailingZeros64(word))
		}
	}
}

// inputs returns the inputs that have pairs which may begin, as a set: those that have become free, and those whose
// output has. It notes the outputs in fresh. Borrowed until the next round.
func (r *round) inputs() []uint64 {
	s := r.s
	if len(s.mayBegin) != s.words {
		s.mayBegin = make([]uint64, s.words)
	}
	clear(s.mayBegin)
	for _, port := range r.touched {
		if s.ports[port].until == r.now {
			continue
		}
		if port&1 == 0 {
			s.mayBegin[port>>1/64] |= 1 << (port >> 1 % 64)
			continue
		}
		s.fresh[port>>1/64] |= 1 << (port >> 1 % 64)
		for w, word := range s.pending[port*s.words : (port+1)*s.words] {
			s.mayBegin[w] |= word & s.idle[0][w]
		}
	}
	return s.mayBegin
}

// continueLit has an input go on with the circuit that it has, if that is one of its pairs.
func (r *round) continueLit(input int) {
	s := r.s
	in := s.look(2*input, r.now)
	if in.until == r.now {
		s.free(2*input, false)
		return
	}
	a, b := in.last, r.litAt(input)
	for _, lit := range [2]southbound.Port{min(a, b), max(a, b)} {
		if lit == southbound.NoPort || !s.isPending(input, int(lit)) || !r.isTouched(input, int(lit)) {
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

// isTouched says whether an input or an output has become free in this round.
func (r *round) isTouched(input, output int) bool {
	return r.s.known[2*input] || r.s.fresh[output/64]>>(output%64)&1 == 1
}

// first gives an input the first of its pairs that may begin.
func (r *round) first(input int) {
	s := r.s
	in := s.look(2*input, r.now)
	if in.until == r.now {
		s.free(2*input, false)
		return
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
				return
			}
		}
	}
}

// isPending says whether a pair has something left to be given a circuit for.
func (s *scheduler) isPending(input, output int) bool {
	return s.pending[2*input*s.words+output/64]>>(output%64)&1 == 1
}
