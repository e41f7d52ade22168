package phases

import (
	"container/heap"
	"fmt"

	"lightloom/controller/topoeng"
)

// mostForms bounds the topologies: there is one for each set of forms.
const mostForms = 6

// Candidates returns topologies to choose from: for each set of the ways in which an iteration sends, one with circuits
// in proportion to what each pair sends in an iteration, beside the one for all of them. A topology is left out where
// another one, if neither moves, is as fast in every phase.
func Candidates(f Fabric, iteration []Phase) ([]topoeng.Topology, error) {
	if err := f.Check(iteration); err != nil {
		return nil, err
	}
	var forms []*Form
	times := map[*Form]float64{}
	for i := range iteration {
		for k := range iteration[i].Forms {
			form := &iteration[i].Forms[k]
			if times[form]++; times[form] == 1 {
				forms = append(forms, form)
			}
		}
	}
	if len(forms) > mostForms {
		return nil, fmt.Errorf("make topologies: an iteration sends in %d ways; take %d at most, and let phases share them",
			len(forms), mostForms)
	}
	var out []topoeng.Topology
	standing := topoeng.NewTopology(f.Racks, f.Switches)
	for set := 1<<len(forms) - 1; set > 0; set-- { // all of them first: the others are made beside it
		sum := make(topoeng.Demand, f.Racks)
		for i := range sum {
			sum[i] = make([]float64, f.Racks)
			for k, form := range forms {
				for j := range sum[i] {
					if set>>k&1 == 1 {
						sum[i][j] += times[form] * form.Demand[i][j]
					}
				}
			}
		}
		t, _, err := topoeng.Assign(f.counts(sum), standing, 0, 1)
		if err != nil {
			return nil, err
		}
		if len(out) == 0 {
			standing = t
		}
		out = append(out, t)
	}
	return fastest(newCosts(f, iteration, out), out), nil
}

// fastest returns the topologies that no other one is as fast as in every phase; of equal ones, the first.
func fastest(c *costs, from []topoeng.Topology) []topoeng.Topology {
	asFast := func(a, b int) (as, faster bool) {
		for k := range c.classes {
			x, y := c.of(k, a, a), c.of(k, b, b)
			if x > y*(1+1e-9) {
				return false, false
			}
			faster = faster || x < y*(1-1e-9)
		}
		return true, faster
	}
	var out []topoeng.Topology
	for b := range from {
		beaten := false
		for a := range from {
			as, faster := asFast(a, b)
			beaten = beaten || as && (faster || a < b)
		}
		if !beaten {
			out = append(out, from[b])
		}
	}
	return out
}

// counts divides circuits among pairs, one after the other, each to the pair that takes longest with those that it has;
// pairs without any come first, those with the most demand before others. Unlike topoeng.Divide it leaves pairs out if
// there are more than circuits: packets have those.
func (f Fabric) counts(d topoeng.Demand) topoeng.Counts {
	counts := topoeng.NewCounts(len(d))
	rows, cols := make([]int, len(d)), make([]int, len(d))
	var h longest
	for i := range d {
		for j, bytes := range d[i] {
			if bytes > 0 && (f.RailCount == 0 || i%f.RailCount == j%f.RailCount) {
				h = append(h, share{bytes, 0, i, j})
			}
		}
	}
	heap.Init(&h)
	for len(h) > 0 {
		s := &h[0]
		if rows[s.from] == f.Switches || cols[s.to] == f.Switches || f.Steered && s.circuits > 0 {
			heap.Pop(&h)
			continue
		}
		rows[s.from]++
		cols[s.to]++
		s.circuits++
		counts[s.from][s.to] = s.circuits
		heap.Fix(&h, 0)
	}
	return counts
}

// share is the circuits of a pair so far.
type share struct {
	bytes    float64
	circuits int
	from, to int
}

// longest is a heap, the pair that takes longest first.
type longest []share

func (h longest) Len() int { return len(h) }

func (h longest) Less(a, b int) bool {
	x, y := h[a], h[b]
	if bare := x.circuits == 0; bare != (y.circuits == 0) {
		return bare
	}
	// x/m > y/n, without dividing.
	s, t := x.bytes*float64(max(1, y.circuits)), y.bytes*float64(max(1, x.circuits))
	if s != t {
		return s > t
	}
	return x.from < y.from || x.from == y.from && x.to < y.to
}

func (h longest) Swap(a, b int) { h[a], h[b] = h[b], h[a] }
func (h *longest) Push(x any)   { *h = append(*h, x.(share)) }

func (h *longest) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
