package collective

import (
	"time"

	"lightloom/pathmap"
)

// CutBound returns what no all-gather is below, with chunks in parts of any size and no latency: the set of nodes whose
// links into it take longest to carry the data of the nodes outside. It is exact, by maximum flows (Edmonds: as many
// arc-disjoint trees as the smallest cut has), and takes seconds on 512 nodes.
func CutBound(n *Network, chunks int, bytes pathmap.Bytes) time.Duration {
	data := pathmap.Bytes(chunks) * bytes // of a node
	seconds := 0.0
	for v := range n.Nodes {
		alone := make([]bool, n.Nodes)
		alone[v] = true
		seconds = max(seconds, n.cutTime(alone, data))
	}
	for v := range int32(n.Nodes) {
		for {
			longer := n.cutTime(n.smallestCut(v, data, seconds), data)
			if longer <= seconds*(1+1e-9) {
				break
			}
			seconds = longer
		}
	}
	return time.Duration(seconds * 1e9)
}

// cutTime returns how many seconds the links into a set take for the data of the others, 0 if there are no others.
func (n *Network) cutTime(inside []bool, data pathmap.Bytes) float64 {
	outside, rate := 0, 0.0
	for _, in := range inside {
		if !in {
			outside++
		}
	}
	for _, l := range n.Links {
		if !inside[l.From] && inside[l.To] {
			rate += float64(l.Rate)
		}
	}
	if outside == 0 {
		return 0
	}
	return float64(outside) * float64(data) * 8 / rate
}

// smallestCut returns the set around a node whose links in, and nodes inside, are worth least if links are worth what
// they carry in a time and nodes their data. It is a Newton step towards the slowest cut: a set that takes longer than
// the time is worth less than all data, which is what the set of all nodes is worth.
func (n *Network) smallestCut(v int32, data pathmap.Bytes, seconds float64) []bool {
	source := int32(n.Nodes)
	f := newFlow(n.Nodes + 1)
	for _, l := range n.Links {
		f.arc(l.From, l.To, float64(l.Rate)/8*seconds)
	}
	for u := range int32(n.Nodes) {
		f.arc(source, u, float64(data))
	}
	f.maximum(source, v)
	inside := make([]bool, n.Nodes)
	for u := range inside {
		inside[u] = f.level[u] < 0
	}
	return inside
}

// flow is Dinic's maximum flow on floating-point capacities.
type flow struct {
	to    []int32
	room  []float64
	arcs  [][]int32
	level []int32
	next  []int
	least float64 // room below this is none
}

func newFlow(nodes int) *flow {
	return &flow{arcs: make([][]int32, nodes), level: make([]int32, nodes), next: make([]int, nodes)}
}

func (f *flow) arc(from, to int32, room float64) {
	f.arcs[from] = append(f.arcs[from], int32(len(f.to)))
	f.arcs[to] = append(f.arcs[to], int32(len(f.to)+1))
	f.to, f.room = append(f.to, to, from), append(f.room, room, 0)
	f.least = max(f.least, room*1e-9)
}

// maximum pushes all that fits from s to t. Afterwards nodes that s does not reach have a level below zero.
func (f *flow) maximum(s, t int32) {
	for f.levels(s); f.level[t] >= 0; f.levels(s) {
		clear(f.next)
		for f.push(s, t, 1e300) > 0 {
		}
	}
}

func (f *flow) levels(s int32) {
	for i := range f.level {
		f.level[i] = -1
	}
	f.level[s] = 0
	for queue := []int32{s}; len(queue) > 0; queue = queue[1:] {
		for _, a := range f.arcs[queue[0]] {
			if to := f.to[a]; f.room[a] > f.least && f.level[to] < 0 {
				f.level[to] = f.level[queue[0]] + 1
				queue = append(queue, to)
			}
		}
	}
}

func (f *flow) push(at, t int32, room float64) float64 {
	if at == t {
		return room
	}
	for ; f.next[at] < len(f.arcs[at]); f.next[at]++ {
		a := f.arcs[at][f.next[at]]
		if to := f.to[a]; f.room[a] > f.least && f.level[to] == f.level[at]+1 {
			if got := f.push(to, t, min(room, f.room[a])); got > 0 {
				f.room[a] -= got
				f.room[a^1] += got
				return got
			}
		}
	}
	return 0
}
