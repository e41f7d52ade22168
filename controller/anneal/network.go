package anneal

import (
	"math"
	"slices"

	"lightloom/pathmap"
)

// network is links and the flows on them. It keeps what the flows are worth up to date flow by flow: adding or removing
// one visits only the flows that share a link with it, and of those only the jobs of the ones whose rate changes are
// valued again (worth.go).
//
// The rate of a flow is the minimum over its links of capacity ÷ flows on it, in whole bits a second.
type network struct {
	capacity []int64 // by link
	share    []int64 // capacity ÷ max(flows, 1)
	next     []int64 // capacity ÷ (flows + 1): what one more would have
	on       [][]visit
	flows    []flow
	spare    []int32 // flows that are free to be used again
	work     int64   // flows visited so far
	paper    bool
	dark     *dark // nil: no flow can be on a circuit that is still to come
	worth
}

// visit is one flow on one link: which of its hops that is.
type visit struct{ flow, hop int32 }

// flow is what travels as one connection: the bundle of all pairs of tasks of one edge that have the same two hosts.
type flow struct {
	links []pathmap.LinkID
	at    []int32 // by hop: its place among the visits of the link
	rate  int64
	each  int64 // of it: what one pair of tasks has, in mode paper all of it
	group int32
	place int32 // among the members of its group
	pairs int32 // of tasks, that share it: each has its even part of the rate

	circuit int32   // the pair of racks whose circuit it is on; none
	bits    float64 // layer 2, of one pair of tasks: what a circuit's outage is weighed against
}

func newNetwork(capacity []int64, paper bool) *network {
	return &network{capacity: capacity, share: slices.Clone(capacity), next: slices.Clone(capacity),
		on: make([][]visit, len(capacity)), paper: paper}
}

// slack is how many flows more than a network has on a link now its clone takes there without asking for memory.
const slack = 4

// clone returns a network that changes by itself.
func (n *network) clone() *network {
	c := *n
	c.share, c.next, c.spare = slices.Clone(n.share), slices.Clone(n.next), slices.Clone(n.spare)
	c.on, c.flows = make([][]visit, len(n.on)), make([]flow, len(n.flows), len(n.flows)+64)
	visits, hops := 0, 0
	for l := range n.on {
		visits += len(n.on[l])
	}
	for f := range n.flows {
		hops += len(n.flows[f].links)
	}
	// One piece of memory for all; what grows beyond its part moves out by itself.
	all := make([]visit, visits+slack*len(n.on))
	for l := range n.on {
		k := copy(all, n.on[l])
		c.on[l], all = all[:k:k+slack], all[k+slack:]
	}
	links, places := make([]pathmap.LinkID, 0, hops), make([]int32, 0, hops)
	for f := range n.flows {
		at := len(links)
		links, places = append(links, n.flows[f].links...), append(places, n.flows[f].at...)
		c.flows[f] = n.flows[f]
		c.flows[f].links, c.flows[f].at = links[at:len(links):len(links)], places[at:len(places):len(places)]
	}
	c.worth, c.dark = n.worth.clone(), n.dark.clone()
	return &c
}

// usual is how many links most flows are on at most.
const usual = 8

// addFlow makes a flow of a group that is on no link yet.
func (n *network) addFlow(g int32) int32 {
	var f int32
	if last := len(n.spare) - 1; last >= 0 {
		f = n.spare[last]
		n.spare = n.spare[:last]
	} else {
		f = int32(len(n.flows))
		n.flows = append(n.flows, flow{links: make([]pathmap.LinkID, 0, usual), at: make([]int32, 0, usual)})
	}
	fl := &n.flows[f]
	fl.group, fl.pairs, fl.rate, fl.each = g, 1, math.MaxInt64, math.MaxInt64
	fl.circuit, fl.bits = none, 0
	fl.links, fl.at = fl.links[:0], fl.at[:0]
	fl.place = int32(len(n.groups[g].members))
	n.groups[g].members = append(n.groups[g].members, f)
	return f
}

// removeFlow takes a flow that is on no link out of its group.
func (n *network) removeFlow(f int32) {
	fl := &n.flows[f]
	g := &n.groups[fl.group]
	last := len(g.members) - 1
	g.members[fl.place] = g.members[last]
	n.flows[g.members[last]].place = fl.place
	g.members = g.members[:last]
	n.changed(fl.group, fl.each, math.MaxInt64)
	n.spare = append(n.spare, f)
}

func (n *network) setPairs(f, pairs int32) {
	n.flows[f].pairs = pairs
	n.setRate(&n.flows[f], n.flows[f].rate)
}

// setRate gives a flow its rate and tells its group.
func (n *network) setRate(fl *flow, rate int64) {
	was := fl.each
	fl.rate, fl.each = rate, n.worthOf(fl, rate)
	if !n.paper && fl.pairs > 1 && rate != math.MaxInt64 {
		fl.each /= int64(fl.pairs)
	}
	if fl.each != was {
		n.changed(fl.group, was, fl.each)
	}
}

// lay puts a flow on links, after those it is on already.
func (n *network) lay(f int32, links []pathmap.LinkID) {
	fl := &n.flows[f]
	for _, l := range links {
		n.enter(fl, f, l)
	}
	n.join(fl, links)
	n.setRate(fl, n.bottleneck(fl))
}

func (n *network) enter(fl *flow, f int32, l pathmap.LinkID) {
	others := n.on[l]
	share := n.next[l]
	n.share[l], n.next[l] = share, n.capacity[l]/int64(len(others)+2)
	n.work += int64(len(others)) + 1
	for _, o := range others {
		if other := &n.flows[o.flow]; other.rate > share {
			n.setRate(other, share)
		}
	}
	fl.at = append(fl.at, int32(len(others)))
	n.on[l] = append(others, visit{f, int32(len(fl.links))})
	fl.links = append(fl.links, l)
}

// lift takes a flow off all its links from hop first on.
func (n *network) lift(f int32, first int) {
	fl := &n.flows[f]
	for hop := len(fl.links) - 1; hop >= first; hop-- {
		n.leave(fl, hop)
	}
	fl.links, fl.at = fl.links[:first], fl.at[:first]
	if fl.circuit != none {
		n.part(fl)
	}
}

func (n *network) leave(fl *flow, hop int) {
	l := fl.links[hop]
	on := n.on[l]
	last := len(on) - 1
	moved := on[last]
	on[fl.at[hop]] = moved
	n.flows[moved.flow].at[moved.hop] = fl.at[hop]
	on = on[:last]
	n.on[l] = on
	before := n.share[l]
	n.next[l] = before
	n.share[l] = n.capacity[l] / int64(max(last, 1))
	n.work += int64(len(on)) + 1
	if n.share[l] == before {
		return
	}
	for _, o := range on {
		// Only a flow that this link held back can be faster now.
		if other := &n.flows[o.flow]; other.rate == before {
			if r := n.bottleneck(other); r != before {
				n.setRate(other, r)
			}
		}
	}
}

func (n *network) bottleneck(fl *flow) int64 {
	r := int64(math.MaxInt64)
	for _, l := range fl.links {
		r = min(r, n.share[l])
	}
	return r
}

// afford returns the rate that one more flow would get on some links.
func (n *network) afford(links []pathmap.LinkID) int64 {
	r := int64(math.MaxInt64)
	for _, l := range links {
		r = min(r, n.next[l])
	}
	return r
}
