package anneal

import (
	"math"

	"lightloom/pathmap"
)

// network is links, the flows on them and the sinks that they end in. It keeps the utility up to date flow by flow:
// adding or removing one visits only the flows that share a link with it, and of those only the sinks of the ones whose
// rate changes are valued again.
//
// The rate of a flow is the minimum over its links of capacity ÷ flows on it, in whole bits a second.
type network struct {
	capacity []int64 // by link
	share    []int64 // capacity ÷ max(flows, 1)
	on       [][]visit
	flows    []flow
	spare    []int32 // flows that are free to be used again
	groups   []group
	dirty    []int32
	utility  int64
	work     int64 // flows visited so far
	paper    bool
}

// visit is one flow on one link: which of its hops that is.
type visit struct{ flow, hop int32 }

// flow is what travels as one connection: the bundle of all pairs of tasks of one edge that have the same two hosts.
type flow struct {
	links []pathmap.LinkID
	at    []int32 // by hop: its place among the visits of the link
	rate  int64
	group int32
	place int32 // among the members of its group
	pairs int32 // of tasks, that share it: each has its even part of the rate
}

// group is the sinks of one edge (or coflow) on one host: they have the same upstream roots. It is worth, for each
// sink, the least rate from any root. A root on the same host is as good as the host's own link.
type group struct {
	members []int32
	sinks   int32
	local   int64 // rate of a root on the same host
	value   int64
	marked  bool
}

func newNetwork(capacity []int64, paper bool) *network {
	n := &network{capacity: capacity, share: make([]int64, len(capacity)), on: make([][]visit, len(capacity)), paper: paper}
	copy(n.share, capacity)
	return n
}

// addGroup returns a new group.
func (n *network) addGroup(sinks int32, local int64) int32 {
	n.groups = append(n.groups, group{sinks: sinks, local: local})
	g := int32(len(n.groups) - 1)
	n.mark(g)
	return g
}

func (n *network) setSinks(g, sinks int32) {
	n.groups[g].sinks = sinks
	n.mark(g)
}

func (n *network) mark(g int32) {
	if !n.groups[g].marked {
		n.groups[g].marked = true
		n.dirty = append(n.dirty, g)
	}
}

// addFlow makes a flow that ends in a group and is on no link yet.
func (n *network) addFlow(g int32) int32 {
	var f int32
	if last := len(n.spare) - 1; last >= 0 {
		f = n.spare[last]
		n.spare = n.spare[:last]
	} else {
		f = int32(len(n.flows))
		n.flows = append(n.flows, flow{})
	}
	fl := &n.flows[f]
	fl.group, fl.pairs, fl.rate = g, 1, math.MaxInt64
	fl.links, fl.at = fl.links[:0], fl.at[:0]
	fl.place = int32(len(n.groups[g].members))
	n.groups[g].members = append(n.groups[g].members, f)
	n.mark(g)
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
	n.mark(fl.group)
	n.spare = append(n.spare, f)
}

func (n *network) setPairs(f, pairs int32) {
	n.flows[f].pairs = pairs
	n.mark(n.flows[f].group)
}

// lay puts a flow on links, after those it is on already.
func (n *network) lay(f int32, links []pathmap.LinkID) {
	fl := &n.flows[f]
	for _, l := range links {
		n.enter(fl, f, l)
	}
	fl.rate = n.bottleneck(fl)
	n.mark(fl.group)
}

func (n *network) enter(fl *flow, f int32, l pathmap.LinkID) {
	others := n.on[l]
	share := n.capacity[l] / int64(len(others)+1)
	n.share[l] = share
	n.work += int64(len(others)) + 1
	for _, o := range others {
		if other := &n.flows[o.flow]; other.rate > share {
			other.rate = share
			n.mark(other.group)
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
	n.share[l] = n.capacity[l] / int64(max(last, 1))
	n.work += int64(len(on)) + 1
	if n.share[l] == before {
		return
	}
	for _, o := range on {
		// Only a flow that this link held back can be faster now.
		if other := &n.flows[o.flow]; other.rate == before {
			if r := n.bottleneck(other); r != before {
				other.rate = r
				n.mark(other.group)
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

// value settles what has changed and returns the utility: the sum over all sinks.
func (n *network) value() int64 {
	for _, g := range n.dirty {
		gr := &n.groups[g]
		gr.marked = false
		v := n.worth(gr)
		n.utility += v - gr.value
		gr.value = v
	}
	n.dirty = n.dirty[:0]
	return n.utility
}

func (n *network) worth(g *group) int64 {
	if g.sinks == 0 {
		return 0
	}
	least := g.local
	n.work += int64(len(g.members))
	for _, f := range g.members {
		fl := &n.flows[f]
		r := fl.rate
		if !n.paper {
			r /= int64(fl.pairs)
		}
		least = min(least, r)
	}
	return int64(g.sinks) * least
}

// afford returns the rate that one more flow would get on some links.
func (n *network) afford(links []pathmap.LinkID) int64 {
	r := int64(math.MaxInt64)
	for _, l := range links {
		r = min(r, n.capacity[l]/int64(len(n.on[l])+1))
	}
	return r
}
