package topoeng

import (
	"container/heap"
	"fmt"
	"math"
)

// Demand is what pods have to send each other, [from][to], in any unit. The diagonal is zero.
type Demand [][]float64

// Check returns an error unless a demand is square, without negative numbers, and zero on its diagonal.
func (d Demand) Check() error {
	for i := range d {
		if len(d[i]) != len(d) {
			return fmt.Errorf("demand of pod %d: %d columns for %d pods", i, len(d[i]), len(d))
		}
		for j, v := range d[i] {
			if !(v >= 0) || math.IsInf(v, 1) || i == j && v != 0 {
				return fmt.Errorf("demand of pod %d to pod %d: %g is not a number from 0 on, 0 for a pod to itself", i, j, v)
			}
		}
	}
	return nil
}

// Divide says how many circuits each pair gets, of at most so many in and out of a pod. Its value is the longest time
// that a pair takes on its circuits, in units of demand a circuit; no division of whole circuits is faster, and the
// certificate's bound is what fractions of circuits would reach. Circuits that are left over go to the pairs that take
// longest, of equal ones to those that have one standing, and the last ones stay where they stand.
func Divide(d Demand, switches int, standing Counts) (Counts, Certificate, error) {
	if err := d.Check(); err != nil {
		return nil, Certificate{}, err
	}
	v := newDivision(d, switches, standing)
	for i := range v.rows {
		if v.pairs[0][i] > switches || v.pairs[1][i] > switches {
			return nil, Certificate{}, fmt.Errorf("divide circuits: pod %d has demand with %d others, and %d switches give "+
				"it a circuit with as many at most: add switches, or leave small demand to packets", i,
				max(v.pairs[0][i], v.pairs[1][i]), switches)
		}
	}
	// Time is bisected: the shortest at which the rounded-up counts fit.
	bound := v.bound()
	low, high := bound, v.most
	if v.fits(low) {
		high = low
	}
	for range 100 {
		mid := low + (high-low)/2
		if mid <= low || mid >= high {
			break
		}
		if v.fits(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	v.fill(high)
	c := Certificate{Value: v.longest(), Bound: bound, Exact: true}
	v.spread()
	return v.counts, c, nil
}

// division is counts under way.
type division struct {
	demand     Demand
	standing   Counts
	counts     Counts
	switches   int
	rows, cols []int    // circuits so far
	pairs      [2][]int // pairs with demand, out of and into a pod
	most       float64  // largest demand
}

func newDivision(d Demand, switches int, standing Counts) *division {
	n := len(d)
	v := &division{demand: d, standing: standing, counts: NewCounts(n), switches: switches, rows: make([]int, n),
		cols: make([]int, n), pairs: [2][]int{make([]int, n), make([]int, n)}}
	if standing == nil {
		v.standing = NewCounts(n)
	}
	for i := range d {
		for j, x := range d[i] {
			if x > 0 {
				v.pairs[0][i]++
				v.pairs[1][j]++
				v.most = max(v.most, x)
			}
		}
	}
	return v
}

// bound is the time that fractions of circuits take.
func (v *division) bound() float64 {
	most := 0.0
	for i := range v.demand {
		row, col := 0.0, 0.0
		for j := range v.demand {
			row += v.demand[i][j]
			col += v.demand[j][i]
		}
		most = max(most, row, col)
	}
	return most / float64(v.switches)
}

// need is how many circuits clear a demand in a time.
func need(demand, time float64) int {
	if demand == 0 {
		return 0
	}
	n := int(math.Ceil(demand / time))
	for n > 1 && demand/float64(n-1) <= time { // rounding may ask for one too many
		n--
	}
	return n
}

// fits reports whether the circuits that clear all demand in a time fit the ports.
func (v *division) fits(time float64) bool {
	cols := make([]int, len(v.demand))
	for i := range v.demand {
		row := 0
		for j, x := range v.demand[i] {
			n := need(x, time)
			row += n
			if cols[j] += n; row > v.switches || cols[j] > v.switches {
				return false
			}
		}
	}
	return true
}

func (v *division) fill(time float64) {
	for i := range v.demand {
		for j, x := range v.demand[i] {
			v.add(i, j, need(x, time))
		}
	}
}

func (v *division) add(i, j, n int) {
	v.counts[i][j] += n
	v.rows[i] += n
	v.cols[j] += n
}

// longest is the longest time that a pair takes.
func (v *division) longest() float64 {
	most := 0.0
	for i := range v.demand {
		for j, x := range v.demand[i] {
			if x > 0 {
				most = max(most, x/float64(v.counts[i][j]))
			}
		}
	}
	return most
}

// spread hands out the circuits that are left.
func (v *division) spread() {
	h := &slowest{v: v}
	for i := range v.demand {
		for j, x := range v.demand[i] {
			if x > 0 {
				h.pairs = append(h.pairs, [2]int{i, j})
			}
		}
	}
	heap.Init(h)
	for h.Len() > 0 {
		i, j := h.pairs[0][0], h.pairs[0][1]
		if v.rows[i] == v.switches || v.cols[j] == v.switches {
			heap.Pop(h)
			continue
		}
		v.add(i, j, 1)
		heap.Fix(h, 0)
	}
	for i := range v.demand {
		for j, n := range v.standing[i] {
			if i != j {
				v.add(i, j, max(0, min(n-v.counts[i][j], v.switches-v.rows[i], v.switches-v.cols[j])))
			}
		}
	}
}

// slowest is a heap of pairs, the one that takes longest first.
type slowest struct {
	v     *division
	pairs [][2]int
}

func (h *slowest) Len() int { return len(h.pairs) }

func (h *slowest) Less(a, b int) bool {
	p, q := h.pairs[a], h.pairs[b]
	x := h.v.demand[p[0]][p[1]] / float64(h.v.counts[p[0]][p[1]])
	y := h.v.demand[q[0]][q[1]] / float64(h.v.counts[q[0]][q[1]])
	if x != y {
		return x > y
	}
	sx, sy := h.stands(p), h.stands(q)
	if sx != sy {
		return sx
	}
	return p[0] < q[0] || p[0] == q[0] && p[1] < q[1]
}

// stands reports whether one more circuit of a pair would be one that stands.
func (h *slowest) stands(p [2]int) bool { return h.v.standing[p[0]][p[1]] > h.v.counts[p[0]][p[1]] }

func (h *slowest) Swap(a, b int) { h.pairs[a], h.pairs[b] = h.pairs[b], h.pairs[a] }
func (h *slowest) Push(x any)    { h.pairs = append(h.pairs, x.([2]int)) }

func (h *slowest) Pop() any {
	last := h.pairs[len(h.pairs)-1]
	h.pairs = h.pairs[:len(h.pairs)-1]
	return last
}
