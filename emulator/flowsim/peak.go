package flowsim

import (
	"time"

	"lightloom/pathmap"
)

// peak is what a coflow has left over that link of a host which has the most. It falls as fast as links carry
// at most, so it is known within bounds for a while after it was added up.
type peak struct {
	bytes float64 // payload, at instant seen
	seen  time.Duration
	known bool // since then no row has got another route or regime, and none was taken out but those that have ended
}

// peakDrift is the share of a peak by which its bounds may be apart.
const peakDrift = 1.0 / 64

// peakOf returns bounds of the peak of a coflow whose rows follow its pace or are backfilled, zero where links
// between switches bind, or where rows are few. What is lent of these rows holds.
func (f *fluid) peakOf(co *coflow, factor float64) (least, most float64) {
	if !f.flat || co.rows < f.spreads.few || len(f.up) > denseHosts || co.late > 0 {
		co.peak.known = false
		return 0, 0
	}
	now := f.clock.Now()
	carried := float64(now-co.peak.seen) * f.fastest * f.perBit * (1 + 10*slack)
	if !co.peak.known || carried > co.peak.bytes*peakDrift {
		co.peak, carried = peak{bytes: f.addPeak(co, factor), seen: now, known: true}, 0
	}
	// Rows that were late in between can have ended with half a byte left each.
	return co.peak.bytes*(1-1e-9) - carried - nothing*float64(co.rows), co.peak.bytes * (1 + 1e-9)
}

// addPeak adds up a peak.
func (f *fluid) addPeak(co *coflow, factor float64) (most float64) {
	if len(f.tmp.sums) < len(f.wide) {
		f.tmp.sums = make([]float64, len(f.wide))
	}
	sums := f.tmp.sums
	clear(sums)
	put := func(l pathmap.LinkID, bytes float64) {
		if sums[l] += bytes; sums[l] > most && !f.wide[l] {
			most = sums[l]
		}
	}
	for _, u := range co.Load {
		if u.Rows > 0 {
			put(u.Link, u.Base*factor)
		}
	}
	for _, row := range co.off {
		b := co.first + row
		bu := &f.hostFlows[b]
		put(f.up[bu.src], f.parts[b]*factor)
		put(pathmap.Reverse(f.up[bu.dst]), f.parts[b]*factor)
	}
	return most
}
