package topoeng

import (
	"cmp"
	"math"
	"slices"
	"time"

	"lightloom/controller/policy/circuits/schedule"
)

// Switch is what a schedule of whole pairs has to know of one of several parallel switches.
type Switch struct {
	Delta  time.Duration // before a circuit carries that was not there
	Usable []bool        // by pod: it has a port, in and out, that circuits can have
	There  []int32       // by pod: where its output leads already, below zero for nowhere
}

// Turn is a circuit of a switch. It carries all of its pair's demand.
type Turn struct {
	Switch     int
	From, To   int
	Begin, End time.Duration
	Dark       time.Duration // of that, before it carries
}

// ClearWhole does what Clear does where two pods have one circuit at a time: each pair is carried by one circuit of one
// switch. A circuit that is there goes on where it is, without a delay. The other pairs are split into matchings, and
// from the longest matching on each pair goes to the switch on which it is over first. None waits for others of its
// matching. Pairs that no switch joins are left out. Turns are by switch, pod and beginning.
//
// Nothing after the window is going to be used. Pairs that would carry nothing in it come after all others, so that no
// port idles in it for their sake.
//
// The bound takes it that a port is dark for the least delay of all switches before each peer that is not there
// already, and that a pair is never on two switches.
func ClearWhole(m schedule.Matrix, switches []Switch, window time.Duration) ([]Turn, Certificate) {
	if len(switches) == 0 {
		return nil, Certificate{Exact: true}
	}
	x := clearing{switches: switches, demand: m.Clone(), fresh: m.Clone(),
		free: make([][2][]time.Duration, len(switches))}
	for k := range x.free {
		x.free[k] = [2][]time.Duration{make([]time.Duration, len(m)), make([]time.Duration, len(m))}
	}
	x.goOn()
	x.leaveOut()
	matchings := greedy(x.fresh)
	slices.SortStableFunc(matchings, func(a, b Slot) int { return cmp.Compare(b.Long, a.Long) })
	for _, limit := range []time.Duration{window, math.MaxInt64} {
		for _, s := range matchings {
			for i, j := range s.Out {
				if j >= 0 && x.place(i, int(j), limit) {
					s.Out[i] = none
				}
			}
		}
	}
	makespan := time.Duration(0)
	for _, t := range x.turns {
		makespan = max(makespan, t.End)
	}
	slices.SortFunc(x.turns, func(a, b Turn) int {
		return cmp.Or(cmp.Compare(a.Switch, b.Switch), cmp.Compare(a.From, b.From), cmp.Compare(a.Begin, b.Begin))
	})
	return x.turns, certify(float64(makespan), float64(x.bound()))
}

// clearing is a schedule of whole pairs that is being made.
type clearing struct {
	switches []Switch
	demand   schedule.Matrix      // without the pairs that no switch joins
	fresh    schedule.Matrix      // and without those that are there
	free     [][2][]time.Duration // by switch, side and pod: when its port is free
	turns    []Turn
}

// joins reports whether a switch can join two pods.
func (x *clearing) joins(k, i, j int) bool { return x.switches[k].Usable[i] && x.switches[k].Usable[j] }

// goOn gives circuits that are there their turns. A pair whose circuit is on ports that cannot be used has no other one
// meanwhile.
func (x *clearing) goOn() {
	for k := range x.switches {
		for i, to := range x.switches[k].There {
			j := int(to)
			if j < 0 || x.fresh[i][j] == 0 {
				continue
			}
			if x.fresh[i][j] = 0; x.joins(k, i, j) {
				x.take(Turn{Switch: k, From: i, To: j, End: x.demand[i][j]})
			} else {
				x.demand[i][j] = 0
			}
		}
	}
}

// leaveOut takes away the demand of pairs that no switch joins.
func (x *clearing) leaveOut() {
	for i := range x.fresh {
		for j, d := range x.fresh[i] {
			k := 0
			for d > 0 && k < len(x.switches) && !x.joins(k, i, j) {
				k++
			}
			if k == len(x.switches) {
				x.demand[i][j], x.fresh[i][j] = 0, 0
			}
		}
	}
}

// place gives a pair its turn at the switch on which it is over first, of those that would carry it before the limit;
// false where there is none.
func (x *clearing) place(i, j int, limit time.Duration) bool {
	best := Turn{Switch: none}
	for k := range x.switches {
		if !x.joins(k, i, j) {
			continue
		}
		t := Turn{Switch: k, From: i, To: j, Begin: max(x.free[k][0][i], x.free[k][1][j]), Dark: x.switches[k].Delta}
		t.End = t.Begin + t.Dark + x.demand[i][j]
		if t.Begin+t.Dark < limit && (best.Switch < 0 || t.End < best.End) {
			best = t
		}
	}
	if best.Switch < 0 {
		return false
	}
	x.take(best)
	return true
}

func (x *clearing) take(t Turn) {
	x.turns = append(x.turns, t)
	x.free[t.Switch][0][t.From], x.free[t.Switch][1][t.To] = t.End, t.End
}

// bound returns what no schedule of whole pairs is shorter than: the turns of a port are jobs for as many machines as
// its pod has switches.
func (x *clearing) bound() (most time.Duration) {
	least := x.switches[0].Delta
	for k := range x.switches {
		least = min(least, x.switches[k].Delta)
	}
	long := x.demand.Clone()
	for i := range long {
		for j := range long[i] {
			if x.fresh[i][j] > 0 {
				long[i][j] += least
			}
		}
	}
	col := make([]time.Duration, len(long))
	for i := range long {
		for j := range long {
			col[j] = long[j][i]
		}
		n := x.switchesOf(i)
		most = max(most, lastEnd(slices.Clone(long[i]), n), lastEnd(col, n))
	}
	return most
}

func (x *clearing) switchesOf(pod int) (n int) {
	for k := range x.switches {
		if x.switches[k].Usable[pod] {
			n++
		}
	}
	return n
}

// lastEnd returns when the last of some jobs ends at least, on so many machines. Of the h·machines + 1 longest jobs
// some machine has h + 1. It drops jobs of no length, and sorts the others.
func lastEnd(jobs []time.Duration, machines int) (most time.Duration) {
	jobs = slices.DeleteFunc(jobs, func(d time.Duration) bool { return d == 0 })
	if machines == 0 || len(jobs) == 0 {
		return 0
	}
	slices.SortFunc(jobs, func(a, b time.Duration) int { return cmp.Compare(b, a) })
	sum := time.Duration(0)
	for _, d := range jobs {
		sum += d
	}
	most = max(jobs[0], (sum+time.Duration(machines)-1)/time.Duration(machines))
	for h := 1; h*machines < len(jobs); h++ {
		together := time.Duration(0)
		for _, d := range jobs[h*machines-h : h*machines+1] {
			together += d
		}
		most = max(most, together)
	}
	return most
}
