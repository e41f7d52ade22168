package share

import (
	"lightloom/controller"
	"lightloom/pathmap"
)

// sums are what the fabric has told of a coflow's links, added up. Most coflows hold most of the time, and of them only
// what some rows off the pace have left is another at the next decision: these are put on top, and taken off again.
type sums struct {
	version uint64  // of Left.Load
	f       float64 // of Left
	loads   []load
	base    []load  // what the first of loads are without rows off the pace
	gamma   float64 // of these
	where   []int32 // by link: its place in loads, and one; 0: none
	touched []int32 // places in base whose loads are another
}

// manyLinks is from how many links of a fabric on nothing is remembered: each coflow would need a table of them.
const manyLinks = 1 << 12

// addKnown is addTold with a memory. The loads stay as they are until the next call for the coflow.
func (o *Ordered) addKnown(v *controller.View, d *demand) {
	g, s, left := &o.ground, &d.b.sums, &d.c.Left
	if s.version != left.Version || s.f != left.F || len(s.where) != len(g.capacity) {
		s.told(g, d.c)
	} else {
		s.restore()
	}
	d.gamma = s.gamma
	tags := o.ground.tags(d.c)
	for _, r := range left.Off {
		if d.c.Ended[r] {
			continue
		}
		bits := left.Row(r) * g.bits
		if g.plain {
			s.add(g.up[d.c.Src[r]], bits)
			s.add(g.down[d.c.Dst[r]], bits)
			continue
		}
		for _, l := range g.links(v, d.c.Src[r], d.c.Dst[r], tags[r]) {
			s.add(l, bits)
		}
	}
	for _, at := range s.touched {
		d.gamma = max(d.gamma, s.weigh(g, at))
	}
	for at := len(s.base); at < len(s.loads); at++ {
		d.gamma = max(d.gamma, s.weigh(g, int32(at)))
	}
	d.loads = s.loads[:len(s.loads):len(s.loads)]
	if o.lean {
		return
	}
	for i := range d.loads {
		if l := &d.loads[i]; g.isUp[l.link] {
			d.left += l.bits / g.bits
		}
	}
	d.remains = d.left
}

// told adds up what the fabric tells.
func (s *sums) told(g *ground, c *controller.CoflowView) {
	if len(s.where) != len(g.capacity) {
		s.where = make([]int32, len(g.capacity))
	} else {
		for i := range s.loads {
			s.where[s.loads[i].link] = 0
		}
	}
	left := &c.Left
	s.version, s.f, s.gamma, s.base, s.touched = left.Version, left.F, 0, s.base[:0], s.touched[:0]
	for i := range left.Load {
		u := &left.Load[i]
		if u.Rows <= 0 || !g.binds[u.Link] {
			continue
		}
		bits := u.Base * left.F * g.bits
		ns := bits / g.capacity[u.Link] * 1e9
		s.gamma = max(s.gamma, ns)
		s.base = append(s.base, load{link: u.Link, bits: bits, ns: ns})
		s.where[u.Link] = int32(len(s.base))
	}
	s.loads = append(s.loads[:0], s.base...)
}

// restore takes rows off the pace off the sums.
func (s *sums) restore() {
	for _, at := range s.touched {
		s.loads[at] = s.base[at]
	}
	for _, l := range s.loads[len(s.base):] {
		s.where[l.link] = 0
	}
	s.loads, s.touched = s.loads[:len(s.base)], s.touched[:0]
}

// add puts a row off the pace on top.
func (s *sums) add(l pathmap.LinkID, bits float64) {
	at := s.where[l] - 1
	if at < 0 {
		s.loads = append(s.loads, load{link: l, bits: bits})
		s.where[l] = int32(len(s.loads))
		return
	}
	if int(at) < len(s.base) {
		s.touched = append(s.touched, at)
	}
	s.loads[at].bits += bits
}

// weigh finds how long a link takes for what it has now.
func (s *sums) weigh(g *ground, at int32) float64 {
	l := &s.loads[at]
	l.ns = l.bits / g.capacity[l.link] * 1e9
	return l.ns
}
