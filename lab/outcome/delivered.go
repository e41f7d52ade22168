package outcome

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Delivered returns the bytes that a job's sinks received (stages that send nothing to another), and
// the least time that their hosts' links take for them at the rate nic. Bytes that a host sends to
// itself are assumed to move no faster.
func Delivered(d *state.Data, j *state.Job, nic pathmap.BitsPerSecond) (sum pathmap.Bytes,
	least time.Duration) {
	hosts := map[southbound.HostID]bool{}
	for i := range j.Edges {
		e := &j.Edges[i]
		if !ToSink(j, e) {
			continue
		}
		c := d.Coflow(j.FirstCoflow + southbound.CoflowID(i))
		sum += c.Bytes + c.Local
		first, end := j.StageTasks(e.To)
		for _, h := range j.Hosts[min(first, len(j.Hosts)):min(end, len(j.Hosts))] {
			hosts[h] = true
		}
	}
	if len(hosts) > 0 && nic > 0 {
		least = sum.Over(nic * pathmap.BitsPerSecond(len(hosts)))
	}
	return sum, least
}

// ToSink reports whether an edge leads to a stage that sends nothing to another.
func ToSink(j *state.Job, e *controller.Edge) bool {
	return e.Kind != controller.Fixed && e.From != e.To &&
		!slices.ContainsFunc(j.Edges, func(x controller.Edge) bool {
			return x.Kind != controller.Fixed && x.From == e.To && x.To != e.To
		})
}
