package collective

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/pathmap"
)

// Repair returns the network without some links, and an all-gather's schedule on it: what does not hang on a dead link
// stays as it was, and what does comes after it. It is ready some ten times sooner than a new schedule.
func Repair(n *Network, s *Schedule, dead ...int32) (*Network, *Schedule, Bounds, error) {
	if s.Kind != KindAllGather {
		return nil, nil, Bounds{}, fmt.Errorf("repair %v: only an all-gather is repaired; plan another one", s.Kind)
	}
	left, was := n.Without(dead...)
	if err := checkChunks(left, s.Chunks, s.Bytes); err != nil {
		return nil, nil, Bounds{}, err
	}
	r := &repair{g: newGather(left, s.Chunks, s.Bytes, 0), tail: make([]time.Duration, len(left.Links))}
	r.keep(n, s, was)
	r.seek()
	r.begin()
	r.g.run()
	out := &Schedule{Kind: s.Kind, Chunks: s.Chunks, Bytes: s.Bytes, Ends: max(r.ends, r.g.ends)}
	out.Sends = merge(r.kept, r.g.sends)
	return left, out, left.bounds((n.Nodes-1)*s.Chunks, s.Chunks, s.Bytes), nil
}

// repair is a schedule on its way to another network. Its gather lacks what is lost, and has everything else.
type repair struct {
	g    *gather
	kept []Send
	tail []time.Duration // by link: when it has sent what is kept
	ends time.Duration   // of what is kept
	need []uint64        // sets by node: chunks that a neighbour has lost and this node has not
}

// keep goes through a schedule and leaves out what goes over dead links, and what nodes send that they now lack.
func (r *repair) keep(n *Network, s *Schedule, was []int32) {
	g := r.g
	now := make([]int32, len(n.Links)) // the new number of a link, and one more
	for i, w := range was {
		now[w] = int32(i + 1)
	}
	r.kept = make([]Send, 0, len(s.Sends)+len(s.Sends)/64)
	for _, x := range s.Sends {
		l := now[x.Link] - 1
		if l < 0 || g.lacks(g.from[l], x.Chunk) {
			to := n.Links[x.Link].To
			g.lack[int(to)*g.words+int(x.Chunk)/64] |= 1 << (x.Chunk % 64)
			g.left[to]++
			g.undone++
			continue
		}
		r.kept = append(r.kept, Send{x.Chunk, l, x.At})
		r.tail[l] = x.At + g.taken[l]
		r.ends = max(r.ends, x.At+g.arrives[l])
	}
}

func (g *gather) lacks(v, c int32) bool { return g.lack[int(v)*g.words+int(c)/64]>>(c%64)&1 == 1 }

// seek notes which chunks nodes have that their neighbours have lost.
func (r *repair) seek() {
	g := r.g
	r.need = make([]uint64, len(g.lack))
	for v := range int32(g.net.Nodes) {
		if g.left[v] == 0 {
			continue
		}
		lack := g.lack[int(v)*g.words:][:g.words]
		for _, l := range g.in.of(v) {
			u := int(g.from[l]) * g.words
			for w, x := range lack {
				r.need[u+w] |= x &^ g.lack[u+w]
			}
		}
	}
}

// begin sets the gather going: links into nodes that lack something are busy until they have sent what is kept, and
// chunks that others need arrive when they do.
func (r *repair) begin() {
	g := r.g
	g.attempt = attempt{width: 8}
	each := int32(g.chunks / g.net.Nodes)
	for v := range int32(g.net.Nodes) {
		for _, l := range g.in.of(v) {
			if g.busy[l] = g.left[v] > 0; g.busy[l] {
				free := g.agenda.at(r.tail[l])
				free.free = append(free.free, l)
			} else {
				g.idle[g.from[l]]++
			}
		}
		for c := each * v; c < each*(v+1); c++ {
			if r.need[int(v)*g.words+int(c)/64]>>(c%64)&1 == 1 {
				g.keep(v, c)
			}
		}
	}
	for _, x := range r.kept {
		v := int(g.to[x.Link])
		if r.need[v*g.words+int(x.Chunk)/64]>>(x.Chunk%64)&1 == 1 {
			arrives := g.agenda.at(x.At + g.arrives[x.Link])
			arrives.arrived = append(arrives.arrived, arrival{x.Chunk, x.Link})
		}
	}
}

// merge puts later sends into earlier ones, in order.
func merge(sends, more []Send) []Send {
	first := pathmap.MaxDuration
	for _, x := range more {
		first = min(first, x.At)
	}
	at, _ := slices.BinarySearchFunc(sends, first, func(x Send, t time.Duration) int { return cmp.Compare(x.At, t) })
	sends = append(sends, more...)
	slices.SortStableFunc(sends[at:], func(a, b Send) int { return cmp.Compare(a.At, b.At) })
	return sends
}
