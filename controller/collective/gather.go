package collective

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"lightloom/pathmap"
)

// gather is an all-gather under way. Whenever a link is free it takes the chunk that its sender has had for longest
// of those that its receiver neither has nor is being sent.
type gather struct {
	net    *Network
	chunks int // of all nodes
	words  int // of a set of chunks

	byNode
	byLink
	attempt
	giveUp time.Duration // a run that ends no sooner is given up

	agenda *agenda
	now    time.Duration
	sends  []Send
	ends   time.Duration
	undone int
	scratch
}

// byNode is what a gather knows of nodes, and of chunks.
type byNode struct {
	lack    []uint64 // sets: chunks that a node neither has nor is being sent
	have    []uint64 // sets: chunks that have arrived
	log     []uint16 // its chunks in the order of arrival
	count   []int32  // length of its log
	left    []int32  // size of lack
	idle    []int32  // links out of it that are not busy
	marked  []bool   // it is in touch
	in, out index
	held    []int32 // by chunk: nodes that have it or are being sent it, but for its own
}

// byLink is what a gather knows of links.
type byLink struct {
	from, to       []int32
	taken, arrives []time.Duration
	alike          bool    // all links are
	read           []int32 // how much of the sender's log its receiver has no use for
	busy           []bool
}

// scratch is memory that each decision uses anew.
type scratch struct {
	touch []int32 // nodes that may be sent something now
	picks []arrival
	tried []bool  // by pick
	open  []int32 // chunks that a node lacks
	free  []int32 // links into it
}

// newGather returns a gather without chunks yet, and with room for so many sends.
func newGather(n *Network, chunks int, bytes pathmap.Bytes, sends int) *gather {
	all := n.Nodes * chunks
	g := &gather{net: n, chunks: all, words: (all + 63) / 64, agenda: newAgenda(), giveUp: pathmap.MaxDuration,
		sends: make([]Send, 0, sends)}
	sets := n.Nodes * g.words
	g.byNode = byNode{lack: make([]uint64, sets), have: make([]uint64, sets), log: make([]uint16, n.Nodes*all),
		count: make([]int32, n.Nodes), left: make([]int32, n.Nodes), idle: make([]int32, n.Nodes),
		marked: make([]bool, n.Nodes), in: n.byTo(), out: n.byFrom(), held: make([]int32, all)}
	links := len(n.Links)
	g.byLink = byLink{taken: make([]time.Duration, links), arrives: make([]time.Duration, links),
		read: make([]int32, links), busy: make([]bool, links)}
	for i, l := range n.Links {
		g.taken[i], g.arrives[i] = n.busy(int32(i), bytes)
		g.from, g.to = append(g.from, l.From), append(g.to, l.To)
	}
	g.alike, _ = n.uniform()
	for v := range int32(n.Nodes) {
		slices.SortStableFunc(g.in.of(v), func(a, b int32) int { return cmp.Compare(g.arrives[a], g.arrives[b]) })
	}
	return g
}

// undoneAtFirst is how many sends an all-gather has.
func (g *gather) undoneAtFirst() int { return (g.net.Nodes - 1) * g.chunks }

// reset puts every chunk back to its node.
func (g *gather) reset(a attempt) {
	n := g.net.Nodes
	clear(g.have)
	clear(g.read)
	clear(g.busy)
	clear(g.count)
	clear(g.held)
	each := g.chunks / n
	for v := range n {
		lack := g.lack[v*g.words : (v+1)*g.words]
		for w := range lack {
			lack[w] = ^uint64(0)
		}
		if over := g.chunks % 64; over > 0 {
			lack[g.words-1] = 1<<over - 1
		}
		g.left[v] = int32(g.chunks - each)
		g.idle[v] = int32(len(g.out.of(int32(v))))
		for c := each * v; c < each*(v+1); c++ {
			lack[c/64] &^= 1 << (c % 64)
			g.keep(int32(v), int32(c))
		}
	}
	g.attempt, g.now, g.ends, g.sends, g.undone = a, 0, 0, g.sends[:0], g.undoneAtFirst()
}

// keep notes that a node has a chunk.
func (g *gather) keep(v, c int32) {
	g.have[int(v)*g.words+int(c)/64] |= 1 << (c % 64)
	g.log[int(v)*g.chunks+int(g.count[v])] = uint16(c)
	g.count[v]++
}

// run carries everything, and reports false where it gave up.
func (g *gather) run() bool {
	for v := range int32(g.net.Nodes) {
		g.mark(v)
	}
	g.decide()
	for g.undone > 0 && g.ends < g.giveUp {
		x := g.agenda.next()
		if x == nil { // only links that were left idle can bring the rest
			if !g.patient {
				return false
			}
			g.patient = false
			for v := range int32(g.net.Nodes) {
				g.mark(v)
			}
			g.decide()
			continue
		}
		g.now = x.at
		g.receive(x)
		g.agenda.reuse(x)
		g.decide()
	}
	for x := g.agenda.next(); x != nil; x = g.agenda.next() {
		g.agenda.reuse(x)
	}
	return g.undone == 0 && g.ends < g.giveUp
}

// receive deals with what happens at an instant, and marks the nodes that can be sent more.
func (g *gather) receive(x *instant) {
	for _, l := range x.free {
		g.busy[l] = false
		g.idle[g.from[l]]++
		g.mark(g.to[l])
	}
	for _, a := range x.arrived {
		v := g.to[a.link]
		g.keep(v, a.chunk)
		if g.idle[v] == 0 {
			continue
		}
		for _, l := range g.out.of(v) {
			if !g.busy[l] {
				g.mark(g.to[l])
			}
		}
	}
}

func (g *gather) mark(v int32) {
	if !g.marked[v] && g.left[v] > 0 {
		g.marked[v] = true
		g.touch = append(g.touch, v)
	}
}

// decide lets the free links of all marked nodes take chunks.
func (g *gather) decide() {
	for _, v := range g.touch {
		g.marked[v] = false
		g.pull(v)
	}
	g.touch = g.touch[:0]
}

// pull fills the links that lead to a node and are free.
func (g *gather) pull(v int32) {
	links := g.in.of(v)
	first := 0
	if g.alike {
		first = g.below(len(links)) // equal links take turns
	}
	var picks []arrival
	unfilled := true
	if g.mixed && g.undone < g.net.Nodes*(g.net.Nodes-1)/3 {
		picks = g.drawn(v, links)
	} else {
		picks, unfilled = g.oldest(v, links, first)
	}
	if unfilled && g.left[v] > 0 {
		picks = g.exchange(v, links, picks)
	}
	g.send(picks)
	g.picks = picks
}

// oldest lets the free links into a node choose, one after the other.
func (g *gather) oldest(v int32, links []int32, first int) (picks []arrival, unfilled bool) {
	lack := g.lack[int(v)*g.words:][:g.words]
	picks = g.picks[:0]
	for i := range links {
		at := first + i
		if at >= len(links) {
			at -= len(links)
		}
		l := links[at]
		if g.busy[l] || g.left[v] == 0 || g.patient && g.late(v, links, i) {
			continue
		}
		c := g.choose(lack, l)
		if c < 0 {
			unfilled = true
			continue
		}
		lack[c/64] &^= 1 << (c % 64)
		g.left[v]--
		g.held[c]++
		picks = append(picks, arrival{c, l})
	}
	return picks, unfilled
}

// drawn takes the chunks that a node lacks in random order, each over a random one of the free links that can carry it,
// as TACOS does: what is left at the end is then in many places.
func (g *gather) drawn(v int32, links []int32) []arrival {
	open, picks := g.open[:0], g.picks[:0]
	for w, x := range g.lack[int(v)*g.words:][:g.words] {
		for ; x != 0; x &= x - 1 {
			open = append(open, int32(64*w+bits.TrailingZeros64(x)))
		}
	}
	free := g.free[:0]
	for _, l := range links {
		if !g.busy[l] {
			free = append(free, l)
		}
	}
	for i := 0; i < len(open) && len(free) > 0; i++ {
		k := i + g.below(len(open)-i)
		open[i], open[k] = open[k], open[i]
		at := g.source(open[i], free)
		if at < 0 {
			continue
		}
		g.take(v, open[i])
		picks = append(picks, arrival{open[i], free[at]})
		free = append(free[:at], free[at+1:]...)
	}
	g.open, g.free = open, free
	return picks
}

// source returns which of some links, a random one of those whose sender has a chunk, or a number below zero.
func (g *gather) source(c int32, free []int32) int {
	best, equal := -1, 0
	for i, l := range free {
		if g.have[int(g.from[l])*g.words+int(c)/64]>>(c%64)&1 == 1 {
			if equal++; equal == 1 || g.below(equal) == 0 {
				best = i
			}
		}
	}
	return best
}

// below returns a number from 0 on below another, of Numerical Recipes' generator.
func (g *gather) below(n int) int {
	g.turn = g.turn*1664525 + 1013904223
	return int(uint64(g.turn) * uint64(n) >> 32)
}

// late reports whether the links before one bring all that a node lacks before this one brings a chunk.
func (g *gather) late(v int32, links []int32, i int) bool {
	rate := 0.0
	for _, l := range links[:i] {
		rate += 1 / float64(max(1, g.taken[l]))
	}
	return rate > 0 && float64(g.left[v])/rate < float64(g.arrives[links[i]])
}

// choose returns what a link is to carry of what its receiver lacks, or a number below zero.
func (g *gather) choose(lack []uint64, l int32) int32 {
	u := g.from[l]
	log := g.log[int(u)*g.chunks:][:g.count[u]]
	if g.width > 1 {
		return g.rarest(lack, l, log)
	}
	read := int(g.read[l])
	for i, c := range log[read:] {
		if lack[c/64]>>(c%64)&1 == 1 {
			g.read[l] = int32(read + i + 1)
			return int32(c)
		}
	}
	g.read[l] = int32(len(log))
	return -1
}

// rarest returns of the first chunks that a receiver lacks the one that the fewest nodes have.
func (g *gather) rarest(lack []uint64, l int32, log []uint16) int32 {
	best, held, read, seen := int32(-1), int32(math.MaxInt32), int(g.read[l]), 0
	for i, c := range log[read:] {
		if lack[c/64]>>(c%64)&1 == 0 {
			continue
		}
		if seen++; seen == 1 {
			g.read[l] = int32(read + i)
		}
		if g.held[c] < held {
			best, held = int32(c), g.held[c]
		}
		if seen == g.width {
			break
		}
	}
	if seen == 0 {
		g.read[l] = int32(len(log))
	}
	return best
}

// send lets links begin to carry what they have picked.
func (g *gather) send(picks []arrival) {
	var free, arrives *instant
	for i, p := range picks {
		g.busy[p.link] = true
		g.idle[g.from[p.link]]--
		g.sends = append(g.sends, Send{p.chunk, p.link, g.now})
		if i == 0 || !g.alike {
			arrives = g.agenda.at(g.now + g.arrives[p.link])
			if free = arrives; !g.attempt.hold {
				free = g.agenda.at(g.now + g.taken[p.link])
			}
			g.ends = max(g.ends, arrives.at)
		}
		free.free = append(free.free, p.link)
		arrives.arrived = append(arrives.arrived, p)
	}
	g.undone -= len(picks)
}

// exchange lets links without a chunk take one that another link was to carry at this instant, if that one finds
// another: augmenting paths, so that as many links carry something as can.
func (g *gather) exchange(v int32, links []int32, picks []arrival) []arrival {
	for _, l := range links {
		if g.busy[l] || slices.ContainsFunc(picks, func(p arrival) bool { return p.link == l }) {
			continue
		}
		g.tried = append(g.tried[:0], make([]bool, len(picks)+1)...)
		picks = append(picks, arrival{-1, l})
		if !g.another(v, picks, len(picks)-1) {
			picks = picks[:len(picks)-1]
		}
	}
	return picks
}

// another gives a pick another chunk, if need be one of another pick that gets another.
func (g *gather) another(v int32, picks []arrival, i int) bool {
	g.tried[i] = true
	have := g.have[int(g.from[picks[i].link])*g.words:][:g.words]
	if c := common(g.lack[int(v)*g.words:][:g.words], have); c >= 0 {
		g.take(v, c)
		picks[i].chunk = c
		return true
	}
	for j := range picks {
		c := picks[j].chunk
		if g.tried[j] || have[c/64]>>(c%64)&1 == 0 {
			continue
		}
		if g.another(v, picks, j) {
			picks[i].chunk = c
			return true
		}
	}
	return false
}

func (g *gather) take(v, c int32) {
	g.lack[int(v)*g.words+int(c)/64] &^= 1 << (c % 64)
	g.left[v]--
	g.held[c]++
}

// common returns the first number in two sets, or one below zero.
func common(a, b []uint64) int32 {
	for w := range a {
		if x := a[w] & b[w]; x != 0 {
			return int32(64*w + bits.TrailingZeros64(x))
		}
	}
	return -1
}
