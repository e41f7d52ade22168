package route

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Multihop is ECMP, and takes pairs of racks that have no circuit over several in a row, or over circuits and packets,
// where that is sooner. It lights nothing: it uses what stands, beside those that it was lit for.
//
// A way is as slow as its busiest link, which has to send all that is on it. Pairs choose one after the other, those
// with most bytes first; one keeps its way unless another takes less than four fifths of its time, as each change costs
// connections their pace.
type Multihop struct {
	ECMP
	tell Explainer
}

// MultihopWhy is why host flows from one rack to another take a path over several circuits, or packets again.
type MultihopWhy struct {
	Links    []pathmap.LinkID // nil: packets again
	From, To southbound.RackID
	Bytes    float64 // that they have left
	Takes    float64 // seconds by this way
	Packets  float64 // seconds over packets
	Tried    int     // paths over several circuits
	coflow   southbound.CoflowID
}

// Tell has every change explained.
func (m *Multihop) Tell(to Explainer) { m.tell = to }

// Wants implements the part's list of events.
func (*Multihop) Wants() controller.KindSet {
	return Wants() | controller.Kinds(controller.CoflowStarted, controller.CoflowEnded, controller.CircuitInService,
		controller.CircuitReservationEnded)
}

// Fill routes coflows, and gives pairs of racks their paths.
func (m *Multihop) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	m.ECMP.Fill(v, ev, p)
	if multihop.Supported(v.Fabric) != nil || v.Traffic != nil || controller.CircuitsOnly(v.Fabric) {
		return
	}
	c := newChooser(v)
	c.load()
	p.Multihop = multihop.Paths{}
	for _, x := range c.pairs {
		if path := c.choose(x); path != nil {
			p.Multihop = append(p.Multihop, *path)
		}
	}
	slices.SortFunc(p.Multihop, multihop.Compare)
	if m.tell != nil {
		for _, w := range c.why {
			m.tell(v, Why{Coflow: w.coflow, Multihop: &w})
		}
	}
}

// rackPair is what one rack has for another, apart from what circuits between them carry.
type rackPair struct {
	s, d    southbound.RackID
	bytes   float64
	packets map[pathmap.LinkID]float64 // what of it is on each link while all goes over packets
	links   []pathmap.LinkID           // of packets, sorted

	coflow southbound.CoflowID // that has most of the bytes
	most   float64
}

// chooser chooses paths for the pairs of one view.
type chooser struct {
	v     *controller.View
	net   multihop.Network
	links []float64 // bytes on each link between switches
	pairs []*rackPair
	why   []MultihopWhy
}

func newChooser(v *controller.View) *chooser {
	c := &chooser{v: v, links: make([]float64, len(v.Fabric.Topology.Links()))}
	c.net = multihop.Network{Fabric: v.Fabric, Paths: v.Paths, Down: v.Down, Lit: make([]southbound.Port, len(v.Circuits))}
	for in, at := range v.Circuits {
		c.net.Lit[in] = southbound.NoPort
		slice := at.Held && at.Until == southbound.Never // its circuits are its own
		if at.Phase == controller.InService && !slice && c.up(southbound.Port(in)) && c.up(at.Out) {
			c.net.Lit[in] = at.Out
		}
	}
	return c
}

// up reports whether the cable of an OCS port has light.
func (c *chooser) up(p southbound.Port) bool {
	f := c.v.Fabric
	l := f.Topology.OutPort(f.ToRNode[f.OCSRack(int32(p))], f.OCSUplink[p])
	return l != pathmap.None && (c.v.Down == nil || !c.v.Down[l])
}

// load puts all that racks have to send onto the links where it is without paths of this kind.
func (c *chooser) load() {
	v, by := c.v, map[[2]southbound.RackID]*rackPair{}
	var buf []pathmap.LinkID
	for i := range v.Coflows {
		f, of := &v.Coflows[i], map[*rackPair]float64{}
		if !f.Started {
			continue
		}
		for r := range f.Src {
			s, d := v.HostRack(f.Src[r]), v.HostRack(f.Dst[r])
			left := float64(f.LeftBytes(r))
			if s == d || left == 0 {
				continue
			}
			if OnCircuit(v, f.ID, s, d) {
				in, out := CircuitLinks(v, s, d)
				c.links[in], c.links[out] = c.links[in]+left, c.links[out]+left
				continue
			}
			x := by[[2]southbound.RackID{s, d}]
			if x == nil {
				x = &rackPair{s: s, d: d, packets: map[pathmap.LinkID]float64{}}
				by[[2]southbound.RackID{s, d}] = x
				c.pairs = append(c.pairs, x)
			}
			x.bytes += left
			if of[x] += left; of[x] > x.most {
				x.coflow, x.most = f.ID, of[x]
			}
			buf = c.onPackets(buf[:0], s, d, f.Tag, r)
			for _, l := range buf {
				x.packets[l] += left
			}
		}
	}
	slices.SortFunc(c.pairs, func(a, b *rackPair) int {
		return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.s, b.s), cmp.Compare(a.d, b.d))
	})
	for _, x := range c.pairs {
		for l := range x.packets {
			x.links = append(x.links, l)
		}
		slices.Sort(x.links)
		for _, l := range x.links {
			c.links[l] += x.packets[l]
		}
	}
}

// onPackets appends the links over packets of a row.
func (c *chooser) onPackets(buf []pathmap.LinkID, s, d southbound.RackID, tags []southbound.Tag,
	row int) []pathmap.LinkID {
	if i := PathOf(tagOf(tags, row)); i < c.v.Paths.Paths(int(s), int(d)) {
		return c.v.Paths.AppendPath(buf, int(s), int(d), i)
	}
	first, _ := c.net.First(s, d)
	return append(buf, first...)
}

func tagOf(tags []southbound.Tag, row int) southbound.Tag {
	if row < len(tags) {
		return tags[row]
	}
	return southbound.TagDefault
}

// choose returns the path of a pair, nil for packets, and puts its bytes there.
func (c *chooser) choose(x *rackPair) *multihop.Path {
	for _, l := range x.links {
		c.links[l] -= x.packets[l]
	}
	packets := 0.0
	for _, l := range x.links {
		packets = max(packets, c.takes(l, x.packets[l]))
	}
	best, takes := (*multihop.Path)(nil), packets
	had, now := c.had(x)
	if now != nil {
		best, takes = now, c.over(now, x.bytes)
	}
	if c.joined(x) || now == nil && packets < soon.Seconds() {
		c.put(x, nil)
		if had != nil {
			c.why = append(c.why, MultihopWhy{nil, x.s, x.d, x.bytes, packets, packets, 0, x.coflow})
		}
		return nil
	}
	kept := takes
	all := c.net.Between(x.s, x.d)
	for i := range all {
		if t := c.over(&all[i], x.bytes); t < takes && t < worthwhile*kept {
			best, takes = &all[i], t
		}
	}
	if packets < takes && packets < worthwhile*kept {
		best, takes = nil, packets
	}
	c.put(x, best)
	if best != now || best == nil && had != nil {
		w := MultihopWhy{nil, x.s, x.d, x.bytes, takes, packets, len(all), x.coflow}
		if best != nil {
			w.Links = c.net.Links(best)
		}
		c.why = append(c.why, w)
	}
	return best
}

// soon is a time over packets that is not worth telling switches and hosts of another path: some times what that takes.
const soon = 20 * time.Millisecond

// worthwhile is the part of the time by the way that it has below which a pair takes another.
const worthwhile = 0.8

// had returns the path that a pair has, nil for none; now is nil also where it cannot stay.
func (c *chooser) had(x *rackPair) (had, now *multihop.Path) {
	i, has := slices.BinarySearchFunc(c.v.Multihop, multihop.Path{Src: x.s, Dst: x.d}, multihop.Compare)
	if !has {
		return nil, nil
	}
	if had = &c.v.Multihop[i]; c.net.Stands(had) {
		return had, had
	}
	return had, nil
}

// joined reports whether a circuit leads from one rack of a pair to the other, or is to.
func (c *chooser) joined(x *rackPair) bool {
	for in := int(x.s); in < len(c.v.Circuits); in += c.v.Fabric.Racks {
		if leadsTo(c.v, c.v.Circuits[in].Out, x.d) {
			return true
		}
	}
	return false
}

// over returns how long a path takes for so many bytes more.
func (c *chooser) over(p *multihop.Path, bytes float64) (takes float64) {
	for _, l := range c.net.Links(p) {
		takes = max(takes, c.takes(l, bytes))
	}
	return takes
}

// takes returns in how many seconds a link has sent what is on it and so many bytes more.
func (c *chooser) takes(l pathmap.LinkID, more float64) float64 {
	return (c.links[l] + more) * 8 / float64(max(1, c.v.Room(l)))
}

// put puts a pair's bytes onto the links of its path, or onto those over packets.
func (c *chooser) put(x *rackPair, p *multihop.Path) {
	if p == nil {
		for _, l := range x.links {
			c.links[l] += x.packets[l]
		}
		return
	}
	for _, l := range c.net.Links(p) {
		c.links[l] += x.bytes
	}
}
