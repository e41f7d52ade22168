package flowsim

import "lightloom/southbound"

// Where every byte waits for a circuit, nearly all bundles are withheld. One that is needs no class, whose clock would stand
// still, and no links: its mark is what is left of it.

// hold puts a bundle with so many bytes left on a route that sends nothing.
func (f *fluid) hold(b int32, left float64) {
	bu := &f.bundles[b]
	bu.class, bu.mark = onHold, left
	f.disturb()
}

// newRoute returns the route of a pair, without bundles. What its tag withholds is so whatever tables say.
func newRoute(p pair) route {
	r := route{pair: p, shared: none, even: none, pos: none}
	if r.holds() {
		r.fate = withheld
	}
	return r
}

// holds says whether a route sends nothing, or a bundle is to: which is told without its route.
func (p *pair) holds() bool { return p.tag == southbound.TagHold }
