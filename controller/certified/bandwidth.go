package certified

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"lightloom/controller/solve"
)

// Makespan gives flows on given routes the rates at which the last of them ends earliest
// (OptRA-Makespan and OptBA, equations 2.8 and 4.7): of each of its links a flow gets its part of all
// the volume there. What the bottleneck does not need stays unused. It returns the rates and the time
// of the last flow.
func (in *Instance) Makespan(paths [][]int32) (rate []float64, last float64, err error) {
	sum := make([]float64, len(in.Capacity))
	for i, links := range paths {
		for _, l := range links {
			sum[l] += in.Volume[i]
		}
	}
	rate = make([]float64, len(in.Volume))
	for i, v := range in.Volume {
		if v == 0 {
			continue
		}
		most := 0.0 // seconds a link needs for all
		for _, l := range paths[i] {
			if in.Capacity[l] <= 0 {
				return nil, 0, &solve.InfeasibleError{Rows: []int{int(l)},
					Reason: fmt.Sprintf("flow %d is routed over link %d, which has no capacity", i, l)}
			}
			most = max(most, sum[l]/in.Capacity[l])
		}
		if most == 0 {
			return nil, 0, noRoute(i)
		}
		rate[i] = v / most
		last = max(last, most)
	}
	return rate, last, nil
}

// Busiest returns how long the busiest link needs for all that is routed over it. On these routes
// nothing ends earlier.
func (in *Instance) Busiest(paths [][]int32) float64 {
	sum, most := make([]float64, len(in.Capacity)), 0.0
	for i, links := range paths {
		for _, l := range links {
			sum[l] += in.Volume[i]
		}
	}
	for l, bits := range sum {
		if bits > 0 {
			most = max(most, bits/in.Capacity[l])
		}
	}
	return most
}

// totalGap is how exact rates for a sum of transfer times are.
const totalGap = 1e-7

// Total gives flows on given routes the rates of the least sum of transfer times (OptRA-Total and
// OptBA-TTT, section
// 5.4.1), with the links' prices.
func (in *Instance) Total(paths [][]int32) (*solve.ConcaveAnswer, error) {
	p := &solve.Concave{Weight: in.Volume, Alpha: 2, Gap: totalGap}
	keep, of := in.binding(paths)
	for _, l := range keep {
		p.Right = append(p.Right, in.Capacity[l])
	}
	for i, links := range paths {
		if in.Volume[i] == 0 {
			continue
		}
		var rows []int32
		for _, l := range links {
			if r := of[l]; r >= 0 {
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 {
			return nil, noRoute(i)
		}
		q := path(i, rows)
		p.Paths = append(p.Paths, q)
	}
	a, err := p.Solve()
	if err != nil {
		return nil, err
	}
	price := make([]float64, len(in.Capacity))
	for r, l := range keep {
		price[l] = a.Y[r]
	}
	a.Y = price
	return a, nil
}

// binding returns the links that can hold flows back: of links that the same flows take, the narrowest.
// of is each link's position among them, -1 for the others.
func (in *Instance) binding(paths [][]int32) (keep, of []int32) {
	users := make([][]byte, len(in.Capacity))
	for i, links := range paths {
		if in.Volume[i] == 0 {
			continue
		}
		for _, l := range links {
			users[l] = binary.AppendUvarint(users[l], uint64(i))
		}
	}
	narrowest := map[string]int32{}
	for l, key := range users {
		if len(key) == 0 {
			continue
		}
		if at, ok := narrowest[string(key)]; !ok || in.Capacity[l] < in.Capacity[at] {
			narrowest[string(key)] = int32(l)
		}
	}
	of = make([]int32, len(in.Capacity))
	for l := range of {
		of[l] = -1
	}
	for _, l := range narrowest {
		keep = append(keep, l)
	}
	slices.Sort(keep)
	for r, l := range keep {
		of[l] = int32(r)
	}
	return keep, of
}

// totalOf returns the sum of transfer times at given rates.
func (in *Instance) totalOf(rate []float64) float64 {
	sum := 0.0
	for i, v := range in.Volume {
		if v > 0 {
			sum += v / rate[i]
		}
	}
	return sum
}

// lastOf returns the time of the last flow at given rates.
func (in *Instance) lastOf(rate []float64) float64 {
	last := 0.0
	for i, v := range in.Volume {
		if v > 0 {
			last = math.Max(last, v/rate[i])
		}
	}
	return last
}
