package circuits

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// Static is a patch panel: the first demand that is seen is given the one matching that carries most of
// it, and what a matching leaves free goes to later demands; each circuit stays for an hour. What is on
// no circuit goes over packets; where there are none, on a crossbar, it waits for another hour. Each further
// plane is given the matching that carries most of what those before have left.
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
	l := panel{v: v, p: p, ends: opticalPorts(v), planes: newWavelengthAssignment(v), inTaken: inTaken,
		outTaken: outTaken}
	left := sum(v, p)
	for plane := range v.Fabric.Spec.Planes() {
		if l.plug(left, southbound.Port(plane*v.Fabric.Racks)) {
			next = min(next, v.Now+staticFor)
		}
	}
	p.Wake = min(p.Wake, next)
}

// panel is a patch panel being plugged, plane by plane.
type panel struct {
	v                 *controller.View
	p                 *controller.Plan
	ends              []port // by port
	planes            *wavelengthAssignment
	inTaken, outTaken []bool // by port
}

// plug reserves the heaviest matching of what is left for the ports of one plane, takes it out of what is
// left, and reports whether there was anything.
func (l *panel) plug(left schedule.Matrix, first southbound.Port) (any bool) {
	t := compact(left, first)
	for i, in := range t.port {
		for j, out := range t.port {
			if l.inTaken[in] || l.outTaken[out] || !l.ends[in].ok || !l.ends[out].ok ||
				!l.planes.may(in, out) {
				t.matrix[i][j] = 0
			}
		}
	}
	for i, j := range schedule.Static(t.matrix) {
		if j != southbound.NoPort {
			in, out := t.port[i], t.port[j]
			l.p.Reserve = append(l.p.Reserve, controller.CircuitReservation{NotBefore: l.v.Now,
				NotAfter: l.v.Now + staticFor, In: in, Out: out, Coflow: controller.AnyCoflow})
			left[in-first][out-first], any = 0, true
		}
	}
	return any
}

// taken returns which inputs and outputs are reserved, and when the first of them is free again.
func taken(v *controller.View) (in, out []bool, next time.Duration) {
	in, out = make([]bool, v.Fabric.OCSPorts()), make([]bool, v.Fabric.OCSPorts())
	next = southbound.Never
	for _, r := range v.Reserved {
		if r.NotAfter > v.Now {
			in[r.In], out[r.Out] = true, true
			next = min(next, r.NotAfter)
		}
	}
	return in, out, next
}
