package guideline

import (
	"cmp"
	"slices"
	"time"
)

// Releases is, by rack, when each of its slots comes free as far as is estimated, from now, ascending:
// zero for a slot that is free. Section IV-F calls it the released time.
type Releases [][]time.Duration

// at is when d slots of a rack are free; false where it has fewer.
func (r Releases) at(rack, d int) (time.Duration, bool) {
	if d > len(r[rack]) {
		return 0, false
	}
	if d == 0 {
		return 0, true
	}
	return r[rack][d-1], true
}

// Chosen is a schedule with its racks.
type Chosen struct {
	Schedule
	Racks []int         // by place in Tasks
	Ready time.Duration // when the last of its slots is free, from now
}

// End is when its shuffle is estimated to end, from now: what Algorithm 1 minimises.
func (c *Chosen) End() time.Duration { return c.Ready + c.CCT }

// Explore is ExploreSchedule of Algorithm 1: it gives the largest number of tasks to the rack that is
// released first for it, and so on down, no rack twice, which minimises the latest release. Ties go to
// the rack where held, which may be nil, is larger (bytes of the job's maps there, which then need not
// cross), then to the smaller number.
//
// With W wavelengths section VI relaxes the choice to “the top W racks” without saying which of them:
// here it is the one of the first W that holds most of the job's map output, as its bytes need no
// wavelength.
func (c *Cluster) Explore(s Schedule, free Releases, held []int64) (*Chosen, bool) {
	if held == nil {
		held = make([]int64, len(free))
	}
	taken := make([]bool, len(free))
	out := &Chosen{Schedule: s}
	out.Tasks = slices.Clone(s.Tasks)
	slices.SortStableFunc(out.Tasks, func(a, b int) int { return cmp.Compare(b, a) })
	first := make([]candidate, 0, c.waves())
	for _, tasks := range out.Tasks {
		first = first[:0]
		for rack := range free {
			if at, ok := free.at(rack, tasks); ok && !taken[rack] {
				first = among(first, candidate{rack, at, held[rack]})
			}
		}
		if len(first) == 0 {
			return nil, false
		}
		best := first[0]
		for _, x := range first[1:] {
			if x.held > best.held {
				best = x
			}
		}
		taken[best.rack] = true
		out.Racks = append(out.Racks, best.rack)
		out.Ready = max(out.Ready, best.at)
	}
	return out, true
}

// candidate is a rack that could take some tasks.
type candidate struct {
	rack int
	at   time.Duration // when it is released for them
	held int64
}

// before orders candidates.
func (x candidate) before(y candidate) bool {
	return cmp.Or(cmp.Compare(x.at, y.at), cmp.Compare(y.held, x.held), cmp.Compare(x.rack, y.rack)) < 0
}

// among puts a candidate in its place among the first, as many of them as there is room for: one, or W.
func among(first []candidate, x candidate) []candidate {
	if len(first) == cap(first) {
		if !x.before(first[len(first)-1]) {
			return first
		}
		first = first[:len(first)-1]
	}
	i := len(first)
	for i > 0 && x.before(first[i-1]) {
		i--
	}
	return slices.Insert(first, i, x)
}

// Best is the best of the possible schedules (Algorithm 1): that with the earliest end of its shuffle,
// the fewest racks among equals. It is false where none can ever stand: more tasks on a rack than it
// has slots.
func (c *Cluster) Best(all []Schedule, free Releases, held []int64) (*Chosen, bool) {
	var best *Chosen
	for _, s := range all {
		x, ok := c.Explore(s, free, held)
		if !ok {
			continue
		}
		if best == nil || x.End() < best.End() || x.End() == best.End() && len(x.Tasks) < len(best.Tasks) {
			best = x
		}
	}
	return best, best != nil
}

// Remaining is T_rem of a running task by Equation 12: t_elapsed · (1 − P) / P. A task without progress
// has none yet.
func Remaining(elapsed time.Duration, progress float64) time.Duration {
	if progress <= 0 {
		return 0
	}
	return time.Duration(float64(elapsed) * (1 - progress) / progress)
}
