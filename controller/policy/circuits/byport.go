package circuits

import (
	"math/bits"

	"lightloom/southbound"
)

// playByPort does what playListed does where pairs are sorted by (input, output), without listing them:
// an input that has found its pair needs to look at no other. Ports that are free for no longer than a
// reconfiguration delay do not count as idle: nothing begins there but what an input goes on with.
func (r *round) playByPort() {
	s := r.s
	clear(s.turned)
	clear(s.fresh)
	clear(s.mayBegin)
	for _, port := range s.touched {
		r.lookIdle(int(port))
	}
	for w, word := range s.turned {
		for ; word != 0; word &= word - 1 {
			r.continueLit(w*64 + bits.TrailingZeros64(word))
		}
		s.turned[w] &= s.idle[0][w]
		s.mayBegin[w] |= s.turned[w]
	}
	for w, word := range s.fresh {
		for word &= s.idle[1][w]; word != 0; word &= word - 1 {
			output := w*64 + bits.TrailingZeros64(word)
			for k, x := range s.waiting(2*output + 1) {
				s.mayBegin[k] |= x & s.idle[0][k]
			}
		}
	}
	fresh := s.anyFresh()
	for w := range s.mayBegin {
		for word := s.mayBegin[w]; word != 0; word &= word - 1 {
			if !fresh { // those that were free before have found nothing else then, and do not now
				if word &= s.turned[w]; word == 0 {
					break
				}
			}
			input := w*64 + bits.TrailingZeros64(word)
			among := s.fresh
			if s.turned[w]>>(input%64)&1 == 1 {
				among = s.idle[1]
			}
			if r.first(input, among) {
				fresh = s.anyFresh()
			}
		}
	}
}

// lookIdle looks at a touched port, and notes it in turned or fresh: an input that is free, and an
// output that is idle.
func (r *round) lookIdle(port int) {
	s := r.s
	free := s.advance(port, r.now).until - r.now
	delta := s.deltaAt(port >> 1)
	s.free(port, free > delta)
	switch {
	case port&1 == 0 && free > 0:
		s.turned[port>>1/64] |= 1 << (port >> 1 % 64)
	case port&1 == 1 && free > delta:
		s.fresh[port>>1/64] |= 1 << (port >> 1 % 64)
	}
}

// playOne does what playByPort does where one port alone is touched.
func (r *round) playOne(port int) {
	s := r.s
	free, delta := s.advance(port, r.now).until-r.now, s.deltaAt(port>>1)
	s.free(port, free > delta)
	if port&1 == 0 {
		if free > 0 && !r.continueLit(port>>1) && free > delta {
			r.first(port>>1, s.idle[1])
		}
		return
	}
	if free <= delta {
		return
	}
	clear(s.fresh)
	s.fresh[port>>1/64] |= 1 << (port >> 1 % 64)
	for w, word := range s.waiting(port) {
		for word &= s.idle[0][w]; word != 0; word &= word - 1 {
			if r.first(w*64+bits.TrailingZeros64(word), s.fresh) {
				return
			}
		}
	}
}

// anyFresh reports whether an output that has become free in this round is still free.
func (s *scheduler) anyFresh() bool {
	for w, word := range s.fresh {
		if word&s.idle[1][w] != 0 {
			return true
		}
	}
	return false
}

// continueLit has an input that has become free keep its circuit, if that is one of its pairs, and
// reports whether it does. Any other input has no circuit: it was free before.
func (r *round) continueLit(input int) bool {
	s := r.s
	a, b := s.ports[2*input].last, r.litAt(input)
	// Without a reconfiguration delay, no pair is cheaper than others.
	if a == b && a == southbound.NoPort || s.deltaAt(input) == 0 {
		return false
	}
	for _, lit := range [2]southbound.Port{min(a, b), max(a, b)} {
		if lit == southbound.NoPort || !s.isPending(input, int(lit)) {
			continue
		}
		// The output need not be touched: a gap that is too short for others can do for this.
		if s.advance(2*int(lit)+1, r.now); r.try(input, int(lit), 0) {
			return true
		}
	}
	return false
}

// first gives an input the first of its pairs with the given outputs that can begin, and reports
// whether there is one. Pairs without reconfiguration delay have been tried before.
func (r *round) first(input int, among []uint64) bool {
	s, delta := r.s, r.s.deltaAt(input)
	if s.ports[2*input].until-r.now <= delta {
		s.free(2*input, false)
		return false
	}
	for w, word := range s.waiting(2 * input) {
		for word &= s.idle[1][w] & among[w]; word != 0; word &= word - 1 {
			output := w*64 + bits.TrailingZeros64(word)
			if s.ports[2*output+1].until-r.now <= delta {
				s.free(2*output+1, false)
				continue
			}
			if r.try(input, output, delta) {
				return true
			}
		}
	}
	return false
}

// isPending reports whether a pair still needs a circuit.
func (s *scheduler) isPending(input, output int) bool {
	return s.pending[2*input*s.words+output/64]>>(output%64)&1 == 1
}
