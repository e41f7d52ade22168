package flowsim

import (
	"cmp"
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// lane is the bundles that have a rate of their own until rates are set again: those of a spread, and those with an
// extra. They share one event, for the first to end.
type lane struct {
	rows  []laned
	heap  []int32 // rows that move, by (end, bundle), unless it is loose
	next  des.Event
	stale bool // the first to end may be another

	// Where many rows get another rate at once, and will soon again, the heap is left in disorder, and the first end found
	// by looking at all rows, which is faster than to build it; but so often only, lest that be done at each of many ends.
	loose bool
	looks int           // how often it may still be found so
	known bool          // first is the first end
	first time.Duration // of all rows; southbound.Never where none moves
}

// looksMost is how often the first end is found by looking at all rows before the heap is built after all. Between two
// decisions that is once: after the first end, which calls for the next decision.
const looksMost = 1

// laned is a bundle in the lane.
type laned struct {
	bundle int32
	pos    int32         // in the heap, any number while that is loose; none where it stands still
	wish   float64       // bits a second at layer 2
	rate   float64       // payload bytes a nanosecond
	left   float64       // bytes, at instant at
	at     time.Duration //
	end    time.Duration // of the last byte; southbound.Never where it stands still
	src    southbound.HostID
	dst    southbound.HostID
	ends   [2]pathmap.LinkID // of its route, the first two links that can hold it back, or pathmap.None
	tight  []pathmap.LinkID  // all of them: borrowed, for who is on a route that changes is put here anew
	stands bool              // its route leads nowhere
}

// asks returns what a row asks for, in bits a second at layer 2.
func (l *laned) asks() float64 {
	if l.stands {
		return 0
	}
	return l.wish
}

func (l *laned) leftAt(now time.Duration) float64 {
	return max(l.left-l.rate*float64(now-l.at), 0)
}

// enlane puts a bundle with so many bytes left into the lane.
func (f *fluid) enlane(b int32, left, wish float64) {
	f.bundles[b].class, f.bundles[b].pos = onLane, int32(len(f.lane.rows))
	r := &f.routes[f.bundles[b].route]
	tight := f.tight(r)
	f.lane.rows = append(f.lane.rows, laned{bundle: b, pos: none, wish: wish, left: left, at: f.clock.Now(), end: southbound.Never,
		src: r.src, dst: r.dst, ends: firstTwo(tight), tight: tight, stands: r.fate != arrives})
	f.disturb()
}

func firstTwo(links []pathmap.LinkID) (two [2]pathmap.LinkID) {
	two = [2]pathmap.LinkID{pathmap.None, pathmap.None}
	copy(two[:], links)
	return two
}

// delane takes a bundle out of the lane and returns what is left of it.
func (f *fluid) delane(b int32) float64 {
	ln := &f.lane
	i := f.bundles[b].pos
	r := ln.rows[i]
	f.halt(i)
	last := int32(len(ln.rows) - 1)
	if i != last {
		ln.rows[i] = ln.rows[last]
		f.bundles[ln.rows[i].bundle].pos = i
		if p := ln.rows[i].pos; p != none && !ln.loose {
			ln.heap[p] = i
		}
	}
	ln.rows = ln.rows[:last]
	f.parts[b] = 0
	f.relax()
	return r.leftAt(f.clock.Now())
}

// wishLaned gives a bundle in the lane another wish.
func (f *fluid) wishLaned(b int32, wish float64) {
	if r := &f.lane.rows[f.bundles[b].pos]; r.wish != wish {
		r.wish = wish
		f.disturb()
	}
}

// setLaned gives a row of the lane a rate in bits a second at layer 2.
func (f *fluid) setLaned(i int32, bits float64) {
	if f.paceLaned(i, bits) {
		f.moveLaned(i)
	}
}

// paceLaned is setLaned but for the heap, which is out of order then; it says whether the rate is another.
func (f *fluid) paceLaned(i int32, bits float64) bool {
	r := &f.lane.rows[i]
	rate := bits * f.perBit
	if rate == r.rate {
		return false
	}
	now := f.clock.Now()
	r.left, r.at, r.rate, r.end = r.leftAt(now), now, rate, southbound.Never
	if d, ok := until(r.left, rate); rate > 0 && ok {
		r.end = f.grid(now + d)
	}
	return true
}

// moveLaned puts a row to where it belongs in the heap.
func (f *fluid) moveLaned(i int32) {
	r := &f.lane.rows[i]
	if r.end == southbound.Never {
		f.halt(i)
		return
	}
	f.lane.stale, f.lane.known = true, false
	if f.lane.loose {
		r.pos = 0
		return
	}
	if r.pos == none {
		f.lane.heap = append(f.lane.heap, i)
		f.lane.rise(len(f.lane.heap)-1, i)
		return
	}
	f.lane.settle(int(r.pos), i)
}

// grantLane gives every row of the lane what it asks for. Where many get another rate, nothing is moved in the heap.
func (f *fluid) grantLane() {
	ln, changed, first := &f.lane, f.tmp.rows[:0], southbound.Never
	for i := range ln.rows {
		if r := &ln.rows[i]; r.asks()*f.perBit != r.rate {
			changed = append(changed, int32(i))
		} else if r.end < first {
			first = r.end
		}
	}
	f.tmp.rows = changed
	if len(changed) <= len(ln.rows)/8 {
		for _, i := range changed {
			f.setLaned(i, ln.rows[i].asks())
		}
		return
	}
	for _, i := range changed {
		r := &ln.rows[i]
		f.paceLaned(i, r.asks())
		if r.pos = none; r.end != southbound.Never {
			r.pos = 0
		}
		first = min(first, r.end)
	}
	ln.loosen(first)
}

// loosen leaves the heap in disorder; first is the first end.
func (ln *lane) loosen(first time.Duration) {
	ln.heap, ln.stale = ln.heap[:0], true
	ln.loose, ln.looks = true, looksMost
	ln.first, ln.known = first, true
}

// look finds the first end among all rows.
func (ln *lane) look() {
	first := southbound.Never
	for i := range ln.rows {
		if end := ln.rows[i].end; end < first {
			first = end
		}
	}
	ln.first, ln.known, ln.looks = first, true, ln.looks-1
}

// build makes the heap anew.
func (ln *lane) build() {
	ln.heap, ln.loose = ln.heap[:0], false
	for i := range ln.rows {
		if ln.rows[i].pos = none; ln.rows[i].end != southbound.Never {
			ln.heap = append(ln.heap, int32(i))
		}
	}
	for i := (len(ln.heap)+2)/arity - 1; i >= 0; i-- { // the last that has children, and those before
		ln.sink(i, ln.heap[i])
	}
	for i, row := range ln.heap {
		ln.rows[row].pos = int32(i)
	}
}

// halt takes a row out of the heap.
func (f *fluid) halt(i int32) {
	ln := &f.lane
	pos := ln.rows[i].pos
	if pos == none {
		return
	}
	ln.rows[i].pos = none
	ln.stale, ln.known = true, false
	if ln.loose {
		return
	}
	last := len(ln.heap) - 1
	moved := ln.heap[last]
	ln.heap = ln.heap[:last]
	if int(pos) < last {
		ln.settle(int(pos), moved)
	}
}

// laneEnds ends the bundles of the lane that have nothing left, by (end, bundle).
func (f *fluid) laneEnds() {
	ln := &f.lane
	if ln.loose {
		for _, b := range ln.due(f.clock.Now(), f.tmp.rows[:0]) {
			f.delane(b)
			f.finish(b, f.bundles[b].route)
		}
		return
	}
	for len(ln.heap) > 0 && ln.rows[ln.heap[0]].end <= f.clock.Now() {
		b := ln.rows[ln.heap[0]].bundle
		f.delane(b)
		f.finish(b, f.bundles[b].route)
	}
}

// due appends the bundles that end at an instant at the latest, in the order of the heap.
func (ln *lane) due(at time.Duration, buf []int32) []int32 {
	for i := range ln.rows {
		if ln.rows[i].end <= at {
			buf = append(buf, int32(i))
		}
	}
	slices.SortFunc(buf, func(a, b int32) int {
		x, y := &ln.rows[a], &ln.rows[b]
		return cmp.Or(cmp.Compare(x.end, y.end), cmp.Compare(x.bundle, y.bundle))
	})
	for k, i := range buf {
		buf[k] = ln.rows[i].bundle
	}
	return buf
}

// rescheduleLane moves the lane's event to its next end.
func (f *fluid) rescheduleLane() {
	ln := &f.lane
	if !ln.stale {
		return
	}
	ln.stale = false
	if end := ln.soonest(); end != southbound.Never {
		f.schedule(&ln.next, end, event{kind: laneEnds})
		return
	}
	f.clock.Cancel(ln.next)
}

// soonest returns the first end, southbound.Never where no row moves.
func (ln *lane) soonest() time.Duration {
	if ln.loose && !ln.known && ln.looks > 0 {
		ln.look()
	}
	if ln.loose && ln.known {
		return ln.first
	}
	if ln.loose {
		ln.build()
	}
	if len(ln.heap) == 0 {
		return southbound.Never
	}
	return ln.rows[ln.heap[0]].end
}

func (ln *lane) earlier(a, b int32) bool {
	x, y := &ln.rows[a], &ln.rows[b]
	return x.end < y.end || x.end == y.end && x.bundle < y.bundle
}

func (ln *lane) put(i int, row int32) {
	ln.heap[i] = row
	ln.rows[row].pos = int32(i)
}

// settle puts a row into the hole at i, whichever way it must go.
func (ln *lane) settle(i int, row int32) {
	if i > 0 && ln.earlier(row, ln.heap[(i-1)/arity]) {
		ln.rise(i, row)
		return
	}
	ln.sink(i, row)
}

func (ln *lane) rise(i int, row int32) {
	for i > 0 && ln.earlier(row, ln.heap[(i-1)/arity]) {
		ln.put(i, ln.heap[(i-1)/arity])
		i = (i - 1) / arity
	}
	ln.put(i, row)
}

func (ln *lane) sink(i int, row int32) {
	for first := arity*i + 1; first < len(ln.heap); first = arity*i + 1 {
		least := first
		for k := first + 1; k < min(first+arity, len(ln.heap)); k++ {
			if ln.earlier(ln.heap[k], ln.heap[least]) {
				least = k
			}
		}
		if !ln.earlier(ln.heap[least], row) {
			break
		}
		ln.put(i, ln.heap[least])
		i = least
	}
	ln.put(i, row)
}
