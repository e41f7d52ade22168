package share

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Ordered serves coflows in an order. Each coflow gets the rates at which all its host flows end
// together on the links that are left, and no more (MADD, minimum allocation for desired duration:
// Chowdhury, Zhong and Stoica, "Efficient coflow scheduling with Varys", SIGCOMM 2014, algorithm 1); a
// coflow that finds one of its links taken gets rate zero. The remaining capacity goes to single host
// flows in the same order (back-filling), so that no usable link idles.
//
// fifo, scf, ncf, lcf, sebf and bssi differ only in the order. Host flows on circuits come before all
// coflows and share their hosts' links max-min fairly. Headers are charged, but not on a crossbar.
//
// Between two decisions rates do not change: the rate of a host flow that ends early is idle until the
// next coflow starts or ends, unless the policy is called again at the end of every host flow.
type Ordered struct {
	order  ranking
	lean   bool // the order does not use bytes left
	prompt bool // rates are decided at the end of host flows, too
	bounds bool // a decision uses them
	fewest int  // rows from which on bounds of what a coflow has on links do for the order; 0: they never do
	whole  bool // no link has given anything away, and all that can bind are alike

	topologyContext topologyContext
	books           books
	circuits        MaxMin
	open            []*coflowRows
	all             []demand
	loads           []load
	at              []int32
	when            []uint64
	epoch           uint64
	mask            []uint64
	left            ends // kept by dclas from one decision to the next
	room            room
	full            []hostLink // links that MADD has left nothing of
	senders         southbound.Senders
	allot           allot
	taken           []float64 // by link; zero between calls
	rates           southbound.Rates
	groups          [][]southbound.Extra // by coflow, sorted; none while they are not known
	spare           []southbound.Extra
}

// ranking sorts demands into the order in which they are served. Ties end with the id.
type ranking interface {
	rank(g *topologyContext, all []demand)
}

// sortKey is a number by which coflows are compared.
type sortKey func(d *demand) float64

// byKey ranks by one key, the smallest first.
type byKey struct {
	key      sortKey
	keys     []keyed
	unsorted []demand
}

// keyed is the key of a demand, and the place that the demand has before it is ranked.
type keyed struct {
	key float64
	id  southbound.CoflowID
	at  int32
}

func newByKey(key sortKey) *byKey { return &byKey{key: key} }

// rank sorts keys alone, which are small, and then moves demands once.
func (o *byKey) rank(_ *topologyContext, all []demand) {
	o.keys = o.keys[:0]
	for i := range all {
		o.keys = append(o.keys, keyed{o.key(&all[i]), all[i].c.ID, int32(i)})
	}
	byKeyAndID := func(a, b keyed) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id)) }
	if slices.IsSortedFunc(o.keys, byKeyAndID) {
		return
	}
	slices.SortFunc(o.keys, byKeyAndID)
	o.unsorted = append(o.unsorted[:0], all...)
	for i, k := range o.keys {
		all[i] = o.unsorted[k.at]
	}
	clear(o.unsorted) // coflows that are over are not held
}

// Wants implements the part's list of events.
func (o *Ordered) Wants() controller.KindSet {
	if o.prompt {
		return ofFlows()
	}
	return ofCoflows()
}

// ofCoflows are the events after which rates by coflow can change.
func ofCoflows() controller.KindSet {
	return controller.Kinds(controller.CoflowStarted, controller.CoflowEnded,
		controller.CircuitReservationEnded,
		controller.CircuitInService, controller.FabricChanged)
}

// ofFlows adds the end of each host flow.
func ofFlows() controller.KindSet { return ofCoflows() | controller.Kinds(controller.HostFlowEnded) }

// Fill sets the rates of all coflows.
func (o *Ordered) Fill(v *controller.View, ev []controller.Event, p *controller.Plan) {
	o.start(v, p)
	o.full, o.bounds, o.whole = o.full[:0], o.fewest > 0, len(v.Circuits) == 0 && o.topologyContext.alike > 0
	all := o.demands(v, ev)
	o.rank(v, all)
	for i := range all {
		o.madd(v, &all[i])
	}
	o.bounds, o.whole = false, false
	o.backfillAll(v, all)
	o.finish(p)
}

// start empties the answer and gives circuits what they take.
func (o *Ordered) start(v *controller.View, p *controller.Plan) {
	o.rates = southbound.Rates{Pace: o.rates.Pace[:0], Spread: o.rates.Spread[:0], Extra: o.rates.Extra[:0],
		Pairs: o.rates.Pairs[:0]}
	o.groups = o.groups[:0]
	o.topologyContext.refresh(v, p)
	if len(v.Circuits) == 0 {
		return
	}
	given := o.circuits.onCircuits(v, p)
	o.rates.Pairs = append(o.rates.Pairs, given.say...)
	for i, c := range given.classes {
		for _, l := range links(v, c) {
			o.topologyContext.take(l, float64(given.rate[i])*float64(given.flows[i]))
		}
	}
}

// madd gives a coflow the finish instant that the links have left for it, and takes that from them.
func (o *Ordered) madd(v *controller.View, d *demand) {
	g := &o.topologyContext
	if !o.whole && (d.bounded && o.stuckByLoad(v, d) || !d.bounded && o.stuck(d)) {
		o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: d.c.ID})
		return
	}
	o.addUp(v, d)
	ns := d.gamma
	if !o.whole {
		ns = d.among(g.free)
	}
	until, ok := instant(v.Now, ns)
	if ok = ok && len(d.loads) > 0; !ok {
		until = 0
	}
	o.rates.Pace = append(o.rates.Pace, southbound.Pace{Coflow: d.c.ID, Until: until})
	if ok {
		took, free, most := float64(until-v.Now), g.free, g.mostSpare
		for i := range d.loads {
			l := &d.loads[i]
			left := free[l.link] - l.bits*1e9/took
			if left < 0 { // the builtin max takes several times as long
				left = 0
			}
			if free[l.link] = left; left < most && left < g.residual[l.link] && o.bounds {
				o.full = append(o.full, hostLink{g.hostAt[l.link], g.isUp[l.link]})
			}
		}
		o.whole = false
	}
}

// among returns the nanoseconds that a coflow takes over links with so much left, bits a second each.
func (d *demand) among(free []float64) (ns float64) {
	for i := range d.loads {
		l := &d.loads[i]
		if x := l.bits / free[l.link] * 1e9; x > ns {
			ns = x
		}
	}
	return ns
}

// stuck reports whether some link of a coflow has nothing left. It reads the last such link first:
// mostly it is still full.
func (o *Ordered) stuck(d *demand) bool {
	g := &o.topologyContext
	if at := int(d.b.stuck); at < len(d.loads) && g.gone(d.loads[at].link) {
		return true
	}
	for i := range d.loads {
		if g.gone(d.loads[i].link) {
			d.b.stuck = int32(i)
			return true
		}
	}
	return false
}

// instant returns the whole nanosecond that ends a time from now, rounded up, at least one later; false
// where that is beyond all runs. A hundred-billionth of a thousandth less counts as whole, as in the
// fabric.
func instant(now time.Duration, ns float64) (time.Duration, bool) {
	ns = math.Ceil(ns * (1 - 1e-14))
	if !(ns < float64(southbound.Never/4)) {
		return 0, false
	}
	return now + max(time.Duration(ns), 1), true
}

// backfill gives what is left to host flows of a coflow, in the order of its rows.
func (o *Ordered) backfill(v *controller.View, d *demand) {
	g, b := &o.topologyContext, d.b
	o.free(b)
	tags := g.tags(d.c)
	for i := range b.runs {
		if g.empty(g.down[b.runs[i].dst]) {
			continue
		}
		for at := b.next(i, 0, o.mask); at >= 0; at = b.next(i, at+1, o.mask) {
			row := b.row(i, at)
			if !g.onPackets(v, d.c, row, tags[row]) || !o.extra(v, d.c, row, tags[row]) {
				continue
			}
			if h := b.src[at]; g.empty(g.up[h]) {
				o.mask[at/64] &^= 1 << (at % 64)
			}
			if g.empty(g.down[b.runs[i].dst]) {
				break
			}
		}
	}
}

// extra gives a row all that its links have left, and reports whether that was anything.
func (o *Ordered) extra(v *controller.View, c *controller.CoflowView, row int32, tag southbound.Tag) bool {
	g := &o.topologyContext
	if g.plain {
		return o.extraPlain(c, row)
	}
	links := g.links(v, c.Src[row], c.Dst[row], tag)
	rate := math.Inf(1)
	for _, l := range links {
		if g.empty(l) {
			return false
		}
		rate = min(rate, g.free[l])
	}
	if rate < 1 {
		return false
	}
	for _, l := range links {
		g.take(l, math.Floor(rate))
	}
	o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: c.ID, Row: row},
		Rate: pathmap.BitsPerSecond(rate)})
	return true
}

// extraPlain is extra where only the links of hosts can bind.
func (o *Ordered) extraPlain(c *controller.CoflowView, row int32) bool {
	g := &o.topologyContext
	up, down := g.up[c.Src[row]], g.down[c.Dst[row]]
	if g.empty(up) || g.empty(down) {
		return false
	}
	rate := min(g.free[up], g.free[down])
	if rate < 1 {
		return false
	}
	g.take(up, math.Floor(rate))
	g.take(down, math.Floor(rate))
	o.rates.Extra = append(o.rates.Extra, southbound.Extra{HostFlowKey: southbound.HostFlowKey{Coflow: c.ID, Row: row},
		Rate: pathmap.BitsPerSecond(rate)})
	return true
}

// finish puts the answer into the plan, in an order that does not depend on the view's.
func (o *Ordered) finish(p *controller.Plan) {
	o.sortExtra()
	p.Share = &o.rates
}

// sortExtra sorts extras by coflow and row.
func (o *Ordered) sortExtra() {
	all := o.rates.Extra
	if len(o.groups) == 0 {
		o.groupExtra()
	}
	byID := func(a, b []southbound.Extra) int {
		return cmp.Or(cmp.Compare(a[0].Coflow, b[0].Coflow), cmp.Compare(a[0].Row, b[0].Row))
	}
	if slices.IsSortedFunc(o.groups, byID) {
		return
	}
	slices.SortFunc(o.groups, byID)
	o.spare = o.spare[:0]
	for _, g := range o.groups {
		o.spare = append(o.spare, g...)
	}
	o.rates.Extra, o.spare = o.spare, all
}

// groupExtra finds the extras of each coflow, which come together, and mostly sorted.
func (o *Ordered) groupExtra() {
	all := o.rates.Extra
	for first := 0; first < len(all); {
		end, sorted := first+1, true
		for end < len(all) && all[end].Coflow == all[first].Coflow {
			sorted = sorted && all[end-1].Row <= all[end].Row
			end++
		}
		if !sorted {
			slices.SortFunc(all[first:end], func(a, b southbound.Extra) int { return cmp.Compare(a.Row, b.Row) })
		}
		o.groups = append(o.groups, all[first:end])
		first = end
	}
}

// next returns the first source from one on that a mask and the live rows of a run have in common, -1
// if there is none.
func (b *coflowRows) next(i, from int, mask []uint64) int {
	live := b.live[i*b.words : (i+1)*b.words]
	for w := from / 64; w < len(live); w++ {
		word := live[w] & mask[w]
		if w == from/64 {
			word &= ^uint64(0) << (from % 64)
		}
		if word != 0 {
			return w*64 + bits.TrailingZeros64(word)
		}
	}
	return -1
}

// resize returns a slice of n zeros that keeps s's memory where it can.
func resize(s []uint64, n int) []uint64 {
	s = slices.Grow(s[:0], n)[:n]
	clear(s)
	return s
}
