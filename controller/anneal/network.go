package anneal

import (
	"math"
	"slices"

	"lightloom/pathmap"
)

// network is links and the flows on them. It updates the flows' objective flow by flow: adding or
// removing a flow visits only the flows that one of its links limits, and re-values only the sinks of
// those whose rate changes (objective.go).
//
// The rate of a flow is the minimum over its links of capacity ÷ flows on it, in whole bits a second.
// Large arrays hold no pointers: every restart of a run works on a copy. Of a fabric's links only those
// are in it that a flow has been on: there may be hundreds of thousands.
type network struct {
	capacity []int64 // by link of the fabric, borrowed
	number   []int32 // by link of the fabric: its place in links, and one; 0: it is not in it

	links     []link
	lists     []list           // by place: where its visits are
	visits    []visit          // of all links
	id        []pathmap.LinkID // by place
	flows     []flow
	rate      []int64 // by flow
	hops      []hop   // stride of them for each flow
	stride    int32
	spare     []int32 // flows that are free to be used again
	work      int64   // links and flows visited so far
	touched   []share // room for reroute
	isTouched []bool  // by place
	paper     bool
	trial     trial
	byHost    [2][]int32 // memory of placing: zeros
	objective
}

// link is one link and what it gives.
type link struct {
	capacity int64
	share    int64 // capacity ÷ max(flows, 1)
	next     int64 // capacity ÷ (flows + 1): what one more would have
	most     int64 // no flow on it has more: where that is too little, none is held back and none need be visited
}

// visit is one flow on one link: which of its hops that is.
type visit struct{ flow, hop int32 }

// list is a part of the visits of all links: from at on, and how many can be there.
type list struct{ at, len, room int32 }

// hop is one link of a flow, by its place, and the flow's place among the visits of the link.
type hop struct {
	link int32
	at   int32
}

// flow is what travels as one connection: the host flow of all pairs of tasks of one edge that have the
// same two hosts.
type flow struct {
	each  int64 // of its rate: what one pair of tasks has, in mode paper all of it
	hops  int32 // how many it has
	group int32
	place int32 // among the members of its group
	pairs int32 // of tasks, that share it: each has its even part of the rate
}

// usual is how many links most flows are on at most.
const usual = 8

// newNetwork returns a network without flows, in the memory of another one that is not in use any more; nil: there is
// none.
func newNetwork(capacity []int64, paper bool, memory *network) *network {
	if memory == nil {
		memory = &network{}
	}
	return &network{capacity: capacity, number: zeroed(memory.number, len(capacity)), stride: usual, paper: paper,
		links: memory.links[:0], lists: memory.lists[:0], visits: memory.visits[:0], id: memory.id[:0],
		flows: memory.flows[:0], rate: memory.rate[:0], hops: memory.hops[:0], spare: memory.spare[:0],
		touched: memory.touched[:0], isTouched: memory.isTouched[:0], trial: memory.trial, byHost: memory.byHost}
}

// zeroed returns so many zeros, in memory that is used again if it is enough.
func zeroed(memory []int32, n int) []int32 {
	if cap(memory) < n {
		return make([]int32, n)
	}
	memory = memory[:n]
	clear(memory)
	return memory
}

// at returns the place of a link.
func (n *network) at(l pathmap.LinkID) int32 {
	if k := n.number[l]; k > 0 {
		return k - 1
	}
	c := n.capacity[l]
	n.links, n.id = append(n.links, link{capacity: c, share: c, next: c}), append(n.id, l)
	n.lists = append(n.lists, list{at: int32(len(n.visits)), room: few})
	n.extend(few)
	n.number[l] = int32(len(n.links))
	return n.number[l] - 1
}

// few is for how many flows on a link there is room from the start.
const few = 4

// extend adds room for visits.
func (n *network) extend(by int) { n.visits = slices.Grow(n.visits, by)[:len(n.visits)+by] }

// flowsOn returns the visits of a link. Borrowed until the next one comes.
func (n *network) flowsOn(l int32) []visit {
	p := n.lists[l]
	return n.visits[p.at : p.at+p.len]
}

// more is how many flows a clone has room for beside those that it begins with.
const more = 256

// expect makes room for flows to come.
func (n *network) expect(flows int) {
	n.flows, n.hops = slices.Grow(n.flows, flows), slices.Grow(n.hops, flows*int(n.stride))
	n.rate = slices.Grow(n.rate, flows)
}

// clone returns a network that changes by itself, in the memory of another one that is not in use any more; nil: there
// is none.
func (n *network) clone(memory *network) *network {
	if memory == nil {
		memory = &network{}
	}
	c := *n
	c.number = append(memory.number[:0], n.number...)
	c.id, c.links = copyOf(memory.id, n.id, len(n.id)/2), copyOf(memory.links, n.links, len(n.links)/2)
	c.lists, c.visits = copyOf(memory.lists, n.lists, len(n.lists)/2), copyOf(memory.visits, n.visits, len(n.visits)/2)
	c.touched, c.isTouched = memory.touched[:0], memory.isTouched[:0]
	c.spare = append(memory.spare[:0], n.spare...)
	c.flows, c.rate = copyOf(memory.flows, n.flows, more), copyOf(memory.rate, n.rate, more)
	c.hops = copyOf(memory.hops, n.hops, more*int(n.stride))
	c.trial, c.byHost = memory.trial, memory.byHost
	c.objective = n.objective.clone()
	return &c
}

// copyOf copies all into memory that is used again, or that has room for some more.
func copyOf[T any](memory, all []T, more int) []T {
	if cap(memory) < len(all) {
		memory = make([]T, 0, len(all)+more)
	}
	return append(memory[:0], all...)
}

// addFlow makes a flow of a group that is on no link yet.
func (n *network) addFlow(g int32) int32 {
	var f int32
	if last := len(n.spare) - 1; last >= 0 {
		f = n.spare[last]
		n.spare = n.spare[:last]
	} else {
		f = int32(len(n.flows))
		n.flows, n.rate = append(n.flows, flow{}), append(n.rate, 0)
		n.hops = slices.Grow(n.hops, int(n.stride))[:len(n.hops)+int(n.stride)]
	}
	n.rate[f] = math.MaxInt64
	n.flows[f] = flow{each: math.MaxInt64, group: g, place: n.enlist(g, f), pairs: 1}
	return f
}

// removeFlow takes a flow that is on no link out of its group.
func (n *network) removeFlow(f int32) {
	fl := &n.flows[f]
	n.changed(fl.group, fl.place, fl.each, math.MaxInt64)
	n.dismiss(fl.group, fl.place)
	n.spare = append(n.spare, f)
}

// hopsOf returns the hops of a flow.
func (n *network) hopsOf(f int32) []hop {
	at := f * n.stride
	return n.hops[at : at+n.flows[f].hops]
}

// widen makes room for twice as many hops for each flow.
func (n *network) widen() {
	wide := make([]hop, 2*len(n.hops))
	for f := range int32(len(n.flows)) {
		copy(wide[2*f*n.stride:], n.hopsOf(f))
	}
	n.hops, n.stride = wide, 2*n.stride
}

func (n *network) setPairs(f, pairs int32) {
	n.flows[f].pairs = pairs
	n.setRate(f, n.rate[f])
}

// setRate gives a flow its rate and updates its group.
func (n *network) setRate(f int32, rate int64) {
	fl := &n.flows[f]
	was := fl.each
	if rate > n.rate[f] {
		n.raise(f, rate)
	}
	n.rate[f], fl.each = rate, n.eachOf(fl, rate)
	if fl.each != was {
		n.changed(fl.group, fl.place, was, fl.each)
	}
}

// eachOf is what one pair of tasks of a flow has of a rate.
func (n *network) eachOf(fl *flow, rate int64) int64 {
	if n.paper || fl.pairs <= 1 || rate == math.MaxInt64 {
		return rate
	}
	return rate / int64(fl.pairs)
}

// raise notes on a flow's links that it can have as much.
func (n *network) raise(f int32, rate int64) {
	for _, h := range n.hopsOf(f) {
		l := &n.links[h.link]
		l.most = max(l.most, rate)
	}
}

// lay puts a flow on links, after those it is on already.
func (n *network) lay(f int32, links []pathmap.LinkID) {
	for _, l := range links {
		n.enter(f, l)
	}
	rate := n.bottleneck(f)
	n.raise(f, rate)
	n.setRate(f, rate)
}

func (n *network) enter(f int32, id pathmap.LinkID) {
	l := n.at(id)
	k := &n.links[l]
	k.share, k.next = k.next, k.capacity/int64(n.lists[l].len+2)
	n.work++
	n.tighten(l)
	n.visit(f, l)
}

// tighten sees to it that no flow on a link has more than its share, which has become less.
func (n *network) tighten(l int32) {
	if k := &n.links[l]; k.most > k.share {
		n.hold(l)
	}
}

// visit makes a link the next hop of a flow.
func (n *network) visit(f, l int32) {
	fl := &n.flows[f]
	if fl.hops == n.stride {
		n.widen()
	}
	p := &n.lists[l]
	if p.len == p.room { // they move to where there is room for twice as many
		at := int32(len(n.visits))
		n.extend(2 * int(p.room))
		copy(n.visits[at:], n.visits[p.at:p.at+p.len])
		p.at, p.room = at, 2*p.room
	}
	n.hops[f*n.stride+fl.hops] = hop{l, p.len}
	n.visits[p.at+p.len] = visit{f, fl.hops}
	p.len++
	fl.hops++
}

// hold lets no flow on a link have more than its share.
func (n *network) hold(l int32) {
	on, rates := n.flowsOn(l), n.rate
	n.work += int64(len(on))
	share, most := n.links[l].share, int64(0)
	for _, o := range on {
		if rate := rates[o.flow]; rate <= share {
			most = max(most, rate)
			continue
		}
		n.setRate(o.flow, share)
		most = share
	}
	n.links[l].most = most
}

// lift takes a flow off all its links from hop first on.
func (n *network) lift(f, first int32) {
	fl := &n.flows[f]
	for hop := fl.hops - 1; hop >= first; hop-- {
		n.work++
		n.relax(n.removeVisit(f, hop))
	}
	fl.hops = first
}

// removeVisit takes a flow out of the visits of one of its links, which it returns. The last of them comes
// to its place.
func (n *network) removeVisit(f, hop int32) int32 {
	h := n.hops[f*n.stride+hop]
	on := n.flowsOn(h.link)
	moved := on[len(on)-1]
	on[h.at] = moved
	n.hops[moved.flow*n.stride+moved.hop].at = h.at
	n.lists[h.link].len--
	return h.link
}

// relax shares a link among the flows that are left on it.
func (n *network) relax(l int32) {
	k := &n.links[l]
	before, left := k.share, int64(n.lists[l].len)
	k.next, k.share = k.capacity/(left+1), k.capacity/max(left, 1)
	if k.share != before && k.most >= before {
		n.free(l, before)
	}
}

// free gives the flows on a link that it has held back to a rate until now what the rest of their links
// allow.
func (n *network) free(l int32, rate int64) {
	on, rates := n.flowsOn(l), n.rate
	n.work += int64(len(on))
	most := int64(0)
	for _, o := range on {
		has := rates[o.flow]
		// Only a flow that this link held back can be faster now.
		if has == rate {
			if has = n.above(o.flow, rate); has != rate {
				n.setRate(o.flow, has)
			}
		}
		most = max(most, has)
	}
	n.links[l].most = most
}

// above is the bottleneck of a flow none of whose links gives less than a rate.
func (n *network) above(f int32, rate int64) int64 {
	r := int64(math.MaxInt64)
	for _, h := range n.hopsOf(f) {
		if r = min(r, n.links[h.link].share); r == rate {
			break
		}
	}
	return r
}

func (n *network) bottleneck(f int32) int64 {
	r := int64(math.MaxInt64)
	for _, h := range n.hopsOf(f) {
		r = min(r, n.links[h.link].share)
	}
	return r
}

// afford returns the rate that one more flow would get on some links.
func (n *network) afford(links []pathmap.LinkID) int64 {
	r := int64(math.MaxInt64)
	for _, l := range links {
		if k := n.number[l]; k > 0 {
			r = min(r, n.links[k-1].next)
		} else {
			r = min(r, n.capacity[l])
		}
	}
	return r
}

// without returns the rate that a flow of path now would get on another path. Paths have each link once, and the flow
// is on path now.
func (n *network) without(now, path []pathmap.LinkID) int64 {
	r := int64(math.MaxInt64)
	for _, l := range path {
		k := n.number[l]
		switch {
		case k == 0:
			r = min(r, n.capacity[l])
		case slices.Contains(now, l):
			r = min(r, n.links[k-1].share)
		default:
			r = min(r, n.links[k-1].next)
		}
	}
	return r
}

// hostHops is how many links of hosts a flow is on: its first, which stay when its path changes.
const hostHops = 2

// reroute is the links that a flow is to be on after those of its hosts.
type reroute struct {
	flow  int32
	links []pathmap.LinkID
}

// share is a link's place, and what was on it and what it gave before.
type share struct {
	link, flows int32
	was         int64
}

// reroute sends flows over other links all at once: rates are found when all shares are. Before, the rate of every flow
// is its bottleneck; each flow comes once, and is on the links of its hosts at least.
func (n *network) reroute(moves []reroute) {
	for i := range moves {
		n.transfer(&moves[i])
	}
	n.reshare()
	for i := range moves {
		f := moves[i].flow
		rate := n.bottleneck(f)
		n.raise(f, rate)
		n.setRate(f, rate)
	}
	for i := range n.touched {
		n.rerate(&n.touched[i])
	}
	n.touched = n.touched[:0]
}

// transfer takes a flow from its path to another one, and leaves shares and rates as they are.
func (n *network) transfer(m *reroute) {
	fl := &n.flows[m.flow]
	for hop := fl.hops - 1; hop >= hostHops; hop-- {
		n.touch(n.hopsOf(m.flow)[hop].link)
		n.removeVisit(m.flow, hop)
	}
	fl.hops = hostHops
	for _, id := range m.links {
		l := n.at(id)
		n.touch(l)
		n.visit(m.flow, l)
	}
}

// touch remembers a link that flows come to or leave.
func (n *network) touch(l int32) {
	for len(n.isTouched) < len(n.links) {
		n.isTouched = append(n.isTouched, false)
	}
	if !n.isTouched[l] {
		n.isTouched[l] = true
		n.touched = append(n.touched, share{l, n.lists[l].len, n.links[l].share})
	}
}

// reshare shares the touched links among the flows that are on them now.
func (n *network) reshare() {
	for _, m := range n.touched {
		n.isTouched[m.link] = false
		if flows := int64(n.lists[m.link].len); flows != int64(m.flows) {
			k := &n.links[m.link]
			k.share, k.next = k.capacity/max(flows, 1), k.capacity/(flows+1)
		}
	}
}

// rerate gives the flows on a touched link their rates: those that it held back, or those that have too much now.
func (n *network) rerate(m *share) {
	if k := &n.links[m.link]; k.share > m.was && k.most >= m.was {
		n.review(m.link, m.was, m.was)
	} else if k.share < m.was && k.most > k.share {
		n.review(m.link, k.share+1, math.MaxInt64)
	}
}

// review gives the flows on a link whose rates are in a range those that their links allow.
func (n *network) review(l int32, lo, hi int64) {
	most := int64(0)
	for _, o := range n.flowsOn(l) {
		has := n.rate[o.flow]
		if lo <= has && has <= hi {
			if is := n.bottleneck(o.flow); is != has {
				has = is
				n.setRate(o.flow, has)
			}
		}
		most = max(most, has)
	}
	n.links[l].most = most
}
