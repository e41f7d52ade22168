package share

import (
	"math"
	"math/bits"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// ends are the hosts whose link still has something, as sets.
type ends struct {
	up, down []uint64
}

// backfillAll gives what is left to single bundles of coflows, in their order.
func (o *Ordered) backfillAll(v *controller.View, all []demand) {
	g := &o.ground
	if !g.plain || o.books.all == nil || len(v.Circuits) > 0 || len(g.held) > 0 {
		for i := range all {
			o.backfill(v, &all[i])
		}
		return
	}
	o.left.look(g)
	for i := range all {
		o.fillPorts(&all[i])
	}
}

// look finds the links that have something left.
func (e *ends) look(g *ground) {
	n := (len(g.up) + 63) / 64
	e.up, e.down = resize(e.up, n), resize(e.down, n)
	for h := range g.up {
		if !g.empty(g.up[h]) {
			e.up[h/64] |= 1 << (h % 64)
		}
		if !g.empty(g.down[h]) {
			e.down[h/64] |= 1 << (h % 64)
		}
	}
}

// fillPorts is backfill where only the links of hosts bind, and few: it looks at no destination that has nothing left.
func (o *Ordered) fillPorts(d *demand) {
	b, tags := d.b, o.ground.tags(d.c)
	for w := range b.dsts {
		for word := b.dsts[w] & o.left.down[w]; word != 0; word &= word - 1 {
			o.fillPort(d, tags, southbound.HostID(w*64+bits.TrailingZeros64(word)))
		}
	}
}

// fillPort gives what a host can still take to the bundles of a coflow that end there.
func (o *Ordered) fillPort(d *demand, tags []southbound.Tag, dst southbound.HostID) {
	g, b, up := &o.ground, d.b, o.left.up
	i := b.runTo(dst)
	down := g.down[dst]
	for w, set := range b.live[i*b.words : (i+1)*b.words] {
		for word := set & up[w]; word != 0; word &= word - 1 {
			at := w*64 + bits.TrailingZeros64(word)
			row, out := b.row(i, at), g.up[at]
			rate := min(g.free[out], g.free[down])
			if rate < 1 || tags[row] == southbound.TagHold {
				continue
			}
			whole := math.Floor(rate)
			g.take(out, whole)
			g.take(down, whole)
			o.rates.Extra = append(o.rates.Extra, southbound.Extra{BundleKey: southbound.BundleKey{Coflow: d.c.ID, Row: row}, Rate: pathmap.BitsPerSecond(rate)})
			if g.empty(out) {
				up[w] &^= 1 << (at % 64)
			}
			if g.empty(down) {
				o.left.down[dst/64] &^= 1 << (dst % 64)
				return
			}
		}
	}
}
