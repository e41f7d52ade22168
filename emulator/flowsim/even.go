package flowsim

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// If all coflows get the same rates of ports, and no others, a host flow has the rate of one of its two
// ports, as when hosts share by themselves. So it needs no individual rate: classes wait on the clocks
// of their ports.

// evenly reports whether rates tell all coflows the same of their ports, and writes that down if so.
func (lv *levels) evenly(r *southbound.Rates) bool {
	if !lv.flat || lv.capped() || r.Fair || len(r.Pace)+len(r.Extra)+len(r.Pairs) > 0 ||
		len(r.Spread) == 0 || len(r.Spread[0].From)+len(r.Spread[0].To) == 0 || len(r.Spread) < 2 && !lv.even {
		return false
	}
	for i := range r.Spread {
		if !r.Spread[i].Same(&r.Spread[0]) {
			return false
		}
	}
	if !lv.even {
		lv.disband() // levels are found differently
		lv.disturb()
	}
	if lv.found(); !lv.solver.CanFollow() {
		lv.disband()
		return false
	}
	lv.listen(&r.Spread[0])
	return true
}

// listen records the rates of ports.
func (lv *levels) listen(s *southbound.Spread) {
	if lv.told == nil {
		lv.told = make([]pathmap.BitsPerSecond, len(lv.wide))
	}
	told, up := lv.told, lv.up
	clear(told)
	for _, x := range s.From {
		told[up[x.Host]] = x.Rate
	}
	for _, x := range s.To {
		told[pathmap.Reverse(up[x.Host])] = x.Rate
	}
	lv.disturb()
}

// shareEvenly gives every class the rate of its ports. It returns false, and gives classes clocks of
// their own, if a link cannot carry that, or others have rates: individual is true if some host flows
// have rates of their own.
func (lv *levels) shareEvenly(individual bool) bool {
	lv.found()
	if lv.others() || individual || lv.capped() || !lv.solver.CanFollow() {
		lv.disband()
		return false
	}
	lv.update()
	told, tell := lv.told, lv.tell[:0]
	for l, number := range lv.number {
		if number != none {
			tell = append(tell, told[l])
		}
	}
	lv.tell = tell
	changed, fits := lv.solver.Follow(tell, slack, lv.regroup)
	if !fits {
		lv.disband()
		return false
	}
	for _, l := range changed {
		lv.setLevel(l)
	}
	return true
}

// others reports whether some host flow sends at the rate of its pair. If none does, all that are not
// even stand still.
func (lv *levels) others() bool {
	if lv.aside == 0 {
		return false
	}
	for _, i := range lv.busy {
		c := &lv.list[i]
		if c.even {
			continue
		}
		if lv.wish(i) > 0 {
			return true
		}
		lv.setRate(i, 0)
	}
	return false
}
