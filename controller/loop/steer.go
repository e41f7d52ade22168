package loop

import (
	"math"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// pairOf is the rows of a coflow, or of every coflow, between two racks.
type pairOf struct {
	coflow  southbound.CoflowID
	in, out southbound.Port
}

// sent is what the hosts of coflows were told last of their rows, by id.
type sent [][]southbound.Tag

// of returns the tags by row; nil where nothing was told, or the coflow is over.
func (t sent) of(id southbound.CoflowID) []southbound.Tag {
	if int(id) >= len(t) {
		return nil
	}
	return t[id]
}

func (t *sent) set(id southbound.CoflowID, tags []southbound.Tag) {
	for len(*t) <= int(id) {
		*t = append(*t, nil)
	}
	(*t)[id] = tags
}

// ports is a set of OCS inputs, or all of them.
type ports struct {
	any  bool // it is not empty
	all  bool
	some []uint64 // a bit an input
}

// fill makes it all of them.
func (p *ports) fill() { p.any, p.all = true, true }

func (p *ports) add(in southbound.Port) { p.addBits(in, 1) }

// addBits adds an input for each bit that is set, the lowest for the first input; the 64 inputs of a word hold all of them.
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

// has says whether an input is in the set.
func (p *ports) has(in southbound.Port) bool { return p.word(int(in/64))>>(in%64)&1 == 1 }

func (p *ports) clear() {
	if p.any {
		p.any, p.all = false, false
		clear(p.some)
	}
}

// resteerPair notes that the circuit of a reservation has changed, and what that does to the rows that it carries.
func (l *Loop) resteerPair(r *controller.Reservation) {
	l.repaths = append(l.repaths, pairOf{r.Coflow, r.In, r.Out})
}

// steerPair sends the tags of rows between two racks that are not what their hosts were told last. lit says that a circuit
// carries them once this pass's entries are applied.
func (l *Loop) steerPair(s *state.State, p pairOf, lit bool) {
	if p.coflow != controller.AnyCoflow {
		l.steerRows(s, p.coflow, &p, lit)
		return
	}
	for _, id := range s.Active() {
		l.steerRows(s, id, &p, lit)
	}
}

func (l *Loop) steerRows(s *state.State, id southbound.CoflowID, p *pairOf, lit bool) {
	c := s.Coflow(id)
	sent := l.sent.of(id)
	if c.Started == state.Unset || c.Ended != state.Unset || len(sent) != len(c.Tag) {
		return
	}
	s.Rows(c, p.in, p.out, func(row int32) {
		t := southbound.TagCircuit
		if !lit {
			t = s.TagOf(id, c, row)
		}
		if t != sent[row] {
			sent[row] = t
			l.act.Steer = append(l.act.Steer, southbound.Steer{BundleKey: southbound.BundleKey{Coflow: id, Row: row}, Tag: t})
		}
	})
}
