package topoeng

import (
	"math"
	"time"
)

// rounding is by how much times differ that are equal.
const rounding = 1e-9

// Decision is whether other circuits are worth their dark time.
type Decision struct {
	Reconfigure bool
	Stay        float64       // seconds until all demand is carried by what stands; +Inf if some of it never is
	Move        float64       // and by what is wanted, the dark time counted
	Bound       float64       // no topology is faster, however often it changes
	BreakEven   time.Duration // below this dark time moving is faster; below zero where it never is
}

// Decide compares what stands with another topology for a demand in units that a circuit carries in a second. Each
// pair also has packets, which carry so many units a second. Circuits that both topologies have at the same switch
// carry on; all others are dark for delta first. Equal times stay.
func Decide(d Demand, standing, wanted Topology, delta time.Duration, packets float64) Decision {
	stay := standing.Counts()
	common := standing.both(wanted).Counts()
	then := wanted.Counts()
	dec := Decision{Stay: slowestPair(d, stay, stay, 0, packets), Bound: bound(d, len(wanted.Out), packets)}
	dec.Move = slowestPair(d, common, then, delta.Seconds(), packets)
	dec.Reconfigure = dec.Move < dec.Stay*(1-rounding) || math.IsInf(dec.Stay, 1) && !math.IsInf(dec.Move, 1)
	dec.BreakEven = breakEven(d, common, then, dec.Stay, packets)
	return dec
}

// both returns the circuits that two topologies have in common.
func (t Topology) both(with Topology) Topology {
	out := NewTopology(t.Pods, len(t.Out))
	for k := range t.Out {
		for i, j := range t.Out[k] {
			if j >= 0 && with.Out[k][i] == j {
				out.Out[k][i] = j
			}
		}
	}
	return out
}

// slowestPair returns when the last pair is carried: by first's circuits for so many seconds, and then by then's.
func slowestPair(d Demand, first, then Counts, dark, packets float64) float64 {
	most := 0.0
	for i := range d {
		for j, x := range d[i] {
			if x > 0 {
				most = max(most, pairTime(x, float64(first[i][j])+packets, float64(then[i][j])+packets, dark))
			}
		}
	}
	return most
}

// pairTime returns how long a demand takes at one rate for a while and at another one from then on.
func pairTime(x, first, then, dark float64) float64 {
	if first*dark >= x {
		return x / first
	}
	if then == 0 {
		return math.Inf(1)
	}
	return dark + (x-first*dark)/then
}

// breakEven returns the dark time below which every pair is carried before a time: a pair that gets circuits, if they
// come soon enough, and one that loses some, if they go late enough.
func breakEven(d Demand, first, then Counts, stay, packets float64) time.Duration {
	before, after := math.Inf(1), 0.0
	for i := range d {
		for j, x := range d[i] {
			a, b := float64(first[i][j])+packets, float64(then[i][j])+packets
			switch {
			case x == 0:
			case a*stay <= x && b <= a:
				return -1
			case a*stay <= x:
				before = min(before, (stay*b-x)/(b-a)) // where dark + (x − a·dark)/b = stay
			case b < a:
				after = max(after, (x-stay*b)/(a-b))
			}
		}
	}
	switch {
	case before <= after:
		return -1
	case before*1e9 >= math.MaxInt64:
		return math.MaxInt64
	}
	return time.Duration(before * 1e9)
}

// bound is how long the busiest pod takes with a circuit of every switch and its packets all the time.
func bound(d Demand, switches int, packets float64) float64 {
	most := 0.0
	for i := range d {
		row, col, out, in := 0.0, 0.0, 0, 0
		for j := range d {
			row, col = row+d[i][j], col+d[j][i]
			if d[i][j] > 0 {
				out++
			}
			if d[j][i] > 0 {
				in++
			}
		}
		if out > 0 {
			most = max(most, row/(float64(switches)+float64(out)*packets))
		}
		if in > 0 {
			most = max(most, col/(float64(switches)+float64(in)*packets))
		}
	}
	return most
}
