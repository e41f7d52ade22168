package flowsim

import "lightloom/pathmap"

// standingDemand is the sum of what many host flows request of links, updated as each changes its request.
type standingDemand struct {
	bits   []float64 // by link, a second
	askers []int32   // by link
}

// Change changes one request on the given links from rate before to rate now, in bits a second; 0 is no
// request. The fabric has all links.
func (k *standingDemand) Change(links []pathmap.LinkID, all int, before, now float64) {
	if more := all - len(k.bits); more > 0 {
		k.bits, k.askers = append(k.bits, make([]float64, more)...), append(k.askers, make([]int32, more)...)
	}
	more := int32(0)
	switch {
	case before == 0 && now > 0:
		more = 1
	case before > 0 && now == 0:
		more = -1
	}
	for _, l := range links {
		k.bits[l] += now - before
		if k.askers[l] += more; k.askers[l] == 0 {
			k.bits[l] = 0 // what rounding has left
		}
	}
}

// Clear forgets all.
func (k *standingDemand) Clear() {
	clear(k.bits)
	clear(k.askers)
}

// Of returns what is asked of each link, in bits a second. Borrowed until the next Change.
func (k *standingDemand) Of() []float64 { return k.bits }

// PutStanding adds what is kept to the loads of links.
func (d *linkDemand) PutStanding(k *standingDemand) {
	for l, bits := range k.bits {
		if bits > 0 {
			d.Put(pathmap.LinkID(l), bits)
		}
	}
}
