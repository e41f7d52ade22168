package share

import (
	"math/bits"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ends are the hosts whose link still has something, as sets.
type ends struct {
	up, down []uint64
	out, in  hostLinks
}

// hostLinks is what the links of hosts have left, by host: free of the topology context, in the order in
// which it is read.
type hostLinks struct{ free, residual []float64 }

// backfillAll gives what is left to single host flows of coflows, in their order.
func (o *Ordered) backfillAll(v *controller.View, all []demand) {
	g := &o.topologyContext
	if !g.plain || o.books.all == nil || len(v.Circuits) > 0 || len(g.held) > 0 {
		for i := range all {
			o.backfill(v, &all[i])
		}
		return
	}
	o.room.read(g)
	// An extra leaves nothing of one of its two links, so there are no more extras than links.
	o.rates.Extra = slices.Grow(o.rates.Extra, len(g.up)+len(g.down))
	for i := range all {
		first := len(o.rates.Extra)
		o.fillPorts(&all[i])
		if extra := o.rates.Extra[first:]; len(extra) > 0 {
			o.groups = append(o.groups, extra) // destinations ascend, and so do rows
		}
	}
}

// refresh finds the links that have something left.
func (e *ends) refresh(g *topologyContext) {
	n := (len(g.up) + 63) / 64
	e.up, e.down = resize(e.up, n), resize(e.down, n)
	for w := range n {
		e.up[w], e.down[w] = g.something(g.up[64*w:]), g.something(g.down[64*w:])
	}
}

// something returns which of the first links, 64 at most, have something left, as a set.
func (g *topologyContext) something(links []pathmap.LinkID) (set uint64) {
	for k, l := range links[:min(len(links), 64)] {
		if !g.empty(l) {
			set |= 1 << k
		}
	}
	return set
}

// room is what the links of hosts have left for back-filling, and which of them have something, as sets.
//
// Extras are whole bits a second, so only whole ones count: the fraction that a link has beyond them stays as
// it is until the link counts as empty.
type room struct {
	up, down []uint64
	out, in  hostRoom
	surveys  uint64 // of the topology context that was read last
}

// hostRoom is by host.
type hostRoom struct {
	free, least []int64   // below least is nothing
	residual    []float64 // less than that is nothing, fractions counted
	fractions   bool      // some residual has one, so that least depends on that of the link
}

// read finds what links have left.
func (r *room) read(g *topologyContext) {
	if n := len(g.up); r.surveys != g.surveys || len(r.out.free) != n {
		r.surveys = g.surveys
		r.up, r.down = make([]uint64, (n+63)/64), make([]uint64, (n+63)/64)
		r.out, r.in = newHostRoom(g, g.up), newHostRoom(g, g.down)
	}
	r.out.read(g.free, g.up, r.up)
	r.in.read(g.free, g.down, r.down)
}

func newHostRoom(g *topologyContext, links []pathmap.LinkID) hostRoom {
	n := len(links)
	r := hostRoom{free: make([]int64, n), least: make([]int64, n), residual: make([]float64, n)}
	for h, l := range links {
		r.residual[h] = g.residual[l]
		r.least[h] = int64(g.residual[l])
		r.fractions = r.fractions || float64(r.least[h]) != r.residual[h]
	}
	return r
}

func (r *hostRoom) read(free []float64, links []pathmap.LinkID, some []uint64) {
	for w := range some {
		first, set := 64*w, uint64(0)
		of := links[first:min(first+64, len(links))]
		to, least := r.free[first:first+len(of)], r.least[first:first+len(of)]
		if r.fractions {
			r.round(free, of, first)
		}
		for k, l := range of {
			whole := int64(free[l])
			to[k] = whole
			set = set>>1 | ^uint64(whole-least[k])&(1<<63) // without a branch, which no processor could guess
		}
		some[w] = set >> (64 - len(of))
	}
}

// round finds the least whole bits that are something, where links have fractions.
func (r *hostRoom) round(free []float64, links []pathmap.LinkID, first int) {
	for k, l := range links {
		h := first + k
		r.least[h] = int64(r.residual[h])
		if free[l]-float64(int64(free[l])) < r.residual[h]-float64(r.least[h]) {
			r.least[h]++
		}
	}
}

// fillPorts is backfill where only the links of hosts bind, and few: it looks at no destination that
// has nothing left. Extras have memory for all that can come.
func (o *Ordered) fillPorts(d *demand) {
	b, r, n, extra := d.b, &o.room, len(o.rates.Extra), o.rates.Extra[:cap(o.rates.Extra)]
	tags := o.topologyContext.tags(d.c)
	if o.topologyContext.routed[d.c.ID] == nil && !b.holds(tags) {
		tags = nil // and need not be looked at
	}
	id, up, free, least := d.c.ID, r.up, r.out.free, r.out.least[:len(r.out.free)]
	for w, open := range b.open {
		for word := open & r.down[w]; word != 0; word &= word - 1 {
			dst := 64*w + bits.TrailingZeros64(word)
			at := int(b.runOf[dst-b.first]) * b.words
			live := b.live[at : at+len(up)]
			room, enough := r.in.free[dst], r.in.least[dst]
		run:
			for k, lives := range live {
				for both := lives & up[k]; both != 0; both &= both - 1 {
					low := both & -both
					h := k*64 + bits.TrailingZeros64(low)
					row := b.firsts[at+k] + ones(b.has[at+k]&(low-1))
					rate := min(free[h], room)
					if rate < 1 || tags != nil && tags[row] == southbound.TagHold {
						continue
					}
					extra[n] = southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: id, Row: row},
						Rate: pathmap.BitsPerSecond(rate)}
					n++
					left := free[h] - rate
					free[h] = left
					up[k] &^= low & uint64((left-least[h])>>63) // without a branch, which no processor could guess
					if room -= rate; room < enough {
						r.down[w] &^= word & -word
						break run
					}
				}
			}
			r.in.free[dst] = room
		}
	}
	o.rates.Extra = extra[:n]
}

// ones is bits.OnesCount64 without its call for old processors, for which loops would keep their variables on
// the stack.
func ones(x uint64) int32 {
	x -= x >> 1 & 0x5555555555555555
	x = x&0x3333333333333333 + x>>2&0x3333333333333333
	x = (x + x>>4) & 0x0f0f0f0f0f0f0f0f
	return int32(x * 0x0101010101010101 >> 56)
}
