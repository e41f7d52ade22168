package share

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// MaxMin gives every host flow its max-min fair rate, by class (source, destination, tag), counted at
// layer 2. Host flows on a lit circuit use the optical links. Rates are rounded down to whole bits a
// second, and lowered further where rounding in the solver would still put a link above its capacity.
// The plan names only classes whose rate has changed; a class without live host flows keeps its rate,
// for it sends nothing.
//
// On one big switch without circuits every coflow gets the same rates of ports instead: each host flow
// is limited by one of its two ports, and all that the same port limits have the same rate.
type MaxMin struct {
	ports  ports
	solver maxmin.Solver
	said   map[class]pathmap.BitsPerSecond

	fabric  *topo.Fabric // that links are of
	paths   *pathmap.Map
	linksOf map[class][]pathmap.LinkID
}

// Wants implements the part's list of events.
func (*MaxMin) Wants() controller.KindSet { return ofFlows() }

type class struct {
	src, dst southbound.HostID
	tag      southbound.Tag
}

func (c class) compare(o class) int {
	return cmp.Or(cmp.Compare(c.src, o.src), cmp.Compare(c.dst, o.dst), cmp.Compare(c.tag, o.tag))
}

// Fill plans the rates that have changed.
func (m *MaxMin) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	if m.ports.serves(v) {
		p.Share = m.ports.fair(v, ev)
		return
	}
	classes, flows := live(v, p)
	first := m.said == nil
	pairs := m.news(classes, m.rates(v, classes, flows))
	if first || len(pairs) > 0 {
		p.Share = &southbound.Rates{Pairs: pairs}
	}
}

// granted is what MaxMin gives to the classes of a view.
type granted struct {
	classes []class
	flows   []int64
	rate    []pathmap.BitsPerSecond
	say     []southbound.PairRate // those whose rate is not what was said last
}

// onCircuits gives host flows on circuits their max-min fair rates, as if there were no other flows.
func (m *MaxMin) onCircuits(v *controller.View, p *controller.Plan) granted {
	var g granted
	classes, flows := live(v, p)
	for i, c := range classes {
		if c.tag == southbound.TagCircuit {
			g.classes, g.flows = append(g.classes, c), append(g.flows, flows[i])
		}
	}
	g.rate = m.rates(v, g.classes, g.flows)
	g.say = m.news(g.classes, g.rate)
	return g
}

// news returns the rates that differ from what was said last, and holds them as said.
func (m *MaxMin) news(classes []class, rates []pathmap.BitsPerSecond) []southbound.PairRate {
	if m.said == nil {
		m.said = map[class]pathmap.BitsPerSecond{}
	}
	var pairs []southbound.PairRate
	for i, rate := range rates {
		c := classes[i]
		if last, ok := m.said[c]; ok && last == rate {
			continue
		}
		m.said[c] = rate
		pairs = append(pairs, southbound.PairRate{Src: c.src, Dst: c.dst, Tag: c.tag, Rate: rate})
	}
	return pairs
}

// live returns the classes of the host flows that may send, sorted, with how many host flows each has.
func live(v *controller.View, p *controller.Plan) ([]class, []int64) {
	routed := map[southbound.CoflowID][]southbound.Tag{}
	for _, r := range p.Route {
		routed[r.Coflow] = r.Tags
	}
	held, only := holds(v), controller.CircuitsOnly(v.Fabric)
	var all []class
	for i := range v.Coflows {
		c := &v.Coflows[i]
		tags := c.Tag
		if t, ok := routed[c.ID]; ok {
			tags = t
		}
		if !c.Started || len(tags) != len(c.Src) {
			continue
		}
		for r := range c.Src {
			s, d := v.HostRack(c.Src[r]), v.HostRack(c.Dst[r])
			switch tag := tags[r]; {
			case c.Ended[r]:
			case s != d && route.OnCircuit(v, c.ID, s, d):
				all = append(all, class{c.Src[r], c.Dst[r], southbound.TagCircuit})
			case s != d && only: // held until it has a circuit
			case tag != southbound.TagHold && !held[hold{c.ID, s, d}] && !held[hold{controller.AnyCoflow, s, d}]:
				all = append(all, class{c.Src[r], c.Dst[r], tag})
			}
		}
	}
	if n := v.Fabric.Hosts(); n <= fewHosts && len(all) > n {
		return counted(all, n)
	}
	slices.SortFunc(all, class.compare)
	var flows []int64
	classes := all[:0]
	for _, c := range all {
		if n := len(classes); n > 0 && classes[n-1] == c {
			flows[n-1]++
			continue
		}
		classes, flows = append(classes, c), append(flows, 1)
	}
	return classes, flows
}

// fewHosts is up to how many hosts there are tables of all pairs: a megabyte a tag.
const fewHosts = 512

// counted sorts classes of host flows and counts how many are alike, by tables of all pairs of hosts.
func counted(all []class, hosts int) ([]class, []int64) {
	var count [256][]int32 // by tag
	var tags []southbound.Tag
	distinct := 0
	for _, c := range all {
		t := count[c.tag]
		if t == nil {
			t = make([]int32, hosts*hosts)
			count[c.tag], tags = t, append(tags, c.tag)
		}
		at := int(c.src)*hosts + int(c.dst)
		if t[at]++; t[at] == 1 {
			distinct++
		}
	}
	slices.Sort(tags)
	classes, flows := make([]class, 0, distinct), make([]int64, 0, distinct)
	for at := range hosts * hosts {
		for _, tag := range tags {
			if n := count[tag][at]; n > 0 {
				classes = append(classes, class{southbound.HostID(at / hosts), southbound.HostID(at % hosts), tag})
				flows = append(flows, int64(n))
			}
		}
	}
	return classes, flows
}

type hold struct {
	coflow southbound.CoflowID
	s, d   southbound.RackID
}

// holds returns whose host flows send nothing until their circuit is lit.
func holds(v *controller.View) map[hold]bool {
	all := map[hold]bool{}
	for _, r := range v.Reserved {
		if r.Fallback == controller.Hold {
			all[hold{r.Coflow, southbound.RackID(v.Fabric.OCSRack(int32(r.In))),
				southbound.RackID(v.Fabric.OCSRack(int32(r.Out)))}] = true
		}
	}
	return all
}

// rates solves for one flow of each class.
func (m *MaxMin) rates(v *controller.View, classes []class, flows []int64) []pathmap.BitsPerSecond {
	in := make([]maxmin.Class, len(classes))
	for i, c := range classes {
		in[i] = maxmin.Class{Links: m.links(v, c), Flows: float64(flows[i])}
	}
	capacity := make([]float64, len(v.Fabric.Topology.Links()))
	for i := range capacity {
		capacity[i] = float64(v.Room(pathmap.LinkID(i)))
	}
	exact := make([]float64, len(in))
	m.solver.Solve(capacity, in, exact)
	out := make([]pathmap.BitsPerSecond, len(in))
	for i, r := range exact {
		out[i] = pathmap.BitsPerSecond(r)
	}
	trim(v, in, flows, out)
	return out
}

// links is links with a memory: paths over packets stay.
func (m *MaxMin) links(v *controller.View, c class) []pathmap.LinkID {
	if m.fabric != v.Fabric || m.paths != v.Paths {
		m.fabric, m.paths, m.linksOf = v.Fabric, v.Paths, map[class][]pathmap.LinkID{}
	}
	if c.tag == southbound.TagCircuit {
		return links(v, c)
	}
	over, ok := m.linksOf[c]
	if !ok {
		over = links(v, c)
		m.linksOf[c] = over
	}
	return over
}

// links returns the links of a class. A tag that the path map does not know takes the default.
func links(v *controller.View, c class) []pathmap.LinkID {
	up, down := route.HostLinks(v, c.src, c.dst)
	out := []pathmap.LinkID{up}
	s, d := v.HostRack(c.src), v.HostRack(c.dst)
	switch {
	case s == d:
	case c.tag == southbound.TagCircuit:
		a, b := route.CircuitLinks(v, s, d)
		out = append(out, a, b)
	default:
		i, n := route.PathOf(c.tag), v.Paths.Paths(int(s), int(d))
		if i >= n {
			i = 0
		}
		if n > 0 {
			out = v.Paths.AppendPath(out, int(s), int(d), i)
		}
	}
	return append(out, down)
}

// trim lowers rates, a bit a second at a time, until no link is above its capacity. The solver's
// rounding is a few units in the last place, so that one pass is nearly always enough and mostly none
// is needed.
func trim(v *controller.View, in []maxmin.Class, flows []int64, rate []pathmap.BitsPerSecond) {
	sum := make([]int64, len(v.Fabric.Topology.Links()))
	for i := range in {
		for _, l := range in[i].Links {
			sum[l] += flows[i] * int64(rate[i])
		}
	}
	for i := range in {
		for rate[i] > 0 && slices.ContainsFunc(in[i].Links, func(l pathmap.LinkID) bool {
			return sum[l] > int64(v.Room(l))
		}) {
			rate[i]--
			for _, l := range in[i].Links {
				sum[l] -= flows[i]
			}
		}
	}
}
