package flowsim

import "lightloom/southbound"

// What is left of a coflow without a pace is found row by row. Rows that are withheld do not change,
// and on a fabric of circuits these are nearly all: so it is known which rows are warm, that is not
// withheld and not over.

// lent is the remaining bytes of a coflow as returned to callers.
type lent struct {
	off   []southbound.OffLoad // rows that left lends out as off the pace
	lefts []float64            // what left lends out where there is no pace; nil until asked for
	warm  []int32              // from then on: rows that may be sending, so that lefts must be found anew for them
}

// lend begins to keep what is left of a coflow.
func (f *fluid) lend(co *coflow) {
	co.lefts = make([]float64, co.rows)
	for b := co.first; b < co.end; b++ {
		bu := &f.hostFlows[b]
		if bu.warmth = none; bu.class != gone {
			f.rest(co, b, f.leftOf(b))
		}
	}
}

// rest notes whether a host flow that is about to be placed is withheld.
func (st *state) rest(co *coflow, b int32, left float64) {
	bu := &st.hostFlows[b]
	if bu.holds() {
		st.cool(co, b, left)
		return
	}
	if bu.warmth == none {
		bu.warmth = int32(len(co.warm))
		co.warm = append(co.warm, b-co.first)
	}
}

// cool takes a host flow out of the warm ones; so much is left of it until it is warm again.
func (st *state) cool(co *coflow, b int32, left float64) {
	co.lefts[b-co.first] = left
	bu := &st.hostFlows[b]
	if i := bu.warmth; i != none {
		st.hostFlows[co.first+takeOut(&co.warm, i)].warmth = i
		bu.warmth = none
	}
}
