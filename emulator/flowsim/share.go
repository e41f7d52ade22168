package flowsim

import (
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// share gives every host flow its rate.
func (f *fluid) share() {
	f.strained = false
	if f.ranked || f.fair && f.rankedDemand.Proportional {
		f.shareRanked()
		return
	}
	f.classes.noting = false
	switch {
	case f.fair:
		f.levels.shareFairly()
		return
	case f.levels.even && f.levels.shareEvenly(len(f.individual.rows)+len(f.spreads.list)+len(f.backfilled.list) > 0):
		return
	case f.grant():
		return
	}
	f.spreads.scatter(&f.individual)
	f.backfilled.scatter(&f.individual)
	d := &f.demand
	d.Classes = d.Classes[:0]
	f.classes.fill(d)
	f.paces.fill(d)
	f.individual.fill(d)
	f.solves++
	rates := d.Solve(f.capacity)
	busy, following := len(f.classes.busy), len(f.paces.members)
	f.classes.take(rates[:busy])
	f.individual.take(rates[busy+following:])
	f.fallOut(d.Classes[busy:], rates[busy:busy+following])
}

func short(rate, wish float64) bool { return rate < wish*(1-slack) }

// grant gives everyone what was asked for, or returns false where that is more than some link has.
func (f *fluid) grant() bool {
	for _, i := range f.live {
		f.paces.loads(&f.coflows[i])
	}
	f.spreads.grant()
	if len(f.classes.busy)+len(f.spreads.list) == 0 && f.flat && !f.capped() && len(f.capacity) <= fewLinks {
		if !f.hostsCarry() {
			return false
		}
		f.individual.grant()
		f.backfilled.grant()
		return true
	}
	d := &f.demand
	d.Begin(len(f.capacity))
	bounded := f.classes.addTo(d)
	f.paces.addTo(d)
	f.individual.addTo(d)
	f.spreads.addTo(d)
	f.backfilled.addTo(d)
	if !d.Fits(f.capacity, f.wide) || !bounded {
		return false
	}
	for _, i := range f.classes.busy {
		f.classes.setRate(i, f.classes.wish(i))
	}
	f.individual.grant()
	f.backfilled.grant()
	return true
}

// hostsCarry reports whether the links of hosts can carry what paces, backfilled and individual rows ask for.
func (f *fluid) hostsCarry() bool {
	f.paces.refresh()
	paced, most, carry := f.paces.asked, f.most, true
	var apart []float64
	if len(f.individual.rows) > 0 {
		apart = f.individual.asked.Of()
	}
	out, in := f.backfilled.asked()
	out, in = out[:len(f.up)], in[:len(f.up)]
	for h, up := range f.up {
		down := pathmap.Reverse(up)
		toNet, toHost := paced[up]+out[h], paced[down]+in[h]
		if apart != nil {
			toNet, toHost = toNet+apart[up], toHost+apart[down]
		}
		if toNet > most[up] || toHost > most[down] {
			carry = false
		}
	}
	return carry
}

// fallOut takes the host flows that cannot hold their coflow's pace out of it: each goes on with what
// it asked for as a bound, until rates are set anew.
func (f *fluid) fallOut(asked []maxmin.Class, rates []float64) {
	for k, b := range f.paces.members {
		rate, wish := rates[k], asked[k].Max
		if !short(rate, wish) {
			continue
		}
		f.strained = true
		left := f.pull(b)
		f.classes.join(f.classes.solo(f.hostFlows[b].route, wish), b, left)
		f.coflows[f.hostFlows[b].coflow].late++
		f.classes.setRate(f.hostFlows[b].class, rate)
	}
	f.dirty = false // these rates are those just shared
}
