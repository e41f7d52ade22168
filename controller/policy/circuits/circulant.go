package circuits

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Circulant joins each rack to as many others as it has planes, by the strides of a circulant graph, an hour at a time
// and whatever they have to send: from any rack, a few circuits in a row lead to each other one. It is for routes over
// several circuits; alone it carries what happens to be between neighbours. It lights nothing while nothing is under
// way, and by estimates only what carries something.
//
// On rails, whose racks have one plane each, it joins those of a rail to a ring. On a crossbar, where what has no
// circuit waits, strides are others each hour.
type Circulant struct{}

// Wants implements the part's list of events.
func (Circulant) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.FabricChanged,
		controller.WakeReached, controller.TrafficRead)
}

// Fill reserves circuits between ports that have none.
func (Circulant) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	n := v.Fabric.Racks
	if !v.Fabric.HasOCS() || n < 2 || len(v.Waiting)+len(v.Coflows) == 0 && v.Traffic == nil {
		return
	}
	inTaken, outTaken, next := taken(v)
	ends, planes, turn := opticalPorts(v), newWavelengthAssignment(v), 0
	if controller.CircuitsOnly(v.Fabric) {
		turn = int(v.Now/staticFor) % (n - 1)
	}
	all := strides(n, v.Fabric.Spec.Planes())
	if rails := v.Fabric.Spec.Rails; rails > 0 {
		all = slices.Repeat([]int{rails}, rails)
	}
	for plane, stride := range all {
		by := (stride-1+turn)%(n-1) + 1
		for r := range n {
			in, out := southbound.Port(plane*n+r), southbound.Port(plane*n+(r+by)%n)
			if inTaken[in] || outTaken[out] || !ends[in].ok || !ends[out].ok || !planes.may(in, out) ||
				v.Traffic != nil && v.Traffic.Bytes[r][(r+by)%n] < max(v.ElephantThreshold, 1) {
				continue
			}
			p.Reserve = append(p.Reserve, controller.CircuitReservation{NotBefore: v.Now, NotAfter: v.Now + staticFor,
				In: in, Out: out, Coflow: controller.AnyCoflow, Partial: true})
			next = min(next, v.Now+staticFor)
		}
	}
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
	p.Wake = min(p.Wake, next)
}

// strides returns the strides of planes among n racks: powers of one base, so that sums of few reach all, each once.
func strides(n, planes int) []int {
	var all []int
	for plane := range min(planes, n-1) {
		by := int(math.Round(math.Pow(float64(n), float64(plane)/float64(planes))))
		for by >= n || slices.Contains(all, by) {
			by = by%(n-1) + 1
		}
		all = append(all, by)
	}
	return all
}
