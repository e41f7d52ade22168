package share

import (
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// ports counts the live host flows of started coflows between the ports of one big switch. There only
// ports limit host flows, so that one rate per port suffices, and every coflow gets the same rates. It
// is scratch memory, derived from the view, of which it looks only at coflows that have changed.
type ports struct {
	fabric  *topo.Fabric
	hosts   int
	ids     []southbound.CoflowID // that are counted, ascending
	of      []*portRows           // likewise
	flows   []int32               // by source and destination
	changed []pathmap.LinkID      // whose rate may be another than was said
	on      []int32               // by link: host flows; links are those of hosts out, then those in
	room    []pathmap.BitsPerSecond
	rate    []pathmap.BitsPerSecond // of each host flow there; 0 where there is none
	levels  *maxmin.Levels          // nil: host flows get equal parts
	rates   southbound.Rates

	showing *controller.Showing // of the view that was seen last, and its number
	number  uint64
	looks   uint64 // at all coflows of a view
}

// portRows are the rows of a coflow that are counted.
type portRows struct {
	generation uint64
	seen       uint64 // the last look at all coflows that met it
	left       int32
	pair       []int32 // by row: the place in ports.flows; none where it has ended
}

const none = -1

// manyPorts is up to how many ports a switch can have: tables have a place for each pair.
const manyPorts = 512

// serves reports whether rates of ports are all that this view needs.
func (p *ports) serves(v *controller.View) bool {
	return v.Fabric.Spec.Kind == topo.Crossbar && !v.Fabric.HasOCS() && v.Fabric.Hosts() <= manyPorts &&
		len(v.Circuits) == 0 && len(v.Reserved) == 0 && len(v.ReservedBandwidth) == 0
}

// reset begins anew on a fabric.
func (p *ports) reset(v *controller.View, levels bool) {
	n := v.Fabric.Hosts()
	*p = ports{fabric: v.Fabric, hosts: n, flows: make([]int32, n*n), on: make([]int32, 2*n),
		room: make([]pathmap.BitsPerSecond, 2*n)}
	capacity := make([]float64, 2*n)
	for h := range n {
		up := v.Fabric.Topology.Out(v.Fabric.HostNode[h])[0]
		p.room[h], p.room[n+h] = v.Room(up), v.Room(pathmap.Reverse(up))
	}
	for l, room := range p.room {
		capacity[l] = float64(room)
	}
	p.rate = make([]pathmap.BitsPerSecond, 2*n)
	if levels {
		p.levels = maxmin.NewLevels(capacity)
	}
}

// refresh brings the counts up to date with a view.
func (p *ports) refresh(v *controller.View, ev []controller.Event, levels bool) {
	if p.fabric != v.Fabric {
		p.reset(v, levels)
	}
	p.hint(v, ev)
	sh := v.Showing
	if sh == nil || sh.Of != v || sh.Full || sh != p.showing || sh.Number != p.number+1 {
		p.look(v)
	} else {
		for _, id := range sh.Changed {
			if at, there := v.FindCoflow(id); there {
				p.follow(&v.Coflows[at])
			} else if at, counted := slices.BinarySearch(p.ids, id); counted {
				p.drop(at)
			}
		}
	}
	p.showing = nil // after a look at a copy, the view has to be looked at anew
	if sh != nil && sh.Of == v {
		p.showing, p.number = sh, sh.Number
	}
}

// look counts all coflows of a view, and no others.
func (p *ports) look(v *controller.View) {
	p.looks++
	for i := range v.Coflows {
		if rows := p.follow(&v.Coflows[i]); rows != nil {
			rows.seen = p.looks
		}
	}
	for at := len(p.ids) - 1; at >= 0; at-- {
		if p.of[at].seen != p.looks {
			p.drop(at)
		}
	}
}

// hint takes out rows that events report as ended, if they have ended, so that not all rows of their coflows need be
// looked at.
func (p *ports) hint(v *controller.View, ev []controller.Event) {
	for _, e := range ev {
		if e.Kind != controller.HostFlowEnded {
			continue
		}
		i, there := v.FindCoflow(e.Coflow)
		at, counted := slices.BinarySearch(p.ids, e.Coflow)
		if !there || !counted {
			continue
		}
		c, rows := &v.Coflows[i], p.of[at]
		if rows.generation == c.Generation && e.Row >= 0 && int(e.Row) < len(c.Ended) && c.Ended[e.Row] {
			p.end(rows, e.Row)
		}
	}
}

// follow counts the rows of a coflow that have not ended, and no others; it returns nil where none count.
func (p *ports) follow(c *controller.CoflowView) *portRows {
	at, counted := slices.BinarySearch(p.ids, c.ID)
	counts := c.Started && len(c.Tag) == len(c.Src) && len(c.Src) > 0
	if counted && (!counts || c.Generation == 0 || p.of[at].generation != c.Generation) {
		p.drop(at)
		counted = false
	}
	if !counts {
		return nil
	}
	if !counted {
		rows := &portRows{generation: c.Generation, left: int32(len(c.Src)), pair: make([]int32, len(c.Src))}
		for r, src := range c.Src {
			rows.pair[r] = int32(src)*int32(p.hosts) + int32(c.Dst[r])
			p.change(rows.pair[r], 1)
		}
		p.ids, p.of = slices.Insert(p.ids, at, c.ID), slices.Insert(p.of, at, rows)
	}
	rows := p.of[at]
	if c.LiveRows == 0 || c.LiveRows != rows.left {
		for r, over := range c.Ended {
			if over {
				p.end(rows, int32(r))
			}
		}
	}
	return rows
}

// drop counts a coflow no longer.
func (p *ports) drop(at int) {
	for _, pair := range p.of[at].pair {
		if pair != none {
			p.change(pair, -1)
		}
	}
	p.ids, p.of = slices.Delete(p.ids, at, at+1), slices.Delete(p.of, at, at+1)
}

// end counts a row no longer.
func (p *ports) end(rows *portRows, row int32) {
	if pair := rows.pair[row]; pair != none {
		rows.pair[row] = none
		rows.left--
		p.change(pair, -1)
	}
}

// change counts host flows between two hosts.
func (p *ports) change(pair, n int32) {
	links := [2]pathmap.LinkID{pathmap.LinkID(pair / int32(p.hosts)), pathmap.LinkID(int32(p.hosts) + pair%int32(p.hosts))}
	p.flows[pair] += n
	p.changed = append(p.changed, links[:]...)
	for _, l := range links {
		p.on[l] += n
	}
	if p.levels != nil {
		p.levels.Set(pair, links[:], p.flows[pair])
	}
}

// say gives every started coflow the rate of each host flow at each host: of those that it sends, and
// of those that it receives. Borrowed until the next call.
func (p *ports) say() *southbound.Rates {
	p.changed = p.changed[:0]
	p.rates.Even = southbound.EvenSpread{Coflows: p.ids, From: p.rate[:p.hosts], To: p.rate[p.hosts:]}
	return &p.rates
}

// fair gives every host flow the max-min fair rate.
func (p *ports) fair(v *controller.View, ev []controller.Event) *southbound.Rates {
	p.refresh(v, ev, true)
	p.changed = append(p.changed, p.levels.Solve(func(class, from, to int32) {})...)
	for _, l := range p.changed {
		rate, full := p.levels.Whole(l)
		if !full {
			rate = p.room[l] // its host flows are held back at their other ends
		}
		if p.rate[l] = rate; p.on[l] == 0 {
			p.rate[l] = 0
		}
	}
	return p.say()
}

// equal gives every host flow an equal part of each of its ports.
func (p *ports) equal(v *controller.View, ev []controller.Event) *southbound.Rates {
	p.refresh(v, ev, false)
	for _, l := range p.changed {
		if p.rate[l] = 0; p.on[l] > 0 {
			p.rate[l] = p.room[l] / pathmap.BitsPerSecond(p.on[l])
		}
	}
	return p.say()
}
