package share

import (
	"math"
	"math/bits"

	"lightloom/controller"
	"lightloom/southbound"
)

// ofPorts reports whether only the links of hosts bind the coflows, and sets of rows are by host. No
// row of a view is then limited by its tag: routes are paths over packets.
func (o *Ordered) ofPorts(v *controller.View) bool {
	g := &o.topologyContext
	return g.plain && o.books.all != nil && len(v.Circuits) == 0 && len(g.held) == 0
}

// spreadPorts is what spread does for each row, done for the rows of each destination together. Rates
// are whole, so that the order of sums is all the same.
func (o *Ordered) spreadPorts(v *controller.View, ds []demand) (from, to []southbound.HostRate) {
	a, g := &o.allot, &o.topologyContext
	a.open(v, o)
	o.eachPort(ds, func(dst southbound.HostID, w int, word uint64) {
		a.count[g.down[dst]] += int32(bits.OnesCount64(word))
		for ; word != 0; word &= word - 1 {
			a.count[g.up[w*64+bits.TrailingZeros64(word)]]++
		}
	})
	for h := range v.Fabric.Hosts() {
		if a.count[g.up[h]] > 0 {
			a.used = append(a.used, g.up[h])
			a.out[h] = g.share(g.up[h], a)
		}
		if a.count[g.down[h]] > 0 {
			a.used = append(a.used, g.down[h])
		}
	}
	a.list(v, g)
	o.eachPort(ds, func(dst southbound.HostID, w int, word uint64) {
		most, sum := g.share(g.down[dst], a), 0.0
		for ; word != 0; word &= word - 1 {
			h := w*64 + bits.TrailingZeros64(word)
			rate := math.Floor(min(a.out[h], most))
			o.taken[g.up[h]] += rate
			sum += rate
		}
		o.taken[g.down[dst]] += sum
	})
	for _, l := range a.used {
		g.take(l, o.taken[l])
		o.taken[l], a.count[l] = 0, 0
	}
	return a.from, a.to
}

// eachPort calls f with the live rows of coflows by destination, as words of sets of sources, both of
// which have something left.
func (o *Ordered) eachPort(ds []demand, f func(dst southbound.HostID, w int, word uint64)) {
	for k := range ds {
		b := ds[k].b
		o.free(b)
		for i := range b.runs {
			if o.topologyContext.empty(o.topologyContext.down[b.runs[i].dst]) {
				continue
			}
			for w, live := range b.live[i*b.words : (i+1)*b.words] {
				if word := live & o.mask[w]; word != 0 {
					f(b.runs[i].dst, w, word)
				}
			}
		}
	}
}
