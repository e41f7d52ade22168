package flowsim

import (
	"cmp"
	"slices"

	"lightloom/pathmap"
	"lightloom/pathmap/propfair"
	"lightloom/southbound"
)

// rankedShares shares links among classes of strict priorities: each gets what those above leave,
// max-min fairly among its own, or proportionally fairly. It is told of the classes that change, and solves again only
// the priorities of such classes, and those to which others now leave something else.
type rankedShares struct {
	Proportional bool

	of      linkDemand
	fair    propfair.Solver
	classes []rankedClass // by class
	pending []int32       // classes that have changed
	moved   []int32       // classes that get another rate
	ranks   [southbound.MaxPriority + 1]rank
	room    []float64 // memory that calls reuse
	at      []int32   // the classes of the priority that is being solved for
	perBit  float64   // of fluid
}

// rank is the classes of one priority.
type rank struct {
	Classes []int32   // those that can send, by their places
	room    []float64 // by link: what this priority and those above leave, once solved
	solved  bool
	changed bool
}

// rankedClass is n flows over the same links at the same priority; none of them where they cannot send.
type rankedClass struct {
	Flows    int32
	Place    int32   // orders the classes of a priority; none: it is not there
	Given    float64 // class.rate
	Rate     float64 // of each flow, bits a second, once solved for
	Priority uint8

	listed, pending bool
	links           uint8             // how many of near are its links; many: those in spill are
	near            [4]pathmap.LinkID // here, as each solution reads them
	spill           []pathmap.LinkID
}

// lead gives a class its links.
func (c *rankedClass) lead(links []pathmap.LinkID) {
	if len(links) > len(c.near) {
		c.links, c.spill = many, links
		return
	}
	c.links = uint8(copy(c.near[:], links))
}

// Links returns the links of a class. Borrowed until there are more classes.
func (c *rankedClass) Links() []pathmap.LinkID {
	if c.links == many {
		return c.spill
	}
	return c.near[:c.links]
}

// give sets the rate of a class, and reports whether it is another one.
func (c *rankedClass) give(bits, perBit float64) bool {
	c.Rate = bits
	was := c.Given
	c.Given = bits * perBit
	return c.Given != was
}

// takenShare is the share of a link's capacity below which it counts as taken: the rounding of
// priorities above.
const takenShare = 1e-9

// Reset forgets all classes, and keeps their memory.
func (r *rankedShares) Reset() {
	for _, i := range r.pending {
		r.classes[i].pending = false
	}
	r.pending = r.pending[:0]
	for p := range r.ranks {
		k := &r.ranks[p]
		for _, i := range k.Classes {
			r.classes[i].listed = false
		}
		k.Classes, k.solved = k.Classes[:0], false
	}
}

// Set notes what a class is from now on. Its links are borrowed until it is set again, or all are forgotten.
func (r *rankedShares) Set(class int32, now rankedClass) {
	for len(r.classes) <= int(class) {
		r.classes = append(r.classes, rankedClass{})
	}
	c := &r.classes[class]
	if c.listed {
		k := &r.ranks[c.Priority]
		k.changed = true
		if c.Priority != now.Priority || c.Place != now.Place || now.Flows == 0 {
			i := r.search(k, c.Place)
			k.Classes = slices.Delete(k.Classes, i, i+1)
			c.listed = false
		}
	}
	if !c.pending {
		r.pending = append(r.pending, class)
	}
	now.listed, now.pending = c.listed, true
	*c = now
}

// search returns where a class at a place is in its rank, or belongs.
func (r *rankedShares) search(k *rank, place int32) int {
	i, _ := slices.BinarySearchFunc(k.Classes, place, func(x, place int32) int {
		return cmp.Compare(r.classes[x].Place, place)
	})
	return i
}

// Solve solves for the rates of classes, and returns those that have another rate. Borrowed until the next call.
// Capacities are those of the call before, unless all classes have been forgotten since.
func (r *rankedShares) Solve(capacity []float64) []int32 {
	r.moved = r.moved[:0]
	r.list()
	room, anew := capacity, false
	for p := southbound.MaxPriority; p >= 0; p-- {
		k := &r.ranks[p]
		if anew || k.changed || !k.solved {
			r.room = append(r.room[:0], room...)
			r.solve(capacity, k.Classes)
			anew = !slices.Equal(r.room, k.room)
			k.room, r.room, k.solved, k.changed = r.room, k.room, true, false
		}
		room = k.room
	}
	return r.moved
}

// list puts the classes that have changed where they belong.
func (r *rankedShares) list() {
	for _, i := range r.pending {
		c := &r.classes[i]
		c.pending = false
		switch {
		case c.Place == none || c.listed:
		case c.Flows == 0:
			r.give(i, 0)
		default:
			k := &r.ranks[c.Priority]
			k.Classes = slices.Insert(k.Classes, r.search(k, c.Place), i)
			c.listed, k.changed = true, true
		}
	}
	r.pending = r.pending[:0]
}

// give sets the rate of a class.
func (r *rankedShares) give(class int32, bits float64) {
	if r.classes[class].give(bits, r.perBit) {
		r.moved = append(r.moved, class)
	}
}

// solve shares what is left among the classes of one priority, and takes it.
func (r *rankedShares) solve(capacity []float64, rank []int32) {
	r.at, r.of.Classes = r.at[:0], r.of.Classes[:0]
next:
	for _, i := range rank {
		c := &r.classes[i]
		links := c.Links()
		for _, l := range links {
			if r.room[l] <= takenShare*capacity[l] {
				r.give(i, 0)
				continue next
			}
		}
		r.at = append(r.at, i)
		r.of.Add(links, int(c.Flows), unbounded)
	}
	if len(r.at) == 0 {
		return
	}
	solve := r.of.solver.Solve
	if r.Proportional {
		solve = r.fair.Solve
	}
	for k, rate := range r.of.solve(r.room, solve) {
		r.give(r.at[k], rate)
		for _, l := range r.of.Classes[k].Links {
			r.room[l] -= rate * r.of.Classes[k].Flows
		}
	}
}
