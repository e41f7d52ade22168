package joint

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// When tasks of running jobs are moved, and at what price:
// docs/decisions/0033-migrate-when-gain-exceeds-cost.md.

// mostJobs is how many running jobs a decision looks at: those with most left to send. They share the
// work of one.
const mostJobs = 8

// Migrate has tasks of running jobs moved from now on where that gains more than factor times its cost;
// 0: never. A placer that places as printed, or without the lower level, moves none.
func (c *Placer) Migrate(factor float64) { c.factor = factor }

// migrate moves tasks of one running job at most, once all that waited has been placed and committed:
// what has changed by it is there for the next decision.
func (c *Placer) migrate(v *controller.View, p *controller.Plan) {
	if c.factor <= 0 || len(v.Evicted) > 0 {
		return
	}
	if len(p.Place) > 0 {
		p.Wake = min(p.Wake, v.Now+1)
		return
	}
	for _, r := range c.movable(v) {
		j, edges := open(v, r)
		migrationCost := migrationCostOf(v, r, edges)
		migrationCost.Factor = c.factor
		network := route.NewNetworkState(without(v, r.Job.ID), c.opt, c.cache)
		m := network.Migrate(j, r.Hosts, v.Free, mostJobs, migrationCost, v.Rand("migrate", uint64(r.Job.ID)))
		network.Release()
		count(&p.Anneal.Place, m.Place)
		count(&p.Anneal.Route, m.Route)
		if len(m.Tasks) > 0 {
			p.Place = append(p.Place, controller.Placement{Job: r.Job.ID, Hosts: m.Hosts, Move: m.Tasks})
			return
		}
	}
}

// movable returns the running jobs that can be moved: placed at once, on hosts that are up, and not
// moved since a job was last placed or ended, because a job that has just moved has nothing to lose and
// would go on moving. It returns those with most left to send, by the first id among equals.
func (c *Placer) movable(v *controller.View) []controller.Running {
	left := map[controller.JobID]pathmap.Bytes{}
	for i := range v.Coflows {
		cf := &v.Coflows[i]
		for r := range cf.Src {
			left[cf.Job] += cf.LeftBytes(r)
		}
	}
	var all []controller.Running
	for _, r := range v.Running {
		moved := slices.ContainsFunc(r.Tasks, func(t controller.TaskState) bool {
			return t.Try > 0 &&
				t.Moved >= v.Turnover
		})
		if !r.Job.Incremental && !moved && !slices.Contains(r.Hosts, controller.NoHost) && left[r.Job.ID] > 0 {
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b controller.Running) int {
		return cmp.Or(cmp.Compare(left[b.Job.ID], left[a.Job.ID]), cmp.Compare(a.Job.ID, b.Job.ID))
	})
	return all[:min(len(all), mostJobs)]
}

// without is a view in which a job sends nothing.
func without(v *controller.View, id controller.JobID) *controller.View {
	others := *v
	others.Coflows = slices.DeleteFunc(slices.Clone(v.Coflows),
		func(c controller.CoflowView) bool { return c.Job == id })
	others.Running = slices.DeleteFunc(slices.Clone(v.Running),
		func(r controller.Running) bool { return r.Job.ID == id })
	return &others
}

// open returns a running job as far as it has still to send: without the edges that have delivered.
// edges is by edge of the job: its number in what is left; -1 for none.
func open(v *controller.View, r controller.Running) (j *controller.Job, edges []int) {
	rest := *r.Job
	rest.Edges, edges = nil, make([]int, len(r.Job.Edges))
	for k := range edges {
		edges[k] = -1
		if slices.ContainsFunc(v.Coflows, func(c controller.CoflowView) bool {
			return c.Job == r.Job.ID && int(c.Edge) == k && len(c.Src) > 0
		}) {
			edges[k] = len(rest.Edges)
			rest.Edges = append(rest.Edges, r.Job.Edges[k])
		}
	}
	return &rest, edges
}

// hostFlow names what flows between two hosts over an edge.
type hostFlow struct {
	edge     int
	src, dst southbound.HostID
}

// migrationCostOf returns what moving each task of a job costs. A host flow that several pairs of tasks
// share restarts whole, and each of them is charged for it: their sum is too high rather than too low.
func migrationCostOf(v *controller.View, r controller.Running, edges []int) anneal.MigrationCost {
	n := len(r.Hosts)
	s := anneal.MigrationCost{Fixed: make([]bool, n), Resent: make([]pathmap.Bytes, n),
		Rerun: make([]float64, n)}
	held := r.Job.Streaming()
	for t := range r.Tasks {
		state := &r.Tasks[t]
		s.Fixed[t] = state.Ended >= 0 || state.Reading
		if state.Running() && !held[state.Stage] {
			s.Rerun[t] = (v.Now - state.Started).Seconds()
		}
	}
	left := map[hostFlow]pathmap.Bytes{}
	for i := range v.Coflows {
		cf := &v.Coflows[i]
		if cf.Job != r.Job.ID || cf.Block {
			continue
		}
		e := &r.Job.Edges[cf.Edge]
		out, in := map[southbound.HostID]pathmap.Bytes{}, map[southbound.HostID]pathmap.Bytes{}
		for row := range cf.Src {
			if !cf.Ended[row] {
				l := cf.LeftBytes(row)
				left[hostFlow{edges[cf.Edge], cf.Src[row], cf.Dst[row]}] += l
				if cf.Started {
					sent := max(0, cf.Size[row]-l)
					out[cf.Src[row]] += sent
					in[cf.Dst[row]] += sent
				}
			}
		}
		if e.Kind == controller.Fixed {
			continue
		}
		for t := range r.Tasks {
			if int(r.Tasks[t].Stage) == e.From {
				s.Resent[t] += out[r.Hosts[t]]
			}
			if int(r.Tasks[t].Stage) == e.To {
				s.Resent[t] += in[r.Hosts[t]]
			}
		}
	}
	s.Remaining = func(edge int, src, dst southbound.HostID) pathmap.Bytes { return left[hostFlow{edge, src, dst}] }
	return s
}
