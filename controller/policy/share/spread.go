package share

import (
	"math"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// allot is equal shares of what links have left, for all live host flows of some coflows together: each
// host flow has at most what each of its links has left, divided by how many of the host flows take the
// link.
type allot struct {
	count    []int32 // by link; zero between calls
	used     []pathmap.LinkID
	from, to []southbound.HostRate
	out      []float64 // by host, +Inf where none of its host flows may send
}

// spread shares what is left among coflows, takes it, and returns the rates by host, in fresh memory.
func (o *Ordered) spread(v *controller.View, ds []demand) (from, to []southbound.HostRate) {
	switch ports := o.ofPorts(v); {
	case ports && len(ds) == 1:
		o.left.gather(&o.topologyContext)
		from, to = o.spreadOne(&ds[0])
		o.left.putBack(&o.topologyContext)
		return from, to
	case ports:
		for i := range ds {
			if m := ds[i].b.spread; m != nil {
				m.recount, m.ended = true, nil // it can be long until they are read
			}
		}
		return o.spreadPorts(v, ds)
	}
	return o.spreadRows(v, ds)
}

// spreadRows is spread on any fabric, row by row.
func (o *Ordered) spreadRows(v *controller.View, ds []demand) (from, to []southbound.HostRate) {
	a := &o.allot
	a.open(v, o)
	for i := range ds {
		o.eachLive(v, &ds[i], func(r int32, links []pathmap.LinkID) {
			for _, l := range links {
				if a.count[l] == 0 {
					a.used = append(a.used, l)
				}
				a.count[l]++
			}
		})
	}
	a.rates(o, v, ds)
	for i := range ds {
		d := &ds[i]
		o.eachLive(v, d, func(r int32, links []pathmap.LinkID) {
			rate := math.Floor(min(a.out[d.c.Src[r]], o.topologyContext.share(links[len(links)-1], a)))
			for _, l := range links {
				o.taken[l] += rate
			}
		})
	}
	for _, l := range a.used {
		o.topologyContext.take(l, o.taken[l])
		o.taken[l], a.count[l] = 0, 0
	}
	return a.from, a.to
}

func (a *allot) open(v *controller.View, o *Ordered) {
	if n := len(o.topologyContext.capacity); len(a.count) < n || len(o.taken) < n {
		a.count, o.taken = make([]int32, n), make([]float64, n)
	}
	if len(a.out) < v.Fabric.Hosts() {
		a.out = make([]float64, v.Fabric.Hosts())
	}
	for h := range a.out {
		a.out[h] = math.Inf(1)
	}
	a.used, a.from, a.to = a.used[:0], nil, nil
}

// rates finds each host's rates: a source is as slow as the most crowded link that any host flow of it
// takes.
func (a *allot) rates(o *Ordered, v *controller.View, ds []demand) {
	g := &o.topologyContext
	for i := range ds {
		d := &ds[i]
		o.eachLive(v, d, func(r int32, links []pathmap.LinkID) {
			for _, l := range links[:len(links)-1] {
				a.out[d.c.Src[r]] = min(a.out[d.c.Src[r]], g.share(l, a))
			}
		})
		o.eachBlocked(v, d, func(r int32) { a.out[d.c.Src[r]] = 0 })
	}
	a.list(v, g)
}

// list writes down the hosts' rates.
func (a *allot) list(v *controller.View, g *topologyContext) {
	for h := range southbound.HostID(v.Fabric.Hosts()) {
		if x := a.out[h]; !math.IsInf(x, 1) && x >= 1 {
			a.from = append(a.from, southbound.HostRate{Host: h, Rate: pathmap.BitsPerSecond(x)})
		}
		if l := g.down[h]; a.count[l] > 0 && g.share(l, a) >= 1 {
			a.to = append(a.to, southbound.HostRate{Host: h, Rate: pathmap.BitsPerSecond(g.share(l, a))})
		}
	}
}

// share is what each of those counted gets of what a link has left.
func (g *topologyContext) share(l pathmap.LinkID, a *allot) float64 {
	return g.free[l] / float64(a.count[l])
}

// eachLive calls f with every row of a coflow that has not ended, sends over packets, and finds
// something left on all of its links. The links are borrowed.
func (o *Ordered) eachLive(v *controller.View, d *demand, f func(r int32, links []pathmap.LinkID)) {
	g, b, tags := &o.topologyContext, d.b, o.topologyContext.tags(d.c)
	o.free(b)
	for i := range b.runs {
		if g.empty(g.down[b.runs[i].dst]) {
			continue
		}
		for at := b.next(i, 0, o.mask); at >= 0; at = b.next(i, at+1, o.mask) {
			r := b.row(i, at)
			if !g.onPackets(v, d.c, r, tags[r]) {
				continue
			}
			links := g.links(v, d.c.Src[r], d.c.Dst[r], tags[r])
			if g.plain || !g.anyEmpty(links) {
				f(r, links)
			}
		}
	}
}

// eachBlocked calls f with every live row that only a link between switches keeps from sending.
func (o *Ordered) eachBlocked(v *controller.View, d *demand, f func(r int32)) {
	g, b, tags := &o.topologyContext, d.b, o.topologyContext.tags(d.c)
	if g.plain {
		return
	}
	o.free(b)
	for i := range b.runs {
		if g.empty(g.down[b.runs[i].dst]) {
			continue
		}
		for at := b.next(i, 0, o.mask); at >= 0; at = b.next(i, at+1, o.mask) {
			r := b.row(i, at)
			if g.onPackets(v, d.c, r, tags[r]) && g.anyEmpty(g.links(v, d.c.Src[r], d.c.Dst[r], tags[r])) {
				f(r)
			}
		}
	}
}

func (g *topologyContext) anyEmpty(links []pathmap.LinkID) bool {
	for _, l := range links {
		if g.empty(l) {
			return true
		}
	}
	return false
}

// free sets the mask to the sources of a coflow whose link has something left.
func (o *Ordered) free(b *coflowRows) {
	o.mask = resize(o.mask, b.words)
	for at, h := range b.src {
		if !o.topologyContext.empty(o.topologyContext.up[h]) {
			o.mask[at/64] |= 1 << (at % 64)
		}
	}
}
