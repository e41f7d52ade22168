package collective

import (
	"container/heap"
	"fmt"
	"math"
	"time"

	"lightloom/pathmap"
)

// MaxPairChunks bounds the chunks of an all-to-all, of all pairs.
const MaxPairChunks = 1 << 20

// AllToAll returns a schedule that brings so many chunks of each node to each other one, and what none is below. Each
// chunk takes a path with the fewest links, those that are used least; where chunks meet, the one with the longest way
// to go is first.
func AllToAll(n *Network, chunks int, bytes pathmap.Bytes) (*Schedule, Bounds, error) {
	if err := checkChunks(n, chunks, bytes); err != nil {
		return nil, Bounds{}, err
	}
	if all := n.Nodes * n.Nodes * chunks; all > MaxPairChunks {
		return nil, Bounds{}, fmt.Errorf("plan all-to-all: %d chunks of all pairs; take %d at most", all, MaxPairChunks)
	}
	r := newRouting(n, chunks, bytes)
	for range 3 {
		r.route()
	}
	b := n.bounds((n.Nodes-1)*chunks, (n.Nodes-1)*chunks, bytes)
	b.Ingress = max(b.Ingress, r.volume())
	return newExchange(r).run(), b, nil
}

// routing is the paths of all pairs.
type routing struct {
	net    *Network
	chunks int
	bytes  pathmap.Bytes
	in     index
	hops   [][]int32 // from each node
	paths  [][]int32 // by chunk: links
	load   []float64 // by link: seconds that it is busy
	taken  []time.Duration
	cost   []float64 // by node, on the way from one chunk's end back to its beginning
	via    []int32   // by node: the link that leads on
	seen   []int32   // by node: the last chunk that came by
}

func newRouting(n *Network, chunks int, bytes pathmap.Bytes) *routing {
	r := &routing{net: n, chunks: chunks, bytes: bytes, in: n.byTo(), paths: make([][]int32, n.Nodes*n.Nodes*chunks),
		load: make([]float64, len(n.Links)), taken: make([]time.Duration, len(n.Links)), cost: make([]float64, n.Nodes),
		via: make([]int32, n.Nodes), seen: make([]int32, n.Nodes)}
	out := n.byFrom()
	for v := range int32(n.Nodes) {
		r.hops = append(r.hops, n.hops(out, v))
	}
	for l := range n.Links {
		r.taken[l], _ = n.busy(int32(l), bytes)
	}
	return r
}

// route gives every chunk a path, in place of the one that it had.
func (r *routing) route() {
	for v := range r.seen {
		r.seen[v] = -1
	}
	n := r.net.Nodes
	// Pairs the same distance in numbers apart come together, so that no node's links fill up first.
	for apart := 1; apart < n; apart++ {
		for i := range n {
			for m := range r.chunks {
				r.pair(int32(i), int32((i+apart)%n), int32((i*n+(i+apart)%n)*r.chunks+m))
			}
		}
	}
}

func (r *routing) pair(from, to, chunk int32) {
	for _, l := range r.paths[chunk] {
		r.load[l] -= r.taken[l].Seconds()
	}
	hops := r.hops[from]
	level := []int32{to}
	r.cost[to] = 0
	for left := hops[to]; left > 0; left-- {
		var next []int32
		for _, v := range level {
			for _, l := range r.in.of(v) {
				u := r.net.Links[l].From
				if hops[u] != left-1 {
					continue
				}
				// A square counts busy links more, so that the busiest is spared.
				busy := r.load[l] + r.taken[l].Seconds()
				cost := r.cost[v] + busy*busy
				if r.seen[u] != chunk {
					r.seen[u], r.cost[u] = chunk, math.Inf(1)
					next = append(next, u)
				}
				if cost < r.cost[u] {
					r.cost[u], r.via[u] = cost, l
				}
			}
		}
		level = next
	}
	path := r.paths[chunk][:0]
	for at := from; at != to; at = r.net.Links[r.via[at]].To {
		path = append(path, r.via[at])
		r.load[r.via[at]] += r.taken[r.via[at]].Seconds()
	}
	r.paths[chunk] = path
}

// volume returns how long all links together take for every chunk over the fewest links.
func (r *routing) volume() time.Duration {
	sends, rate, least := 0.0, 0.0, pathmap.MaxDuration
	for _, hops := range r.hops {
		for _, h := range hops {
			sends += float64(h) * float64(r.chunks)
		}
	}
	for i, l := range r.net.Links {
		rate += float64(l.Rate)
		least = min(least, r.taken[i])
	}
	inParts := sends * float64(r.bytes) * 8e9 / rate
	whole := sends * float64(least) / float64(len(r.net.Links))
	return time.Duration(max(inParts, whole))
}

// exchange is an all-to-all under way.
type exchange struct {
	*routing
	at     []int32   // by chunk: how many links are behind it
	queues []waiting // by link
	busy   []bool
	agenda *agenda
	out    *Schedule
}

func newExchange(r *routing) *exchange {
	x := &exchange{routing: r, at: make([]int32, len(r.paths)), queues: make([]waiting, len(r.net.Links)),
		busy: make([]bool, len(r.net.Links)), agenda: newAgenda(),
		out: &Schedule{Kind: KindAllToAll, Chunks: r.chunks, Bytes: r.bytes}}
	for c := range int32(len(r.paths)) {
		x.wait(c)
	}
	return x
}

// wait puts a chunk into the queue of its next link.
func (x *exchange) wait(c int32) {
	if left := x.paths[c][x.at[c]:]; len(left) > 0 {
		heap.Push(&x.queues[left[0]], waits{int32(len(left)), c})
	}
}

func (x *exchange) run() *Schedule {
	for l := range int32(len(x.queues)) {
		x.begin(l, 0)
	}
	for e := x.agenda.next(); e != nil; e = x.agenda.next() {
		for _, a := range e.arrived {
			x.at[a.chunk]++
			x.wait(a.chunk)
		}
		for _, l := range e.free {
			x.busy[l] = false
		}
		for _, l := range e.free {
			x.begin(l, e.at)
		}
		for _, a := range e.arrived {
			if left := x.paths[a.chunk][x.at[a.chunk]:]; len(left) > 0 {
				x.begin(left[0], e.at)
			}
		}
		x.agenda.reuse(e)
	}
	return x.out
}

// begin lets a link that is free carry the next chunk.
func (x *exchange) begin(l int32, now time.Duration) {
	if x.busy[l] || len(x.queues[l]) == 0 {
		return
	}
	c := heap.Pop(&x.queues[l]).(waits).chunk
	taken, arrives := x.net.busy(l, x.bytes)
	x.busy[l] = true
	x.out.Sends = append(x.out.Sends, Send{c, l, now})
	x.out.Ends = max(x.out.Ends, now+arrives)
	free := x.agenda.at(now + taken)
	free.free = append(free.free, l)
	there := x.agenda.at(now + arrives)
	there.arrived = append(there.arrived, arrival{c, l})
}

// waits is a chunk in a queue, with how many links are before it.
type waits struct{ left, chunk int32 }

// waiting is a heap, the longest way first.
type waiting []waits

func (w waiting) Len() int { return len(w) }
func (w waiting) Less(i, j int) bool {
	return w[i].left > w[j].left || w[i].left == w[j].left && w[i].chunk < w[j].chunk
}
func (w waiting) Swap(i, j int) { w[i], w[j] = w[j], w[i] }
func (w *waiting) Push(x any)   { *w = append(*w, x.(waits)) }

func (w *waiting) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}
