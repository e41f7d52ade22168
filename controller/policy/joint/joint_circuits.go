package joint

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/anneal"
	"lightloom/controller/policy/circuits"
	"lightloom/controller/policy/pending"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// CircuitScheduler is the part that chooses circuits. It ignores the elephant threshold: the reconfiguration delay that
// the threshold stands for is charged to each pair by itself.
type CircuitScheduler struct {
	opt     anneal.Options
	cache   *anneal.PathCache // the other part's
	sunflow circuits.Sunflow
}

// Wants implements the part's list of events.
func (l *CircuitScheduler) Wants() controller.KindSet { return l.sunflow.Wants() }

// Fill reserves circuits.
func (l *CircuitScheduler) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	s := l.sunflow
	o := newOptics(v)
	if o == nil || v.Traffic != nil { // an estimate knows no coflows
		s.Fill(v, ev, p)
		return
	}
	chosen := l.choose(v, p, o)
	s.Only = func(c southbound.CoflowID, in, out southbound.Port) bool {
		return chosen[carry{c, southbound.RackID(in), southbound.RackID(out)}]
	}
	rest := *v
	rest.ElephantThreshold = 1
	s.Fill(&rest, ev, p)
}

// carry is what one coflow sends from one rack to another.
type carry struct {
	coflow   southbound.CoflowID
	src, dst southbound.RackID
}

// candidate is a pair of a coflow that can get a circuit.
type candidate struct {
	carry
	rows []int // of the coflow
	left []pathmap.Bytes
}

// source is a coflow that may send now, or once the plan is committed.
type source struct {
	id       southbound.CoflowID
	at       int // in the view; -1: it is the plan's
	src, dst []southbound.HostID
	flows    []int32
	left     func(row int) pathmap.Bytes
	all      []candidate
}

// choose returns which pairs of which coflows are to have circuits: those that have reservations, and those that the
// annealer chooses.
func (l *CircuitScheduler) choose(v *controller.View, p *controller.Plan, o *anneal.Optics) map[carry]bool {
	chosen := map[carry]bool{}
	for _, r := range v.Reserved {
		if r.NotAfter > v.Now {
			chosen[carry{r.Coflow, southbound.RackID(r.In), southbound.RackID(r.Out)}] = true
		}
	}
	var sources []source
	for _, s := range sourcesOf(v, p) {
		if s.find(v, o, chosen); len(s.all) > 0 {
			sources = append(sources, s)
		}
	}
	if len(sources) == 0 {
		return chosen
	}
	slices.SortFunc(sources, func(a, b source) int { return cmp.Compare(a.id, b.id) })
	network := route.NewNetworkState(v, l.opt, l.cache)
	network.SetOptics(o)
	var demands []anneal.CircuitDemand
	var who []carry
	for i := range sources {
		demands, who = sources[i].demands(network, i, demands, who)
	}
	on, n := network.ChooseCircuits(demands, v.Rand("light", uint64(sources[0].id)))
	count(&p.Anneal.Route, n)
	for k := range on {
		if on[k] {
			chosen[who[k]] = true
		}
	}
	return chosen
}

func sourcesOf(v *controller.View, p *controller.Plan) []source {
	var all []source
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started {
			all = append(all, source{id: c.ID, at: i, src: c.Src, dst: c.Dst, flows: c.Flows, left: c.LeftBytes})
		}
	}
	for _, c := range pending.Placed(v, p) {
		if c.Starts {
			all = append(all, source{id: c.ID, at: -1, src: c.Src, dst: c.Dst, flows: c.Flows,
				left: func(row int) pathmap.Bytes { return c.Size[row] }})
		}
	}
	return all
}

// find gathers the pairs of racks that are joined by no reservation for the coflow and could be, by (source,
// destination).
func (s *source) find(v *controller.View, o *anneal.Optics, stands map[carry]bool) {
	at := map[carry]int{}
	for row := range s.src {
		k := carry{s.id, v.HostRack(s.src[row]), v.HostRack(s.dst[row])}
		anyone := carry{controller.AnyCoflow, k.src, k.dst}
		left := s.left(row)
		if left == 0 || k.src == k.dst || o.Up[k.src] == 0 || o.Down[k.dst] == 0 || stands[k] || stands[anyone] {
			continue
		}
		i, ok := at[k]
		if !ok {
			i = len(s.all)
			at[k] = i
			s.all = append(s.all, candidate{carry: k})
		}
		c := &s.all[i]
		c.rows, c.left = append(c.rows, row), append(c.left, left)
	}
	slices.SortFunc(s.all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.src, b.src), cmp.Compare(a.dst, b.dst))
	})
}

// demands adds the coflow's pairs to those to be decided. Flows that have no path yet are given one.
func (s *source) demands(network *route.NetworkState, number int, demands []anneal.CircuitDemand,
	who []carry) ([]anneal.CircuitDemand, []carry) {
	all := make([]anneal.HostFlow, len(s.src))
	for row := range all {
		all[row] = anneal.HostFlow{Src: s.src[row], Dst: s.dst[row]}
		if s.flows != nil {
			all[row].Flows = s.flows[row]
		}
	}
	var flows []int32
	if s.at >= 0 {
		flows = network.FlowsOf(s.at)
	}
	if flows == nil {
		flows = network.Lay(anneal.Coflow{Rows: all})
	}
	for i := range s.all {
		c := &s.all[i]
		demand := anneal.CircuitDemand{Coflow: number, In: int32(c.src), Out: int32(c.dst), Bytes: c.left}
		for _, row := range c.rows {
			demand.Rows, demand.Flows = append(demand.Rows, all[row]), append(demand.Flows, flows[row])
		}
		demands, who = append(demands, demand), append(who, c.carry)
	}
	return demands, who
}
