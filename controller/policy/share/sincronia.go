package share

import (
	"cmp"
	"math"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Sincronia sets rates by the rules of Sincronia's offline simulator
// (github.com/sincronia-coflow/simulator), where these are not bssi's: the order is found once, of what
// coflows have declared, in numbers of 32 bits as there, and rates are greedy: in that order, and by
// row within a coflow, a host flow gets all that both of its ports have left.
//
// Of ports that carry alike the first is the bottleneck, senders before receivers, and of coflows that
// cost alike the first by id goes last. The order is memory: an instance that is made in mid-run finds
// it anew of the coflows that it finds.
type Sincronia struct {
	Ordered
	place map[southbound.CoflowID]int
}

// NewSincronia returns Sincronia's order and greedy rates.
func NewSincronia() *Sincronia {
	return &Sincronia{Ordered: Ordered{prompt: true}, place: map[southbound.CoflowID]int{}}
}

// Fill sets the rates of all coflows.
func (p *Sincronia) Fill(v *controller.View, ev []controller.Event, plan *controller.Plan) {
	o := &p.Ordered
	o.start(v, plan)
	all := o.started(v, ev)
	if slices.ContainsFunc(all, func(d demand) bool { _, known := p.place[d.c.ID]; return !known }) {
		p.arrange(v, all)
	}
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(p.place[a.c.ID], p.place[b.c.ID]) })
	for i := range all {
		o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: all[i].c.ID})
	}
	o.backfillAll(v, all)
	o.finish(plan)
}

// started returns the started coflows of a view, in its order, without what they have left. Borrowed
// until the next call.
func (o *Ordered) started(v *controller.View, ev []controller.Event) []demand {
	o.open = o.books.open(v, ev, o.open)
	clear(o.all) // as open
	o.all = o.all[:0]
	for i := range v.Coflows {
		if c := &v.Coflows[i]; c.Started && o.topologyContext.tags(c) != nil {
			o.all = append(o.all, demand{c: c, b: o.open[i]})
		}
	}
	return o.all
}

// arrange finds the place of each coflow, from the last to the first.
func (p *Sincronia) arrange(v *controller.View, all []demand) {
	slices.SortFunc(all, func(a, b demand) int { return cmp.Compare(a.c.ID, b.c.ID) })
	hosts := v.Fabric.Hosts()
	sum := make([]float64, 2*hosts) // by port, of the coflows without a place
	load, paid := make([][]float32, len(all)), make([]float32, len(all))
	for i := range all {
		load[i] = declared(all[i].c, hosts)
		for port, mb := range load[i] {
			sum[port] += float64(mb)
		}
	}
	clear(p.place)
	for at := len(all) - 1; at >= 0; at-- {
		port := slices.Index(sum, slices.Max(sum))
		last, price := -1, float32(math.Inf(1))
		for i := range all {
			if load[i] == nil {
				continue
			}
			if last < 0 {
				last = i
			}
			if cost := (float32(weightOf(all[i].c)) - paid[i]) / load[i][port]; cost < price {
				last, price = i, cost
			}
		}
		for i := range all {
			if load[i] != nil && load[i][port] > 0 {
				paid[i] += load[i][port] * price
			}
		}
		for port, mb := range load[last] {
			sum[port] -= float64(mb)
		}
		p.place[all[last].c.ID], load[last] = at, nil
	}
}

// declared returns the megabytes that each host sends for a coflow, and then those that each takes.
func declared(c *controller.CoflowView, hosts int) []float32 {
	load := make([]float32, 2*hosts)
	for r, size := range c.Size {
		mb := float32(float64(size) / float64(megabyte))
		load[c.Src[r]] += mb
		load[hosts+int(c.Dst[r])] += mb
	}
	return load
}
