package flowsim

import (
	"math"
	"math/bits"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// granting is rates on their way to the rows of one coflow.
type granting struct {
	*spreadRows
	senders *southbound.Senders
	more    []float64 // by host: what it sends beyond what it sent before
	perBit  float64
	now     time.Duration
	any     bool // some row has another rate
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
	sr.order(sr.co)
	g := granting{spreadRows: sr, senders: &sp.senders, more: sp.more, perBit: sp.perBit, now: sp.clock.Now()}
	g.senders.Begin(sr.wasFrom, sr.from)
	sp.mark(sr, sr.co.extra)
	for i, is := range sr.to {
		if was := sr.wasTo[i]; sr.anew || !g.senders.Keep(was, is) {
			sp.asked[pathmap.Reverse(sp.up[sr.table.dsts[i]])] += g.destination(i, was, is)
		}
	}
	sp.grantExtras(&g)
	sr.anew = false
	if !g.any {
		return
	}
	sum := 0.0
	for h, up := range sp.up {
		more := g.more[h]
		sp.asked[up] += more
		sum, g.more[h] = sum+more, 0
	}
	sr.co.apart.ChangeMany(sum, sp.perBit, g.now)
	sp.stale = true
}

// order takes over the rates that a coflow is to have.
func (sr *spreadRows) order(co *underWay) {
	sr.from, sr.wasFrom, sr.to, sr.wasTo = sr.wasFrom, sr.from, sr.wasTo, sr.to
	clear(sr.from)
	for _, r := range co.from {
		sr.from[r.Host] = int64(r.Rate)
	}
	clear(sr.to)
	for _, r := range co.to {
		if i := sr.run[r.Host]; sr.table.dsts[i] == r.Host {
			sr.to[i] = int64(r.Rate)
		}
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
		from, more := (*[64]int64)(g.from[64*w:]), (*[64]float64)(g.more[64*w:])
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
			more[src] += rate - before
			sum += rate - before
			any = true
		}
	}
	if any {
		g.any = true
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

// mark adds the rows with extras to those whose rates are set apart.
func (sp *spreads) mark(sr *spreadRows, extra []southbound.Extra) {
	for k := range extra {
		bu := &sp.hostFlows[sr.first+extra[k].Row]
		sr.apart[sr.word(&bu.pair)] |= 1 << (bu.src % 64)
	}
}

// grantExtras gives the rows that have extras, or had some, their rates.
func (sp *spreads) grantExtras(g *granting) {
	sr := g.spreadRows
	if !slices.Equal(sr.extra, sr.co.extra) {
		for k := range sr.extra {
			bu := &sp.hostFlows[sr.first+sr.extra[k].Row]
			sr.apart[sr.word(&bu.pair)] &^= 1 << (bu.src % 64)
			sp.grantRow(g, sr.extra[k].Row, sr.co.extraOf(sr.extra[k].Row))
		}
		sr.extra = append(sr.extra[:0], sr.co.extra...)
		sp.mark(sr, sr.extra)
	}
	for k := range sr.extra {
		sp.grantRow(g, sr.extra[k].Row, float64(sr.extra[k].Rate))
	}
}

// grantRow gives one row its rate.
func (sp *spreads) grantRow(g *granting, row int32, extra float64) {
	bu, r := &sp.hostFlows[g.first+row], &g.rows[row]
	if bu.class != onSpread {
		return
	}
	run := g.run[bu.dst]
	rate := float64(min(g.from[bu.src], g.to[run])) + extra
	more := rate - r.bits
	if more == 0 {
		return
	}
	g.any = true
	g.sooner(run, g.endOf(r.set(rate, g.perBit, g.now), rate))
	g.more[bu.src] += more
	sp.asked[pathmap.Reverse(sp.up[bu.dst])] += more
}
