package route

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/pending"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Annealed chooses the paths of new coflows by the routing level of the annealer alone, for the sum
// over all receivers of the least rate from any of their senders, running coflows included. Host flows
// that a reservation carries over a circuit come last and take what is widest then: they are on packets
// only until they are lit. Where a link has come or gone, the host flows of racks with a path over it
// are routed once more, together with what is new, and no others.
type Annealed struct {
	Options anneal.Options
	// Hint returns a path to begin with for a row of a coflow that the plan creates; below zero: none. May
	// be nil.
	Hint func(c southbound.CoflowID, src, dst southbound.HostID) int
	// Cache can be shared with another part of the same policy.
	Cache anneal.PathCache

	tell Explainer // nil disables explanations
}

// Wants implements the part's list of events.
func (*Annealed) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (a *Annealed) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	todo := gather(v, p, a.Hint, false)
	if len(todo) == 0 {
		return
	}
	network := NewNetworkState(lift(v, todo), a.Options, &a.Cache)
	rng := v.Rand("route", uint64(todo[0].id))
	network.enter(v, p)
	paths, count := network.Route(network.split(todo, false), rng)
	a.told(v, todo, network.Why())
	later := network.Spread(network.split(todo, true), rng)
	network.Release()
	p.Anneal.Route.Evaluated += count.Evaluated
	p.Anneal.Route.Accepted += count.Accepted
	for i := range todo {
		if r := todo[i].routing(v, paths[i], later[i]); todo[i].again == nil ||
			!slices.Equal(r.Tags, todo[i].again.Tag) {
			p.Route = append(p.Route, r)
		}
	}
	slices.SortFunc(p.Route, func(a, b controller.Routing) int { return cmp.Compare(a.Coflow, b.Coflow) })
}

// coflow is a coflow that lacks routes.
type coflow struct {
	id    southbound.CoflowID
	job   controller.JobID
	edge  int
	rows  []anneal.HostFlow
	hints []int  // by row
	lit   []bool // by row: a reservation carries it
	left  []pathmap.Bytes

	again *controller.CoflowView // a coflow that has routes already; otherwise nil
	at    []int                  // by row: which one of its rows
}

// gather returns the coflows that lack routes, and the rows of others that need new ones, or with anew
// all that are under way, by id. hint may be nil.
func gather(v *controller.View, p *controller.Plan, hints func(southbound.CoflowID, southbound.HostID,
	southbound.HostID) int, anew bool) []coflow {
	reserved := carried(v, p)
	var todo []coflow
	add := func(id southbound.CoflowID, job controller.JobID, edge int, src, dst []southbound.HostID, flows []int32,
		left []pathmap.Bytes, hint bool) {
		c := coflow{id: id, job: job, edge: edge, rows: make([]anneal.HostFlow, len(src)),
			hints: make([]int, len(src)),
			lit:   make([]bool, len(src)), left: left}
		for r := range src {
			c.rows[r] = anneal.HostFlow{Src: src[r], Dst: dst[r]}
			if flows != nil {
				c.rows[r].Flows = flows[r]
			}
			c.hints[r] = -1
			if hint && hints != nil {
				c.hints[r] = hints(id, src[r], dst[r])
			}
			s, d := v.HostRack(src[r]), v.HostRack(dst[r])
			c.lit[r] = reserved[carry{id, s, d}] || reserved[carry{controller.AnyCoflow, s, d}]
		}
		todo = append(todo, c)
	}
	f := newFinder(v)
	for i := range v.Coflows {
		switch c := &v.Coflows[i]; {
		case moved(p, c.Job): // what it sends is laid out anew
		case !c.Routed && len(c.Src) > 0:
			add(c.ID, graphOf(c), int(c.Edge), c.Src, c.Dst, c.Flows, remaining(c, nil), false)
		case c.Routed && (v.Down != nil || v.Changed != nil || anew):
			if at := f.staleRows(c, anew); len(at) > 0 {
				add(c.ID, graphOf(c), int(c.Edge), pick(c.Src, at), pick(c.Dst, at), pick(c.Flows, at),
					remaining(c, at), false)
				last := &todo[len(todo)-1]
				last.again, last.at = c, at
				for k, r := range at {
					last.hints[k] = PathOf(c.Tag[r])
				}
			}
		}
	}
	for _, c := range pending.Placed(v, p) {
		add(c.ID, c.Job.ID, int(c.ID-c.Job.FirstCoflow), c.Src, c.Dst, c.Flows, c.Size, true)
	}
	slices.SortFunc(todo, func(a, b coflow) int { return cmp.Compare(a.id, b.id) })
	return todo
}

// graphOf is the job whose graph a coflow is part of; -1 for none: no stage sends blocks.
func graphOf(c *controller.CoflowView) controller.JobID {
	if c.Block {
		return -1
	}
	return c.Job
}

// remaining returns what rows of a coflow have left, all of them if at is nil; nil if that is unknown.
func remaining(c *controller.CoflowView, at []int) []pathmap.Bytes {
	if c.Remaining.Base == nil {
		return nil
	}
	left := make([]pathmap.Bytes, len(c.Src))
	for r := range left {
		left[r] = c.LeftBytes(r)
	}
	if at == nil {
		return left
	}
	return pick(left, at)
}

type carry struct {
	coflow southbound.CoflowID
	s, d   southbound.RackID
}

// carried returns what reservations carry, standing and new.
func carried(v *controller.View, p *controller.Plan) map[carry]bool {
	all := map[carry]bool{}
	for _, rs := range [2][]controller.CircuitReservation{v.Reserved, p.Reserve} {
		for _, r := range rs {
			all[carry{r.Coflow, southbound.RackID(v.Fabric.OCSRack(int32(r.In))),
				southbound.RackID(v.Fabric.OCSRack(int32(r.Out)))}] = true
		}
	}
	return all
}

// split returns the rows of each coflow that are carried by a reservation, or those that are not. What
// is lit needs no hint.
func (s *NetworkState) split(todo []coflow, lit bool) []anneal.Coflow {
	out := make([]anneal.Coflow, len(todo))
	for i := range todo {
		c := anneal.Coflow{Of: s.flows[todo[i].job], Edge: todo[i].edge, Hints: []int{}}
		for r := range todo[i].rows {
			if todo[i].lit[r] == lit {
				c.Rows, c.Hints = append(c.Rows, todo[i].rows[r]), append(c.Hints, todo[i].hints[r])
			}
		}
		if lit {
			c.Hints = nil
		}
		out[i] = c
	}
	return out
}

// routing joins the answers for a coflow's rows on packets and on circuits.
func (c *coflow) routing(v *controller.View, packets, circuits []int) controller.Routing {
	out := controller.Routing{Coflow: c.id, Tags: make([]southbound.Tag, len(c.rows))}
	if c.again != nil {
		out.Tags = slices.Clone(c.again.Tag)
	}
	for r := range c.rows {
		from := &packets
		if c.lit[r] {
			from = &circuits
		}
		if v.HostRack(c.rows[r].Src) != v.HostRack(c.rows[r].Dst) {
			out.Tags[c.row(r)] = southbound.PathTag((*from)[0])
		}
		*from = (*from)[1:]
	}
	return out
}

// moved reports whether a plan moves tasks of a job.
func moved(p *controller.Plan, id controller.JobID) bool {
	return slices.ContainsFunc(p.Place, func(pl controller.Placement) bool {
		return pl.Job == id &&
			len(pl.Move) > 0
	})
}
