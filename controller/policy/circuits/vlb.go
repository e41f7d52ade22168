package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// RotorVLB turns as Rotor does, on racks that keep bytes for each other (Mellette, McGuinness, Roy,
// Forencich, Papen, Snoeren, Porter: RotorNet, SIGCOMM 2017). As there, it sets the rotation and no
// more: what goes over a third rack, and when, racks find out by themselves (southbound.Relayer). So a
// circuit is of use to whatever its input's rack has to send, wherever to, and to whatever anybody has
// for its output's, and it turns as long as anything is under way between racks, elephant or not. It
// reads nothing of how much that is. By estimates it lights nothing: they are of what hosts have, and
// what racks keep must not be left there.
type RotorVLB struct{}

// RotorRelay is what racks have to know of the rotation where reconfiguration delays are delta.
func RotorRelay(delta time.Duration) southbound.Relay {
	return southbound.Relay{Slot: rotorSlot(delta), ReconfigurationDelay: delta}
}

// rotorSlot is how long a matching stands, reconfiguration delay included.
func rotorSlot(delta time.Duration) time.Duration { return slotDelays * max(delta, shortest) }

// rotorAhead is how many slots are reserved at a time: what comes meanwhile finds its circuits within
// the slot, and what ends leaves circuits to turn for nothing that long.
const rotorAhead = 8

// Wants implements the part's list of events.
func (RotorVLB) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.FabricChanged,
		controller.WakeReached)
}

// Fill reserves the circuits of the next slots.
func (RotorVLB) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || v.Fabric.Racks < 2 || v.Traffic != nil {
		return
	}
	sends, gets := underway(v)
	if !slices.Contains(sends, true) {
		return
	}
	ends, n, slot := ports(v), v.Fabric.Racks, rotorSlot(v.Delta)
	l := turns{v: v, p: p, sched: scheduler{table: newTable(n), delta: v.Delta, start: v.Now, lit: lit(v)}}
	l.stand()
	first := v.Now / slot
	for k := first; k < first+rotorAhead; k++ {
		by, from, to := int(k%time.Duration(n-1))+1, max(k*slot, v.Now), (k+1)*slot
		for in := range n {
			if out := (in + by) % n; (sends[in] || gets[out]) && ends[in].ok && ends[out].ok {
				l.slot(southbound.Port(in), southbound.Port(out), from, to)
			}
		}
	}
	p.Wake = min(p.Wake, (first+rotorAhead/2)*slot)
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
}

// slot reserves a circuit for one slot, or what is left of it, unless that is no longer than its
// reconfiguration delay.
func (l *turns) slot(in, out southbound.Port, from, to time.Duration) {
	if !l.sched.table.fits(in, out, from, to) || to-from <= l.sched.setup(in, out, from) {
		return
	}
	l.sched.table.take(in, out, from, to)
	l.p.Reserve = append(l.p.Reserve, controller.CircuitReservation{NotBefore: from, NotAfter: to,
		In: in, Out: out,
		Coflow: controller.AnyCoflow, Partial: true})
}

// underway returns which racks have anything to send to others, and which have anything to receive.
func underway(v *controller.View) (sends, gets []bool) {
	n := v.Fabric.Racks
	sends, gets = make([]bool, n), make([]bool, n)
	for i := range v.Coflows {
		c := &v.Coflows[i]
		for row := range c.Src {
			if i, j := v.HostRack(c.Src[row]), v.HostRack(c.Dst[row]); c.Started && !c.Ended[row] && i != j {
				sends[i], gets[j] = true, true
			}
		}
	}
	return sends, gets
}
