package share

import (
	"math"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// proof is an order of bssi that stays right while no coflow has sent more over a link than drift. Loads fall
// slowly, and hardly a decision changes the order; so it is found by intervals, if they leave no choice open, and
// kept until some coflow comes, goes, or has sent too much.
type proof struct {
	of    []proven // by id
	place []int    // as that of bssi
	calls int      // of find, with these coflows
	drift float64  // nanoseconds
	share float64  // of the most loaded link that is tried as the drift next

	sum      []float64 // by link, as that of bssi
	open     []int
	low      []float64 // by coflow: bounds of its weight
	high     []float64
	nextLow  []float64
	nextHigh []float64
}

// proven is one of its coflows, as it was then.
type proven struct {
	id      southbound.CoflowID
	weight  float64
	steady  uint64
	carried float64
}

// fewCalls is up to how many calls with the same coflows no proof is tried.
const fewCalls = 3

// The drifts that are tried. Where two coflows cost nearly the same, none does until that is over.
const (
	firstShare = 1.0 / 64
	leastShare = 1.0 / (1 << 20)
	mostShare  = 1.0 / 4
)

// stands ranks demands by the order that was proven last, and reports whether it is still right.
func (o *bssi) stands(g *topologyContext, all []demand) bool {
	p := &o.proof
	if len(all) != len(p.of) {
		return false
	}
	sortByCoflow(all)
	for i := range all {
		was, c := &p.of[i], all[i].c
		if !all[i].bounded || c.ID != was.id || c.Remaining.Steady != was.steady || weightOf(c) != was.weight ||
			(c.Remaining.Carried-was.carried)*(1+1e-9)*g.nsOfByte() > p.drift {
			return false
		}
	}
	o.place = append(o.place[:0], p.place...)
	o.arrange(all)
	return true
}

// find finds the order of what bssi has read, with a drift that leaves no choice open, and keeps it. It
// reports false where there is none that is worth it, and where coflows have come or gone of late: others soon will.
func (p *proof) find(o *bssi, g *topologyContext, all []demand) bool {
	p.drift = -1
	if !p.note(all) {
		p.calls = 0
	}
	if p.calls++; p.calls <= fewCalls || !g.plain || g.alike == 0 {
		return false
	}
	if p.share == 0 {
		p.share = firstShare
	}
	most := 0.0
	for _, l := range o.used {
		most = max(most, o.sum[l])
	}
	if !p.choose(o, most*p.share, most*1e-9+g.nsOfByte()) {
		p.share = max(p.share/4, leastShare)
		return false
	}
	p.drift, p.share = most*p.share, min(2*p.share, mostShare)
	p.place = append(p.place[:0], o.place...)
	return true
}

// note notes coflows as they are, and reports whether they are those that were noted before, and steady.
func (p *proof) note(all []demand) bool {
	same := len(all) == len(p.of)
	for i := range all {
		c := all[i].c
		same = same && c.ID == p.of[i].id && c.Remaining.Steady != 0
		if len(p.of) == i {
			p.of = append(p.of, proven{})
		}
		p.of[i] = proven{c.ID, weightOf(c), c.Remaining.Steady, c.Remaining.Carried}
	}
	p.of = p.of[:len(all)]
	return same
}

// choose is bssi.find by intervals: each coflow has up to drift less on each of its links than was read, and
// rounding is up to slop. It reports false where more than one order is possible.
func (p *proof) choose(o *bssi, drift, slop float64) bool {
	p.sum, p.open = append(p.sum[:0], o.sum[:o.links]...), append(p.open[:0], o.open...)
	p.low, p.high = append(p.low[:0], o.weight...), append(p.high[:0], o.weight...)
	p.nextLow, p.nextHigh = grow(p.nextLow, len(o.weight)), grow(p.nextHigh, len(o.weight))
	for at := len(p.open) - 1; at > 0; at-- {
		last := p.last(o, drift, slop)
		if last < 0 {
			return false
		}
		i := p.open[last]
		o.place[i] = at
		for _, l := range o.used {
			p.sum[l] -= o.of(i)[l]
		}
		p.open = slices.Delete(p.open, last, last+1)
	}
	for _, i := range p.open {
		o.place[i] = 0
	}
	return true
}

// last returns which of the open coflows comes last, whichever of the links that can be the bottleneck is it;
// -1 where that is open. It bounds the weights that the others keep.
func (p *proof) last(o *bssi, drift, slop float64) int {
	most := 0.0
	for _, l := range o.used {
		most = max(most, p.sum[l])
	}
	least, last := most-float64(len(p.open))*(drift+2*slop), -1
	for _, i := range p.open {
		p.nextLow[i], p.nextHigh[i] = math.Inf(1), 0
	}
	for _, l := range o.used {
		if p.sum[l] < least {
			continue
		}
		k, low, high := p.lastOn(o, l, drift, slop)
		if k < 0 || last >= 0 && k != last {
			return -1
		}
		last = k
		for _, i := range p.open {
			n := o.of(i)[l]
			p.nextLow[i] = min(p.nextLow[i], p.low[i]-high*upTo(n, slop))
			p.nextHigh[i] = max(p.nextHigh[i], p.high[i]-low*max(n-drift-slop, 0))
		}
	}
	for _, i := range p.open {
		rounding := 1e-9 * o.weight[i]
		p.low[i], p.high[i] = max(p.nextLow[i]-rounding, 0), p.nextHigh[i]+rounding
	}
	return last
}

// lastOn is last for one bottleneck, and returns bounds of the price.
func (p *proof) lastOn(o *bssi, l pathmap.LinkID, drift, slop float64) (last int, low, high float64) {
	last, high = -1, math.Inf(1)
	for k, i := range p.open {
		if n := o.of(i)[l] - drift - slop; n > 0 && p.high[i]/n*(1+1e-9) < high {
			last, high = k, p.high[i]/n*(1+1e-9)
		}
	}
	for k, i := range p.open {
		n := upTo(o.of(i)[l], slop)
		if n == 0 {
			continue // it is not there, and cannot come there
		}
		if price := p.low[i] / n * (1 - 1e-9); k == last {
			low = price
		} else if price <= high {
			return -1, 0, 0
		}
	}
	return last, low, high
}

// upTo is the most that a coflow has on a link where it has n.
func upTo(n, slop float64) float64 {
	if n == 0 {
		return 0
	}
	return n + slop
}
