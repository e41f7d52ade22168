package schedule

import "math"

// Assign returns for each row a column, each column once, so that the sum of the weights is as large as
// can be. weight is square, row by row, within ±2⁵⁰. Of several best answers it returns always the
// same.
//
// It is the shortest augmenting path algorithm of Jonker and Volgenant (A shortest augmenting path
// algorithm for dense and sparse linear assignment problems, Computing 38, 1987): column reduction,
// reduction transfer left out, augmenting row reduction twice, then augmentation. At most cubic time.
func Assign(weight []int64, n int) []int32 {
	a := assigner{n: n, cost: make([]int64, n*n), v: make([]int64, n), row: fill(n, -1), col: fill(n, -1)}
	for i, w := range weight {
		a.cost[i] = -w
	}
	a.reduceColumns()
	free := a.unassigned()
	for range 2 {
		free = a.reduceRows(free)
	}
	a.dist, a.pred, a.cols = make([]int64, n), make([]int32, n), make([]int32, n)
	for _, i := range free {
		a.augment(i)
	}
	return a.col
}

func fill(n int, v int32) []int32 {
	s := make([]int32, n)
	for i := range s {
		s[i] = v
	}
	return s
}

// assigner minimises cost.
type assigner struct {
	n    int
	cost []int64
	v    []int64 // potentials of columns
	row  []int32 // by column, -1 for none
	col  []int32 // by row, -1 for none
	dist []int64
	pred []int32
	cols []int32
}

// reduceColumns gives every column its smallest cost and, from the last to the first, a row where that
// row is free.
func (a *assigner) reduceColumns() {
	for j := a.n - 1; j >= 0; j-- {
		best, at := a.cost[j], 0
		for i := 1; i < a.n; i++ {
			if c := a.cost[i*a.n+j]; c < best {
				best, at = c, i
			}
		}
		a.v[j] = best
		if a.col[at] < 0 {
			a.col[at], a.row[j] = int32(j), int32(at)
		}
	}
}

func (a *assigner) unassigned() []int32 {
	var free []int32
	for i, j := range a.col {
		if j < 0 {
			free = append(free, int32(i))
		}
	}
	return free
}

// reduceRows lets free rows take their best column and lowers its price to that of the second best; who
// had the column looks for another. It returns the rows that are free still.
func (a *assigner) reduceRows(free []int32) []int32 {
	var left []int32
	budget := 4 * a.n // a row that is pushed out again and again is left to augmentation
	for k := 0; k < len(free); k++ {
		i := free[k]
		first, second, j1, j2 := a.twoBest(i)
		other := a.row[j1]
		if first < second {
			a.v[j1] -= second - first
		} else if other >= 0 && j2 >= 0 {
			j1 = j2
			other = a.row[j1]
		}
		a.col[i], a.row[j1] = j1, i
		switch {
		case other < 0:
		case first < second && budget > 0:
			budget--
			a.col[other] = -1
			free[k] = other
			k--
		default:
			a.col[other] = -1
			left = append(left, other)
		}
	}
	return left
}

// twoBest returns the smallest and the second smallest reduced cost of a row, and their columns (-1 for
// no second).
func (a *assigner) twoBest(i int32) (first, second int64, j1, j2 int32) {
	row := a.cost[int(i)*a.n : (int(i)+1)*a.n]
	first, second, j1, j2 = row[0]-a.v[0], math.MaxInt64/4, 0, -1
	for j := 1; j < a.n; j++ {
		switch h := row[j] - a.v[j]; {
		case h < first:
			first, second, j1, j2 = h, first, int32(j), j1
		case h < second:
			second, j2 = h, int32(j)
		}
	}
	return first, second, j1, j2
}

// augment finds the cheapest way from a free row to a free column (Dijkstra on reduced costs) and
// shifts along it.
func (a *assigner) augment(start int32) {
	for j := range a.n {
		a.dist[j], a.pred[j], a.cols[j] = a.cost[int(start)*a.n+j]-a.v[j], start, int32(j)
	}
	ready, todo, end := 0, 0, int32(-1) // cols[:ready] are done, cols[ready:todo] are nearest, the rest is further
	least := int64(0)
	for end < 0 {
		if ready == todo {
			todo = a.nearest(ready)
			least = a.dist[a.cols[ready]]
			for _, j := range a.cols[ready:todo] {
				if a.row[j] < 0 {
					end = j
					break
				}
			}
			if end >= 0 {
				break
			}
		}
		end, todo = a.scan(ready, todo, least)
		ready++
	}
	for _, j := range a.cols[:ready] {
		if a.dist[j] < least {
			a.v[j] += a.dist[j] - least
		}
	}
	for i := int32(-1); i != start; {
		i = a.pred[end]
		a.row[end] = i
		end, a.col[i] = a.col[i], end
	}
}

// nearest brings the columns of the smallest distance to the front of those from k on, and returns
// where they end.
func (a *assigner) nearest(k int) int {
	end := k + 1
	least := a.dist[a.cols[k]]
	for q := k + 1; q < a.n; q++ {
		j := a.cols[q]
		if d := a.dist[j]; d <= least {
			if d < least {
				end, least = k, d
			}
			a.cols[q], a.cols[end] = a.cols[end], j
			end++
		}
	}
	return end
}

// scan goes on from the row of one done column. It returns a free column at the same distance, or -1.
func (a *assigner) scan(ready, todo int, least int64) (int32, int) {
	j1 := a.cols[ready]
	i := a.row[j1]
	row := a.cost[int(i)*a.n : (int(i)+1)*a.n]
	h := row[j1] - a.v[j1] - least
	for q := todo; q < a.n; q++ {
		j := a.cols[q]
		d := row[j] - a.v[j] - h
		if d >= a.dist[j] {
			continue
		}
		a.dist[j], a.pred[j] = d, i
		if d == least {
			if a.row[j] < 0 {
				return j, todo
			}
			a.cols[q], a.cols[todo] = a.cols[todo], j
			todo++
		}
	}
	return -1, todo
}
