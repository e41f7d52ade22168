package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// TaskWhy is why a task went where it did: what it is near to there, and what the next best place would
// have cost.
type TaskWhy struct {
	Task      int
	Stage     int
	Host      southbound.HostID
	Here      int               // tasks that it talks to on its host
	Rack      int               // and on others of its rack
	Apart     int               // and elsewhere
	Tried     int               // other hosts that were tried, everything else standing still
	Equal     int               // of them, those that would have done as well
	Next      southbound.HostID // the best of them, the first among equals; -1 where none was tried
	Cost      int64             // bits a second of utility that would be lost there; below zero: gained
	Objective int64             // utility of everything on the network, with the task where it is
	Before    int64             // and without the job
}

// FlowWhy is the same for a host flow and its path.
type FlowWhy struct {
	Coflow     int // of those that were to be routed
	Row        int
	Path       int // the path map's index
	Hops       int // links between switches
	Rate       int64
	Bottleneck pathmap.LinkID // the first link that gives it no more than Rate
	Others     int            // host flows beside it on that link
	Tried      int            // other paths
	Equal      int
	Next       int   // the path map's index; -1 where there is no other
	Cost       int64 // bits a second of utility
}

// explain tries each task elsewhere and takes it back.
func (p *placing) explain(before int64, rng *rand.Rand) []TaskWhy {
	out := make([]TaskWhy, len(p.host))
	for t := range out {
		w := TaskWhy{Task: t, Stage: int(p.g.stage[t]), Host: p.host[t], Next: -1,
			Objective: p.Utility(), Before: before}
		p.neighbours(t, &w)
		best := int64(-1)
		for _, h := range p.candidates(t, rng) {
			if h == p.host[t] || p.free[h] < p.g.need(t) {
				continue // an exchange would be about two tasks
			}
			p.shift(t, h, 0, rng)
			u := p.Utility()
			p.Undo()
			w.Tried++
			if u == w.Objective {
				w.Equal++
			}
			if u > best {
				best, w.Next, w.Cost = u, h, w.Objective-u
			}
		}
		out[t] = w
	}
	return out
}

// neighbours counts the tasks that one talks to by where they are, each once.
func (p *placing) neighbours(t int, w *TaskWhy) {
	seen := make([]bool, len(p.host))
	for k := range p.g.edges {
		e := &p.g.edges[k]
		if stage := int(p.g.stage[t]); stage != e.From && stage != e.To {
			continue
		}
		lo, hi := p.g.partners(e, t)
		for o := lo; o < hi; o++ {
			switch {
			case seen[o]:
			case p.host[o] == p.host[t]:
				w.Here++
			case p.rack(p.host[o]) == p.rack(p.host[t]):
				w.Rack++
			default:
				w.Apart++
			}
			seen[o] = true
		}
	}
}

// explain tries each host flow on each other path and takes it back.
func (r *routing) explain(coflows []Coflow) []FlowWhy {
	out := make([]FlowWhy, 0, len(r.all))
	k := int32(0)
	for c := range coflows {
		for row := range coflows[c].Rows {
			w := r.explainOne(k)
			w.Coflow, w.Row = c, row
			out = append(out, w)
			k++
		}
	}
	return out
}

func (r *routing) explainOne(k int32) FlowWhy {
	ch := &r.all[k]
	net := r.s.net
	rate := net.rate[ch.flow]
	w := FlowWhy{Path: ch.current().Path, Hops: len(ch.current().Links), Rate: rate, Next: -1,
		Bottleneck: pathmap.None}
	if i := slices.IndexFunc(net.hopsOf(ch.flow),
		func(h hop) bool { return net.links[h.link].share <= rate }); i >= 0 {
		l := net.hopsOf(ch.flow)[i].link
		w.Bottleneck, w.Others = net.id[l], int(net.lists[l].len)-1
	}
	is, from, best := r.Utility(), ch.at, int64(-1)
	for to := range int32(len(ch.candidates)) {
		if to == from {
			continue
		}
		r.turn(k, to)
		u := r.Utility()
		w.Tried++
		if u == is {
			w.Equal++
		}
		if u > best {
			best, w.Next, w.Cost = u, ch.candidates[to].Path, is-u
		}
	}
	if r.all[k].at != from {
		r.turn(k, from)
	}
	return w
}
