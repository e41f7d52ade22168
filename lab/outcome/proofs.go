package outcome

import (
	"lightloom/controller"
	"lightloom/controller/explain"
	"lightloom/controller/policy/route"
	"lightloom/lab/report"
	"lightloom/southbound"
)

// Proofs are how good the decision was that first routed each coflow. When a coflow is routed again,
// what it has left is decided on, and its proof stays.
type Proofs map[southbound.CoflowID]*report.Proof

// Tell is a route.Teller that notes what is proven of routings.
func (p Proofs) Tell(_ *controller.View, w route.Why) {
	if w.Proof == nil {
		return
	}
	if gap, proven := w.Proof.Above(); proven {
		p.note(w.Proof.Coflows, report.Proof{Value: w.Proof.Value, Bound: w.Proof.Bound, Gap: gap,
			HostFlows: w.Proof.Flows})
	}
}

// ProofsIn returns what the leaders of a run have said of routings.
func ProofsIn(why []explain.Line) Proofs {
	p := Proofs{}
	for i := range why {
		l := &why[i]
		if l.Bound == nil || l.Gap == nil {
			continue
		}
		coflows := make([]southbound.CoflowID, len(l.Coflows))
		for k, c := range l.Coflows {
			coflows[k] = southbound.CoflowID(c)
		}
		p.note(coflows, report.Proof{Value: l.Value, Bound: *l.Bound, Gap: *l.Gap, HostFlows: l.Flows})
	}
	return p
}

func (p Proofs) note(coflows []southbound.CoflowID, proof report.Proof) {
	for _, c := range coflows {
		if p[c] == nil {
			p[c] = &proof
		}
	}
}
