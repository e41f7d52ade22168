package flowsim

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"lightloom/southbound"
)

// spreadRates is what a coflow's order gives to hosts at one end, as granted and before that. All is by
// host, rounded up to whole words.
type spreadRates struct {
	now, was   []int64
	set, unset []uint64 // hosts that are given something; those that were before, and are not now
	changed    []int32  // hosts whose rates differ
}

func newSpreadRates(words int) spreadRates {
	return spreadRates{now: make([]int64, 64*words), was: make([]int64, 64*words), set: make([]uint64, words),
		unset: make([]uint64, words), changed: make([]int32, 0, 64*words)}
}

// take takes over another order's rates. It takes no branch on which ones differ, because no processor can
// guess that.
func (r *spreadRates) take(rates []southbound.HostRate) {
	for _, h := range r.changed {
		r.was[h] = r.now[h]
	}
	r.set, r.unset = r.unset, r.set
	clear(r.set)
	now, was, changed, n := r.now, r.was, r.changed[:cap(r.changed)], 0
	w, word := southbound.HostID(0), uint64(0)
	for i := range rates {
		h, rate := rates[i].Host, int64(rates[i].Rate)
		if h/64 != w { // hosts ascend
			r.set[w], w, word = word, h/64, 0
		}
		word |= 1 << (h % 64)
		differs := rate - was[h]
		now[h], changed[n] = rate, int32(h)
		n += int(uint64(differs|-differs) >> 63)
	}
	r.set[w] |= word
	for w := range r.unset {
		r.unset[w] &^= r.set[w]
		for word := r.unset[w]; word != 0; word &= word - 1 {
			h := 64*w + bits.TrailingZeros64(word)
			if now[h] = 0; was[h] != 0 {
				changed[n] = int32(h)
				n++
			}
		}
	}
	r.changed = changed[:n]
}

// granting is rates on their way to the rows of one coflow.
type granting struct {
	*spreadRows
	senders *southbound.Senders
	out     []float64 // as spreads.out
	perBit  float64
	now     time.Duration
	any     bool    // some row has another rate
	more    float64 // that rows get together beyond what they had
}

// grant gives rows the rates that their coflows' orders have now.
func (sp *spreads) grant() {
	for _, sr := range sp.changed {
		if sr.noted = false; sr.size > 0 {
			sp.grantRows(sr)
		}
	}
	sp.changed = sp.changed[:0]
}

func (sp *spreads) grantRows(sr *spreadRows) {
	sr.from.take(sr.co.from)
	sr.to.take(sr.co.to)
	g := granting{spreadRows: sr, senders: &sp.senders, out: sp.out, perBit: sp.perBit, now: sp.clock.Now()}
	g.senders.Begin(sr.from.changed, sr.from.was, sr.from.now)
	same := slices.Equal(sr.extra, sr.co.extra)
	if !same {
		sp.mark(sr, sr.co.extra)
	}
	for w, set := range sr.to.set {
		if set |= sr.to.unset[w]; sr.anew {
			set = math.MaxUint64
		}
		for set &= sr.dsts[w]; set != 0; set &= set - 1 {
			dst := 64*w + bits.TrailingZeros64(set)
			if was, is := sr.to.was[dst], sr.to.now[dst]; sr.anew || !g.senders.Keep(was, is) {
				sp.in[dst] += g.destination(int(sr.run[dst]), was, is)
			}
		}
	}
	if !same {
		sp.swapExtras(&g)
	}
	for k := range sr.extra {
		sp.grantRow(&g, sr.extra[k].Row, float64(sr.extra[k].Rate))
	}
	sr.anew = false
	if g.any {
		sr.co.apart.ChangeMany(g.more, sp.perBit, g.now)
		sp.stale = true
	}
}

// destination gives the rows of a destination whose rate was one and is another theirs, but for those with
// extras, and returns what they get together beyond what they had.
func (g *granting) destination(i int, was, is int64) (sum float64) {
	t, senders := g.table, g.senders.All()
	if !g.anew {
		senders = g.senders.To(was, is)
	}
	any, least, fastest := false, math.Inf(1), 1.0 // of the row that ends first: what it has left, and its rate
	for w, candidates := range senders {
		at := i*t.words + w
		word := g.here[at] &^ g.apart[at] & candidates
		if word == 0 {
			continue
		}
		from, out := (*[64]int64)(g.from.now[64*w:]), (*[64]float64)(g.out[64*w:])
		has, rows := t.has[at], g.rows[t.firsts[at]:]
		for ; word != 0; word &= word - 1 {
			src := bits.TrailingZeros64(word) % 64
			row, rate := &rows[bits.OnesCount64(has&(word&-word-1))], float64(min(from[src], is))
			before := row.bits
			if rate == before {
				continue
			}
			left := row.set(rate, g.perBit, g.now)
			if left*fastest < least*rate { // as quotients would, but for some last places
				least, fastest = left, rate
			}
			out[src] += rate - before
			sum += rate - before
			any = true
		}
	}
	if any {
		g.any, g.more = true, g.more+sum
		g.sooner(int32(i), g.endOf(least, fastest))
	}
	return sum
}

// set gives a row another rate, and returns what it has left.
func (r *spreadRow) set(rate, perBit float64, now time.Duration) float64 {
	left := r.left - r.bits*perBit*float64(now-r.at)
	if left < 0 { // the builtin max takes several times as long
		left = 0
	}
	r.left, r.at, r.bits = left, now, rate
	return left
}

// endOf returns an instant before which a row with that much left does not end.
func (g *granting) endOf(left, rate float64) time.Duration {
	// A quotient of another rounding is less off than a billionth; what never ends counts as late.
	if ns := left / (rate * g.perBit) * (1 - 1e-9); ns < float64(southbound.Never/4) {
		return g.now + time.Duration(ns)
	}
	return southbound.Never - 1
}

// sooner notes that rows of a destination have other ends, none of them before an instant.
func (g *granting) sooner(i int32, soon time.Duration) {
	g.ends[i], g.exact[i] = min(g.ends[i], soon), false
	g.soon = min(g.soon, soon)
}

// mark adds rows with extras to those whose rates are set apart.
func (sp *spreads) mark(sr *spreadRows, extra []southbound.Extra) {
	for k := range extra {
		bu := &sp.hostFlows[sr.first+extra[k].Row]
		sr.apart[sr.word(&bu.pair)] |= 1 << (bu.src % 64)
	}
}

// swapExtras takes over another order's extras, and gives rows that have none any more their rates.
func (sp *spreads) swapExtras(g *granting) {
	sr := g.spreadRows
	for k := range sr.extra {
		bu := &sp.hostFlows[sr.first+sr.extra[k].Row]
		sr.apart[sr.word(&bu.pair)] &^= 1 << (bu.src % 64)
		sp.grantRow(g, sr.extra[k].Row, sr.co.extraOf(sr.extra[k].Row))
	}
	sr.extra = append(sr.extra[:0], sr.co.extra...)
	sp.mark(sr, sr.extra)
}

// grantRow gives one row its rate.
func (sp *spreads) grantRow(g *granting, row int32, extra float64) {
	bu, r := &sp.hostFlows[g.first+row], &g.rows[row]
	if bu.class != onSpread {
		return
	}
	run := g.run[bu.dst]
	rate := float64(min(g.from.now[bu.src], g.to.now[bu.dst])) + extra
	more := rate - r.bits
	if more == 0 {
		return
	}
	g.any, g.more = true, g.more+more
	g.sooner(run, g.endOf(r.set(rate, g.perBit, g.now), rate))
	sp.out[bu.src] += more
	sp.in[bu.dst] += more
}
