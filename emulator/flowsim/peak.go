package flowsim

import (
	"time"

	"lightloom/pathmap"
)

// peak is what a coflow has left over that link of a host which has the most. It falls as fast as links carry
// at most, so it is known within bounds for a while after it was added up.
type peak struct {
	bytes float64 // payload, at instant seen; 0: it has never been added up
	seen  time.Duration
	known bool          // since then no row has got another route or regime, or was taken out, unless it has ended
	asked time.Duration // when bounds were last asked for
}

// peakDrift is the share of a peak by which its bounds may be apart.
const peakDrift = 1.0 / 64

// peakOf returns bounds of the peak of a coflow whose rows follow its pace or are backfilled. They are zero where
// links between switches bind, where rows are few, can end before their last byte or wait in racks, and where the
// coflow is looked at so seldom that bounds would have to be found anew each time. They are zero also once a route has
// led nowhere: rows that hold there are on no link until they get an extra. What is lent of these rows holds.
func (f *fluid) peakOf(co *coflow, factor float64) (least, most float64) {
	if !f.flat || co.rows < f.spreads.few || len(f.up) > denseHosts || co.late > 0 || f.quantum > 0 || f.relay != nil ||
		f.severed {
		co.peak.known = false
		return 0, 0
	}
	p, now, drift := &co.peak, f.clock.Now(), co.peak.bytes*peakDrift
	seldom := p.bytes > 0 && f.carriedSince(p.asked) > drift
	if p.asked = now; seldom {
		return 0, 0
	}
	if !p.known || f.carriedSince(p.seen) > drift {
		p.bytes, p.seen, p.known = f.addPeak(co, factor), now, true
	}
	return f.peakBounds(co)
}

// peakBounds returns bounds of a peak that is known.
func (f *fluid) peakBounds(co *coflow) (least, most float64) {
	p := &co.peak
	// Rows that were late in between can have ended with half a byte left each, and as much is left to rounding.
	return p.bytes*(1-1e-9) - f.carriedSince(p.seen) - nothing*float64(co.rows), p.bytes*(1+1e-9) + nothing
}

// carriedSince returns the bytes that a link can have carried at most since an instant.
func (f *fluid) carriedSince(at time.Duration) float64 {
	return float64(f.clock.Now()-at) * f.fastest * f.perBit * (1 + 10*slack)
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
