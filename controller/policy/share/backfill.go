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
	surveys  uint64 // of the topology context that read last
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

// read finds what the links of hosts have left, and which have something.
func (e *ends) read(g *topologyContext) {
	if e.surveys != g.surveys || len(e.out.free) != len(g.up) {
		e.gather(g)
		e.surveys = g.surveys
		return
	}
	e.out.read(g.free, g.up, e.up)
	e.in.read(g.free, g.down, e.down)
}

func (l *hostLinks) read(free []float64, links []pathmap.LinkID, some []uint64) {
	l.free = l.free[:len(links)]
	for w := range some {
		first, set := 64*w, uint64(0)
		to := l.free[first:min(first+64, len(links))]
		of, residual := links[first:first+len(to)], l.residual[first:first+len(to)]
		for k := range to {
			x := free[of[k]]
			if to[k] = x; x >= residual[k] {
				set |= 1 << (k & 63)
			}
		}
		some[w] = set
	}
}

// fillPorts is backfill where only the links of hosts bind, and few: it looks at no destination that
// has nothing left.
func (o *Ordered) fillPorts(d *demand) {
	b, tags, up, words := d.b, o.topologyContext.tags(d.c), o.room.up, d.b.words
	for w, dsts := range b.open {
		for word := dsts & o.room.down[w]; word != 0; word &= word - 1 {
			dst := 64*w + bits.TrailingZeros64(word)
			i := int(b.runOf[dst])
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
	b, up, free, residual := d.b, o.room.up, o.room.out.free, o.room.out.residual
	room, least := o.room.in.free[dst], o.room.in.residual[dst]
	for w := range up {
		at := i*b.words + w
		for word := b.live[at] & up[w]; word != 0; word &= word - 1 {
			low := word & -word
			row := b.firsts[at] + int32(bits.OnesCount64(b.has[at]&(low-1)))
			h := w*64 + bits.TrailingZeros64(word)
			rate := free[h]
			if room < rate {
				rate = room
			}
			if rate < 1 || tags[row] == southbound.TagHold {
				continue
			}
			whole := pathmap.BitsPerSecond(rate) // rounds down: far below where floats have no fractions
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: d.c.ID, Row: row},
				Rate: whole})
			left := free[h] - float64(whole)
			if left < 0 {
				left = 0
			}
			if free[h] = left; left < residual[h] {
				up[w] &^= low
			}
			if room -= float64(whole); room < 0 {
				room = 0
			}
			if room < least {
				o.room.in.free[dst] = room
				o.room.down[dst/64] &^= 1 << (dst % 64)
				return
			}
		}
	}
	o.room.in.free[dst] = room
}
