package flowsim

// What is left of a coflow without a pace is found row by row. Rows that are withheld do not change, and on a fabric of
// circuits these are nearly all: so it is known which rows are warm, that is not withheld and not over.

// lend begins to keep what is left of a coflow.
func (f *fluid) lend(co *coflow) {
	co.lefts = make([]float64, co.rows)
	for b := co.first; b < co.end; b++ {
		bu := &f.bundles[b]
		if bu.warmth = none; bu.class != gone {
			f.rest(co, b, f.leftOf(b))
		}
	}
}

// rest notes whether a bundle that is about to be placed is withheld.
func (f *fluid) rest(co *coflow, b int32, left float64) {
	bu := &f.bundles[b]
	if bu.holds() {
		f.cool(co, b, left)
		return
	}
	if bu.warmth == none {
		bu.warmth = int32(len(co.warm))
		co.warm = append(co.warm, b-co.first)
	}
}

// cool takes a bundle out of the warm ones; so much is left of it until it is warm again.
func (f *fluid) cool(co *coflow, b int32, left float64) {
	co.lefts[b-co.first] = left
	bu := &f.bundles[b]
	if i := bu.warmth; i != none {
		last := co.warm[len(co.warm)-1]
		co.warm[i] = last
		f.bundles[co.first+last].warmth = i
		co.warm = co.warm[:len(co.warm)-1]
		bu.warmth = none
	}
}
