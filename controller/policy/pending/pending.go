// Package pending returns which coflows a plan creates: those of the jobs that it has just placed.
// Parts that come after place decide on them too, although the view cannot hold them yet. It decides
// nothing.
package pending

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Coflow is a coflow that the plan creates. Rows are sorted by (Dst, Src), as Expand makes them.
type Coflow struct {
	ID     southbound.CoflowID
	Job    *controller.Job
	Src    []southbound.HostID
	Dst    []southbound.HostID
	Size   []pathmap.Bytes
	Flows  []int32
	Starts bool // fixed flows, or streams of a job that consists of them: they may send as soon as the plan is committed
}

// Placed returns the coflows of the plan's placements that have host flows, by id. It ignores a
// placement of a job that is not in the view, and one of an incremental job: its coflows come once all
// tasks have hosts, and are in the view then.
func Placed(v *controller.View, p *controller.Plan) []Coflow {
	all := make([]Coflow, 0, len(p.Place)) // most have one
	for _, pl := range p.Place {
		i := slices.IndexFunc(v.Waiting, func(j *controller.Job) bool { return j.ID == pl.Job })
		if i < 0 || v.Waiting[i].Incremental {
			continue
		}
		all = appendJob(all, v.Waiting[i], pl.Hosts)
	}
	slices.SortFunc(all, func(a, b Coflow) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func appendJob(all []Coflow, j *controller.Job, hosts []southbound.HostID) []Coflow {
	flowing := !slices.ContainsFunc(j.Edges, func(e controller.Edge) bool {
		return e.Kind != controller.Fixed && !e.Stream
	})
	for k := range j.Edges {
		c := controller.Expand(j, &j.Edges[k], hosts)
		if len(c.Src) == 0 {
			continue
		}
		all = append(all, Coflow{ID: j.FirstCoflow + southbound.CoflowID(k), Job: j, Src: c.Src, Dst: c.Dst,
			Size: c.Size, Flows: c.Flows, Starts: j.Edges[k].Kind == controller.Fixed || flowing})
	}
	return all
}
