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
	o.left.refresh(g)
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

// fillPorts is backfill where only the links of hosts bind, and few: it looks at no destination that
// has nothing left.
func (o *Ordered) fillPorts(d *demand) {
	b, tags := d.b, o.topologyContext.tags(d.c)
	before := 0 // runs of destinations in earlier words
	for w, dsts := range b.dsts {
		for word := dsts & o.left.down[w]; word != 0; word &= word - 1 {
			low := word & -word
			if i := before + bits.OnesCount64(dsts&(low-1)); b.meets(i, o.left.up) {
				o.fillPort(d, tags, i)
			}
		}
		before += bits.OnesCount64(dsts)
	}
}

// meets reports whether a live row of a run comes from one of a set of hosts.
func (b *coflowRows) meets(i int, from []uint64) bool {
	for w, live := range b.live[i*b.words : (i+1)*b.words] {
		if live&from[w] != 0 {
			return true
		}
	}
	return false
}

// fillPort gives what the host of a run can still take to the host flows of a coflow that end there.
func (o *Ordered) fillPort(d *demand, tags []southbound.Tag, i int) {
	g, b, up := &o.topologyContext, d.b, o.left.up
	dst := b.runs[i].dst
	down := g.down[dst]
	room, residual := g.free[down], g.residual[down] // of the host
	for w, set := range b.live[i*b.words : (i+1)*b.words] {
		has := b.has[i*b.words+w]
		for word := set & up[w]; word != 0; word &= word - 1 {
			low := word & -word
			row := b.firsts[i*b.words+w] + int32(bits.OnesCount64(has&(low-1)))
			out := g.up[w*64+bits.TrailingZeros64(word)]
			rate := g.free[out]
			if room < rate {
				rate = room
			}
			if rate < 1 || tags[row] == southbound.TagHold {
				continue
			}
			whole := pathmap.BitsPerSecond(rate) // rounds down: far below where floats have no fractions
			g.take(out, float64(whole))
			if room -= float64(whole); room < 0 {
				room = 0
			}
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: d.c.ID, Row: row},
				Rate: whole})
			if g.empty(out) {
				up[w] &^= low
			}
			if room < residual {
				g.free[down] = room
				o.left.down[dst/64] &^= 1 << (dst % 64)
				return
			}
		}
	}
	g.free[down] = room
}
