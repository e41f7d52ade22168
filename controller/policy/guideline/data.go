package guideline

import (
	"math"
	"math/rand/v2"

	"lightloom/controller"
	"lightloom/pathmap"
)

// InitialSIR is the assumed ratio of shuffle to input of a job until its maps show it (section IV-D.1).
const InitialSIR = 1.0

// DataRacks is R_data = R_map of a job of which only the input is known: ⌊√(Input·SIR / T_e)⌋ (section
// IV-D.1).
//
// Two cases are undefined there. The root is below one for most jobs (91 % of the FB-2009 sample): one
// rack then. And three disjoint sets do not exist above a third of the racks: the number is capped
// there.
func (c *Cluster) DataRacks(input pathmap.Bytes, sir float64) int {
	if input <= 0 || sir <= 0 || c.Elephant <= 0 {
		return 1
	}
	return c.capped(int(math.Sqrt(float64(input) * sir / float64(c.Elephant))))
}

// capped bounds a number of racks to what three disjoint sets can have.
func (c *Cluster) capped(racks int) int { return min(max(racks, 1), max(c.Racks/Replicas, 1)) }

// RecurringRacks is R_data = R_map of a job whose figures are predicted: the smallest R_map of the
// green zone (section IV-D.2), capped as DataRacks. Where the zone is empty the job lights no circuit,
// and is treated as one of which only the input is known.
func (c *Cluster) RecurringRacks(f Form, j *Job) int {
	zone := c.Zone(f, j, c.Racks)
	if len(zone) == 0 {
		return c.DataRacks(j.Input, float64(j.Shuffle)/float64(max(j.Input, 1)))
	}
	return c.capped(zone[0].Maps)
}

// Replicas is how many copies of each block a cluster keeps.
const Replicas = controller.Replicas

// Sets draws Replicas sets of racks of that size: disjoint where there are racks enough (section
// IV-D.3), else disjoint as far as they go round. No set holds a rack twice.
func Sets(r *rand.Rand, racks, size int) [Replicas][]int {
	size = min(size, racks)
	order := r.Perm(racks)
	var sets [Replicas][]int
	for k := range sets {
		for i := range size {
			sets[k] = append(sets[k], order[(k*size+i)%racks])
		}
	}
	return sets
}

// Heavy reports whether a job with that shuffle is shuffle-heavy (section II-B).
func (c *Cluster) Heavy(shuffle pathmap.Bytes) bool { return shuffle >= c.Elephant && shuffle > 0 }

// SIR is the ratio of shuffle to input by the maps that have ended, and InitialSIR before any has:
// known is false then.
func SIR(shuffled, read pathmap.Bytes) (ratio float64, known bool) {
	if read <= 0 {
		return InitialSIR, false
	}
	return float64(shuffled) / float64(read), true
}
