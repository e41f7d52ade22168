package share

import (
	"math/bits"

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
	for i := range all {
		o.fillPorts(&all[i])
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
		for k, l := range of {
			whole := int64(free[l])
			if to[k] = whole; r.fractions {
				least[k] = int64(r.residual[first+k])
				if free[l]-float64(whole) < r.residual[first+k]-float64(least[k]) {
					least[k]++
				}
			}
			set |= (^uint64(whole-least[k]) >> 63) << (k & 63) // without a branch, which no processor could guess
		}
		some[w] = set
	}
}

// fillPorts is backfill where only the links of hosts bind, and few: it looks at no destination that
// has nothing left.
func (o *Ordered) fillPorts(d *demand) {
	b, tags, up, words := d.b, o.topologyContext.tags(d.c), o.room.up, d.b.words
	for w, open := range b.open {
		word := open & o.room.down[w]
		if word == 0 {
			continue
		}
		before := 0 // runs of destinations in earlier words
		for _, dsts := range b.dsts[:w] {
			before += bits.OnesCount64(dsts)
		}
		for ; word != 0; word &= word - 1 {
			dst := 64*w + bits.TrailingZeros64(word)
			i := before + bits.OnesCount64(b.dsts[w]&(word&-word-1))
			for k, live := range b.live[i*words : (i+1)*words] {
				if live&up[k] != 0 {
					o.fillPort(d, tags, i, dst)
					break
				}
			}
		}
	}
}

// fillPort gives what the host of a run can still take to the host flows of a coflow that end there.
func (o *Ordered) fillPort(d *demand, tags []southbound.Tag, i, dst int) {
	b, up, free, least := d.b, o.room.up, o.room.out.free, o.room.out.least
	room, enough := o.room.in.free[dst], o.room.in.least[dst]
	for w := range up {
		at := i*b.words + w
		for word := b.live[at] & up[w]; word != 0; word &= word - 1 {
			low := word & -word
			h := w*64 + bits.TrailingZeros64(word)
			row := b.firsts[at] + int32(bits.OnesCount64(b.has[at]&(low-1)))
			rate := min(free[h], room)
			if rate < 1 || tags[row] == southbound.TagHold {
				continue
			}
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{
				HostFlowKey: southbound.HostFlowKey{Coflow: d.c.ID, Row: row}, Rate: pathmap.BitsPerSecond(rate)})
			left := free[h] - rate
			if free[h] = left; left < least[h] {
				up[w] &^= low
			}
			if room -= rate; room < enough {
				o.room.in.free[dst] = room
				o.room.down[dst/64] &^= 1 << (dst % 64)
				return
			}
		}
	}
	o.room.in.free[dst] = room
}
