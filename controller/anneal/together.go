package anneal

import "lightloom/pathmap"

// The host flows of one rack pair go over its circuit together. They come and go at once: what else is on the two ports
// is visited once for all of them.

// batch collects changes and updates rates once at the end. Without it, moving a whole coflow would recompute each
// flow's rate for every other flow that comes or goes.
type batch struct {
	open    bool
	number  int32
	touched []pathmap.LinkID
	last    []int32 // by link: the batch that touched it last
}

// together makes changes, and then updates the rates of all flows on the links touched. Rates must not be read
// meanwhile.
func (n *network) together(change func()) {
	n.open = true
	n.number++
	if len(n.last) != len(n.links) {
		n.last = make([]int32, len(n.links))
	}
	change()
	n.open = false
	for _, l := range n.touched {
		n.reckon(l)
	}
	n.touched = n.touched[:0]
}

func (n *network) touch(l pathmap.LinkID) {
	if n.last[l] != n.number {
		n.last[l] = n.number
		n.touched = append(n.touched, l)
	}
}

// reckon sets the rates of the flows on a link that have no rate yet in this batch.
func (n *network) reckon(l pathmap.LinkID) {
	most := int64(0)
	for _, o := range n.on[l] {
		if fl := &n.flows[o.flow]; fl.batch != n.number {
			n.work++
			fl.batch = n.number
			n.settleRate(o.flow)
		}
		most = max(most, n.flows[o.flow].rate)
	}
	n.links[l].most = most
}

// layAll puts flows on the same links, after those that each is on already.
func (n *network) layAll(flows []int32, links []pathmap.LinkID) {
	for _, l := range links {
		n.enterAll(flows, l)
	}
	for _, f := range flows {
		n.join(f, links)
		if !n.open {
			n.settleRate(f)
		}
	}
}

func (n *network) enterAll(flows []int32, l pathmap.LinkID) {
	k, count := &n.links[l], int64(len(n.on[l])+len(flows))
	k.share, k.next = k.capacity/max(count, 1), k.capacity/(count+1)
	n.work += int64(len(flows))
	n.tighten(l)
	for _, f := range flows {
		n.visit(f, l)
	}
}

// liftAll takes flows that share all their links from hop first on off these.
func (n *network) liftAll(flows []int32, first int32) {
	if len(flows) == 0 {
		return
	}
	for hop := n.flows[flows[0]].hops - 1; hop >= first; hop-- {
		var l pathmap.LinkID
		for _, f := range flows {
			l = n.strike(f, hop)
		}
		n.work += int64(len(flows))
		n.relax(l)
	}
	for _, f := range flows {
		fl := &n.flows[f]
		if fl.hops = first; fl.circuit != none {
			n.part(fl)
		}
	}
}
