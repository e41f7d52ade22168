package run

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// delivered is what a job's sinks received, the stages that send nothing to another, and how long the links of their
// hosts take for it at least: what a host sends to itself is taken to move no faster.
func (o *outcome) delivered(j *state.Job) (sum pathmap.Bytes, least time.Duration) {
	hosts := map[southbound.HostID]bool{}
	for i := range j.Edges {
		e := &j.Edges[i]
		if !toSink(j, e) {
			continue
		}
		c := o.State.Coflows[int(j.FirstCoflow)+i]
		sum += c.Bytes + c.Local
		first, end := j.StageTasks(e.To)
		for _, h := range j.Hosts[min(first, len(j.Hosts)):min(end, len(j.Hosts))] {
			hosts[h] = true
		}
	}
	if len(hosts) > 0 && o.Row.Spec.NIC > 0 {
		least = sum.Over(o.Row.Spec.NIC * pathmap.BitsPerSecond(len(hosts)))
	}
	return sum, least
}

// toSink says whether an edge leads to a stage that sends nothing to another.
func toSink(j *state.Job, e *controller.Edge) bool {
	return e.Kind != controller.Fixed && e.From != e.To && !slices.ContainsFunc(j.Edges, func(x controller.Edge) bool {
		return x.Kind != controller.Fixed && x.From == e.To && x.To != e.To
	})
}
