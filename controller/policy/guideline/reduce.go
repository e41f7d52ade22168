package guideline

import (
	"slices"
	"time"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/pathmap"
)

// Schedule is one possible way to spread a job's reduces: [R_red, D, CCT] of section IV-E.2, R_red
// being the length of Tasks.
type Schedule struct {
	Tasks []int         // D: reduces by rack, in descending order
	CCT   time.Duration // T(C) of the shuffle with this spread
}

// Schedules returns the possible schedules of a job with that many reduces, R_red ascending. SM is the
// bytes that its maps left by rack, in any order. Racks with less than T_e are ignored, as their bytes
// always go over packets. allowed, if not nil, reports which R_red a recurring job's green zone holds.
//
// Where ⌊SM_1/T_e⌋ is zero, or too few reduces exist to make an elephant from every map rack to every
// reduce rack, there is none: the shuffle goes over packets.
func (c *Cluster) Schedules(sm []pathmap.Bytes, reduces int, allowed func(racks int) bool) []Schedule {
	heavy := make([]pathmap.Bytes, 0, len(sm))
	for _, b := range sm {
		if b >= c.Elephant && b > 0 {
			heavy = append(heavy, b)
		}
	}
	if len(heavy) == 0 || reduces <= 0 {
		return nil
	}
	least := slices.Min(heavy)
	most := min(c.Racks, reduces)
	if c.Elephant > 0 {
		most = min(most, int(least/c.Elephant)) // Equation 11
	}
	var all []Schedule
	for racks := 1; racks <= most; racks++ {
		if allowed != nil && !allowed(racks) {
			continue
		}
		if d, ok := c.spread(least, racks, reduces); ok {
			all = append(all, Schedule{Tasks: d, CCT: c.cct(heavy, d, reduces)})
		}
	}
	return all
}

// spread places reduces on racks: first on each as many as make the smallest map output an elephant,
// then each to the rack with the least data. All reduces of a job are taken to read the same amount, so
// the racks end within one task of each other; the first racks have one more.
func (c *Cluster) spread(least pathmap.Bytes, racks, reduces int) ([]int, bool) {
	// least · d / reduces ≥ T_e
	needed := 1
	if c.Elephant > 0 {
		needed = int((int64(c.Elephant)*int64(reduces) + int64(least) - 1) / int64(least))
	}
	if needed*racks > reduces {
		return nil, false
	}
	d := make([]int, racks)
	for i := range d {
		d[i] = reduces / racks
		if i < reduces%racks {
			d[i]++
		}
	}
	return d, true
}

// cct is T(C) of Equations 1 and 2, over W with several wavelengths (Equation 15), of the shuffle from
// racks that hold sm to racks with d of all reduces. The racks are taken to be others: which ones they
// are is not decided yet. The document names Equation 15 also where it means 2.
func (c *Cluster) cct(sm []pathmap.Bytes, d []int, reduces int) time.Duration {
	n := max(len(sm), len(d))
	m := schedule.New(n)
	for i, bytes := range sm {
		for k, tasks := range d {
			m[i][k] = pathmap.Bytes(float64(bytes) * float64(tasks) / float64(reduces)).Over(c.OCS)
		}
	}
	return m.Bound(c.Delta) / time.Duration(c.waves())
}
