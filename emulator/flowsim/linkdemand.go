package flowsim

import (
	"math"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/southbound"
)

// slack is the share by which requests can exceed a link's capacity before the link counts as
// overloaded: a millionth, so that the rounding of finish instants and integer rates never cuts a plan
// that uses the whole link.
const slack = 1e-6

// linkDemand is what all host flows request of links, and the classes that share overloaded links. Each
// regime adds its own.
type linkDemand struct {
	load    []float64        // by link, zero between calls
	touched []pathmap.LinkID // those with a load; not kept on fabrics of few links
	few     bool             // links

	solver  maxmin.Solver
	Classes []maxmin.Class // the classes passed to the solver
	rates   []float64      // by class
}

// fewLinks is up to how many links all are looked at, which is faster than to note those with a load.
const fewLinks = 1 << 10

// Begin makes room for the loads of the given number of links.
func (d *linkDemand) Begin(links int) {
	d.touched, d.few = d.touched[:0], links <= fewLinks
	if n := links - len(d.load); n > 0 {
		d.load = append(d.load, make([]float64, n)...)
	}
}

// Put adds to the load of a link.
func (d *linkDemand) Put(l pathmap.LinkID, bits float64) {
	if !d.few && d.load[l] == 0 {
		d.touched = append(d.touched, l)
	}
	d.load[l] += bits
}

// PutPace adds what a coflow's pace asks for to the loads of links, but for wide ones: what those carry,
// hosts' links carry that bind, and they are overfull only where one of these is.
func (d *linkDemand) PutPace(of []southbound.LinkLoad, slope float64, wide []bool) {
	load, touched := d.load, d.touched
	for i := range of {
		u := &of[i]
		if wide[u.Link] {
			continue
		}
		at := &load[u.Link]
		if *at == 0 {
			touched = append(touched, u.Link)
		}
		*at += u.Base * slope
	}
	d.touched = touched
}

// Fits reports whether links can carry their loads, and clears these.
func (d *linkDemand) Fits(capacity []float64, wide []bool) bool {
	fits := true
	if d.few {
		load := d.load[:len(capacity)]
		for l, most := range capacity {
			if load[l] > most*(1+slack) && (l >= len(wide) || !wide[l]) {
				fits = false
			}
		}
		clear(load)
		return fits
	}
	for _, l := range d.touched {
		fits = fits && d.load[l] <= capacity[l]*(1+slack)
		d.load[l] = 0
	}
	return fits
}

// Add passes n host flows with the same request to the solver.
func (d *linkDemand) Add(links []pathmap.LinkID, n int, wish float64) {
	c := maxmin.Class{Links: links, Flows: float64(n), Max: wish}
	switch {
	case wish == 0:
		c = maxmin.Class{}
	case math.IsInf(wish, 1):
		c.Max = 0 // the solver's word for no bound
	}
	d.Classes = append(d.Classes, c)
}

// Solve returns the max-min fair rate of each class. Borrowed until the next call.
func (d *linkDemand) Solve(capacity []float64) []float64 { return d.solve(capacity, d.solver.Solve) }

func (d *linkDemand) solve(capacity []float64, share func([]float64, []maxmin.Class, []float64)) []float64 {
	if cap(d.rates) < len(d.Classes) {
		d.rates = make([]float64, 2*len(d.Classes))
	}
	d.rates = d.rates[:len(d.Classes)]
	share(capacity, d.Classes, d.rates)
	return d.rates
}
