// Package joint holds the parts of a policy that answer several questions together.
//
// A joint part is one part for each question, for they are asked in turn, with the circuits in between.
// What one part has found it hands to the next within the same decision, and to no other.
package joint

import (
	"cmp"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/place"
	"lightloom/controller/policy/route"
	"lightloom/southbound"
)

// CrossLayer places each waiting job by two-level annealing, so that a placement is valued together
// with the paths that it allows; jobs that run are not moved, unless Migrate has been called. Its
// second part routes: what was found while placing is where it begins, with the host flows that
// circuits took left out, and bare coflows, which are only routed, are in it.
type CrossLayer struct {
	opt   anneal.Options
	cache *anneal.PathCache // the other part's
	found map[southbound.CoflowID]placedEdge
	tell  route.Explainer // nil disables explanations

	incremental place.Incremental

	factor float64 // what a move of a running job has to gain, of its cost; 0: none is moved

	plans  bool            // places are sought by a forecast, where there is an optical switch
	blind  bool            // the forecast knows of no circuits
	router *route.Annealed // where plans is set: it gets less work on fabrics with an OCS
}

// Tell has every placement explained from now on.
func (c *CrossLayer) Tell(to route.Explainer) { c.tell, c.opt.Explain = to, to != nil }

type placedEdge struct {
	edge   int
	placed anneal.Placed
}

// NewCrossLayer returns the part's two parts.
func NewCrossLayer(opt anneal.Options) (*Placer, *route.Annealed) {
	c := &CrossLayer{opt: opt}
	r := &route.Annealed{Options: opt, Hint: c.hint}
	c.cache = &r.Cache
	return &Placer{c}, r
}

// Placer is the part that places tasks.
type Placer struct{ *CrossLayer }

// Wants implements the part's list of events.
func (*Placer) Wants() controller.KindSet { return place.Wants() | place.IncrementalWants() }

// BesideCircuits returns the options of routing on fabrics with an OCS: it anneals once and may take a twentieth of the
// usual work, beside laying flows on their widest paths. From random paths as many steps hardly ever reach as much.
func BesideCircuits(o anneal.Options) anneal.Options {
	o.Restarts, o.Work, o.LayFirst = cmp.Or(o.Restarts, 1), cmp.Or(o.Work, 1_000_000), true
	return o
}

func (c *CrossLayer) limitRouting(v *controller.View) {
	o := c.opt
	if v.Fabric.HasOCS() {
		o = BesideCircuits(o)
	}
	r := &c.router.Options
	r.Restarts, r.Work, r.LayFirst = o.Restarts, o.Work, o.LayFirst
}

// Fill places jobs.
func (c *Placer) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	c.found = map[southbound.CoflowID]placedEdge{}
	if c.router != nil {
		c.limitRouting(v)
	}
	v = c.incremental.Fill(v, p, func(j *controller.Job, hosts []southbound.HostID, tasks []int,
		free []int32) []southbound.HostID {
		return c.placeReduces(v, p, j, hosts, tasks, free)
	}, c.planner(v))
	var network *route.NetworkState
	var later []*controller.Job
	free := place.Reschedule(v, p, func(h *controller.Evicted, free []int32) []southbound.HostID {
		return c.reschedule(v, p, h, free)
	})
	if len(v.Evicted) > 0 {
		rest := *v
		rest.Free, v = free, &rest
	}
	for _, j := range place.Admit(v) {
		if j.Tasks() == 0 {
			p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: []southbound.HostID{}})
			continue
		}
		sizes := j.Sizes()
		if !place.Fits(sizes, free) {
			continue
		}
		if _, _, fits := place.Units(j, free); c.plans && fits && plannable(v, j) {
			later = append(later, j) // its places are found below, with those of its like
			continue
		}
		if network == nil {
			network = route.NewNetworkState(v, c.opt, c.cache)
		}
		placed := network.Place(j, free, v.Rand("place", uint64(j.ID)))
		for t, h := range placed.Hosts {
			if sizes == nil {
				free[h]--
			} else {
				free[h] -= sizes[t]
			}
		}
		p.Place = append(p.Place, controller.Placement{Job: j.ID, Hosts: placed.Hosts})
		for i := range placed.Why {
			c.tell(v, route.Why{Job: j, Task: &placed.Why[i]})
		}
		count(&p.Anneal.Place, placed.Place)
		count(&p.Anneal.Route, placed.Route)
		for k := range j.Edges {
			c.found[j.FirstCoflow+southbound.CoflowID(k)] = placedEdge{k, placed}
		}
	}
	if network != nil {
		network.Release()
	}
	c.fillPlanned(v, p, later, free)
	c.migrate(v, p)
}

// fillPlanned places jobs by the forecast, in the slots that the others leave. One whose larger tasks no longer fit
// waits.
func (c *Placer) fillPlanned(v *controller.View, p *controller.Plan, jobs []*controller.Job, free []int32) {
	if len(jobs) == 0 {
		return
	}
	for i, hosts := range c.plan(v, jobs, free) {
		if hosts != nil {
			p.Place = append(p.Place, controller.Placement{Job: jobs[i].ID, Hosts: hosts})
		}
	}
}

func (c *CrossLayer) hint(id southbound.CoflowID, src, dst southbound.HostID) int {
	if w, ok := c.found[id]; ok {
		return w.placed.PathOf(w.edge, src, dst)
	}
	return -1
}

func count(m *controller.MoveCounts, c anneal.Count) {
	m.Add(controller.MoveCounts{Evaluated: c.Evaluated, Accepted: c.Accepted})
}
