package flowsim

import (
	"math"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// slack is by how much a link may be asked for more than it has before that counts: a millionth, so that the rounding
// of finish instants and integer rates never makes one who planned to the brim fall short.
const slack = 1e-6

// demand is what all host flows ask of links, and who shares where that is too much. Each regime adds its own.
type demand struct {
	load    []float64        // by link, zero between calls
	touched []pathmap.LinkID // those with a load

	solver  maxmin.Solver
	classes []maxmin.Class
	rates   []float64 // by class
}

// share gives every host flow its rate.
func (f *fluid) share() {
	f.strained = false
	switch {
	case f.fair:
		f.levels.shareFairly()
		return
	case f.levels.even && f.levels.shareEvenly(len(f.individual.rows) > 0):
		return
	case f.grant():
		return
	}
	d := &f.demand
	d.classes = d.classes[:0]
	f.classes.fill(d)
	f.paces.fill(d)
	f.individual.fill(d)
	f.solves++
	rates := d.solve(f.capacity)
	busy, following := len(f.classes.busy), len(f.paces.members)
	f.classes.take(rates[:busy])
	f.individual.take(rates[busy+following:])
	f.fallOut(d.classes[busy:], rates[busy:busy+following])
}

func short(rate, wish float64) bool { return rate < wish*(1-slack) }

// grant gives everyone what was asked for, or returns false where that is more than some link has.
func (f *fluid) grant() bool {
	for _, i := range f.live {
		f.paces.loads(&f.coflows[i])
	}
	d := &f.demand
	d.begin(len(f.capacity))
	bounded := f.classes.addTo(d)
	f.paces.addTo(d)
	f.individual.addTo(d)
	if !d.fits(f.capacity) || !bounded {
		return false
	}
	for _, i := range f.classes.busy {
		f.classes.setRate(i, f.classes.wish(i))
	}
	f.individual.grant()
	return true
}

// begin makes room for the loads of so many links.
func (d *demand) begin(links int) {
	d.touched = d.touched[:0]
	if n := links - len(d.load); n > 0 {
		d.load = append(d.load, make([]float64, n)...)
	}
}

// put adds to the load of a link.
func (d *demand) put(l pathmap.LinkID, bits float64) {
	if d.load[l] == 0 {
		d.touched = append(d.touched, l)
	}
	d.load[l] += bits
}

// fits says whether links can carry their loads, and clears these.
func (d *demand) fits(capacity []float64) bool {
	fits := true
	for _, l := range d.touched {
		fits = fits && d.load[l] <= capacity[l]*(1+slack)
		d.load[l] = 0
	}
	return fits
}

// add tells the solver of n host flows that ask for the same.
func (d *demand) add(links []pathmap.LinkID, n int, wish float64) {
	c := maxmin.Class{Links: links, Flows: float64(n), Max: wish}
	switch {
	case wish == 0:
		c = maxmin.Class{}
	case math.IsInf(wish, 1):
		c.Max = 0 // the solver's word for no bound
	}
	d.classes = append(d.classes, c)
}

// solve returns the rate of each class. Borrowed until the next call.
func (d *demand) solve(capacity []float64) []float64 {
	if cap(d.rates) < len(d.classes) {
		d.rates = make([]float64, 2*len(d.classes))
	}
	d.rates = d.rates[:len(d.classes)]
	d.solver.Solve(capacity, d.classes, d.rates)
	return d.rates
}

// fallOut takes the host flows that cannot hold their coflow's pace out of it: each goes on with what it asked for as a
// bound, until rates are set anew.
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
