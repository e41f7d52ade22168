package circuits

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/controller/policy/route"
	"lightloom/controller/topoeng"
	"lightloom/southbound"
)

// Parallel plays port schedules over all planes together: what all elephants have left is to be carried soon, counted
// from now until the last plane is done. That is Spectra's problem (2026) where a pair of racks has one circuit at a
// time. As Epochs do, it reserves the circuits for any flow between the racks, and repeats when all of them are over.
// The explanation tells how far an epoch is above the bound at most.
type Parallel struct{ explain route.Explainer }

// Wants implements the part's list of events. The end of an epoch wakes it.
func (*Parallel) Wants() controller.KindSet { return Epochs{}.Wants() }

// Tell has every epoch explained.
func (x *Parallel) Tell(to route.Explainer) { x.explain = to }

// Fill reserves the next epoch when the one before is over. Reservations of slices never are.
func (x *Parallel) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || v.Fabric.Spec.Pod() || worthless(v) {
		return
	}
	own, ends := withoutSlices(v)
	if end := reservedTime(own); end > v.Now {
		p.Wake = min(p.Wake, end)
		return
	}
	m := sum(own, p)
	if controller.CircuitsOnly(v.Fabric) { // packets carry what hosts were too slow to send in time
		m.RoundUp(max(v.Delta/8, 1))
	}
	heedCircuits(v, m)
	switches, slowest := switchesOf(v, ends), time.Duration(0)
	for k := range switches {
		slowest = max(slowest, switches[k].Delta)
	}
	window, until := Epochs{Delays: epochDelays}.window(v, slowest), time.Duration(0)
	turns, c := topoeng.ClearWhole(m, switches, window)
	for _, t := range turns {
		first := southbound.Port(t.Switch * v.Fabric.Racks)
		if end := min(t.End, window); end-t.Begin > t.Dark {
			p.Reserve = append(p.Reserve, controller.CircuitReservation{NotBefore: v.Now + t.Begin, NotAfter: v.Now + end,
				In: first + southbound.Port(t.From), Out: first + southbound.Port(t.To), Coflow: controller.AnyCoflow})
			until = max(until, end)
		}
	}
	if until == 0 {
		return
	}
	p.Wake = min(p.Wake, v.Now+until)
	if x.explain != nil {
		x.explain(v, route.Why{Clearance: &route.ClearanceWhy{Makespan: c, Pairs: len(turns), Reserved: until}})
	}
}

// heedCircuits leaves pairs of slices to their own circuits, which need not be there yet, and has circuits that are
// being moved carry when that is over.
func heedCircuits(v *controller.View, m schedule.Matrix) {
	racks := southbound.Port(v.Fabric.Racks)
	for i := range v.Reserved {
		if r := &v.Reserved[i]; r.NotAfter == southbound.Never {
			m[r.In%racks][r.Out%racks] = 0
		}
	}
	for in := range v.Circuits {
		c, in := &v.Circuits[in], southbound.Port(in)
		if c.Phase == controller.Reconfiguring && c.Out != southbound.NoPort && m[in%racks][c.Out%racks] > 0 {
			m[in%racks][c.Out%racks] += max(0, c.Since+v.DeltaAt(in)-v.Now)
		}
	}
}

// switchesOf returns the planes as parallel switches: ports that can be used, and what leads where.
func switchesOf(v *controller.View, ends []port) []topoeng.Switch {
	racks := v.Fabric.Racks
	all := make([]topoeng.Switch, v.Fabric.Spec.Planes())
	for k := range all {
		first := southbound.Port(k * racks)
		s := topoeng.Switch{Delta: v.DeltaAt(first), Usable: make([]bool, racks),
			There: slices.Repeat([]int32{int32(southbound.NoPort)}, racks)}
		for r := range racks {
			in := first + southbound.Port(r)
			s.Usable[r] = ends[in].ok
			if int(in) < len(v.Circuits) && v.Circuits[in].Out != southbound.NoPort {
				s.There[r] = int32(v.Circuits[in].Out - first)
			}
		}
		all[k] = s
	}
	return all
}
