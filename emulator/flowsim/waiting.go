package flowsim

import (
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Into returns the payload bytes that have gone into an input of the optical switch until Now, whatever circuit it had. It
// takes time by the bundles that are under way there.
func (s *Sim) Into(input southbound.Port) pathmap.Bytes {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.way(s.fabric.ToRNode[s.fabric.OCSRack(int32(input))], southbound.Port(s.fabric.OCSUplink[input]))
	if l == pathmap.None {
		return 0
	}
	s.fluid.closeOver(s.circuitOf(input))
	return s.fluid.payload[l]
}

// Waiting writes into by, which has an entry for each link, the payload bytes that started bundles have still to send over
// it: what a fluid has in the place of queues. A bundle counts at every link of its way, and one that has none now at its
// host's. It takes time by the bundles that are under way.
func (s *Sim) Waiting(by []float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(by)
	f := s.fluid
	for _, i := range f.live {
		co := &f.coflows[i]
		for b := co.first; b < co.end; b++ {
			left := f.leftOf(b)
			if left <= 0 {
				continue
			}
			r := &f.routes[f.bundles[b].route]
			for _, l := range r.links() {
				by[l] += left
			}
			if len(r.links()) == 0 {
				at, port := s.fabric.HostNode[r.pair.src], southbound.Port(0)
				if r.hop == lastHop { // a rack keeps it
					rack := s.fabric.RackOf(int32(r.pair.src))
					at, port = s.fabric.ToRNode[rack], southbound.Port(s.fabric.OCSUplink[rack])
				}
				if l := s.way(at, port); l != pathmap.None {
					by[l] += left
				}
			}
		}
	}
}
