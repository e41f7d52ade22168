package topoeng

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"lightloom/controller/policy/circuits/schedule"
)

// Slot is a matching that one switch holds, after a reconfiguration delay.
type Slot struct {
	Out  []int32 // by input; below zero for none
	Long time.Duration
}

// Parallel is what each switch does, one slot after the other.
type Parallel [][]Slot

// Makespan returns when the last switch is done, if every slot begins with a reconfiguration delay.
func (p Parallel) Makespan(delta time.Duration) time.Duration {
	most := time.Duration(0)
	for _, slots := range p {
		most = max(most, long(slots, delta))
	}
	return most
}

func long(slots []Slot, delta time.Duration) time.Duration {
	sum := time.Duration(0)
	for _, s := range slots {
		sum += delta + s.Long
	}
	return sum
}

// Check returns an error unless the slots are matchings that carry all of a demand.
func (p Parallel) Check(m schedule.Matrix) error {
	left := m.Clone()
	for k, slots := range p {
		for n, s := range slots {
			seen := map[int32]bool{}
			for i, j := range s.Out {
				if j < 0 {
					continue
				}
				if seen[j] {
					return fmt.Errorf("switch %d, slot %d: two inputs lead to output %d", k, n, j)
				}
				seen[j] = true
				left[i][j] -= s.Long
			}
		}
	}
	for i := range left {
		for j, d := range left[i] {
			if d > 0 {
				return fmt.Errorf("demand %d→%d: %v of %v are not carried", i, j, d, m[i][j])
			}
		}
	}
	return nil
}

// Clear schedules a demand on parallel switches that take a reconfiguration delay before each matching, so that all
// is carried soon. It splits the demand into matchings of what is alike, as many as a port has peers where that can
// be, or into those of Birkhoff and von Neumann that carry long first; deals them out, the longest to the switch
// that is free soonest; and moves a part of a matching from the last switch to the first one as long as that pays
// for a further delay. The best of these is the answer. The problem and the last step are Spectra's (2026).
//
// The bound: a port's demand, and a delay for each of its peers and at least for each switch, over all switches.
func Clear(m schedule.Matrix, switches int, delta time.Duration) (Parallel, Certificate, error) {
	if switches < 1 || delta < 0 {
		return nil, Certificate{}, fmt.Errorf("clear demand: %d switches with a delay of %v: there is at least one "+
			"switch, and no delay below zero", switches, delta)
	}
	var best Parallel
	for _, slots := range [][]Slot{alike(m), greedy(m), thresholds(m, delta)} {
		p := deal(slots, switches, delta)
		p.even(delta)
		if best == nil || p.Makespan(delta) < best.Makespan(delta) {
			best = p
		}
	}
	return best, certify(float64(best.Makespan(delta)), float64(ClearBound(m, switches, delta))), nil
}

// ClearBound returns what no schedule of parallel switches is shorter than.
func ClearBound(m schedule.Matrix, switches int, delta time.Duration) time.Duration {
	most := time.Duration(0)
	rows, cols := m.Sums()
	for i := range m {
		out, in := 0, 0
		for j := range m {
			out += min(1, int(m[i][j]))
			in += min(1, int(m[j][i]))
		}
		for _, port := range []struct {
			sum   time.Duration
			peers int
		}{{rows[i], out}, {cols[i], in}} {
			if port.peers > 0 {
				all := port.sum + delta*time.Duration(max(port.peers, switches))
				most = max(most, (all+time.Duration(switches)-1)/time.Duration(switches))
			}
		}
	}
	return most
}

// alike splits a demand into matchings that carry their whole pairs at once: each is the heaviest of those that serve
// every port with the most peers left.
func alike(m schedule.Matrix) []Slot {
	var out []Slot
	n, left := len(m), m.Clone()
	weight := make([]int64, n*n)
	for !left.Empty() {
		degrees, most := peers(left)
		for i := range left {
			for j, d := range left[i] {
				weight[i*n+j] = 0
				if d > 0 {
					// A port that must be served outweighs all demand.
					weight[i*n+j] = int64(d>>10) + 1
					for _, deg := range []int{degrees[0][i], degrees[1][j]} {
						if deg == most {
							weight[i*n+j] += 1 << 42
						}
					}
				}
			}
		}
		s := Slot{Out: make([]int32, n)}
		for i, j := range schedule.Assign(weight, n) {
			s.Out[i] = none
			if d := left[i][j]; d > 0 {
				s.Out[i], s.Long = j, max(s.Long, d)
				left[i][j] = 0
			}
		}
		out = append(out, s)
	}
	return out
}

// greedy does what alike does in less time: the longest pairs first, those of the ports with the most peers left before
// others.
func greedy(m schedule.Matrix) (out []Slot) {
	if len(m) == 0 {
		return nil
	}
	left := byDemand(m)
	degrees, most := peers(m)
	for len(left) > 0 {
		s, taken := Slot{Out: slices.Repeat([]int32{none}, len(m))}, make([]bool, len(m))
		for _, urgent := range [2]bool{true, false} {
			for _, p := range left {
				if s.Out[p.from] >= 0 || taken[p.to] || urgent && max(degrees[0][p.from], degrees[1][p.to]) < most {
					continue
				}
				s.Out[p.from], taken[p.to], s.Long = p.to, true, max(s.Long, p.long)
			}
		}
		left = slices.DeleteFunc(left, func(p pairDemand) bool { return s.Out[p.from] == p.to })
		most = 0
		for i, j := range s.Out {
			if j >= 0 {
				degrees[0][i]--
				degrees[1][j]--
			}
		}
		for side := range degrees {
			most = max(most, slices.Max(degrees[side]))
		}
		out = append(out, s)
	}
	return out
}

// pairDemand is a pair of pods with demand.
type pairDemand struct {
	from, to int32
	long     time.Duration
}

// byDemand lists the pairs with demand, the longest first.
func byDemand(m schedule.Matrix) (all []pairDemand) {
	for i := range m {
		for j, d := range m[i] {
			if d > 0 {
				all = append(all, pairDemand{int32(i), int32(j), d})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b pairDemand) int { return cmp.Compare(b.long, a.long) })
	return all
}

// peers counts the pairs with demand of each output and input.
func peers(m schedule.Matrix) (degrees [2][]int, most int) {
	degrees = [2][]int{make([]int, len(m)), make([]int, len(m))}
	for i := range m {
		for j, d := range m[i] {
			if d > 0 {
				degrees[0][i]++
				degrees[1][j]++
			}
		}
	}
	for _, side := range degrees {
		for _, n := range side {
			most = max(most, n)
		}
	}
	return degrees, most
}

// thresholds splits a demand into matchings by the scheduler for one switch.
func thresholds(m schedule.Matrix, delta time.Duration) []Slot {
	s := schedule.Solstice(m.Clone(), nil, delta, 0)
	var out []Slot
	for _, slot := range s.Slots {
		t := Slot{Out: make([]int32, len(slot.Out)), Long: slot.Long}
		for i, j := range slot.Out {
			t.Out[i] = int32(j)
		}
		out = append(out, t)
	}
	return out
}

// deal gives the slots to switches, the longest first, each to the one that is free soonest.
func deal(slots []Slot, switches int, delta time.Duration) Parallel {
	slots = slices.Clone(slots)
	slices.SortStableFunc(slots, func(a, b Slot) int { return cmp.Compare(b.Long, a.Long) })
	p := make(Parallel, switches)
	for _, s := range slots {
		first := 0
		for k := range p {
			if long(p[k], delta) < long(p[first], delta) {
				first = k
			}
		}
		p[first] = append(p[first], s)
	}
	return p
}

// even moves a part of the longest slot of the switch that ends last to the one that ends first, until none is worth
// another delay.
func (p Parallel) even(delta time.Duration) {
	for {
		first, last := 0, 0
		for k := range p {
			if long(p[k], delta) < long(p[first], delta) {
				first = k
			}
			if long(p[k], delta) > long(p[last], delta) {
				last = k
			}
		}
		part := (long(p[last], delta) - long(p[first], delta) - delta) / 2
		at := -1
		for n, s := range p[last] {
			if s.Long > part && (at < 0 || s.Long > p[last][at].Long) {
				at = n
			}
		}
		if part <= long(p[last], delta)/1024 || at < 0 {
			return
		}
		p[last][at].Long -= part
		p[first] = append(p[first], Slot{Out: p[last][at].Out, Long: part})
	}
}
