package topoeng

import (
	"slices"

	"lightloom/controller/policy/circuits/schedule"
)

// mostExact bounds the instances of which Choose finds the optimum: pods to the third power, times switches. The
// hardest of BenchmarkChoose take 70 ms of processor time.
const mostExact = 1 << 23

// longestDemand bounds a demand in nanoseconds, about 104 days, so that sums along a path cannot overflow.
const longestDemand = 1 << 53

// Choose says which pairs get a circuit, one at most, so that the least demand is left without, given how many
// circuits each pod can have, out and in. Demand is in seconds of a circuit, of which whole nanoseconds count. So is
// the value, what is left. Small instances have the optimum, by the cheapest augmenting path for each circuit that a
// pod can have (a flow of least cost). Of larger ones a matching is taken out of what is left as often as a pod has
// circuits, and the bound is what the pods' largest demands leave.
func Choose(d Demand, degree []int) (Counts, Certificate, error) {
	if err := d.Check(); err != nil {
		return nil, Certificate{}, err
	}
	n, most, total := len(d), 0, 0.0
	for i := range d {
		most = max(most, degree[i])
		for _, x := range d[i] {
			total += x
		}
	}
	c := &choice{demand: d, counts: NewCounts(n), spare: [2][]int{slices.Clone(degree), slices.Clone(degree)}}
	exact := n*n*n*most <= mostExact
	if exact {
		c.optimum()
	} else {
		c.match(most)
	}
	left := c.left()
	cert := certify(left, min(left, max(0, total-c.most(degree))))
	if exact {
		cert.Bound, cert.Exact = left, true
	}
	return c.counts, cert, nil
}

// choice is pairs under way, and how many more circuits pods can have, out and in.
type choice struct {
	demand Demand
	counts Counts
	spare  [2][]int
}

// left is the demand of pairs without a circuit.
func (c *choice) left() (left float64) {
	for i := range c.demand {
		for j, x := range c.demand[i] {
			if c.counts[i][j] == 0 {
				left += x
			}
		}
	}
	return left
}

// match takes the heaviest matching of what is left, so many times.
func (c *choice) match(times int) {
	n := len(c.demand)
	largest := 0.0
	for i := range c.demand {
		largest = max(largest, slices.Max(c.demand[i]))
	}
	if largest == 0 {
		return
	}
	weight := make([]int64, n*n)
	for range times {
		for i := range c.demand {
			for j, x := range c.demand[i] {
				weight[i*n+j] = 0
				if c.counts[i][j] == 0 && c.spare[0][i] > 0 && c.spare[1][j] > 0 {
					weight[i*n+j] = int64(x / largest * (1 << 30))
				}
			}
		}
		for i, j := range schedule.Assign(weight, n) {
			if weight[i*n+int(j)] > 0 {
				c.counts[i][j] = 1
				c.spare[0][i]--
				c.spare[1][j]--
			}
		}
	}
}

// most is what all circuits of all pods carry at most: the largest demands of each pod, out or in.
func (c *choice) most(degree []int) float64 {
	sums := [2]float64{}
	for i := range c.demand {
		var row, col []float64
		for j := range c.demand {
			row, col = append(row, c.demand[i][j]), append(col, c.demand[j][i])
		}
		for side, all := range [2][]float64{row, col} {
			slices.Sort(all)
			for _, x := range all[max(0, len(all)-degree[i]):] {
				sums[side] += x
			}
		}
	}
	return min(sums[0], sums[1])
}
