package anneal

import "lightloom/pathmap"

// The bundles of one rack pair go over its circuit together. They come and go at once: what else is on the two ports is
// visited once for all of them.

// layAll puts flows on the same links, after those that each is on already.
func (n *network) layAll(flows []int32, links []pathmap.LinkID) {
	for _, l := range links {
		n.enterAll(flows, l)
	}
	for _, f := range flows {
		n.join(f, links)
		n.settleRate(f)
	}
}

func (n *network) enterAll(flows []int32, l pathmap.LinkID) {
	k, count := &n.links[l], int64(len(n.on[l])+len(flows))
	k.share, k.next = k.capacity/max(count, 1), k.capacity/(count+1)
	n.work += int64(len(flows))
	if k.most > k.share {
		n.hold(l)
	}
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
