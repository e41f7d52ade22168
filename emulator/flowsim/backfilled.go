package flowsim

import (
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// backfilled is the host flows of paced coflows that have an extra, where only links of hosts bind. At the
// end of each host flow, a decision gives hundreds of them another rate: so a row fits a cache line, those
// of a coflow are one list that is gone through once, and links are asked for by host. Rates, ends and
// rounding are those of individual rates, to the last place.
type backfilled struct {
	*state
	few     int32             // coflows of fewer rows have individual rates
	off     bool              // such host flows have individual rates; tests set it
	list    []*backfilledRows // with rows
	out, in []float64         // by host: what rows request of its links, bits a second
	next    des.Event
	stale   bool // the first to end may be another
	buf     []int32
}

// backfilledRows is one coflow's.
type backfilledRows struct {
	index int32 // of the coflow
	first int32 // its first row among the host flows
	pos   int32 // in backfilled.list; none while it has no rows here

	rows    []backfilledRow // by row
	merging bool            // rows are being gone through: those that come are added at the end
	come    []backfilledRow
	fresh   bool          // some row has asked for another rate since all were granted theirs
	soon    time.Duration // the first end; 0: it is not known
	next    time.Duration // while the first end: the one after it
}

// backfilledRow is one of these host flows.
type backfilledRow struct {
	row      int32
	src, dst southbound.HostID
	wish     float64       // bits a second at layer 2
	bits     float64       // likewise, as granted
	rate     float64       // the same in payload bytes a nanosecond
	left     float64       // bytes, at instant at
	at       time.Duration //
	end      time.Duration // of the last byte; southbound.Never where it stands still
}

func (r *backfilledRow) leftAt(now time.Duration) float64 {
	left := r.left - r.rate*float64(now-r.at)
	if left < 0 { // the builtin max takes several times as long
		left = 0
	}
	return left
}

// suits reports whether a host flow of a paced coflow can be here.
func (bf *backfilled) suits(co *coflow, r *route) bool {
	return bf.flat && co.rows >= bf.few && !co.scattered && co.caps == nil && len(bf.up) <= denseHosts && !bf.off &&
		(!bf.crooked || bf.hostsBind(r))
}

// add takes in a host flow with left bytes left. It gets its rate when rates are granted.
func (bf *backfilled) add(co *coflow, b int32, left, wish float64) {
	out, in := bf.asked()
	bu := &bf.hostFlows[b]
	if co.backfilled == nil {
		co.backfilled = &backfilledRows{index: bu.coflow, first: co.first, pos: none}
	}
	br := co.backfilled
	if br.pos == none {
		br.pos = int32(len(bf.list))
		bf.list = append(bf.list, br)
	}
	bu.class = onBackfilled
	out[bu.src] += wish
	in[bu.dst] += wish
	r := backfilledRow{row: b - co.first, src: bu.src, dst: bu.dst, wish: wish, left: left, at: bf.clock.Now(),
		end: southbound.Never}
	if br.fresh = true; br.merging {
		br.come = append(br.come, r)
	} else {
		i, _ := br.find(r.row)
		br.rows = slices.Insert(br.rows, i, r)
	}
	bf.disturb()
}

// asked returns what rows request of the links of hosts, into the network and out of it.
func (bf *backfilled) asked() (out, in []float64) {
	if bf.out == nil {
		bf.out, bf.in = make([]float64, len(bf.up)), make([]float64, len(bf.up))
	}
	return bf.out, bf.in
}

// find returns the place of a row.
func (br *backfilledRows) find(row int32) (int, bool) {
	return slices.BinarySearchFunc(br.rows, row, func(r backfilledRow, row int32) int { return int(r.row - row) })
}

// remove takes a host flow out again and returns what is left of it.
func (bf *backfilled) remove(b int32) float64 {
	br := bf.coflows[bf.hostFlows[b].coflow].backfilled
	i, _ := br.find(b - br.first)
	left := br.rows[i].leftAt(bf.clock.Now())
	bf.part(br, &br.rows[i])
	br.rows = slices.Delete(br.rows, i, i+1)
	bf.unlist(br)
	bf.relax()
	return left
}

// part takes back what a row that leaves has asked for.
func (bf *backfilled) part(br *backfilledRows, r *backfilledRow) {
	bf.out[r.src] -= r.wish
	bf.in[r.dst] -= r.wish
	bf.parts[br.first+r.row] = 0
	br.soon, bf.stale = 0, true
}

// unlist takes a coflow without rows off the list.
func (bf *backfilled) unlist(br *backfilledRows) {
	if len(br.rows)+len(br.come) > 0 || br.pos == none {
		return
	}
	last := len(bf.list) - 1
	bf.list[last].pos = br.pos
	bf.list[br.pos] = bf.list[last]
	bf.list, br.pos = bf.list[:last], none
	if last == 0 { // what rounding has left
		clear(bf.out)
		clear(bf.in)
	}
}

func (bf *backfilled) leftOf(co *coflow, b int32) float64 {
	i, _ := co.backfilled.find(b - co.first)
	return co.backfilled.rows[i].leftAt(bf.clock.Now())
}

// scatter gives all rows individual rates, as they stand.
func (bf *backfilled) scatter(to *individualRates) {
	now := bf.clock.Now()
	for len(bf.list) > 0 {
		br := bf.list[0]
		co := &bf.coflows[br.index]
		co.scattered = true
		for i := range br.rows {
			r := &br.rows[i]
			bf.part(br, r)
			left := r.leftAt(now)
			co.apart.Add(left)
			co.apart.Change(rateRow{Left: left, At: now}, r.bits, bf.perBit, now)
			to.adopt(br.first+r.row, individualRate{left: r.left, at: r.at, bits: r.bits, rate: r.rate, end: r.end}, r.wish)
		}
		br.rows = br.rows[:0]
		bf.unlist(br)
	}
}

// addTo adds what rows ask for to the loads of links.
func (bf *backfilled) addTo(d *linkDemand) {
	if len(bf.list) == 0 {
		return
	}
	if d.few {
		for h, up := range bf.up {
			d.load[up] += bf.out[h]
			d.load[pathmap.Reverse(up)] += bf.in[h]
		}
		return
	}
	for h := range bf.out {
		if bits := bf.out[h]; bits > 0 {
			d.Put(bf.up[h], bits)
		}
		if bits := bf.in[h]; bits > 0 {
			d.Put(pathmap.Reverse(bf.up[h]), bits)
		}
	}
}

// grant gives every row the rate that it requests.
func (bf *backfilled) grant() {
	for _, br := range bf.list {
		if br.fresh {
			br.fresh, bf.stale = false, true
			br.soon = bf.grantRows(br.rows)
		}
	}
}

// grantRows returns the first end.
func (bf *backfilled) grantRows(rows []backfilledRow) time.Duration {
	now, perBit, first := bf.clock.Now(), bf.perBit, southbound.Never
	for i := range rows {
		r := &rows[i]
		if rate := r.wish * perBit; rate != r.rate {
			r.left = r.leftAt(now)
			r.at, r.rate, r.bits, r.end = now, rate, r.wish, southbound.Never
			if d, ok := until(r.left, rate); rate > 0 && ok {
				r.end = bf.grid(now + d)
			}
		}
		if r.end < first {
			first = r.end
		}
	}
	return first
}

// end ends the host flows that have nothing left, in their order.
func (bf *backfilled) end() {
	now, due := bf.clock.Now(), bf.buf[:0]
	for _, br := range bf.list {
		if br.soon > now {
			continue
		}
		br.next = southbound.Never
		for i := range br.rows {
			switch end := br.rows[i].end; {
			case end <= now:
				due = append(due, br.first+br.rows[i].row)
			case end < br.next:
				br.next = end
			}
		}
	}
	slices.Sort(due)
	for _, b := range due {
		br := bf.coflows[bf.hostFlows[b].coflow].backfilled
		bf.remove(b)
		bf.finish(b, bf.hostFlows[b].route)
		br.soon = br.next
	}
	bf.buf = due
}

// reschedule moves the event to the next end.
func (bf *backfilled) reschedule() {
	if !bf.stale {
		return
	}
	bf.stale = false
	first := southbound.Never
	for _, br := range bf.list {
		if br.soon == 0 {
			br.soon = southbound.Never
			for i := range br.rows {
				br.soon = min(br.soon, br.rows[i].end)
			}
		}
		first = min(first, br.soon)
	}
	if first != southbound.Never {
		bf.schedule(&bf.next, first, event{kind: backfilledEnds})
		return
	}
	bf.clock.Cancel(bf.next)
}

// extrasAgain gives a paced coflow other extras, where all rows off its pace are backfilled. What the pace
// gives to these is counted from now, so they are all set again, unless it holds.
func (f *fluid) extrasAgain(co *coflow) {
	bf, br := &f.backfilled, co.backfilled
	now, perBit, ahead := f.clock.Now(), f.perBit, 0.0
	if co.until > 0 {
		ahead = float64(co.until - now) // which is above zero
	}
	rows, kept, extra, out, in := br.rows, 0, co.extra, bf.out, bf.in
	br.merging = true
	for i, k := 0, 0; i < len(rows) || k < len(extra); {
		if i == len(rows) || k < len(extra) && extra[k].Row < rows[i].row {
			f.backfillRow(co, &extra[k])
			k++
			continue
		}
		r := &rows[i]
		i++
		if k == len(extra) || r.row < extra[k].Row {
			f.backfillNoMore(co, r)
			continue
		}
		if kept < i-1 {
			rows[kept] = *r
			r = &rows[kept]
		}
		wish := float64(extra[k].Rate)
		k, kept = k+1, kept+1
		if ahead > 0 {
			wish += r.leftAt(now) / ahead / perBit
		}
		if wish != r.wish {
			more := wish - r.wish
			out[r.src] += more
			in[r.dst] += more
			r.wish, br.fresh = wish, true
		}
	}
	br.merging = false
	br.merge(kept)
	bf.unlist(br)
	if br.fresh {
		bf.disturb()
	}
}

// backfillRow gives a row an extra that had none.
func (f *fluid) backfillRow(co *coflow, x *southbound.Extra) {
	b := co.first + x.Row
	bu := &f.hostFlows[b]
	switch {
	case bu.class == onPace && f.backfilled.suits(co, &f.routes[bu.route]):
		left := f.paces.leave(co, b)
		if co.lefts != nil {
			f.rest(co, b, left)
		}
		f.backfilled.add(co, b, left, f.paces.rateOf(co, left)+float64(x.Rate))
	case bu.class != gone:
		f.again(b)
	}
}

// backfillNoMore has a row follow its coflow's pace that had an extra, too.
func (f *fluid) backfillNoMore(co *coflow, r *backfilledRow) {
	b, left := co.first+r.row, r.leftAt(f.clock.Now())
	f.backfilled.part(co.backfilled, r)
	f.relax()
	if co.lefts != nil {
		f.rest(co, b, left)
	}
	f.paces.join(co, b, left)
}

// merge takes in the rows that have come, beside the first ones that are kept.
func (br *backfilledRows) merge(kept int) {
	i, k := kept-1, len(br.come)-1
	br.rows = append(br.rows[:kept], br.come...)
	for at := len(br.rows) - 1; k >= 0; at-- {
		if i >= 0 && br.rows[i].row > br.come[k].row {
			br.rows[at] = br.rows[i]
			i--
		} else {
			br.rows[at] = br.come[k]
			k--
		}
	}
	br.come = br.come[:0]
}

// ask gives a host flow another extra, in bits a second.
func (bf *backfilled) ask(co *coflow, b int32, extra float64) {
	br := co.backfilled
	i, _ := br.find(b - co.first)
	r := &br.rows[i]
	wish := extra
	if co.until > 0 {
		wish += r.leftAt(bf.clock.Now()) / float64(co.until-bf.clock.Now()) / bf.perBit
	}
	if wish != r.wish {
		bf.out[r.src] += wish - r.wish
		bf.in[r.dst] += wish - r.wish
		r.wish, br.fresh = wish, true
		bf.disturb()
	}
}

// lend writes what rows have left into the parts of their coflow, by row, and appends it to off.
func (br *backfilledRows) lend(parts []float64, factor float64, now time.Duration,
	off []southbound.OffLoad) []southbound.OffLoad {
	first := len(off)
	off = slices.Grow(off, len(br.rows))[:first+len(br.rows)]
	for i := range off[first:] {
		r := &br.rows[i]
		left := r.leftAt(now)
		if factor != 1 {
			left /= factor
		}
		parts[r.row] = left
		off[first+i] = southbound.OffLoad{Row: r.row, Src: r.src, Dst: r.dst, Base: left}
	}
	return off
}
