package flowsim

import (
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// spreads is the host flows of large coflows that are spread, where only links of hosts bind and end
// instants are not rounded. A decision gives thousands of them another rate, so a rate is to cost little:
// it is one of three numbers of a row, links are asked for by host, and when a row ends is found only once
// it can be the first. Rates, ends and rounding are those of individual rates, to the last place, as long as those of a
// coflow are below 2⁵³ b/s in sum.
type spreads struct {
	*state
	few     int32         // coflows of fewer rows have individual rates
	list    []*spreadRows // with rows
	changed []*spreadRows // whose rates are not granted yet
	out, in []float64     // by host: what rows request of its links, bits a second
	senders southbound.Senders
	next    des.Event
	stale   bool // the first to end may be another
	buf     []int32
}

// fewRows is from how many rows on a coflow is worth tables of hosts.
const fewRows = 64

// spreadRows is one coflow's.
type spreadRows struct {
	co    *underWay
	first int32 // its first row among the host flows
	rows  []spreadRow
	size  int32 // how many are here
	pos   int32 // in spreads.list; none while it has no rows here
	noted bool  // in spreads.changed
	anew  bool  // rows have come that were granted nothing yet

	table *hostTable
	run   []int32  // by host: its place among the table's destinations
	dsts  []uint64 // these, a set of hosts
	here  []uint64 // as the table's sets: rows that are here
	apart []uint64 // likewise, those that have an extra

	from, to spreadRates // as granted
	extra    []southbound.Extra

	ends  []time.Duration // by destination: none of its rows ends sooner
	exact []bool          // by destination: one of them ends then
	soon  time.Duration   // the least of ends, or less
}

// spreadRow is one of these host flows.
type spreadRow struct {
	left float64       // bytes, at instant at
	bits float64       // its rate, bits a second at layer 2
	at   time.Duration //
}

// suits reports whether a host flow of a spread coflow can be here.
func (sp *spreads) suits(co *coflow, r *route) bool {
	return sp.flat && sp.quantum == 0 && !co.scattered && co.caps == nil && co.rows >= sp.few &&
		len(sp.up) <= denseHosts && (!sp.crooked || sp.hostsBind(r))
}

// add takes in a host flow with left bytes left. It gets its rate when rates are granted.
func (sp *spreads) add(co *coflow, t *hostTable, b int32, left float64) {
	if sp.out == nil {
		sp.out, sp.in = make([]float64, 64*t.words), make([]float64, 64*t.words)
		sp.senders = southbound.NewSenders(len(sp.up))
	}
	if co.spreadRows == nil {
		co.spreadRows = newSpreadRows(co, t, len(sp.up))
	}
	sr, bu := co.spreadRows, &sp.hostFlows[b]
	if sr.pos == none {
		sr.pos = int32(len(sp.list))
		sp.list = append(sp.list, sr)
	}
	bu.class = onSpread
	co.apart.Add(left)
	sr.rows[b-sr.first] = spreadRow{left: left, at: sp.clock.Now()}
	sr.here[sr.word(&bu.pair)] |= 1 << (bu.src % 64)
	sr.size, sr.anew = sr.size+1, true
	sp.change(sr)
}

func newSpreadRows(co *coflow, t *hostTable, hosts int) *spreadRows {
	n := len(t.dsts)
	sr := &spreadRows{co: co.underWay, first: co.first, rows: make([]spreadRow, co.rows), pos: none, table: t,
		run: make([]int32, hosts), dsts: make([]uint64, t.words),
		here: make([]uint64, len(t.has)), apart: make([]uint64, len(t.has)),
		from: newSpreadRates(t.words), to: newSpreadRates(t.words),
		ends: make([]time.Duration, n), exact: make([]bool, n)}
	for i, dst := range t.dsts {
		sr.run[dst], sr.ends[i] = int32(i), southbound.Never
		sr.dsts[dst/64] |= 1 << (dst % 64)
	}
	return sr
}

// word returns where the sets have a pair's source.
func (sr *spreadRows) word(p *pair) int { return int(sr.run[p.dst])*sr.table.words + int(p.src/64) }

// change notes that a coflow's rates are to be granted anew.
func (sp *spreads) change(sr *spreadRows) {
	if !sr.noted {
		sr.noted = true
		sp.changed = append(sp.changed, sr)
	}
	sp.disturb()
}

// remove takes a host flow out again and returns what is left of it.
func (sp *spreads) remove(b int32) float64 {
	co := &sp.coflows[sp.hostFlows[b].coflow]
	row, now := sp.detach(co.spreadRows, b), sp.clock.Now()
	co.apart.Lose(rateRow{Left: row.left, Bits: row.bits, Rate: row.bits * sp.perBit, At: row.at}, sp.perBit, now)
	sp.relax()
	return row.leftAt(now, sp.perBit)
}

// detach takes a host flow's row out.
func (sp *spreads) detach(sr *spreadRows, b int32) spreadRow {
	bu, row := &sp.hostFlows[b], sr.rows[b-sr.first]
	sp.out[bu.src] -= row.bits
	sp.in[bu.dst] -= row.bits
	sr.here[sr.word(&bu.pair)] &^= 1 << (bu.src % 64)
	sr.exact[sr.run[bu.dst]], sp.stale = false, true
	if sr.size--; sr.size == 0 {
		last := len(sp.list) - 1
		sp.list[last].pos = sr.pos
		sp.list[sr.pos] = sp.list[last]
		sp.list, sr.pos = sp.list[:last], none
	}
	return row
}

// scatter gives all rows individual rates, as they stand.
func (sp *spreads) scatter(to *individualRates) {
	for len(sp.list) > 0 {
		sr := sp.list[0]
		sr.co.scattered = true
		for i := range sr.table.dsts {
			sr.each(i, func(row int32, _ *spreadRow) {
				b := sr.first + row
				now := sp.detach(sr, b)
				was := individualRate{left: now.left, at: now.at, bits: now.bits, rate: now.bits * sp.perBit,
					end: now.end(sp.perBit)}
				to.adopt(b, was, sr.co.spreadOf(&sp.hostFlows[b].pair)+sr.co.extraOf(row))
			})
		}
	}
}

// each calls f with the rows of a destination that are here.
func (sr *spreadRows) each(i int, f func(row int32, r *spreadRow)) {
	t := sr.table
	for at := i * t.words; at < (i+1)*t.words; at++ {
		for word := sr.here[at]; word != 0; word &= word - 1 {
			row := t.rowAt(at, word&-word)
			f(row, &sr.rows[row])
		}
	}
}

// addTo adds what rows ask for to the loads of links.
func (sp *spreads) addTo(d *linkDemand) {
	for h := range sp.out {
		if bits := sp.out[h]; bits > 0 {
			d.Put(sp.up[h], bits)
		}
		if bits := sp.in[h]; bits > 0 {
			d.Put(pathmap.Reverse(sp.up[h]), bits)
		}
	}
}

func (r *spreadRow) leftAt(now time.Duration, perBit float64) float64 {
	rate := r.bits * perBit
	return max(r.left-rate*float64(now-r.at), 0)
}

func (sp *spreads) leftOf(co *coflow, b int32) float64 {
	return co.spreadRows.rows[b-co.first].leftAt(sp.clock.Now(), sp.perBit)
}

// end returns when a row ends, southbound.Never where it stands still.
func (r *spreadRow) end(perBit float64) time.Duration {
	if rate := r.bits * perBit; rate > 0 {
		if d, ok := until(r.left, rate); ok {
			return r.at + d
		}
	}
	return southbound.Never
}

// end ends the host flows that have nothing left, in their order.
func (sp *spreads) end() {
	now, due := sp.clock.Now(), sp.buf[:0]
	for _, sr := range sp.list {
		if sr.soon > now {
			continue
		}
		for i, end := range sr.ends {
			if end > now {
				continue
			}
			sr.each(i, func(row int32, r *spreadRow) {
				if r.end(sp.perBit) <= now {
					due = append(due, sr.first+row)
				}
			})
		}
	}
	slices.Sort(due)
	for _, b := range due {
		sp.remove(b)
		sp.finish(b, sp.hostFlows[b].route)
	}
	sp.buf = due
}

// reschedule moves the event to the next end.
func (sp *spreads) reschedule() {
	if !sp.stale {
		return
	}
	sp.stale = false
	if end := sp.soonest(); end != southbound.Never {
		sp.schedule(&sp.next, end, event{kind: spreadEnds})
		return
	}
	sp.clock.Cancel(sp.next)
}

// soonest returns the first end. It looks at the rows of those destinations only that may have it.
func (sp *spreads) soonest() time.Duration {
	for {
		var first *spreadRows
		for _, sr := range sp.list {
			if first == nil || sr.soon < first.soon {
				first = sr
			}
		}
		if first == nil || first.soon == southbound.Never {
			return southbound.Never
		}
		i := first.least()
		switch end := first.ends[i]; {
		case end > first.soon:
			first.soon = end // and another may be first
		case first.exact[i]:
			return end
		default:
			first.find(i, sp.perBit)
		}
	}
}

// least returns the destination that may have the first end.
func (sr *spreadRows) least() (least int) {
	for i, end := range sr.ends {
		if end < sr.ends[least] {
			least = i
		}
	}
	return least
}

// find finds the first end of a destination.
func (sr *spreadRows) find(i int, perBit float64) {
	first := southbound.Never
	sr.each(i, func(_ int32, r *spreadRow) { first = min(first, r.end(perBit)) })
	sr.ends[i], sr.exact[i] = first, true
}
