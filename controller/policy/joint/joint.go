package joint

import (
	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/route"
)

// NewJoint returns the three parts of the policy that decides places, circuits and paths together. The first places as
// CrossLayer does, but each rack pair of a job can also use a circuit, which is worth its rate less what is lost until
// it is lit. The second chooses which pairs of coflows that may send get circuits, by the same utility of their
// remaining bytes, and has Sunflow find the times. The last routes what is left, and what waits for its circuit.
//
// A job's coflows start long after it was placed, so the second part decides afresh, from the view alone: existing
// reservations stay, the rest is weighed at each decision. Without an optical switch all is as CrossLayer decides it.
func NewJoint(opt anneal.Options) (*Placer, *CircuitScheduler, *route.Annealed) {
	p, r := NewCrossLayer(opt)
	p.optics = func(v *controller.View, s *route.NetworkState) {
		if o := newOptics(v); o != nil {
			s.SetOptics(o)
		}
	}
	return p, &CircuitScheduler{opt: opt, cache: p.cache, sunflow: circuits.Sunflow{}.Remembering()}, r
}
