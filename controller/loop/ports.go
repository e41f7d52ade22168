package loop

import (
	"math"

	"lightloom/southbound"
)

// ports is a set of OCS inputs, or all of them.
type ports struct {
	any  bool // it is not empty
	all  bool
	some []uint64 // a bit an input
}

// fill makes it all of them.
func (p *ports) fill() { p.any, p.all = true, true }

func (p *ports) add(in southbound.Port) { p.addBits(in, 1) }

// addBits adds an input for each bit that is set, the lowest for the first input; the 64 inputs of a
// word hold all of them.
func (p *ports) addBits(first southbound.Port, bits uint64) {
	for len(p.some) <= int(first)/64 {
		p.some = append(p.some, 0)
	}
	p.some[first/64] |= bits << (first % 64)
	p.any = true
}

// word returns the inputs from 64·w on, a bit each.
func (p *ports) word(w int) uint64 {
	switch {
	case p.all:
		return math.MaxUint64
	case w < len(p.some):
		return p.some[w]
	}
	return 0
}

// has reports whether an input is in the set.
func (p *ports) has(in southbound.Port) bool { return p.word(int(in/64))>>(in%64)&1 == 1 }

func (p *ports) clear() {
	if p.any {
		p.any, p.all = false, false
		clear(p.some)
	}
}
