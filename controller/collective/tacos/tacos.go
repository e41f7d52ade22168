// Package tacos is the rule of TACOS (MICRO 2024), to compare with: at every instant the chunks that a node lacks are
// taken in random order, and each goes over a link that is free and whose sender has it, the fastest, of equal ones a
// random one. It follows the published description; it is not that program.
package tacos

import (
	"math/rand/v2"
	"slices"
	"time"

	"lightloom/controller/collective"
	"lightloom/pathmap"
)

// run is one all-gather under way.
type run struct {
	net    *collective.Network
	in     [][]int32
	has    [][]bool  // by node and chunk
	lacks  [][]int32 // by node: chunks that are neither there nor under way
	free   []time.Duration
	taken  []time.Duration
	rng    *rand.Rand
	coming []collective.Send // At is the time of arrival
	out    *collective.Schedule
}

// AllGather returns a schedule that depends on the random numbers.
func AllGather(n *collective.Network, chunks int, bytes pathmap.Bytes, rng *rand.Rand) *collective.Schedule {
	r := &run{net: n, in: make([][]int32, n.Nodes), has: make([][]bool, n.Nodes), lacks: make([][]int32, n.Nodes),
		free: make([]time.Duration, len(n.Links)), taken: make([]time.Duration, len(n.Links)), rng: rng,
		out: &collective.Schedule{Kind: collective.KindAllGather, Chunks: chunks, Bytes: bytes}}
	for i, l := range n.Links {
		r.in[l.To] = append(r.in[l.To], int32(i))
		r.taken[i] = bytes.Over(l.Rate)
	}
	for v := range n.Nodes {
		r.has[v] = make([]bool, n.Nodes*chunks)
		for c := range n.Nodes * chunks {
			if r.has[v][c] = c/chunks == v; !r.has[v][c] {
				r.lacks[v] = append(r.lacks[v], int32(c))
			}
		}
	}
	for now := time.Duration(0); ; now = r.next(now) {
		r.arrive(now)
		left := len(r.coming)
		for v := range n.Nodes {
			r.match(v, now)
			left += len(r.lacks[v])
		}
		if left == 0 {
			return r.out
		}
	}
}

// next returns the next instant at which a chunk arrives or a link is free.
func (r *run) next(now time.Duration) time.Duration {
	next := pathmap.MaxDuration
	for _, x := range r.coming {
		next = min(next, x.At)
	}
	for _, t := range r.free {
		if t > now {
			next = min(next, t)
		}
	}
	return next
}

func (r *run) arrive(now time.Duration) {
	r.coming = slices.DeleteFunc(r.coming, func(x collective.Send) bool {
		if x.At <= now {
			r.has[r.net.Links[x.Link].To][x.Chunk] = true
		}
		return x.At <= now
	})
}

// match gives the free links into a node chunks.
func (r *run) match(v int, now time.Duration) {
	var free []int32
	for _, l := range r.in[v] {
		if r.free[l] <= now {
			free = append(free, l)
		}
	}
	lacks := r.lacks[v]
	var left []int32
	for i := range lacks {
		if len(free) == 0 {
			left = append(left, lacks[i:]...)
			break
		}
		k := i + r.rng.IntN(len(lacks)-i)
		lacks[i], lacks[k] = lacks[k], lacks[i]
		if l, ok := r.source(free, lacks[i]); ok {
			r.send(l, lacks[i], now)
			free = slices.DeleteFunc(free, func(x int32) bool { return x == l })
			continue
		}
		left = append(left, lacks[i])
	}
	r.lacks[v] = left
}

// source returns the link that is to carry a chunk.
func (r *run) source(free []int32, chunk int32) (link int32, ok bool) {
	best, equal := pathmap.MaxDuration, 0
	for _, l := range free {
		if !r.has[r.net.Links[l].From][chunk] {
			continue
		}
		switch cost := r.taken[l] + r.net.Links[l].Latency; {
		case cost < best:
			best, equal, link = cost, 1, l
		case cost == best:
			if equal++; r.rng.IntN(equal) == 0 {
				link = l
			}
		}
	}
	return link, equal > 0
}

func (r *run) send(link, chunk int32, now time.Duration) {
	latency := r.net.Links[link].Latency
	arrives := now + r.taken[link] + latency
	r.free[link] = now + r.taken[link]
	if r.net.Hold {
		r.free[link] = arrives
	}
	r.out.Sends = append(r.out.Sends, collective.Send{Chunk: chunk, Link: link, At: now})
	r.out.Ends = max(r.out.Ends, arrives)
	r.coming = append(r.coming, collective.Send{Chunk: chunk, Link: link, At: arrives})
}
