package flowsim

import (
	"math"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// Where all coflows are told the same of their ports, and nothing else, a bundle has the rate of one of its two ports, as it
// has where hosts share by themselves. So bundles need no places in the lane: classes wait on the clocks of their ports.

// evenly says whether rates tell all coflows the same of their ports, and writes that down if so.
func (f *fluid) evenly(r *southbound.Rates) bool {
	if !f.flat || len(f.capacity) > len(f.wide) || r.Fair || len(r.Pace)+len(r.Extra)+len(r.Pairs) > 0 || len(r.Spread) == 0 || len(r.Spread[0].From)+len(r.Spread[0].To) == 0 || len(r.Spread) < 2 && !f.even {
		return false
	}
	for i := range r.Spread {
		if !sameRates(r.Spread[i].From, r.Spread[0].From) || !sameRates(r.Spread[i].To, r.Spread[0].To) {
			return false
		}
	}
	if !f.even {
		f.disband() // levels are found differently
		f.disturb()
	}
	if f.found(); !f.levels.CanFollow() {
		f.disband()
		return false
	}
	f.listen(&r.Spread[0])
	return true
}

// sameRates says whether two lists are one in memory.
func sameRates(a, b []southbound.HostRate) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// listen writes down what ports are told.
func (f *fluid) listen(s *southbound.Spread) {
	if f.tell == nil {
		f.tell = make([]pathmap.BitsPerSecond, len(f.wide))
	}
	clear(f.tell)
	for _, x := range s.From {
		f.tell[f.up[x.Host]] = x.Rate
	}
	for _, x := range s.To {
		f.tell[pathmap.Reverse(f.up[x.Host])] = x.Rate
	}
	f.disturb()
}

// told returns what the ports of a route give each bundle, in bits a second.
func (f *fluid) told(r *route) float64 {
	rate := math.Inf(1)
	for _, l := range f.tight(r) {
		rate = min(rate, float64(f.tell[l]))
	}
	return rate
}

// shareEvenly gives every class what its ports were told. It returns false, and leaves all classes by themselves, where some
// link cannot carry that, or others have rates.
func (f *fluid) shareEvenly() bool {
	f.found()
	if f.others() || len(f.capacity) > len(f.wide) || !f.levels.CanFollow() {
		f.disband()
		return false
	}
	f.sit()
	f.tmp.tell = f.tmp.tell[:0]
	for l, seat := range f.seats {
		if seat != none {
			f.tmp.tell = append(f.tmp.tell, f.tell[l])
		}
	}
	changed, fits := f.levels.Follow(f.tmp.tell, slack, f.regroup)
	if !fits {
		f.disband()
		return false
	}
	for _, l := range changed {
		f.setLevel(l)
	}
	return true
}

// others says whether some bundle sends by what was told of its pair. All that are not even stand still where none does.
func (f *fluid) others() bool {
	if f.aside == 0 {
		return len(f.lane.rows) > 0
	}
	for _, i := range f.busy {
		c := &f.classes[i]
		if c.even {
			continue
		}
		if f.wish(i) > 0 {
			return true
		}
		f.setRate(i, 0)
	}
	return len(f.lane.rows) > 0
}
