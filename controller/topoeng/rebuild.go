package topoeng

import (
	"math/rand/v2"

	"lightloom/controller/policy/circuits/schedule"
)

// rebuild deals circuits out to some switches, one after the other. A switch gets a matching that serves every pod
// which needs all switches that are left, keeps most of what stands on it, and takes nothing that a later switch
// could keep instead.
func (a *assigner) rebuild(left Counts, switches []int) {
	n := len(left)
	later := NewCounts(n)
	for _, k := range switches {
		for i, j := range a.standing.Out[k] {
			if j >= 0 {
				later[i][j]++
			}
		}
	}
	weight := make([]int64, n*n)
	for at, k := range switches {
		for i, j := range a.standing.Out[k] {
			if j >= 0 {
				later[i][j]--
			}
		}
		a.weigh(weight, left, later, k, len(switches)-at)
		for i, j := range schedule.Assign(weight, n) {
			if left[i][j] > 0 {
				a.set(k, int32(i), j)
				left[i][j]--
			}
		}
	}
}

// weigh sets what each circuit is worth to a switch, one of so many that are left.
func (a *assigner) weigh(weight []int64, left, later Counts, k, switches int) {
	n := len(left)
	rows, cols := make([]int, n), make([]int, n)
	for i := range left {
		for j, x := range left[i] {
			rows[i] += x
			cols[j] += x
		}
	}
	must := int64(8 * n)
	for i := range left {
		for j, x := range left[i] {
			w := int64(0)
			if x > 0 {
				w = 3 + 4*int64(a.stays(k, int32(i), int32(j)))
				if x <= later[i][j] {
					w -= 4
				}
				if rows[i] == switches {
					w += must
				}
				if cols[j] == switches {
					w += must
				}
			}
			weight[i*n+j] = w
		}
	}
}

// recombine rebuilds some random switches, and keeps the result if it is no worse.
func (a *assigner) recombine(rng *rand.Rand, size int) int {
	switches := rng.Perm(len(a.out.Out))[:min(size, len(a.out.Out))]
	left, was := NewCounts(len(a.want)), make([][]int32, len(switches))
	before, after := 0, 0
	for n, k := range switches {
		was[n] = append([]int32(nil), a.out.Out[k]...)
		for i, j := range was[n] {
			if j >= 0 {
				before += a.stays(k, int32(i), j)
				left[i][j]++
				a.clear(k, int32(i), j)
			}
		}
	}
	a.rebuild(left, switches)
	for _, k := range switches {
		for i, j := range a.out.Out[k] {
			if j >= 0 {
				after += a.stays(k, int32(i), j)
			}
		}
	}
	if after >= before {
		return after - before
	}
	for n, k := range switches {
		for i, j := range a.out.Out[k] {
			if j >= 0 {
				a.clear(k, int32(i), j)
			}
		}
		for i, j := range was[n] {
			if j >= 0 {
				a.set(k, int32(i), j)
			}
		}
	}
	return 0
}
