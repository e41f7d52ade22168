package route

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/certified"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Router chooses paths for flows that start together, and proves how good they are.
type Router func(*certified.Instance, certified.Effort) (*certified.Plan, error)

// Certified routes all new coflows together, beside the host flows that are under way, which keep their
// paths: among the path map's paths, for the objective of its router. Host flows that a reservation
// carries over a circuit, and those without a path that has capacity, take the first path that is up.
//
// With ByCoflow it routes new coflows one after the other instead, always the one that can end first
// (the order of RAPIER), over the bandwidth that the others leave.
//
// With Anew it routes those under way, too, whenever a coflow comes or ends, as RAPIER and OnFRoBA do.
type Certified struct {
	Router   Router
	ByCoflow bool
	Anew     bool
	tell     Explainer
}

// maxRouted is how many host flows are routed by the router; above it they are routed one after the
// other, the largest first, each on the path that is widest for one more.
const maxRouted = 2000

// effort bounds the local search so that a decision solves no more than about that many host flows in all.
const effort = 4_000

// Wants implements the part's list of events.
func (a *Certified) Wants() controller.KindSet {
	if a.Anew {
		return Wants() | controller.Kinds(controller.CoflowStarted, controller.CoflowEnded)
	}
	return Wants()
}

// Tell has every decision's proof reported from now on.
func (a *Certified) Tell(to Explainer) { a.tell = to }

// Fill routes coflows.
func (a *Certified) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	todo := gather(v, p, nil, a.Anew)
	if len(todo) == 0 {
		return
	}
	in := newInstance(v, todo)
	paths := in.route(a)
	for i := range todo {
		if r := todo[i].tagged(in, i, paths); todo[i].again == nil || !slices.Equal(r.Tags, todo[i].again.Tag) {
			p.Route = append(p.Route, r)
		}
	}
	slices.SortFunc(p.Route, func(a, b controller.Routing) int { return cmp.Compare(a.Coflow, b.Coflow) })
}

// instance is the network and the host flows of a view as numbers.
type instance struct {
	certified.Instance
	v     *controller.View
	f     *finder
	paths certified.Candidates
	index [][]int // by coflow of todo and row: its flow; -1 if nothing is to be chosen
	first []southbound.CoflowID
}

func newInstance(v *controller.View, todo []coflow) *instance {
	in := &instance{v: v, f: newFinder(v), index: make([][]int, len(todo))}
	in.Capacity = make([]float64, len(v.Fabric.Topology.Links()))
	for l := range in.Capacity {
		if v.Down == nil || !v.Down[l] {
			in.Capacity[l] = float64(max(0, v.Room(pathmap.LinkID(l))))
		}
	}
	in.running(lift(v, todo))
	for i := range todo {
		c := &todo[i]
		in.index[i] = make([]int, len(c.rows))
		in.first = append(in.first, c.id)
		for r := range c.rows {
			in.index[i][r] = -1
			src, dst := c.rows[r].Src, c.rows[r].Dst
			if c.lit[r] {
				continue
			}
			bits := 8.0
			if c.left != nil {
				bits = 8 * float64(v.Wire(c.left[r]))
			}
			if in.add(bits, in.candidates(src, dst)) {
				in.index[i][r] = len(in.Volume) - 1
			}
		}
	}
	in.Router = in.paths
	return in
}

// add adds a flow, if one of its paths has capacity and it has anything to send.
func (in *instance) add(bits float64, paths [][]int32) bool {
	open := slices.ContainsFunc(paths, func(links []int32) bool {
		return !slices.ContainsFunc(links, func(l int32) bool { return in.Capacity[l] <= 0 })
	})
	if !open || bits <= 0 {
		return false
	}
	in.Volume, in.paths = append(in.Volume, bits), append(in.paths, paths)
	return true
}

// running adds the host flows that are under way over packets, in the order of coflows and rows, on the
// paths they have.
func (in *instance) running(v *controller.View) {
	order := make([]int, len(v.Coflows))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.Coflows[a].ID, v.Coflows[b].ID) })
	for _, i := range order {
		c := &v.Coflows[i]
		if !c.Routed || !c.Started || c.Remaining.Base == nil {
			continue
		}
		for r := range c.Src {
			s, d := v.HostRack(c.Src[r]), v.HostRack(c.Dst[r])
			if c.Ended[r] || s != d && OnCircuit(v, c.ID, s, d) {
				continue
			}
			bits := 8 * float64(v.Wire(c.LeftBytes(r)))
			in.add(bits, [][]int32{in.over(c.Src[r], c.Dst[r], PathOf(c.Tag[r]))})
		}
	}
}

// over returns the links of a path of the map between two hosts.
func (in *instance) over(src, dst southbound.HostID, path int) []int32 {
	up, down := HostLinks(in.v, src, dst)
	links := []pathmap.LinkID{up}
	if s, d := in.v.HostRack(src), in.v.HostRack(dst); s != d {
		if n := in.v.Paths.Paths(int(s), int(d)); n > 0 {
			if path >= n {
				path = 0
			}
			links = in.v.Paths.AppendPath(links, int(s), int(d), path)
		}
	}
	links = append(links, down)
	out := make([]int32, len(links))
	for i, l := range links {
		out[i] = int32(l)
	}
	return out
}

// candidates returns the paths between two hosts that are up, in the map's order; within a rack there
// is one.
func (in *instance) candidates(src, dst southbound.HostID) [][]int32 {
	if in.v.HostRack(src) == in.v.HostRack(dst) {
		return [][]int32{in.over(src, dst, 0)}
	}
	opts := in.f.options(in.v.HostRack(src), in.v.HostRack(dst))
	out := make([][]int32, len(opts))
	for i, o := range opts {
		out[i] = in.over(src, dst, o.path)
	}
	return out
}

// route returns each flow's links.
func (in *instance) route(a *Certified) [][]int32 {
	n := len(in.Volume)
	if n == 0 {
		return nil
	}
	if n > maxRouted {
		return in.Greedy()
	}
	if a.ByCoflow {
		return in.byCoflow(a)
	}
	plan, err := a.Router(&in.Instance, certified.Effort{Trials: max(1, effort/n)})
	if err != nil { // every flow has a path with capacity, so none is expected
		return in.Greedy()
	}
	a.say(in.v, in.routed(), plan)
	return plan.Path
}

// routed returns the coflows that have a flow to route.
func (in *instance) routed() []southbound.CoflowID {
	var out []southbound.CoflowID
	for i, rows := range in.index {
		if slices.ContainsFunc(rows, func(k int) bool { return k >= 0 }) {
			out = append(out, in.first[i])
		}
	}
	return out
}

// say reports the proof of a decision on coflows.
func (a *Certified) say(v *controller.View, coflows []southbound.CoflowID, plan *certified.Plan) {
	if a.tell != nil && len(coflows) > 0 {
		a.tell(v, Why{Coflow: coflows[0],
			Proof: &Proof{Coflows: coflows, Flows: len(plan.Path), Value: plan.Value, Bound: plan.Bound}})
	}
}

// tagged returns the tags of a coflow of todo.
func (c *coflow) tagged(in *instance, i int, paths [][]int32) controller.Routing {
	out := controller.Routing{Coflow: c.id, Tags: make([]southbound.Tag, len(c.rows))}
	if c.again != nil {
		out.Tags = slices.Clone(c.again.Tag)
	}
	for r := range c.rows {
		src, dst := c.rows[r].Src, c.rows[r].Dst
		opts := in.f.options(in.v.HostRack(src), in.v.HostRack(dst))
		if in.v.HostRack(src) == in.v.HostRack(dst) || len(opts) == 0 {
			continue
		}
		at := 0
		if k := in.index[i][r]; k >= 0 {
			at = max(0, slices.IndexFunc(in.paths[k],
				func(links []int32) bool { return slices.Equal(links, paths[k]) }))
		}
		out.Tags[c.row(r)] = southbound.PathTag(opts[at].path)
	}
	return out
}
