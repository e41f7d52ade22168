package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// wavelengthAssignment gives pairs of racks wavelengths, so that a rack has as many circuits at once as
// wavelengths (section VI of co-scheduler; its authors leave the schedule open). Port r + w·Racks is
// wavelength w of rack r. Light keeps its wavelength through the switch: a pair takes the ports of one
// wavelength at both racks, and Sunflow schedules the ports as on a switch with W times as many.
//
// Parallel OCSes are to it what wavelengths are: each wavelength of each OCS is a plane of ports of its
// own, which here is a wavelength too.
//
// All traffic from one rack to another takes one wavelength, whatever the coflow: a ToR selects a
// circuit by the destination rack. If a circuit of two racks exists or is reserved, they keep its
// wavelength; the others get the one whose two ports have the least load so far, coflows by rank and
// the longest pairs of each first. So W shrinks a coflow to T(C)/W if its pairs can be dealt out
// evenly; a single pair takes as long as before.
type wavelengthAssignment struct {
	racks, waves southbound.Port
	ends         []port // by port of the switch
	fixed        map[[2]southbound.Port]southbound.Port
	load         [2][]time.Duration // by input, by output
	view         *controller.View
}

// newWavelengthAssignment reads which pairs of racks have their wavelength; nil where there is only one.
func newWavelengthAssignment(v *controller.View) *wavelengthAssignment {
	waves := v.Fabric.Spec.Planes()
	if waves == 1 {
		return nil
	}
	ends := opticalPorts(v)
	c := &wavelengthAssignment{racks: southbound.Port(v.Fabric.Racks),
		waves: southbound.Port(waves), ends: ends,
		view:  v,
		fixed: map[[2]southbound.Port]southbound.Port{}, load: [2][]time.Duration{make([]time.Duration, len(ends)),
			make([]time.Duration, len(ends))}}
	for in, at := range v.Circuits {
		if at.Out != southbound.NoPort {
			c.fix(southbound.Port(in), at.Out)
		}
	}
	for i := range v.Reserved {
		c.fix(v.Reserved[i].In, v.Reserved[i].Out)
	}
	return c
}

func (c *wavelengthAssignment) fix(in, out southbound.Port) {
	c.fixed[[2]southbound.Port{in % c.racks, out % c.racks}] = in / c.racks
}

// paint puts the ports of wavelengths in the place of racks. Pairs without a wavelength that is lit at
// both racks are left out: they go over packets. Slices of pairs are made anew, as others keep those
// that came.
func (c *wavelengthAssignment) paint(all []coflowDemand) {
	if c == nil {
		return
	}
	for i := range all { // what has its wavelength loads it before anybody chooses
		for k := range all[i].pairs {
			if p := &all[i].pairs[k]; c.has(p) {
				in, out := c.ports(p)
				c.carry(in, out, p.need)
			}
		}
	}
	for i := range all {
		all[i].pairs, all[i].book = c.choose(all[i].pairs), nil // a book's pairs are of racks
	}
}

func (c *wavelengthAssignment) has(p *pair) bool {
	_, ok := c.fixed[[2]southbound.Port{p.in, p.out}]
	return ok
}

// may reports whether the racks of two ports of one wavelength can be joined by it: no other one does.
func (c *wavelengthAssignment) may(in, out southbound.Port) bool {
	if c == nil {
		return true
	}
	w, ok := c.fixed[[2]southbound.Port{in % c.racks, out % c.racks}]
	return !ok || w == in/c.racks
}

func (c *wavelengthAssignment) wave(p *pair) southbound.Port {
	return c.fixed[[2]southbound.Port{p.in, p.out}]
}

// ports returns the ports that a pair has in its wavelength.
func (c *wavelengthAssignment) ports(p *pair) (in, out southbound.Port) {
	w := c.wave(p)
	return p.in + w*c.racks, p.out + w*c.racks
}

func (c *wavelengthAssignment) carry(in, out southbound.Port, need time.Duration) {
	c.load[0][in] += c.view.DeltaAt(in) + need
	c.load[1][out] += c.view.DeltaAt(out) + need
}

// uncarry takes back what carry has added, and forget the wavelength of a pair.
func (c *wavelengthAssignment) uncarry(in, out southbound.Port, need time.Duration) {
	c.load[0][in] -= c.view.DeltaAt(in) + need
	c.load[1][out] -= c.view.DeltaAt(out) + need
}

func (c *wavelengthAssignment) forget(p *pair) {
	delete(c.fixed, [2]southbound.Port{p.in, p.out})
}

// longestFirst is the order in which the pairs of a coflow choose.
func longestFirst(a, b pair) int {
	return cmp.Or(cmp.Compare(b.need, a.need), cmp.Compare(a.in, b.in), cmp.Compare(a.out, b.out))
}

// choose returns the pairs of one coflow with their ports, by (in, out).
func (c *wavelengthAssignment) choose(pairs []pair) []pair {
	order := slices.Clone(pairs)
	slices.SortFunc(order, longestFirst)
	painted := order[:0]
	for _, p := range order {
		if !c.has(&p) && !c.pick(&p) {
			continue
		}
		p.in, p.out = c.ports(&p)
		if c.ends[p.in].ok && c.ends[p.out].ok {
			painted = append(painted, p)
		}
	}
	slices.SortFunc(painted, byPorts)
	return painted
}

// pick gives a pair a wavelength and has that carry it; false where none is lit at both racks.
func (c *wavelengthAssignment) pick(p *pair) bool {
	if !c.choosePlane(p) {
		return false
	}
	in, out := c.ports(p)
	c.carry(in, out, p.need)
	return true
}

// choosePlane gives a pair the wavelength that has least to carry with its own delay, the first of equals;
// false where none is lit at both racks.
func (c *wavelengthAssignment) choosePlane(p *pair) bool {
	best := southbound.NoPort
	least := [2]time.Duration{}
	for w := range c.waves {
		in, out := p.in+w*c.racks, p.out+w*c.racks
		if !c.ends[in].ok || !c.ends[out].ok {
			continue
		}
		a, b := c.load[0][in]+c.view.DeltaAt(in), c.load[1][out]+c.view.DeltaAt(out)
		if load := [2]time.Duration{max(a, b), a + b}; best == southbound.NoPort ||
			slices.Compare(load[:], least[:]) < 0 {
			best, least = w, load
		}
	}
	if best == southbound.NoPort {
		return false
	}
	c.fixed[[2]southbound.Port{p.in, p.out}] = best
	return true
}
