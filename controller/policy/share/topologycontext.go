package share

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/route"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// topologyContext is the links of a fabric as the parts that set rates see them. It is scratch: it
// follows from the view alone.
type topologyContext struct {
	fabric    *topo.Fabric
	capacity  []float64           // by link, bits a second
	residual  []float64           // by link: less than that is nothing
	mostSpare float64             // of any link that can bind
	binds     []bool              // by link: it can be what holds a host flow back
	plain     bool                // no link between switches binds: a host flow takes two, and no path is looked up
	isUp      []bool              // by link: it leads from a host into the network
	up, down  []pathmap.LinkID    // by host: into the network, and out of it
	hostAt    []southbound.HostID // by link: the host at its end, where there is one
	bits      float64             // on the wire of a byte of payload
	alike     float64             // the capacity of all links that can bind; 0: they differ
	surveys   uint64              // counts surveys: what was read of links before is void

	now    time.Duration
	free   []float64 // by link: what has not been given away
	routed map[southbound.CoflowID][]southbound.Tag
	held   map[hold]bool
	path   []pathmap.LinkID

	reservedBandwidth []pathmap.BitsPerSecond // of the view that was surveyed
}

// spare is the part of a link below which what is left of it counts as nothing: rounding leaves
// residuals, and a rate made of residuals would end a coflow after the age of the universe.
const spare = 1e-6

// refresh brings the topology context up to date with a view and a plan so far, nothing given away.
func (g *topologyContext) refresh(v *controller.View, p *controller.Plan) {
	if g.fabric != v.Fabric || !slices.Equal(g.reservedBandwidth, v.ReservedBandwidth) {
		g.survey(v)
	}
	g.now, g.free = v.Now, append(g.free[:0], g.capacity...)
	g.routed, g.held = nil, nil
	if len(p.Route) > 0 {
		g.routed = make(map[southbound.CoflowID][]southbound.Tag, len(p.Route))
		for _, r := range p.Route {
			g.routed[r.Coflow] = r.Tags
		}
	}
	if len(v.Reserved) > 0 {
		g.held = holds(v)
	}
}

// survey reads the fabric.
func (g *topologyContext) survey(v *controller.View) {
	f := v.Fabric
	g.fabric, g.reservedBandwidth = f, slices.Clone(v.ReservedBandwidth)
	g.surveys++
	t := f.Topology
	g.bits = 8 * float64(controller.FrameBytes) / controller.FramePayload
	if f.Spec.Kind == topo.Crossbar {
		g.bits = 8 // headers are not charged on a crossbar, so that figures compare with other simulators'
	}
	g.capacity, g.binds, g.plain = make([]float64, len(t.Links())), make([]bool, len(t.Links())), true
	g.residual, g.mostSpare = make([]float64, len(t.Links())), 0
	g.isUp, g.hostAt = make([]bool, len(t.Links())), make([]southbound.HostID, len(t.Links()))
	g.up, g.down = make([]pathmap.LinkID, f.Hosts()), make([]pathmap.LinkID, f.Hosts())
	for h := range g.up {
		g.up[h] = t.Out(f.HostNode[h])[0]
		g.isUp[g.up[h]] = true
		g.down[h] = pathmap.Reverse(g.up[h])
		g.hostAt[g.up[h]], g.hostAt[g.down[h]] = southbound.HostID(h), southbound.HostID(h)
	}
	nics := make([]pathmap.BitsPerSecond, f.Racks) // what the hosts of a rack send together at most
	for h, l := range g.up {
		nics[f.RackOf(int32(h))] += t.Link(l).Capacity
	}
	for l, link := range t.Links() {
		g.capacity[l] = float64(v.Room(pathmap.LinkID(l)))
		g.residual[l] = g.capacity[l] * spare
		from, to := t.Node(link.From), t.Node(link.To)
		// A link at a ToR that carries all that the rack's hosts can send or take never holds anybody back,
		// unless others' bytes take it, too.
		room := v.Room(pathmap.LinkID(l))
		wide := !f.Transit && (from.Role == pathmap.ToR && room >= nics[from.Rack] ||
			to.Role == pathmap.ToR && room >= nics[to.Rack])
		host := from.Role == pathmap.Host || to.Role == pathmap.Host
		if g.binds[l] = host || !wide; g.binds[l] {
			g.mostSpare = max(g.mostSpare, g.residual[l])
		}
		g.plain = g.plain && (host || wide)
	}
	g.alike = g.common()
}

// common returns the capacity of all links that can bind, 0 where they differ.
func (g *topologyContext) common() float64 {
	one := -1.0
	for l, c := range g.capacity {
		switch {
		case !g.binds[l]:
		case one < 0:
			one = c
		case c != one:
			return 0
		}
	}
	return max(one, 0)
}

// tags returns the tags that the rows of a coflow will have, nil where they are not known yet.
func (g *topologyContext) tags(c *controller.CoflowView) []southbound.Tag {
	if t, ok := g.routed[c.ID]; ok && len(t) == len(c.Src) {
		return t
	}
	if len(c.Tag) != len(c.Src) {
		return nil
	}
	return c.Tag
}

// onPackets reports whether a live row of a coflow sends over packets.
func (g *topologyContext) onPackets(v *controller.View, c *controller.CoflowView, row int32,
	tag southbound.Tag) bool {
	if tag == southbound.TagHold {
		return false
	}
	if len(v.Circuits) == 0 && len(g.held) == 0 {
		return true
	}
	s, d := v.HostRack(c.Src[row]), v.HostRack(c.Dst[row])
	return s == d || !route.OnCircuit(v, c.ID, s, d) && !g.held[hold{c.ID, s, d}] &&
		!g.held[hold{controller.AnyCoflow, s, d}]
}

// links returns the links of a row that can bind. Borrowed until the next call.
func (g *topologyContext) links(v *controller.View, src, dst southbound.HostID,
	tag southbound.Tag) []pathmap.LinkID {
	g.path = append(g.path[:0], g.up[src])
	if s, d := v.HostRack(src), v.HostRack(dst); !g.plain && s != d {
		i, n := route.PathOf(tag), v.Paths.Paths(int(s), int(d))
		if i >= n {
			i = 0
		}
		if n > 0 {
			g.path = v.Paths.AppendPath(g.path, int(s), int(d), i)
			g.path = slices.DeleteFunc(g.path, func(l pathmap.LinkID) bool { return !g.binds[l] })
		}
	}
	g.path = append(g.path, g.down[dst])
	return g.path
}

// empty reports whether nothing worth giving is left of a link.
func (g *topologyContext) empty(l pathmap.LinkID) bool { return g.free[l] < g.residual[l] }

// gone reports whether a link is empty, or never had capacity.
func (g *topologyContext) gone(l pathmap.LinkID) bool {
	return g.free[l] < g.residual[l] || g.free[l] == 0
}

// take gives away bits a second of a link.
func (g *topologyContext) take(l pathmap.LinkID, rate float64) {
	left := g.free[l] - rate
	if left < 0 { // the builtin max takes several times as long
		left = 0
	}
	g.free[l] = left
}
