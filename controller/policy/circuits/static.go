package circuits

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// Static is a patch panel: the first demand that is seen is given the one matching that carries most of
// it, and what a matching leaves free goes to later demands; each circuit stays for an hour. What is on
// no circuit goes over packets; where there are none, on a crossbar, it waits for another hour.
type Static struct{}

// staticFor is how long a circuit stands.
const staticFor = time.Hour

// Wants implements the part's list of events.
func (Static) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.FabricChanged,
		controller.WakeReached, controller.TrafficRead)
}

// Fill reserves circuits between ports that have none.
func (Static) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() {
		return
	}
	inTaken, outTaken, next := taken(v)
	t := sum(v, p)
	for i, in := range t.port {
		for j, out := range t.port {
			if inTaken[in] || outTaken[out] {
				t.matrix[i][j] = 0
			}
		}
	}
	for i, j := range schedule.Static(t.matrix) {
		if j != southbound.NoPort {
			p.Reserve = append(p.Reserve, controller.CircuitReservation{NotBefore: v.Now,
				NotAfter: v.Now + staticFor,
				In:       t.port[i], Out: t.port[j], Coflow: controller.AnyCoflow})
			next = min(next, v.Now+staticFor)
		}
	}
	p.Wake = min(p.Wake, next)
}

// taken returns which inputs and outputs are reserved, and when the first of them is free again.
func taken(v *controller.View) (in, out []bool, next time.Duration) {
	in, out = make([]bool, v.Fabric.Racks), make([]bool, v.Fabric.Racks)
	next = southbound.Never
	for _, r := range v.Reserved {
		if r.NotAfter > v.Now {
			in[r.In], out[r.Out] = true, true
			next = min(next, r.NotAfter)
		}
	}
	return in, out, next
}
