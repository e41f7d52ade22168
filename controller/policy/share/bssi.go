package share

import (
	"cmp"
	"slices"

	"lightloom/controller"
	"lightloom/pathmap"
)

// NewBSSI returns Sincronia: coflows in the order of bottleneck, select, scale, iterate (Agarwal,
// Rajakrishnan, Narayan, Agarwal, Shmoys and Vahdat, "Sincronia: near-optimal network design for
// coflows", SIGCOMM 2018, algorithm
// 1), which is within four times the optimal weighted completion time where all arrive together. Its theorem holds for
// any rates that keep the order; here they are MADD's with back-filling, and order and rates are found
// anew at the end of every host flow.
func NewBSSI() *Ordered { return &Ordered{order: &bssi{}, lean: true, prompt: true, fewest: 1} }

// bssi fills the order from its end: on the most loaded link, the coflow with the least weight for what
// it has there comes last, and the others of that link pay it off their weights.
type bssi struct {
	sum    []float64 // by link, nanoseconds of the coflows not yet placed; zero between calls
	used   []pathmap.LinkID
	on     []float64 // by coflow and link, nanoseconds; zero between calls
	links  int
	weight []float64
	open   []int
	place  []int // by coflow, which are by id: where it comes in the order
	out    []demand
	proof  proof
}

func (o *bssi) rank(g *topologyContext, all []demand) {
	sortByCoflow(all)
	o.read(g, all)
	if o.proof.find(o, g, all) {
		o.wipe(all)
	} else {
		o.find(all)
	}
	o.arrange(all)
}

func sortByCoflow(all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
}

// find finds the order, and empties the memory of loads.
func (o *bssi) find(all []demand) {
	for at := len(all) - 1; at >= 0; at-- {
		k := 0
		if at > 0 {
			k = o.last(o.bottleneck())
		}
		i := o.open[k]
		o.place[i] = at
		mine := o.of(i)
		for k := range all[i].loads {
			l := all[i].loads[k].link
			o.sum[l] -= mine[l]
			mine[l] = 0
		}
		o.open = slices.Delete(o.open, k, k+1)
	}
	o.clearSums()
}

// arrange puts demands, which are by id, into their places.
func (o *bssi) arrange(all []demand) {
	o.out = slices.Grow(o.out[:0], len(all))[:len(all)]
	for i := range all {
		o.out[o.place[i]] = all[i]
	}
	copy(all, o.out)
	clear(o.out) // coflows that are over are not held
}

// wipe empties the memory of loads.
func (o *bssi) wipe(all []demand) {
	for i := range all {
		mine := o.of(i)
		for k := range all[i].loads {
			mine[all[i].loads[k].link] = 0
		}
	}
	o.clearSums()
}

func (o *bssi) clearSums() {
	for _, l := range o.used {
		o.sum[l] = 0
	}
}

// read takes over how long coflows take links.
func (o *bssi) read(g *topologyContext, all []demand) {
	o.links = len(g.capacity)
	o.sum, o.on = grow(o.sum, o.links), grow(o.on, o.links*len(all))
	o.weight, o.used, o.open = o.weight[:0], o.used[:0], o.open[:0]
	o.place = slices.Grow(o.place[:0], len(all))[:len(all)]
	for i := range all {
		o.weight, o.open = append(o.weight, weightOf(all[i].c)), append(o.open, i)
		mine := o.of(i)
		for k := range all[i].loads {
			l := &all[i].loads[k]
			ns := l.bits / g.capacity[l.link] * 1e9
			mine[l.link] = ns
			o.sum[l.link] += ns
		}
	}
	for l, x := range o.sum[:o.links] {
		if x > 0 {
			o.used = append(o.used, pathmap.LinkID(l))
		}
	}
}

// of returns what a coflow has, by link.
func (o *bssi) of(i int) []float64 { return o.on[i*o.links : (i+1)*o.links] }

// weightOf returns the weight of a coflow, one where it has none.
func weightOf(c *controller.CoflowView) float64 {
	if !(c.Weight > 0) {
		return 1
	}
	return c.Weight
}

// bottleneck returns the link that what is open takes longest, the first where several do.
func (o *bssi) bottleneck() pathmap.LinkID {
	b, most := pathmap.LinkID(pathmap.None), 0.0
	for _, l := range o.used {
		if x := o.sum[l]; b == pathmap.None || x > most {
			b, most = l, x
		}
	}
	return b
}

// last returns which of the open coflows comes last on a link, and subtracts its price from the weights
// of the others there. It skips coflows that are not on the link; if there is none, the one with the
// largest id comes last.
func (o *bssi) last(b pathmap.LinkID) int {
	best, price := -1, 0.0
	if b != pathmap.None {
		for k, i := range o.open {
			if n := o.on[i*o.links+int(b)]; n > 0 {
				if p := o.weight[i] / n; best < 0 || p <= price {
					best, price = k, p
				}
			}
		}
	}
	if best < 0 {
		return len(o.open) - 1
	}
	for k, i := range o.open {
		if k != best {
			o.weight[i] = max(o.weight[i]-price*o.on[i*o.links+int(b)], 0)
		}
	}
	return best
}

// grow returns s with at least n elements, those added zero.
func grow(s []float64, n int) []float64 {
	if n > len(s) {
		s = append(s, make([]float64, n-len(s))...)
	}
	return s
}
