package route

import (
	"lightloom/controller"
	"lightloom/southbound"
)

// ECMP spreads host flows over the equal-cost shortest paths by a seeded hash of (coflow, source,
// destination), as switches do by a hash of the 5-tuple. It uses the shortest paths that are up, so
// after a failure a longer one can remain.
type ECMP struct{}

// Wants implements the part's list of events.
func (ECMP) Wants() controller.KindSet { return Wants() }

// Fill routes coflows.
func (ECMP) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	fill(v, p, func(c southbound.CoflowID, src, dst southbound.HostID, opts []option) southbound.Tag {
		n := 1
		for n < len(opts) && opts[n].hops == opts[0].hops {
			n++
		}
		return southbound.PathTag(opts[Hash(v.Seed, c, src, dst)%uint64(n)].path)
	})
}

// Hash mixes a host flow's key with the finalizer of splitmix64 (Steele, Lea, Flood: Fast Splittable
// Pseudorandom Number Generators, 2014).
func Hash(seed uint64, c southbound.CoflowID, src, dst southbound.HostID) uint64 {
	h := seed
	for _, x := range [...]int32{int32(c), int32(src), int32(dst)} {
		h += 0x9e3779b97f4a7c15 + uint64(uint32(x))
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}
