package program

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/circuits"
)

// lighting asks a program for circuits. Demand is told whole each time, since it changes with every
// byte sent.
type lighting struct {
	*process
	noDemand bool // the last question had no demand, and nothing was reserved
}

func (a *lighting) answer(v *controller.View, all []circuits.Demand) (*circuits.AskedPlan, error) {
	if a.know(v) {
		a.noDemand = false
	}
	q := &Question{Now: v.Now, Reserved: slices.Clone(v.Reserved), Delta: v.Delta}
	for _, d := range all {
		x := Demand{Coflow: d.Coflow}
		for _, p := range d.Pairs {
			x.Pairs = append(x.Pairs, DemandPair{p.In, p.Out, p.Left})
		}
		q.Demand = append(q.Demand, x)
	}
	none := len(q.Demand) == 0 && len(q.Reserved) == 0
	if none && a.noDemand {
		return new(circuits.AskedPlan), nil
	}
	a.noDemand = none
	got, err := a.ask(q)
	if err != nil {
		return nil, err
	}
	return &circuits.AskedPlan{Withdraw: got.Withdraw, Preempt: got.Preempt, Reserve: got.Reserve,
		Wake: got.Wake}, nil
}
