package share

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
)

// NewBSSI returns Sincronia: coflows in the order of bottleneck, select, scale, iterate (Agarwal, Rajakrishnan,
// Narayan, Agarwal, Shmoys and Vahdat, "Sincronia: near-optimal network design for coflows", SIGCOMM 2018, algorithm
// 1), which is within four times the optimal weighted completion time where all arrive together. Its theorem holds for
// any rates that keep the order; here they are MADD's with back-filling, and the order is found anew at each decision.
func NewBSSI() *Ordered { return &Ordered{order: &bssi{}} }

// bssi fills the order from its end: on the most loaded link, the coflow with the least weight for what it has there
// comes last, and the others of that link pay it off their weights.
type bssi struct {
	sum    []float64 // by link, nanoseconds of the coflows not yet placed; zero between calls
	used   []pathmap.LinkID
	weight []float64
	out    []demand
}

func (o *bssi) rank(_ *controller.View, all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	o.weight, o.used = o.weight[:0], o.used[:0]
	for i := range all {
		w := all[i].c.Weight
		if !(w > 0) {
			w = 1
		}
		o.weight = append(o.weight, w)
		for _, l := range all[i].loads {
			o.sum = grow(o.sum, int(l.link)+1)
			if o.sum[l.link] == 0 {
				o.used = append(o.used, l.link)
			}
			o.sum[l.link] += l.ns
		}
	}
	slices.Sort(o.used)
	o.used = slices.Compact(o.used)
	o.out = slices.Grow(o.out[:0], len(all))[:len(all)]
	open := make([]int, len(all))
	for i := range open {
		open[i] = i
	}
	for at := len(all) - 1; at >= 0; at-- {
		k := o.last(all, open, o.bottleneck())
		o.out[at] = all[open[k]]
		for _, l := range all[open[k]].loads {
			o.sum[l.link] -= l.ns
		}
		open = slices.Delete(open, k, k+1)
	}
	copy(all, o.out)
	for _, l := range o.used {
		o.sum[l] = 0
	}
}

// bottleneck returns the link that what is open takes longest, the first where several do.
func (o *bssi) bottleneck() pathmap.LinkID {
	b := pathmap.LinkID(pathmap.None)
	for _, l := range o.used {
		if b == pathmap.None || o.sum[l] > o.sum[b] {
			b = l
		}
	}
	return b
}

// last returns which of the open coflows comes last on a link, and takes its price off the weights of the others there.
// One that is not on the link is not asked; where none is, the one with the largest id comes last.
func (o *bssi) last(all []demand, open []int, b pathmap.LinkID) int {
	best, price := -1, 0.0
	for k, i := range open {
		if n := all[i].on(b); n > 0 {
			if p := o.weight[i] / n; best < 0 || p <= price {
				best, price = k, p
			}
		}
	}
	if best < 0 {
		return len(open) - 1
	}
	for k, i := range open {
		if k != best {
			o.weight[i] = max(o.weight[i]-price*all[i].on(b), 0)
		}
	}
	return best
}

// on returns how long a coflow takes a link.
func (d *demand) on(link pathmap.LinkID) float64 {
	for _, l := range d.loads {
		if l.link == link {
			return l.ns
		}
	}
	return 0
}

// grow returns s with at least n elements, those added zero.
func grow(s []float64, n int) []float64 {
	if n > len(s) {
		s = append(s, make([]float64, n-len(s))...)
	}
	return s
}
