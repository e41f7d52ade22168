package flowsim

import (
	"math/bits"
	"slices"
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// granting is rates on their way to the rows of one coflow.
type granting struct {
	*spreadRows
	from, to []float64 // by host: the rates to grant
	senders  *southbound.Senders
	more     []float64 // by host: what it sends beyond what it sent before
	perBit   float64
	now      time.Duration
	any      bool // some row has another rate
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
	hosts := len(sp.up)
	sp.from, sp.to = byHost(sp.from, sr.co.from, hosts), byHost(sp.to, sr.co.to, hosts)
	g := granting{spreadRows: sr, from: sp.from, to: sp.to, senders: &sp.senders, more: sp.more, perBit: sp.perBit,
		now: sp.clock.Now()}
	g.senders.Begin(sr.from, g.from)
	sp.mark(sr, sr.co.extra)
	for i, dst := range sr.table.dsts {
		sp.asked[pathmap.Reverse(sp.up[dst])] += g.destination(i)
	}
	sp.grantExtras(&g)
	sp.from, sp.to, sr.from, sr.to, sr.anew = sr.from, sr.to, sp.from, sp.to, false
	if !g.any {
		return
	}
	sum := 0.0
	for h, more := range g.more {
		sp.asked[sp.up[h]] += more
		sum, g.more[h] = sum+more, 0
	}
	sr.co.apart.ChangeMany(sum, sp.perBit, g.now)
	sr.soon, sp.stale = sr.ends[sr.least()], true
}

// destination gives the rows of a destination their rates, but for those with extras, and returns what
// they get together beyond what they had.
func (g *granting) destination(i int) (sum float64) {
	t := g.table
	dst := t.dsts[i]
	was, is, soon := g.spreadRows.to[dst], g.to[dst], southbound.Never
	senders := g.senders.All()
	if !g.anew {
		senders = g.senders.To(was, is)
	}
	from, granted := g.from, g.spreadRows.from
	for w, candidates := range senders {
		at := i*t.words + w
		for word := g.here[at] &^ g.apart[at] & candidates; word != 0; word &= word - 1 {
			src := w*64 + bits.TrailingZeros64(word)
			rate, before := from[src], granted[src]
			if is < rate { // the builtin min takes several times as long
				rate = is
			}
			if was < before {
				before = was
			}
			if rate == before && !g.anew {
				continue
			}
			row := &g.rows[t.rowAt(at, word&-word)]
			if before = row.bits; rate == before {
				continue
			}
			if end := g.set(row, rate); end < soon {
				soon = end
			}
			g.more[src] += rate - before
			sum += rate - before
		}
	}
	if soon < southbound.Never {
		g.sooner(int32(i), soon)
	}
	return sum
}

// set gives a row another rate, and returns an instant before which it does not end.
func (g *granting) set(r *spreadRow, rate float64) time.Duration {
	left := r.leftAt(g.now, g.perBit)
	r.left, r.at, r.bits, g.any = left, g.now, rate, true
	// A quotient of another rounding is less off than a billionth; what never ends counts as late.
	if ns := left / (rate * g.perBit) * (1 - 1e-9); ns < float64(southbound.Never/4) {
		return g.now + time.Duration(ns)
	}
	return southbound.Never - 1
}

// sooner notes that rows of a destination have other ends, none of them before an instant.
func (g *granting) sooner(i int32, soon time.Duration) {
	g.ends[i], g.exact[i] = min(g.ends[i], soon), false
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
	rate := min(g.from[bu.src], g.to[bu.dst]) + extra
	more := rate - r.bits
	if more == 0 {
		return
	}
	g.sooner(g.run[bu.dst], g.set(r, rate))
	g.more[bu.src] += more
	sp.asked[pathmap.Reverse(sp.up[bu.dst])] += more
}
