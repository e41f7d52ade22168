package share

import (
	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// sums are the fabric's reports of a coflow's links, added up. Most coflows hold most of the time, and
// only their few rows off the pace differ at the next decision: these are added on top, and removed
// again. For paced coflows mostly the factor changes, and all links have that much less.
type sums struct {
	version uint64    // of Left.Load
	survey  uint64    // of the topology context
	f       float64   // of Left
	base    []float64 // of the first of loads: what Left.Load has, per unit of f
	most    float64   // of base
	loads   []load
	gamma   float64 // nanoseconds that the first of loads take at most, without rows off the pace
	where   []int32 // by link: its place in loads, and one; 0: none
	touched []int32 // places in base whose loads have rows off the pace; some twice

	peak    float64 // gamma of the demand that was added up last
	steady  uint64  // of Left, then
	carried float64
}

// manyLinks is from how many links of a fabric on nothing is remembered: each coflow would need a table
// of them.
const manyLinks = 1 << 12

// addKnown is addTold with a memory. The loads stay as they are until the next call for the coflow.
func (o *Ordered) addKnown(v *controller.View, d *demand) {
	g, s, left := &o.topologyContext, &d.b.sums, &d.c.Remaining
	switch {
	case s.version != left.Version || s.survey != g.surveys || len(s.where) != len(g.capacity):
		s.load(g, left)
	case s.f != left.F:
		s.restore(g)
		s.scale(g, left.F)
	default:
		s.restore(g)
	}
	if g.plain && g.alike > 0 {
		d.gamma = s.addPorts(g, left)
	} else {
		d.gamma = o.addOff(v, d)
	}
	d.loads = s.loads[:len(s.loads):len(s.loads)]
	s.peak, s.steady, s.carried = d.gamma, left.Steady, left.Carried
	if !o.lean {
		d.weigh(g)
	}
}

// weigh computes what only orders other than by the bottleneck need.
func (d *demand) weigh(g *topologyContext) {
	for i := range d.loads {
		l := &d.loads[i]
		l.ns = l.bits / g.capacity[l.link] * 1e9
		if g.isUp[l.link] {
			d.left += l.bits / g.bits
		}
	}
	d.remains = d.left
}

// load takes over the fabric's state of links.
func (s *sums) load(g *topologyContext, left *southbound.Remaining) {
	if s.survey == g.surveys && len(s.where) == len(g.capacity) && s.reload(g, left) {
		s.longest(g, left.F)
		return
	}
	if len(s.where) != len(g.capacity) {
		s.where = make([]int32, len(g.capacity))
	} else {
		for i := range s.loads {
			s.where[s.loads[i].link] = 0
		}
	}
	s.version, s.survey = left.Version, g.surveys
	s.touched, s.most = s.touched[:0], 0
	base, loads, where, binds := s.base[:0], s.loads[:0], s.where, g.binds
	for i := range left.Load {
		u := &left.Load[i]
		if u.Rows <= 0 || !binds[u.Link] {
			continue
		}
		if u.Base > s.most {
			s.most = u.Base
		}
		base = append(base, u.Base)
		loads = append(loads, load{link: u.Link})
		where[u.Link] = int32(len(loads))
	}
	s.base, s.loads = base, loads
	s.scale(g, left.F)
}

// reload is load where the links are the same as before, and reports whether they are; mostly so.
func (s *sums) reload(g *topologyContext, left *southbound.Remaining) bool {
	n, most, base, loads := 0, 0.0, s.base, s.loads[:len(s.base)]
	binds, f := g.binds, left.F
	for i := range left.Load {
		u := &left.Load[i]
		if u.Rows <= 0 || !binds[u.Link] {
			continue
		}
		if n == len(base) || loads[n].link != u.Link {
			return false
		}
		if u.Base > most {
			most = u.Base
		}
		base[n] = u.Base
		loads[n].bits = u.Base * f * g.bits
		n++
	}
	if n != len(base) {
		return false
	}
	for _, l := range s.loads[n:] {
		s.where[l.link] = 0
	}
	s.version, s.most, s.loads, s.touched = left.Version, most, loads, s.touched[:0]
	return true
}

// scale finds what links have to carry by the factor. Where all links are alike, the one with the most
// takes longest, and no other need be asked: each step from a base to its nanoseconds multiplies or
// divides by what is the same for all, and rounding never lets the larger of two come out as the
// smaller.
func (s *sums) scale(g *topologyContext, f float64) {
	loads := s.loads[:len(s.base)]
	for i, base := range s.base {
		loads[i].bits = base * f * g.bits
	}
	s.longest(g, f)
}

// longest finds how long the most loaded link takes.
func (s *sums) longest(g *topologyContext, f float64) {
	s.f, s.gamma = f, 0
	loads := s.loads[:len(s.base)]
	if g.alike > 0 {
		s.gamma = s.most * f * g.bits / g.alike * 1e9
		return
	}
	for i := range loads {
		if ns := loads[i].bits / g.capacity[loads[i].link] * 1e9; ns > s.gamma {
			s.gamma = ns
		}
	}
}

// restore takes rows off the pace off the sums.
func (s *sums) restore(g *topologyContext) {
	for _, at := range s.touched {
		s.loads[at].bits = s.base[at] * s.f * g.bits
	}
	for _, l := range s.loads[len(s.base):] {
		s.where[l.link] = 0
	}
	s.loads, s.touched = s.loads[:len(s.base)], s.touched[:0]
}

// addPorts puts rows off the pace on top where only links of hosts bind, which are alike, and returns
// how long the most loaded one takes. A link that gets more has more than before, so the most that any
// was seen to have is the most.
func (s *sums) addPorts(g *topologyContext, left *southbound.Remaining) float64 {
	most, loads, where, touched, base := 0.0, s.loads, s.where, s.touched, int32(len(s.base))
	for i := range left.Off {
		r := &left.Off[i]
		bits := r.Base * left.F * g.bits
		for _, l := range [...]pathmap.LinkID{g.up[r.Src], g.down[r.Dst]} {
			at := where[l] - 1
			if at < 0 {
				at = int32(len(loads))
				loads = append(loads, load{link: l})
				where[l] = at + 1
			} else if at < base {
				touched = append(touched, at)
			}
			u := &loads[at]
			if u.bits += bits; u.bits > most {
				most = u.bits
			}
		}
	}
	s.loads, s.touched = loads, touched
	return max(s.gamma, most/g.alike*1e9)
}

// addOff puts rows off the pace on top, and returns how long the most loaded link takes.
func (o *Ordered) addOff(v *controller.View, d *demand) float64 {
	g, s, left, tags := &o.topologyContext, &d.b.sums, &d.c.Remaining, o.topologyContext.tags(d.c)
	for _, r := range left.Off {
		bits := r.Base * left.F * g.bits
		for _, l := range g.links(v, r.Src, r.Dst, tags[r.Row]) {
			s.add(l, bits)
		}
	}
	gamma := s.gamma
	for _, at := range s.touched {
		gamma = max(gamma, s.ns(g, at))
	}
	for at := len(s.base); at < len(s.loads); at++ {
		gamma = max(gamma, s.ns(g, int32(at)))
	}
	return gamma
}

// add puts a row off the pace on top, and returns what the link has then.
func (s *sums) add(l pathmap.LinkID, bits float64) float64 {
	at := s.where[l] - 1
	if at < 0 {
		s.loads = append(s.loads, load{link: l, bits: bits})
		s.where[l] = int32(len(s.loads))
		return bits
	}
	if int(at) < len(s.base) {
		s.touched = append(s.touched, at)
	}
	u := &s.loads[at]
	u.bits += bits
	return u.bits
}

// ns returns how long a link takes for what it has now.
func (s *sums) ns(g *topologyContext, at int32) float64 {
	l := &s.loads[at]
	return l.bits / g.capacity[l.link] * 1e9
}
