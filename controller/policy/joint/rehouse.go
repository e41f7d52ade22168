package joint

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// rehouse finds hosts for the tasks of a job that have lost theirs, by the upper level for these alone (section 2,
// Fault-tolerance and Dynamism). What the job sends now is left out of the scene: it is laid out anew with its tasks.
func (c *CrossLayer) rehouse(v *controller.View, p *controller.Plan, h *controller.Homeless, free []int32) []southbound.HostID {
	others := *v
	others.Coflows = slices.DeleteFunc(slices.Clone(v.Coflows), func(cf controller.CoflowView) bool { return cf.Job == h.Job.ID })
	placed := route.NewScene(&others, c.opt, c.atlas).Rehouse(h.Job, h.Hosts, free, v.Rand("rehouse", uint64(h.Job.ID)))
	count(&p.Anneal.Place, placed.Place)
	count(&p.Anneal.Route, placed.Route)
	return placed.Hosts
}

// gather finds hosts for tasks of a piecemeal job that are to receive, by the upper level for these alone: where what they
// receive comes from is known by then. Circuits are in the scene, where there are any.
func (c *CrossLayer) gather(v *controller.View, p *controller.Plan, j *controller.Job, hosts []southbound.HostID, tasks []int, free []int32) []southbound.HostID {
	scene := route.NewScene(v, c.opt, c.atlas)
	if c.optics != nil {
		c.optics(v, scene)
	}
	placed := scene.Gather(j, hosts, tasks, free, v.Rand("gather", uint64(j.ID)))
	count(&p.Anneal.Place, placed.Place)
	count(&p.Anneal.Route, placed.Route)
	out := make([]southbound.HostID, len(tasks))
	for i, t := range tasks {
		out[i] = placed.Hosts[t]
	}
	return out
}
