package joint

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// NewJoint returns the three parts of the policy that decides places, circuits and paths together. The
// first tries places by laying the job's coflows into a copy of the circuit schedule: those are best
// with which all jobs together are expected to end soonest. The second has Sunflow lay circuits for
// every pair of racks once coflows start: what is kept of the first part's schedule are the places,
// since times that are promised ahead would keep ports idle. The last routes what is left, and what
// waits for its circuit.
//
// Without an optical switch all is as CrossLayer decides it.
func NewJoint(opt anneal.Options) (*Placer, *CircuitScheduler, *route.Annealed) {
	p, r := NewCrossLayer(opt)
	p.plans, p.router = true, r
	return p, &CircuitScheduler{circuits.Sunflow{}.Remembering()}, r
}

// NewApart returns the same three parts, but the first is as it would be if nobody knew of circuits: it
// searches the same places in the same way for the packet network alone. What joint gains over this it
// gains by deciding together.
func NewApart(opt anneal.Options) (*Placer, *CircuitScheduler, *route.Annealed) {
	p, l, r := NewJoint(opt)
	p.blind = true
	return p, l, r
}

// CircuitScheduler is Sunflow for all bytes between racks: the reconfiguration delay that the elephant
// threshold stands for is in the schedule.
type CircuitScheduler struct{ circuits.Sunflow }

// Fill reserves circuits.
func (l *CircuitScheduler) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	every := *v
	if v.Traffic == nil && !controller.CircuitsOnly(v.Fabric) { // an estimate knows no coflows
		every.ElephantThreshold = worth(v)
	}
	l.Sunflow.Fill(&every, ev, p)
}

// worth returns from how many bytes on a pair of racks is worth a circuit: packets would have sent
// fewer before it is lit.
func worth(v *controller.View) pathmap.Bytes {
	return max(1, pathmap.Bytes(float64(v.Fabric.Spec.EPS)/8*v.Delta.Seconds()))
}

// plannable reports whether a job can be placed by a forecast: on a fabric with circuits beside packets
// whose bytes are known, if none of its tasks is of a stream.
func plannable(v *controller.View, j *controller.Job) bool {
	return v.Fabric.HasOCS() && !controller.CircuitsOnly(v.Fabric) && v.Traffic == nil &&
		len(v.Circuits) == v.Fabric.OCSPorts() &&
		!slices.Contains(j.Streaming(), true) && len(j.Edges) > 0
}

// planner returns how jobs that are placed piece by piece are planned before their first piece: by a
// forecast that knows those planned before in the same decision. Tasks then read from other racks what
// these alone hold, so that only jobs are planned whose shuffle takes longer than that over packets.
func (c *CrossLayer) planner(v *controller.View) place.Planner {
	if !c.plans {
		return nil
	}
	var f *forecast
	return func(j *controller.Job, blocks []southbound.RackID, free []int32) []southbound.HostID {
		if !plannable(v, j) || !worthPlanning(v, j) {
			return nil
		}
		if f == nil {
			f = newForecast(v, c.blind, -1)
		}
		hosts := search(f, j, slices.Repeat([]southbound.HostID{controller.NoHost}, j.Tasks()), free,
			blocks)
		f.keep(j, hosts, blocks)
		return hosts
	}
}

func worthPlanning(v *controller.View, j *controller.Job) bool {
	far := time.Duration(0)
	for s := range j.Stages {
		for t := range j.Stages[s].Tasks {
			far = max(far, j.Stages[s].Tasks[t].NonLocal)
		}
	}
	return v.Fabric.Spec.EPS > 0 && pathmap.Bytes(bytesOf(j)).Over(v.Fabric.Spec.EPS) > far
}

// searchReduces finds hosts for tasks of an incremental job that are to receive. Tasks of other stages
// that have no host yet are left out of the forecast.
func searchReduces(f *forecast, j *controller.Job, hosts []southbound.HostID, tasks []int,
	free []int32) []southbound.HostID {
	part := reducing(j, hosts, tasks)
	placed := search(f, part.job, part.fixed, free, nil)
	out := make([]southbound.HostID, len(tasks))
	for i := range tasks {
		out[i] = placed[part.first+i]
	}
	return out
}
