package circuits

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Asked sets up the circuits that Ask names.
type Asked struct {
	// Ask returns changes to the reservations that stand, and when to be asked again.
	Ask func(v *controller.View, all []Demand) (*AskedPlan, error)
}

// Demand is what a coflow has left for circuits: its elephants, or on a crossbar all that it has. Where
// traffic is estimated it is the estimate, of AnyCoflow.
type Demand struct {
	Coflow southbound.CoflowID
	Pairs  []DemandPair // by (In, Out)
}

// DemandPair is the payload that one rack has left for another. In and Out are the racks' first ports.
type DemandPair struct {
	In, Out southbound.Port
	Left    pathmap.Bytes
}

// AskedPlan is the part of a controller.Plan that concerns circuits.
type AskedPlan struct {
	Withdraw []southbound.CoflowID
	Preempt  []southbound.Port
	Reserve  []controller.CircuitReservation
	Wake     time.Duration
}

// Wants implements the part's list of events.
func (*Asked) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded,
		controller.CircuitReservationEnded, controller.FabricChanged, controller.WakeReached, controller.PortsFreed,
		controller.TrafficRead)
}

// Fill reserves circuits.
func (a *Asked) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() {
		return
	}
	ends := ports(v)
	var all []Demand
	for _, d := range demands(v, p, ends) {
		q := Demand{Coflow: d.id}
		for _, x := range d.pairs {
			if x.left > 0 {
				q.Pairs = append(q.Pairs, DemandPair{x.in, x.out, x.left})
			}
		}
		if len(q.Pairs) > 0 {
			all = append(all, q)
		}
	}
	slices.SortFunc(all, func(a, b Demand) int { return cmp.Compare(a.Coflow, b.Coflow) })
	got, err := a.Ask(v, all)
	if err == nil {
		err = checkAsked(v, got)
	}
	if err != nil {
		p.Err = fmt.Errorf("reserve circuits: %w", err)
		return
	}
	p.Withdraw, p.Preempt = append(p.Withdraw, got.Withdraw...), append(p.Preempt, got.Preempt...)
	p.Reserve = append(p.Reserve, got.Reserve...)
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
	if got.Wake > 0 {
		p.Wake = min(p.Wake, got.Wake)
	}
}

// checkAsked returns why reservations cannot be: overlaps are found when they are applied.
func checkAsked(v *controller.View, p *AskedPlan) error {
	n := southbound.Port(v.Fabric.OCSPorts())
	for _, r := range p.Reserve {
		switch {
		case r.In < 0 || r.Out < 0 || r.In >= n || r.Out >= n:
			return fmt.Errorf("circuit %d→%d: ports are 0 to %d", r.In, r.Out, n-1)
		case r.NotBefore < v.Now || r.NotAfter <= r.NotBefore:
			return fmt.Errorf("circuit %d→%d from %v to %v: it is %v, and a reservation ends after it begins", r.In, r.Out,
				r.NotBefore, r.NotAfter, v.Now)
		}
	}
	for _, in := range p.Preempt {
		if in < 0 || in >= n {
			return fmt.Errorf("preempt input %d: ports are 0 to %d", in, n-1)
		}
	}
	if p.Wake != 0 && p.Wake <= v.Now {
		return fmt.Errorf("wake at %v: it is %v already", p.Wake, v.Now)
	}
	return nil
}
