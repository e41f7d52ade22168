package run

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// delivered is what a job's sinks received, the stages that send nothing to another, and how long the links of their
// hosts take for it at least: what a host sends to itself is taken to move no faster.
func (o *outcome) delivered(j *state.Job) (sum pathmap.Bytes, least time.Duration) {
	sends := make([]bool, len(j.Stages))
	for i := range j.Edges {
		if e := &j.Edges[i]; e.Kind != controller.Fixed && e.From != e.To {
			sends[e.From] = true
		}
	}
	hosts := map[southbound.HostID]bool{}
	for i := range j.Edges {
		e := &j.Edges[i]
		if e.Kind == controller.Fixed || e.From == e.To || sends[e.To] {
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
