package collective

import (
	"sort"
	"time"

	"lightloom/pathmap"
)

// Bounds are what no schedule is below.
type Bounds struct {
	// Ingress is the time in which the node with the slowest links receives what it lacks, in parts of any size, with
	// the least latency of its links: the NIC bound.
	Ingress time.Duration
	// Chunks is the same in whole chunks.
	Chunks time.Duration
	// Distance is the time of one chunk on the fastest path between the nodes that are farthest apart, or a lower one.
	Distance time.Duration
}

// Best returns the largest of the bounds.
func (b Bounds) Best() time.Duration { return max(b.Ingress, b.Chunks, b.Distance) }

// bounds returns the bounds of an all-gather; receives is how many chunks a node lacks at
// first, and own how many a link can carry before anything has arrived at its sender.
func (n *Network) bounds(receives, own int, bytes pathmap.Bytes) Bounds {
	in, b, first := n.byTo(), Bounds{}, pathmap.MaxDuration
	for l := range n.Links {
		_, arrives := n.busy(int32(l), bytes)
		first = min(first, arrives)
	}
	for v := range int32(n.Nodes) {
		links := in.of(v)
		rate, least := pathmap.BitsPerSecond(0), pathmap.MaxDuration
		for _, l := range links {
			rate += n.Links[l].Rate
			least = min(least, n.Links[l].Latency)
		}
		if receives == 0 || len(links) == 0 {
			continue
		}
		b.Ingress = max(b.Ingress, (pathmap.Bytes(receives)*bytes).Over(rate)+least)
		b.Chunks = max(b.Chunks, n.chunkBound(links, receives, own, first, bytes))
	}
	if receives > 0 {
		b.Distance = n.distance(bytes)
	}
	return b
}

// chunkBound returns when so many chunks can have come over some links. Until the first arrival anywhere each of them
// has carried its sender's own at most.
func (n *Network) chunkBound(links []int32, receives, own int, first time.Duration, bytes pathmap.Bytes) time.Duration {
	most := time.Duration(0)
	for _, l := range links {
		taken, arrives := n.busy(l, bytes)
		most = max(most, first+arrives+time.Duration(receives)*taken)
	}
	within := func(t time.Duration) bool {
		came := 0
		for _, l := range links {
			taken, arrives := n.busy(l, bytes)
			taken = max(1, taken)
			before := min(own, int((first+taken-1)/taken)) // begun before the first arrival
			came += began(t-arrives, taken, before) + began(t-arrives-max(first, time.Duration(before)*taken), taken, receives)
		}
		return came >= receives
	}
	return time.Duration(sort.Search(int(most), func(t int) bool { return within(time.Duration(t)) }))
}

// began returns how many sends, of so many one after the other from 0 on, have begun at a time.
func began(at, taken time.Duration, most int) int {
	if at < 0 {
		return 0
	}
	return min(most, int(at/taken)+1)
}

// distance returns how long a chunk is under way over as many links as the farthest node of one is away, if all were as
// fast as the fastest one.
func (n *Network) distance(bytes pathmap.Bytes) time.Duration {
	least, far := pathmap.MaxDuration, int32(0)
	for l := range n.Links {
		_, arrives := n.busy(int32(l), bytes)
		least = min(least, arrives)
	}
	out := n.byFrom()
	for v := range int32(min(n.Nodes, probes)) {
		for _, hops := range n.hops(out, v) {
			far = max(far, hops)
		}
	}
	return time.Duration(far) * least
}

// probes is how many nodes the farthest one is looked for from.
const probes = 64
