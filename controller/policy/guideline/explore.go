package guideline

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// Remaining is T_rem of a running task by its progress, 0 < progress ≤ 1: elapsed · (1 − P) / P (Equation 12). Without
// progress there is nothing to go by, and known is false.
func Remaining(elapsed time.Duration, progress float64) (left time.Duration, known bool) {
	if progress <= 0 || progress > 1 || math.IsNaN(progress) {
		return 0, false
	}
	return time.Duration(float64(elapsed) * (1 - progress) / progress), true
}

// Releases is, by rack, when each of its slots comes free as far as is estimated, from now, ascending: zero for a slot
// that is free. Section IV-F calls it the released time.
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

// Explore is ExploreSchedule of Algorithm 1: it gives the largest number of tasks to the rack that is released first for
// it, and so on down, no rack twice, which minimises the latest release. Ties go to the rack where held, which may be
// nil, is larger (bytes of the job's maps there, which then need not cross), then to the smaller number.
//
// With W wavelengths section VI relaxes the choice to “the top W racks” without saying which of them: here it is the one
// of the first W that holds most of the job's map output, as its bytes need no wavelength.
func (c *Cluster) Explore(s Schedule, free Releases, held []int64) (*Chosen, bool) {
	type candidate struct {
		rack int
		at   time.Duration
	}
	of := func(rack int) int64 {
		if held == nil {
			return 0
		}
		return held[rack]
	}
	taken := make([]bool, len(free))
	out := &Chosen{Schedule: s}
	d := slices.Clone(s.Tasks)
	slices.SortStableFunc(d, func(a, b int) int { return cmp.Compare(b, a) })
	out.Tasks = d
	for _, tasks := range d {
		var all []candidate
		for rack := range free {
			if at, ok := free.at(rack, tasks); ok && !taken[rack] {
				all = append(all, candidate{rack, at})
			}
		}
		if len(all) == 0 {
			return nil, false
		}
		slices.SortFunc(all, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(of(b.rack), of(a.rack)), cmp.Compare(a.rack, b.rack))
		})
		best := all[0]
		for _, x := range all[1:min(c.waves(), len(all))] {
			if of(x.rack) > of(best.rack) {
				best = x
			}
		}
		taken[best.rack] = true
		out.Racks = append(out.Racks, best.rack)
		out.Ready = max(out.Ready, best.at)
	}
	return out, true
}

// Best is the best of the possible schedules (Algorithm 1): that with the earliest end of its shuffle, the fewest racks
// among equals. It is false where none can ever stand: more tasks on a rack than it has slots.
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
