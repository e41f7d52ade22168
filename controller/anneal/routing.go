package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// choice is a flow and the path it goes.
type choice struct {
	flow       int32
	src, dst   southbound.HostID
	candidates []Candidate
	at         int32 // among candidate paths
	settled    int32 // while the network waits: the candidate whose links the flow is on, -1 none; else unused
}

func (c *choice) current() Candidate { return c.candidates[c.at] }

// routing is the lower level: the candidate paths of some flows, everything else standing still. A
// neighbour differs in the path of one flow.
type routing struct {
	s       *NetworkState
	all     []choice
	choices []int32 // of all: those with more than one path
	saved   []int32 // by choice
	last    struct {
		choice, from int32
	}
	random bool    // restarts after the first begin anywhere
	gets   []int64 // room for path
	waits  *deferred
}

func newRouting(s *NetworkState) *routing { return &routing{s: s, random: true} }

// again empties r and keeps its memory.
func (r *routing) again() *routing {
	r.all, r.choices = r.all[:0], r.choices[:0]
	if r.waits != nil {
		r.waits.known = unknown
	}
	return r
}

// take puts a flow under choice.
func (r *routing) take(c choice) {
	if len(c.candidates) > 1 {
		r.choices = append(r.choices, int32(len(r.all)))
	}
	r.all = append(r.all, c)
}

// lay puts every flow on its first candidate: the one hinted at, else in mode paper a random one, else
// the best that the flow could get now.
func (r *routing) lay(rng *rand.Rand) {
	for k := range r.all {
		c := &r.all[k]
		switch {
		case c.at >= 0:
		case r.s.opt.Paper || r.s.opt.Blind:
			c.at = int32(rng.IntN(len(c.candidates)))
		default:
			c.at = r.s.widest(c.candidates)
		}
		r.s.layOut(c)
	}
}

// layOut puts a flow that is on no link on its path. The host's links come first: they stay when the
// path changes.
func (s *NetworkState) layOut(c *choice) {
	ends := s.ends(c)
	if s.later == nil {
		s.net.lay(c.flow, ends[:])
		s.net.lay(c.flow, c.current().Links)
		return
	}
	work := s.net.work
	s.net.lay(c.flow, ends[:])
	s.net.work = work
	s.join(ends[:])
	c.settled = -1
	s.join(c.current().Links)
}

// ends are the links of the hosts themselves.
func (s *NetworkState) ends(c *choice) [2]pathmap.LinkID {
	return [...]pathmap.LinkID{s.topology.up[c.src], s.topology.dn[c.dst]}
}

// takeOff takes a flow off all links.
func (s *NetworkState) takeOff(c *choice) {
	work := s.net.work
	s.net.lift(c.flow, 0)
	if s.later == nil || c.at < 0 {
		return
	}
	ends := s.ends(c)
	s.net.work = work
	s.leave(c.current().Links)
	s.leave(ends[:])
}

// turn sends a flow over another path.
func (s *NetworkState) turn(c *choice, to int32) {
	if s.later != nil {
		s.leave(c.current().Links)
		c.at = to
		s.join(c.current().Links)
		return
	}
	s.net.lift(c.flow, hostHops)
	c.at = to
	s.net.lay(c.flow, c.current().Links)
}

// widest returns the path on which one more flow would get most, the first among equals.
func (s *NetworkState) widest(candidates []Candidate) int32 {
	best, most := 0, int64(-1)
	for k := range candidates {
		if a := s.net.afford(candidates[k].Links); a > most {
			best, most = k, a
		}
	}
	return int32(best)
}

func (r *routing) turn(k, to int32) { r.s.turn(&r.all[k], to) }

// anneal searches, and leaves the flows on the best candidate paths seen.
func (r *routing) anneal(restarts, steps int, rng *rand.Rand) Count {
	if len(r.choices) == 0 || r.s.opt.Blind {
		return Count{}
	}
	o := r.s.opt
	by := Schedule{Restarts: restarts, Steps: steps, Start: o.Start, End: o.End, Paper: o.Paper}
	if r.s.later != nil {
		return Run(r.deferred(), by, rng)
	}
	return Run(r, by, rng)
}

// Reset implements Problem. The first restart begins where the flows are.
func (r *routing) Reset(restart int, rng *rand.Rand) {
	if restart == 0 || !r.random {
		return
	}
	for _, k := range r.choices {
		if to := int32(rng.IntN(len(r.all[k].candidates))); to != r.all[k].at {
			r.turn(k, to)
		}
	}
}

// Move implements Problem.
func (r *routing) Move(rng *rand.Rand) bool {
	if len(r.choices) == 0 {
		return false
	}
	uniform := !r.s.opt.Paper && rng.Float64() < r.s.opt.Uniform
	var k, to int32
	switch {
	case r.s.opt.Paper:
		k = r.worst(r.choices)
		to = r.path(k, rng)
	case uniform:
		k = r.choices[rng.IntN(len(r.choices))]
		to = r.other(k, rng)
	default:
		var draw [3]int32
		for i := range draw {
			draw[i] = r.choices[rng.IntN(len(r.choices))]
		}
		k = r.worst(draw[:])
		to = r.best(k, rng)
	}
	r.last.choice, r.last.from = k, r.all[k].at
	if to != r.all[k].at {
		r.turn(k, to)
	}
	return true
}

// worst is the document's de-path heuristic: the route with the most hops, among equals the least
// bandwidth. Ties that are left go to the first.
func (r *routing) worst(among []int32) int32 {
	worst, hops, rate := among[0], -1, int64(0)
	for _, k := range among {
		c := &r.all[k]
		n := len(c.candidates[c.at].Links)
		if n < hops {
			continue
		}
		if has := r.s.net.rate[c.flow]; n > hops || has < rate {
			worst, hops, rate = k, n, has
		}
	}
	return worst
}

// path is the document's path heuristic: the fewest hops, among equals the most bandwidth, then at random.
func (r *routing) path(k int32, rng *rand.Rand) int32 {
	c := &r.all[k]
	r.s.net.lift(c.flow, hostHops)
	r.gets = r.gets[:0]
	for _, w := range shortest(c.candidates) {
		r.gets = append(r.gets, r.s.net.afford(w.Links))
	}
	r.s.net.lay(c.flow, c.current().Links)
	return draw(r.gets, rng)
}

// shortest returns the first of some candidates, which are sorted by length: those with the fewest hops.
func shortest(all []Candidate) []Candidate {
	n := 1
	for n < len(all) && len(all[n].Links) == len(all[0].Links) {
		n++
	}
	return all[:n]
}

// draw returns the place of the largest, one of them at random.
func draw(gets []int64, rng *rand.Rand) int32 {
	best, most, ties := int32(0), int64(-1), 0
	for w, a := range gets {
		switch {
		case a > most:
			best, most, ties = int32(w), a, 1
		case a == most:
			if ties++; rng.IntN(ties) == 0 {
				best = int32(w)
			}
		}
	}
	return best
}

// other draws a path that the flow does not go.
func (r *routing) other(k int32, rng *rand.Rand) int32 {
	c := &r.all[k]
	to := int32(rng.IntN(len(c.candidates) - 1))
	if to >= c.at {
		to++
	}
	return to
}

// best returns the path, other than the present one, that would give the flow most; ties at random.
func (r *routing) best(k int32, rng *rand.Rand) int32 {
	c := &r.all[k]
	best, most, ties := c.at, int64(-1), 0
	for w := range c.candidates {
		if int32(w) == c.at {
			continue
		}
		switch a := r.s.net.afford(c.candidates[w].Links); {
		case a > most:
			best, most, ties = int32(w), a, 1
		case a == most:
			if ties++; rng.IntN(ties) == 0 {
				best = int32(w)
			}
		}
	}
	return best
}

// Undo implements Problem.
func (r *routing) Undo() {
	if r.all[r.last.choice].at != r.last.from {
		r.turn(r.last.choice, r.last.from)
	}
}

// Utility implements Problem.
func (r *routing) Utility() int64 { return r.s.net.value() }

// Save implements Problem.
func (r *routing) Save() {
	r.saved = slices.Grow(r.saved[:0], len(r.choices))[:len(r.choices)]
	for i, k := range r.choices {
		r.saved[i] = r.all[k].at
	}
}

// Restore implements Problem.
func (r *routing) Restore() {
	for i, k := range r.choices {
		if r.saved[i] != r.all[k].at {
			r.turn(k, r.saved[i])
		}
	}
}

// Spent implements Problem.
func (r *routing) Spent() bool { return r.s.spent() }

// localSearch is the last pass, of best responses: each flow in turn takes the path that is best for
// all, until none gains or the rounds are over. In mode paper there is none.
func (r *routing) localSearch() Count {
	var count Count
	if r.s.opt.Paper || r.s.opt.Blind {
		return count
	}
	for range r.s.opt.Passes {
		gained := false
		for _, k := range r.choices {
			if r.s.spent() {
				return count
			}
			gained = r.improveOne(k, &count) || gained
		}
		if !gained {
			break
		}
	}
	return count
}

// improveOne tries all paths for a flow. It is taken off its own once, and laid on the best when all have been tried.
func (r *routing) improveOne(k int32, count *Count) bool {
	c, net := &r.all[k], r.s.net
	from := c.at
	best, most := from, r.Utility()
	net.lift(c.flow, hostHops)
	net.absent(c.flow)
	net.value()
	last := int32(len(c.candidates)) - 1
	if last == from {
		last--
	}
	for w := range last + 1 {
		if w == from {
			continue
		}
		count.Evaluated++
		u := net.try(c.flow, c.candidates[w].Links)
		if u > most {
			best, most = w, u
		}
		if w == last && w == best {
			net.cancel() // it stays
		} else {
			net.leave()
		}
	}
	c.at = best
	net.lay(c.flow, c.current().Links)
	if best == from {
		return false
	}
	count.Accepted++
	return true
}
