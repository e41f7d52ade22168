package topoeng

import (
	"math"
	"slices"

	"lightloom/controller/policy/circuits/schedule"
)

// mostExact bounds the instances of which Choose finds the optimum: pods to the third power, times switches.
const mostExact = 1 << 24

// Choose says which pairs get a circuit, one at most, so that the least demand is left without, given how many circuits
// each pod can have, out and in. Its value is what is left, in units of the demand. Small instances have the optimum,
// by the cheapest augmenting path again and again (a flow of least cost); of larger ones a matching is taken out of
// what is left as often as a pod has circuits, and the bound is what the pods' largest demands leave.
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
		for c.augment() {
		}
	} else {
		c.match(most)
	}
	left := total
	for i := range d {
		for j, x := range c.counts[i] {
			left -= float64(x) * d[i][j]
		}
	}
	left = max(0, left)
	cert := certify(left, max(0, total-c.most(degree)))
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

// augment lets one more pair have a circuit, others giving theirs up or getting one on the way, where that carries
// more. It reports whether it does.
func (c *choice) augment() bool {
	n := len(c.demand)
	gain := [2][]float64{slices.Repeat([]float64{math.Inf(-1)}, n), slices.Repeat([]float64{math.Inf(-1)}, n)}
	from := [2][]int{slices.Repeat([]int{none}, n), slices.Repeat([]int{none}, n)}
	var queue [][2]int // side and pod
	queued := [2][]bool{make([]bool, n), make([]bool, n)}
	for i, more := range c.spare[0] {
		if more > 0 {
			gain[0][i] = 0
			queue, queued[0][i] = append(queue, [2]int{0, i}), true
		}
	}
	for len(queue) > 0 {
		side, i := queue[0][0], queue[0][1]
		queue, queued[side][i] = queue[1:], false
		for j := range n {
			out, in, by := i, j, 1.0
			if side == 1 {
				out, in, by = j, i, -1
			}
			if x := c.demand[out][in]; x == 0 || (c.counts[out][in] == 1) != (side == 1) {
				continue
			} else if g := gain[side][i] + by*x; g > gain[1-side][j]+1e-12*x {
				gain[1-side][j], from[1-side][j] = g, i
				if !queued[1-side][j] {
					queue, queued[1-side][j] = append(queue, [2]int{1 - side, j}), true
				}
			}
		}
	}
	best := none
	for j, more := range c.spare[1] {
		if more > 0 && gain[1][j] > 0 && (best < 0 || gain[1][j] > gain[1][best]) {
			best = j
		}
	}
	if best < 0 {
		return false
	}
	c.spare[1][best]--
	for side, j := 1, best; ; side = 1 - side {
		i := from[side][j]
		switch {
		case i < 0:
			c.spare[0][j]--
			return true
		case side == 1:
			c.counts[i][j] = 1
		default:
			c.counts[j][i] = 0
		}
		j = i
	}
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
