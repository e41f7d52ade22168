package light

import (
	"math/bits"

	"lightloom/southbound"
)

// playByPort does what playListed does where pairs are sorted by (input, output), without listing them: an input that
// has found its pair needs to look at no other. Ports that are free for no longer than an outage do not count as idle:
// nothing begins there but what an input goes on with.
func (r *round) playByPort() {
	s := r.s
	r.lookInputs()
	fresh := r.lookOutputs()
	for w := range s.mayBegin {
		for word := s.mayBegin[w]; word != 0; word &= word - 1 {
			if !fresh { // those that were free before have found nothing else then, and do not now
				if word &= s.touched[0][w]; word == 0 {
					break
				}
			}
			if r.first(w*64 + bits.TrailingZeros64(word)) {
				fresh = s.anyFresh()
			}
		}
	}
}

// lookInputs looks at the touched inputs, has each go on with the circuit that it has where it can, and notes in mayBegin
// those that are idle then.
func (r *round) lookInputs() {
	s := r.s
	for w, word := range s.touched[0] {
		for ; word != 0; word &= word - 1 {
			input := w*64 + bits.TrailingZeros64(word)
			in := s.look(2*input, r.now)
			s.free(2*input, in.until-r.now > s.delta)
			if in.until > r.now && s.delta > 0 { // without an outage, none is cheaper than others
				r.continueLit(input)
			}
		}
		s.mayBegin[w] = s.touched[0][w] & s.idle[0][w]
	}
}

// lookOutputs looks at the touched outputs, notes in fresh those that are idle, and in mayBegin the idle inputs of their
// pairs, and says whether there are any.
func (r *round) lookOutputs() bool {
	s := r.s
	any := uint64(0)
	for w, word := range s.touched[1] {
		for ; word != 0; word &= word - 1 {
			output := w*64 + bits.TrailingZeros64(word)
			idle := s.look(2*output+1, r.now).until-r.now > s.delta
			if s.free(2*output+1, idle); !idle {
				continue
			}
			for k, x := range s.pending[(2*output+1)*s.words : (2*output+2)*s.words] {
				s.mayBegin[k] |= x & s.idle[0][k]
			}
		}
		s.fresh[w] = s.touched[1][w] & s.idle[1][w]
		any |= s.fresh[w]
	}
	return any != 0
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
	a, b := s.ports[2*input].last, r.litAt(input)
	for _, lit := range [2]southbound.Port{min(a, b), max(a, b)} {
		if lit == southbound.NoPort || !s.isPending(input, int(lit)) {
			continue
		}
		// The output need not be touched: a gap that is too short for others may do for this.
		if s.look(2*int(lit)+1, r.now); r.try(input, int(lit), 0) {
			return
		}
	}
}

// first gives an input the first of its pairs that may begin, and says whether there is one. What costs no outage has been
// tried.
func (r *round) first(input int) bool {
	s := r.s
	if s.ports[2*input].until-r.now <= s.delta {
		s.free(2*input, false)
		return false
	}
	touched := s.touched[0][input/64]>>(input%64)&1 == 1
	for w, word := range s.pending[2*input*s.words : (2*input+1)*s.words] {
		if word &= s.idle[1][w]; !touched {
			word &= s.fresh[w]
		}
		for ; word != 0; word &= word - 1 {
			output := w*64 + bits.TrailingZeros64(word)
			if s.ports[2*output+1].until-r.now <= s.delta {
				s.free(2*output+1, false)
				continue
			}
			if r.try(input, output, s.delta) {
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
