package joint

import (
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// reschedule finds hosts for the tasks of a job that have lost theirs, by the upper level for these
// alone (section 2, Fault-tolerance and Dynamism). What the job sends now is left out of the network
// state: it is laid out anew with its tasks.
func (c *CrossLayer) reschedule(v *controller.View, p *controller.Plan, h *controller.Evicted,
	free []int32) []southbound.HostID {
	others := *v
	others.Coflows = slices.DeleteFunc(slices.Clone(v.Coflows), func(cf controller.CoflowView) bool {
		return cf.Job == h.Job.ID
	})
	network := route.NewNetworkState(&others, c.opt, c.cache)
	placed := network.Reschedule(h.Job, h.Hosts, free, v.Rand("rehouse", uint64(h.Job.ID)))
	network.Release()
	count(&p.Anneal.Place, placed.Place)
	count(&p.Anneal.Route, placed.Route)
	return placed.Hosts
}

// placeReduces finds hosts for tasks of an incremental job that are to receive, by the upper level for
// these alone: where what they receive comes from is known by then. Circuits are in the network state,
// where there are any.
func (c *CrossLayer) placeReduces(v *controller.View, p *controller.Plan, j *controller.Job,
	hosts []southbound.HostID,
	tasks []int, free []int32) []southbound.HostID {
	if c.plans && plannable(v, j) {
		return searchReduces(newForecast(v, c.blind, j.ID), j, hosts, tasks, free)
	}
	network := route.NewNetworkState(v, c.opt, c.cache)
	placed := network.PlaceReduces(j, hosts, tasks, free, v.Rand("gather", uint64(j.ID)))
	network.Release()
	count(&p.Anneal.Place, placed.Place)
	count(&p.Anneal.Route, placed.Route)
	out := make([]southbound.HostID, len(tasks))
	for i, t := range tasks {
		out[i] = placed.Hosts[t]
	}
	return out
}
