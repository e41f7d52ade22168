package flowsim

import (
	"math"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// slack is by how much a link may be asked for more than it has before that counts: a millionth, so that the rounding
// of finish instants and integer rates never makes one who planned to the brim fall short.
const slack = 1e-6

// share gives every class its rate.
func (f *fluid) share() {
	f.strained = false
	switch {
	case f.fair:
		f.shareFairly()
		return
	case f.even && f.shareEvenly():
		return
	case f.grant():
		return
	}
	f.fill()
	f.solves++
	f.solver.Solve(f.capacity, f.tmp.classes, f.tmp.rates)
	for i, c := range f.tmp.who {
		rate := f.tmp.rates[i]
		f.setRate(c, rate)
		f.strained = f.strained || short(rate, f.wish(c))
	}
	f.fallOut()
}

func short(rate, wish float64) bool { return rate < wish*(1-slack) }

// wish returns what each bundle of a class asks for, in bits a second at layer 2.
func (f *fluid) wish(index int32) float64 {
	c := &f.classes[index]
	r := &f.routes[c.route]
	switch {
	case r.fate != arrives:
		return 0
	case c.alone:
		return f.rests[index].wish
	case r.capped:
		return min(f.routes[r.plain].rate, f.capacity[r.door])
	case c.even:
		return f.told(r)
	}
	return r.rate
}

// grant gives everyone what was asked for, or returns false where that is more than some link has.
func (f *fluid) grant() bool {
	for _, i := range f.live {
		f.loads(&f.coflows[i]) // borrows tmp.load, so it comes first
	}
	load := f.tmp.load
	touched := f.tmp.touched[:0]
	fits := true
	for _, i := range f.busy {
		c := &f.classes[i]
		each := f.wish(i)
		if each == 0 {
			continue
		}
		fits = fits && !math.IsInf(each, 1)
		for _, l := range f.tight(&f.routes[c.route]) {
			if load[l] == 0 {
				touched = append(touched, l)
			}
			load[l] += each * float64(c.size)
		}
	}
	for _, i := range f.live {
		co := &f.coflows[i]
		if co.on == 0 {
			continue
		}
		slope := co.slope(f.clock.Now()) / f.perBit
		if slope == 0 {
			continue
		}
		for i := range co.load {
			u := &co.load[i]
			if f.wide[u.Link] {
				continue // what it carries, hosts' links carry that bind: it is overfull only where one of them is
			}
			if load[u.Link] == 0 {
				touched = append(touched, u.Link)
			}
			load[u.Link] += u.Base * slope
		}
	}
	for i := range f.lane.rows {
		r := &f.lane.rows[i]
		each := r.asks()
		if each == 0 {
			continue
		}
		if len(r.tight) == 2 { // as on every flat fabric: no need to follow the route
			a, b := r.ends[0], r.ends[1]
			if load[a] == 0 {
				touched = append(touched, a)
			}
			load[a] += each
			if load[b] == 0 {
				touched = append(touched, b)
			}
			load[b] += each
			continue
		}
		for _, l := range r.tight {
			if load[l] == 0 {
				touched = append(touched, l)
			}
			load[l] += each
		}
	}
	f.tmp.touched = touched
	for _, l := range touched {
		fits = fits && load[l] <= f.capacity[l]*(1+slack)
		load[l] = 0
	}
	if fits {
		for _, i := range f.busy {
			f.setRate(i, f.wish(i))
		}
		f.grantLane()
	}
	return fits
}

// fill lists who shares, for the solver: the busy classes, then the bundles that follow paces, one by one.
func (f *fluid) fill() {
	t := &f.tmp
	t.classes, t.who, t.members = t.classes[:0], t.who[:0], t.members[:0]
	for _, i := range f.busy {
		c := &f.classes[i]
		links := f.tight(&f.routes[c.route])
		t.classes = append(t.classes, f.ask(links, int(c.size), f.wish(i)))
		t.who = append(t.who, i)
	}
	f.fillPaces()
	f.fillLane()
	if cap(t.rates) < len(t.classes) {
		t.rates = make([]float64, 2*len(t.classes))
	}
	t.rates = t.rates[:len(t.classes)]
}

func (f *fluid) fillLane() {
	for i := range f.lane.rows {
		r := &f.lane.rows[i]
		f.tmp.classes = append(f.tmp.classes, f.ask(r.tight, 1, r.asks()))
	}
}

func (f *fluid) fillPaces() {
	t := &f.tmp
	for _, i := range f.live {
		co := &f.coflows[i]
		slope := co.slope(f.clock.Now()) / f.perBit
		if co.on == 0 || slope == 0 {
			continue
		}
		for b := co.first; b < co.end; b++ {
			if f.bundles[b].class == onPace {
				t.members = append(t.members, b)
				t.classes = append(t.classes, f.ask(f.tight(&f.routes[f.bundles[b].route]), 1, f.parts[b]*slope))
			}
		}
	}
}

// fallOut takes the bundles that cannot hold their coflow's pace out of it: each goes on with what it asked for as a
// bound, until rates are set anew.
func (f *fluid) fallOut() {
	first := len(f.tmp.classes) - len(f.lane.rows)
	for i := range f.lane.rows {
		rate := f.tmp.rates[first+i]
		f.strained = f.strained || short(rate, f.lane.rows[i].asks())
		f.setLaned(int32(i), rate)
	}
	first -= len(f.tmp.members)
	for k, b := range f.tmp.members {
		rate, wish := f.tmp.rates[first+k], f.tmp.classes[first+k].Max
		if !short(rate, wish) {
			continue
		}
		f.strained = true
		left := f.pull(b)
		f.join(f.solo(f.bundles[b].route, wish), b, left)
		f.coflows[f.bundles[b].coflow].late++
		f.setRate(f.bundles[b].class, rate)
	}
	f.dirty = false // these rates are those just shared
}

// ask is the solver's word for n bundles that ask for the same.
func (f *fluid) ask(links []pathmap.LinkID, n int, wish float64) maxmin.Class {
	switch {
	case wish == 0:
		return maxmin.Class{}
	case math.IsInf(wish, 1):
		wish = 0 // the solver's word for no bound
	}
	return maxmin.Class{Links: links, Flows: float64(n), Max: wish}
}
