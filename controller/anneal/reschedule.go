package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/controller"
	"lightloom/southbound"
)

// Reschedule decides for the tasks of a running job that have no host (controller.NoHost), at the upper
// level for these alone; the lower one routes what they move. hosts is by task. There must be enough
// slots.
func (s *NetworkState) Reschedule(j *controller.Job, hosts []southbound.HostID, free []int32,
	rng *rand.Rand) Placed {
	var unplaced []int
	for t, h := range hosts {
		if h == controller.NoHost {
			unplaced = append(unplaced, t)
		}
	}
	return s.PlaceReduces(j, hosts, unplaced, free, rng)
}

// PlaceReduces is Reschedule for some of the tasks without a host: the others have none afterwards
// either, and send nothing.
func (s *NetworkState) PlaceReduces(j *controller.Job, hosts []southbound.HostID,
	unplaced []int, free []int32,
	rng *rand.Rand) Placed {
	s.begin(1)
	r := &rescheduling{placing: newPlacing(s, j, free), unplaced: unplaced}
	var fresh []hostFlowKey
	for t, h := range hosts {
		if h == controller.NoHost {
			continue
		}
		r.free[h] += r.g.need(t) // put takes it again: the task holds its slots, or has ended
		r.put(t, h, &fresh)
	}
	r.open(fresh, 0, rng)
	var out Placed
	if len(r.g.edges) == 0 || len(r.unplaced) == 0 {
		r.Reset(1, rng)
	} else {
		o := s.opt
		out.Place = Run(r, Schedule{Restarts: o.Restarts, Steps: o.Steps, Start: o.Start, End: o.End,
			Paper: o.Paper}, rng)
		out.Place.Add(r.improve(rng))
	}
	out.Hosts, out.Route = slices.Clone(r.host), r.counts
	return out
}

// rescheduling is a placing most of whose tasks stay where they are.
type rescheduling struct {
	*placing
	unplaced []int // tasks
}

// Reset implements Problem: the unplaced tasks go anywhere.
func (r *rescheduling) Reset(_ int, rng *rand.Rand) {
	var fresh []hostFlowKey
	for _, t := range r.unplaced {
		if r.host[t] >= 0 {
			r.put(t, -1, &fresh)
		}
	}
	r.scatter(r.unplaced, rng, &fresh)
	r.open(fresh, r.s.opt.RouteSteps, rng)
	r.journal = r.journal[:0]
}

// Move implements Problem: one unplaced task goes to a host with a slot.
func (r *rescheduling) Move(rng *rand.Rand) bool {
	t := r.unplaced[rng.IntN(len(r.unplaced))]
	at := rng.IntN(len(r.hosts))
	for k := range r.hosts {
		if h := r.hosts[(at+k)%len(r.hosts)]; h != r.host[t] && r.free[h] >= r.g.need(t) {
			r.shift(t, h, r.s.opt.RouteSteps, rng)
			return true
		}
	}
	return false
}

// improve lets each unplaced task in turn take the host with a slot that is best for all.
func (r *rescheduling) improve(rng *rand.Rand) Count {
	var count Count
	if r.s.opt.Paper {
		return count
	}
	for range r.s.opt.Passes {
		gained := false
		for _, t := range r.unplaced {
			for _, h := range r.candidates(t, rng) {
				if r.Spent() || h == r.host[t] || r.free[h] < r.g.need(t) {
					continue
				}
				before := r.Utility()
				r.shift(t, h, 0, rng)
				count.Evaluated++
				if r.Utility() <= before {
					r.Undo()
					continue
				}
				count.Accepted++
				gained = true
			}
		}
		r.localSearch()
		if !gained || r.Spent() {
			break
		}
	}
	return count
}
