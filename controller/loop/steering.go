package loop

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/internal/sparse"
	"lightloom/controller/state"
	"lightloom/southbound"
)

// steering is the tags that hosts were sent for rows, and whose rows must be looked at again.
type steering struct {
	sent    sent
	coflows []southbound.CoflowID // whose rows are to be sent over another path, perhaps
	pairs   []pairOf              // of racks between which rows are, of one coflow or all
	ending  []pairOf              // whose reservation ends in this pass
	left    []pairOf              // whose reservation has ended before: where their rows go is not known yet
	tags    []southbound.Tag      // memory of coflow

	multihops *multihops
}

// pairOf is the rows of a coflow, or of every coflow, between two racks.
type pairOf struct {
	coflow  southbound.CoflowID
	in, out southbound.Port
}

// sent is the last tags sent to the hosts of coflows, by id and row.
type sent struct {
	table sparse.Table[[]southbound.Tag]
}

// of returns the tags by row; nil if none were sent, or the coflow is over.
func (t *sent) of(id southbound.CoflowID) []southbound.Tag {
	if tags := t.table.Get(int(id)); tags != nil {
		return *tags
	}
	return nil
}

func (t *sent) set(id southbound.CoflowID, tags []southbound.Tag) { *t.table.Make(int(id)) = tags }

func (t *sent) over(id southbound.CoflowID) { t.table.Drop(int(id)) }

// unsent is no tag that a row is ever sent with.
const unsent = southbound.AnyTag

// repeat sends every row of a coflow its tag again.
func (t *steering) repeat(id southbound.CoflowID, rows int) {
	t.sent.set(id, slices.Repeat([]southbound.Tag{unsent}, rows))
	t.again(id)
}

// again notes that rows of a coflow possibly have another path.
func (t *steering) again(id southbound.CoflowID) { t.coflows = append(t.coflows, id) }

// all notes that rows of any coflow possibly have another path.
func (t *steering) all() {
	if !slices.Contains(t.coflows, controller.AnyCoflow) {
		t.again(controller.AnyCoflow)
	}
}

// changed notes that the circuit of a reservation has changed, and what that does to the rows that it
// carries.
func (t *steering) changed(r *controller.CircuitReservation) {
	t.pairs = append(t.pairs, pairOf{r.Coflow, r.In, r.Out})
}

// leave notes that a reservation ends. Its rows stay on the circuit until the policy has been called
// and the next reservations have begun: of Sunflow's many go on where another one ended, and a row that
// is sent to packets and back within milliseconds loses more than that. TCP takes what overtakes for
// reordering, or connects again.
func (t *steering) leave(r *controller.CircuitReservation) {
	t.ending = append(t.ending, pairOf{r.Coflow, r.In, r.Out})
}

// none reports whether no rows are due.
func (t *steering) none() bool { return len(t.coflows)+len(t.pairs)+len(t.ending)+len(t.left) == 0 }

// flush steers all rows that possibly have another path, but those that a reservation has just left.
func (t *steering) flush(s *state.State, p *pass) {
	t.left = append(t.left, t.ending...)
	t.ending = t.ending[:0]
	for i, id := range t.coflows {
		if slices.Contains(t.coflows[:i], id) {
			continue // many circuits of one coflow change at one instant, and steering looks at all of its rows
		}
		if id == controller.AnyCoflow {
			for _, a := range s.Active() {
				t.coflow(s, p, a)
			}
			continue
		}
		t.coflow(s, p, id)
	}
	t.coflows = t.coflows[:0]
	for i := range t.pairs {
		if !slices.Contains(t.pairs[:i], t.pairs[i]) && !slices.Contains(t.left, t.pairs[i]) {
			t.pair(s, p, t.pairs[i], false)
		}
	}
	t.pairs = t.pairs[:0]
}

// settle steers the rows that a reservation has left, but where another one goes on in this pass.
func (t *steering) settle(s *state.State, p *pass, began *reservations) {
	for i, of := range t.left {
		if !slices.Contains(t.left[:i], of) && !began.goesOn(s, of) {
			t.pair(s, p, of, false)
		}
	}
	t.left = t.left[:0]
}

// told returns the last tags sent for a coflow's rows, and whether it sends.
func (t *steering) told(id southbound.CoflowID, c *state.Coflow) (sent []southbound.Tag, sends bool) {
	sent = t.sent.of(id)
	return sent, c != nil && c.Started != state.Unset && c.Ended == state.Unset && len(sent) == len(c.Tag)
}

// append appends the current tag of each row of a coflow.
func (t *steering) append(buf []southbound.Tag, s *state.State, id southbound.CoflowID) []southbound.Tag {
	base := len(buf)
	buf = s.AppendTags(buf, id)
	if len(t.multihops.stand) == 0 {
		return buf
	}
	c := s.Coflow(id)
	for row := range buf[base:] {
		buf[base+row] = t.multihops.tag(buf[base+row], s.RackOf(c.Columns.Src[row]), s.RackOf(c.Columns.Dst[row]))
	}
	return buf
}

// coflow sends the tags of a started coflow that differ from the last ones sent.
func (t *steering) coflow(s *state.State, p *pass, id southbound.CoflowID) {
	c := s.Coflow(id)
	sent, sends := t.told(id, c)
	if !sends {
		return
	}
	t.tags = t.append(t.tags[:0], s, id)
	for i := range t.left {
		if of := &t.left[i]; of.coflow == id || of.coflow == controller.AnyCoflow {
			s.Rows(c, of.in, of.out, func(row int32) { t.tags[row] = sent[row] })
		}
	}
	for row, tag := range t.tags {
		if tag != sent[row] && !c.Done[row] {
			sent[row] = tag
			p.steer(id, int32(row), tag)
		}
	}
}

// pair sends the tags of rows between two racks that differ from the last ones sent to their hosts. lit
// is whether a circuit carries them once this pass's entries are applied.
func (t *steering) pair(s *state.State, p *pass, of pairOf, lit bool) {
	if of.coflow != controller.AnyCoflow {
		t.rows(s, p, of.coflow, &of, lit)
		return
	}
	for _, id := range s.Active() {
		t.rows(s, p, id, &of, lit)
	}
}

func (t *steering) rows(s *state.State, p *pass, id southbound.CoflowID, of *pairOf, lit bool) {
	c := s.Coflow(id)
	sent, sends := t.told(id, c)
	if !sends {
		return
	}
	s.Rows(c, of.in, of.out, func(row int32) {
		tag := southbound.TagCircuit
		if !lit {
			tag = t.multihops.tag(s.TagOf(id, c, row), s.RackOf(c.Columns.Src[row]), s.RackOf(c.Columns.Dst[row]))
		}
		if tag != sent[row] {
			sent[row] = tag
			p.steer(id, row, tag)
		}
	})
}
