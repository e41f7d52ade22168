package flowsim

import (
	"cmp"
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// individualRates is the host flows that have a rate of their own until rates are set again: those of a
// spread, and those with an extra or a cap. They share one event, for the first to end.
type individualRates struct {
	*state
	rows  []individualRate
	heap  []int32 // rows that move, by (end, host flow), unless it is loose
	next  des.Event
	stale bool // the first to end may be another

	// Where many rows get another rate at once, and will soon again, the heap is left in disorder, and the
	// first end found by looking at all rows, which is faster than to build it; but so often only, lest
	// that be done at each of many ends.
	loose     bool
	scansLeft int           // how often it may still be found so
	known     bool          // first is the first end
	first     time.Duration // of all rows; southbound.Never where none moves

	// Most rows keep their requests, so only changed requests are recorded, and sums are kept.
	asked   standingDemand
	fresh   []int32 // host flows that have asked for another rate since all were granted theirs
	granted bool    // all rows have what they asked for but for those
	buf     []int32 // of rows; nothing in it outlives a call
}

// maxScans is how often the first end is found by looking at all rows before the heap is built after
// all. Between two decisions that is once: after the first end, which calls for the next decision.
const maxScans = 1

// individualRate is one of these host flows.
type individualRate struct {
	hostFlow int32
	pos      int32         // in the heap, any number while that is loose; none where it stands still
	wish     float64       // bits a second at layer 2
	rate     float64       // payload bytes a nanosecond
	left     float64       // bytes, at instant at
	at       time.Duration //
	end      time.Duration // of the last byte; southbound.Never where it stands still
	bits     float64       // the rate again, in bits a second at layer 2
	coflow   int32
	src      southbound.HostID
	dst      southbound.HostID
	tight    []pathmap.LinkID // of its route, borrowed: set again when the route changes
	stands   bool             // its route leads nowhere
	noted    bool             // its host flow is among the fresh
}

// demand returns the rate that a row requests, in bits a second at layer 2.
func (r *individualRate) demand() float64 {
	if r.stands {
		return 0
	}
	return r.wish
}

// sent is a row as its coflow's sum needs it.
func (r *individualRate) sent() rateRow {
	return rateRow{Left: r.left, Bits: r.bits, Rate: r.rate, At: r.at}
}

func (r *individualRate) leftAt(now time.Duration) float64 {
	return max(r.left-r.rate*float64(now-r.at), 0)
}

// add gives a host flow with left bytes left a rate of its own.
func (ir *individualRates) add(b int32, left, wish float64) {
	ir.coflows[ir.hostFlows[b].coflow].apart.Add(left)
	ir.insert(b, left, wish)
}

func (ir *individualRates) insert(b int32, left, wish float64) {
	ir.hostFlows[b].class, ir.hostFlows[b].pos = onIndividual, int32(len(ir.rows))
	r := &ir.routes[ir.hostFlows[b].route]
	ir.rows = append(ir.rows, individualRate{hostFlow: b, pos: none, wish: wish, left: left,
		at:  ir.clock.Now(),
		end: southbound.Never, coflow: ir.hostFlows[b].coflow, src: r.src, dst: r.dst, tight: ir.tight(r),
		stands: r.fate != arrives})
	ir.asks(&ir.rows[len(ir.rows)-1], 0, wish)
	if ir.awaits(left) {
		ir.rows[len(ir.rows)-1].end = ir.endOf(left, 0, 0)
		ir.reorder(int32(len(ir.rows) - 1))
	}
	ir.disturb()
}

// adopt takes in the row of a host flow that was elsewhere, as it stands: what it has left, since when, its
// rate and its end.
func (ir *individualRates) adopt(b int32, was individualRate, wish float64) {
	ir.insert(b, was.left, wish)
	i := ir.hostFlows[b].pos
	r := &ir.rows[i]
	r.at, r.bits, r.rate, r.end = was.at, was.bits, was.rate, was.end
	ir.reorder(i)
}

// remove takes a host flow out again and returns what is left of it.
func (ir *individualRates) remove(b int32) float64 {
	i := ir.hostFlows[b].pos
	r := ir.rows[i]
	ir.coflows[r.coflow].apart.Lose(r.sent(), ir.perBit, ir.clock.Now())
	ir.asks(&ir.rows[i], r.wish, 0)
	ir.halt(i)
	last := int32(len(ir.rows) - 1)
	if i != last {
		ir.rows[i] = ir.rows[last]
		ir.hostFlows[ir.rows[i].hostFlow].pos = i
		if p := ir.rows[i].pos; p != none && !ir.loose {
			ir.heap[p] = i
		}
	}
	ir.rows = ir.rows[:last]
	ir.parts[b] = 0
	ir.relax()
	return r.leftAt(ir.clock.Now())
}

// ask gives a host flow another wish.
func (ir *individualRates) ask(b int32, wish float64) {
	if r := &ir.rows[ir.hostFlows[b].pos]; r.wish != wish {
		ir.asks(r, r.wish, wish)
		r.wish = wish
		ir.disturb()
	}
}

// asks records that a row requests another rate than before, in bits a second; 0 is no request.
func (ir *individualRates) asks(r *individualRate, before, now float64) {
	if !r.noted {
		r.noted = true
		ir.fresh = append(ir.fresh, r.hostFlow)
	}
	if r.stands {
		return
	}
	ir.asked.Change(r.tight, len(ir.capacity), before, now)
}

// set gives a row a rate in bits a second at layer 2.
func (ir *individualRates) set(i int32, bits float64) {
	if ir.change(i, bits) {
		ir.reorder(i)
	}
}

// change is set but for the heap, which is out of order then; it reports whether the rate is another.
func (ir *individualRates) change(i int32, bits float64) bool {
	r := &ir.rows[i]
	rate := bits * ir.perBit
	if rate == r.rate {
		return false
	}
	now := ir.clock.Now()
	ir.coflows[r.coflow].apart.Change(r.sent(), bits, ir.perBit, now)
	r.left, r.at, r.rate, r.bits = r.leftAt(now), now, rate, bits
	r.end = ir.endOf(r.left, rate, now)
	return true
}

// reorder puts a row to where it belongs in the heap.
func (ir *individualRates) reorder(i int32) {
	r := &ir.rows[i]
	if r.end == southbound.Never {
		ir.halt(i)
		return
	}
	ir.stale, ir.known = true, false
	if ir.loose {
		r.pos = 0
		return
	}
	if r.pos == none {
		ir.heap = append(ir.heap, i)
		ir.rise(len(ir.heap)-1, i)
		return
	}
	ir.settle(int(r.pos), i)
}

// recount adds up anew what rows ask for: routes have changed.
func (ir *individualRates) recount() {
	ir.asked.Clear()
	for i := range ir.rows {
		ir.asks(&ir.rows[i], 0, ir.rows[i].wish)
	}
}

// grant gives every row the rate that it requests. If many get another rate, nothing is moved in the heap.
func (ir *individualRates) grant() {
	if !ir.granted {
		ir.grantAll()
		return
	}
	changed := ir.buf[:0]
	for _, b := range ir.fresh {
		if bu := &ir.hostFlows[b]; bu.class == onIndividual {
			r := &ir.rows[bu.pos]
			if r.noted = false; r.demand()*ir.perBit != r.rate {
				changed = append(changed, bu.pos)
			}
		}
	}
	ir.buf = changed
	if ir.fresh = ir.fresh[:0]; len(changed) > len(ir.rows)/8 {
		ir.grantAll()
		return
	}
	for _, i := range changed {
		ir.set(i, ir.rows[i].demand())
	}
}

// grantAll is grant that looks at every row.
func (ir *individualRates) grantAll() {
	changed, first := ir.buf[:0], southbound.Never
	for i := range ir.rows {
		r := &ir.rows[i]
		if r.noted = false; r.demand()*ir.perBit != r.rate {
			changed = append(changed, int32(i))
		} else if r.end < first {
			first = r.end
		}
	}
	ir.buf, ir.fresh, ir.granted = changed, ir.fresh[:0], true
	if len(changed) <= len(ir.rows)/8 {
		for _, i := range changed {
			ir.set(i, ir.rows[i].demand())
		}
		return
	}
	for _, i := range changed {
		r := &ir.rows[i]
		ir.change(i, r.demand())
		if r.pos = none; r.end != southbound.Never {
			r.pos = 0
		}
		first = min(first, r.end)
	}
	ir.loosen(first)
}

// loosen leaves the heap in disorder; first is the first end.
func (ir *individualRates) loosen(first time.Duration) {
	ir.heap, ir.stale = ir.heap[:0], true
	ir.loose, ir.scansLeft = true, maxScans
	ir.first, ir.known = first, true
}

// scan finds the first end among all rows.
func (ir *individualRates) scan() {
	first := southbound.Never
	for i := range ir.rows {
		if end := ir.rows[i].end; end < first {
			first = end
		}
	}
	ir.first, ir.known, ir.scansLeft = first, true, ir.scansLeft-1
}

// build makes the heap anew.
func (ir *individualRates) build() {
	ir.heap, ir.loose = ir.heap[:0], false
	for i := range ir.rows {
		if ir.rows[i].pos = none; ir.rows[i].end != southbound.Never {
			ir.heap = append(ir.heap, int32(i))
		}
	}
	for i := (len(ir.heap)+2)/arity - 1; i >= 0; i-- { // the last that has children, and those before
		ir.sink(i, ir.heap[i])
	}
	for i, row := range ir.heap {
		ir.rows[row].pos = int32(i)
	}
}

// halt takes a row out of the heap.
func (ir *individualRates) halt(i int32) {
	pos := ir.rows[i].pos
	if pos == none {
		return
	}
	ir.rows[i].pos = none
	ir.stale, ir.known = true, false
	if ir.loose {
		return
	}
	last := len(ir.heap) - 1
	moved := ir.heap[last]
	ir.heap = ir.heap[:last]
	if int(pos) < last {
		ir.settle(int(pos), moved)
	}
}

// end ends the host flows that have nothing left, by (end, host flow).
func (ir *individualRates) end() {
	if ir.loose {
		for _, b := range ir.due(ir.clock.Now(), ir.buf[:0]) {
			ir.remove(b)
			ir.finish(b, ir.hostFlows[b].route)
		}
		return
	}
	for len(ir.heap) > 0 && ir.rows[ir.heap[0]].end <= ir.clock.Now() {
		b := ir.rows[ir.heap[0]].hostFlow
		ir.remove(b)
		ir.finish(b, ir.hostFlows[b].route)
	}
}

// due appends the host flows that end at an instant at the latest, in the order of the heap.
func (ir *individualRates) due(at time.Duration, buf []int32) []int32 {
	for i := range ir.rows {
		if ir.rows[i].end <= at {
			buf = append(buf, int32(i))
		}
	}
	slices.SortFunc(buf, func(a, b int32) int {
		x, y := &ir.rows[a], &ir.rows[b]
		return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.hostFlow, y.hostFlow))
	})
	for k, i := range buf {
		buf[k] = ir.rows[i].hostFlow
	}
	return buf
}

// reschedule moves the event to the next end.
func (ir *individualRates) reschedule() {
	if !ir.stale {
		return
	}
	ir.stale = false
	if end := ir.soonest(); end != southbound.Never {
		ir.schedule(&ir.next, end, event{kind: individualEnds})
		return
	}
	ir.clock.Cancel(ir.next)
}

// soonest returns the first end, southbound.Never where no row moves.
func (ir *individualRates) soonest() time.Duration {
	if ir.loose && !ir.known && ir.scansLeft > 0 {
		ir.scan()
	}
	if ir.loose && ir.known {
		return ir.first
	}
	if ir.loose {
		ir.build()
	}
	if len(ir.heap) == 0 {
		return southbound.Never
	}
	return ir.rows[ir.heap[0]].end
}

func (ir *individualRates) earlier(a, b int32) bool {
	x, y := &ir.rows[a], &ir.rows[b]
	return x.end < y.end || x.end == y.end && x.hostFlow < y.hostFlow
}

func (ir *individualRates) put(i int, row int32) {
	ir.heap[i] = row
	ir.rows[row].pos = int32(i)
}

// settle puts a row into the hole at i, whichever way it must go.
func (ir *individualRates) settle(i int, row int32) {
	if i > 0 && ir.earlier(row, ir.heap[(i-1)/arity]) {
		ir.rise(i, row)
		return
	}
	ir.sink(i, row)
}

func (ir *individualRates) rise(i int, row int32) {
	for i > 0 && ir.earlier(row, ir.heap[(i-1)/arity]) {
		ir.put(i, ir.heap[(i-1)/arity])
		i = (i - 1) / arity
	}
	ir.put(i, row)
}

func (ir *individualRates) sink(i int, row int32) {
	for first := arity*i + 1; first < len(ir.heap); first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, len(ir.heap)); k++ {
			if ir.earlier(ir.heap[k], ir.heap[least]) {
				least = k
			}
		}
		if !ir.earlier(ir.heap[least], row) {
			break
		}
		ir.put(i, ir.heap[least])
		i = least
	}
	ir.put(i, row)
}

// addTo adds what the rows ask for to the loads of links.
func (ir *individualRates) addTo(d *linkDemand) {
	if len(ir.rows) > 0 {
		d.PutStanding(&ir.asked)
	}
}

// fill passes every row to the solver.
func (ir *individualRates) fill(d *linkDemand) {
	for i := range ir.rows {
		r := &ir.rows[i]
		d.Add(r.tight, 1, r.demand())
	}
}

// take gives every row its part of what was shared.
func (ir *individualRates) take(rates []float64) {
	ir.granted = false
	for i, rate := range rates {
		ir.strained = ir.strained || short(rate, ir.rows[i].demand())
		ir.set(int32(i), rate)
	}
}
