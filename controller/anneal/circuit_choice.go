package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
)

// CircuitDemand is what a coflow has left between two racks, for which it can get a circuit.
type CircuitDemand struct {
	Coflow  int // demands of one coflow follow each other
	In, Out int32
	Rows    []HostFlow
	Flows   []int32         // by row: as Run and Lay number them; on packets now
	Bytes   []pathmap.Bytes // by row: payload left
}

// Lay puts the host flows of a coflow on the widest paths, one after the other, and returns the flows by row.
func (s *NetworkState) Lay(c Coflow) []int32 {
	r := s.take([]Coflow{c})
	flows := make([]int32, len(r.all))
	for k := range r.all {
		ch := &r.all[k]
		ch.at = s.widest(ch.flow, ch.candidates)
		s.layOut(ch)
		flows[k] = ch.flow
	}
	return flows
}

// The limits on the work of choosing circuits, in flows and links visited: a number for each flow that might be on a
// circuit, but not less than the least nor more than this part of a decision's. Circuits are decided far more often
// than places.
const (
	circuitFlow  = 50
	circuitLeast = 50_000
	circuitParts = 10
)

// ChooseCircuits returns which demands are worth their circuits, with everything else fixed; flows keep their paths.
// The network state has optics. A demand whose racks cannot be joined stays out.
func (s *NetworkState) ChooseCircuits(demands []CircuitDemand, rng *rand.Rand) ([]bool, Count) {
	l := newCircuitSearch(s, demands)
	if len(l.able) == 0 {
		return l.on, Count{}
	}
	work := min(max(circuitFlow*l.flows, circuitLeast)*s.opt.Work/usualWork, s.opt.Work/circuitParts)
	count := l.anneal(work/2, rng)
	s.end = s.net.work + work/2
	count.Add(l.localSearch())
	l.idle()
	return l.on, count
}

// anneal anneals from every first state for an even part of the work, and leaves the best state seen, the first among
// equals.
func (l *circuitSearch) anneal(work int64, rng *rand.Rand) Count {
	var count Count
	var best []bool
	most, o := int64(-1), l.s.opt
	for r := range o.Restarts {
		l.s.end = l.s.net.work + work/int64(o.Restarts)
		count.Add(Run(l, Schedule{Restarts: 1, First: r, Steps: min(4*o.RouteSteps, 16*len(l.able)), Start: o.Start,
			End: o.End}, rng))
		if u := l.Utility(); u > most {
			most, best = u, append(best[:0], l.on...)
		}
	}
	l.turn(l.able, func(k int32) bool { return best[k] })
	return count
}

// circuitSearch is the state of that decision: which demands are on. A neighbour differs in one of them, or in all of
// one coflow, or of those that it has to or from one rack, since a receiver is as slow as the slowest of its senders.
type circuitSearch struct {
	s       *NetworkState
	demands []CircuitDemand
	path    [][][]pathmap.LinkID // by demand and flow: its packet path
	circuit [][]pathmap.LinkID   // by demand: its circuit
	on      []bool
	able    []int32 // demands that can be on
	group   [][]int32
	of      [][kindsOfGroup]int32 // by able demand: its groups
	flows   int64
	turned  []int32
	saved   []bool
}

// kindsOfGroup is in how many groups a demand is: its coflow's, and of these those to its output and those from its
// input.
const kindsOfGroup = 3

func newCircuitSearch(s *NetworkState, demands []CircuitDemand) *circuitSearch {
	l := &circuitSearch{s: s, demands: demands, path: make([][][]pathmap.LinkID, len(demands)),
		circuit: make([][]pathmap.LinkID, len(demands)),
		on:      make([]bool, len(demands))}
	for k := range demands {
		w, ok := s.net.dark.circuit(demands[k].In, demands[k].Out)
		if !ok {
			continue
		}
		l.circuit[k] = w.Links
		for i, f := range demands[k].Flows {
			fl := &s.net.flows[f]
			fl.bits = 8 * s.net.dark.Wire * float64(demands[k].Bytes[i]) / float64(fl.pairs)
			l.path[k] = append(l.path[k], s.loosen(f, demands[k].Rows[i]))
		}
		l.able = append(l.able, int32(k))
		l.flows += int64(len(demands[k].Flows))
	}
	l.gather()
	return l
}

// gather makes the groups, each when the first of its demands is met.
func (l *circuitSearch) gather() {
	at := map[[kindsOfGroup]int32]int32{}
	for _, k := range l.able {
		p := &l.demands[k]
		var of [kindsOfGroup]int32
		for kind, key := range [kindsOfGroup][kindsOfGroup]int32{{int32(p.Coflow), -1, -1}, {int32(p.Coflow), -1, p.Out},
			{int32(p.Coflow), p.In, -1}} {
			g, ok := at[key]
			if !ok {
				g = int32(len(l.group))
				at[key] = g
				l.group = append(l.group, nil)
			}
			l.group[g] = append(l.group[g], k)
			of[kind] = g
		}
		l.of = append(l.of, of)
	}
}

// loosen puts a flow's host links first, where they stay when its path changes, and returns the others.
func (s *NetworkState) loosen(f int32, b HostFlow) []pathmap.LinkID {
	ends := []pathmap.LinkID{s.topology.up[b.Src], s.topology.dn[b.Dst]}
	candidate := s.net.hopsOf(f)
	for i, l := range ends {
		if j := slices.IndexFunc(candidate, func(h hop) bool { return h.link == l }); j > i {
			candidate[i], candidate[j] = candidate[j], candidate[i]
			s.net.on[candidate[i].link][candidate[i].at].hop = int32(i)
			s.net.on[candidate[j].link][candidate[j].at].hop = int32(j)
		}
	}
	path := make([]pathmap.LinkID, len(candidate)-len(ends))
	for i := range path {
		path[i] = candidate[len(ends)+i].link
	}
	return path
}

func (l *circuitSearch) set(k int32, on bool) {
	if l.on[k] == on {
		return
	}
	l.on[k] = on
	net, flows := l.s.net, l.demands[k].Flows
	if on {
		for _, f := range flows {
			net.lift(f, 2)
		}
		net.layAll(flows, l.circuit[k])
		return
	}
	net.liftAll(flows, 2)
	for i, f := range flows {
		net.lay(f, l.path[k][i])
	}
}

// few is up to how many demands are turned one by one.
const few = 4

// turn turns demands that are not as they should be.
func (l *circuitSearch) turn(demands []int32, on func(k int32) bool) {
	if len(demands) <= few {
		for _, k := range demands {
			l.set(k, on(k))
		}
		return
	}
	l.s.net.together(func() {
		for _, k := range demands {
			l.set(k, on(k))
		}
	})
}

// Reset implements Problem: all off, all on, then coflow by coflow at random.
func (l *circuitSearch) Reset(restart int, rng *rand.Rand) {
	on := map[int]bool{}
	for _, k := range l.able {
		c := l.demands[k].Coflow
		if _, known := on[c]; !known {
			on[c] = restart == 1 || restart > 1 && rng.IntN(2) == 0
		}
	}
	l.turn(l.able, func(k int32) bool { return on[l.demands[k].Coflow] })
	l.turned = l.turned[:0]
}

// setAll turns demands on or off, and notes which were not.
func (l *circuitSearch) setAll(demands []int32, on bool) {
	l.turned = l.turned[:0]
	for _, k := range demands {
		if l.on[k] != on {
			l.turned = append(l.turned, k)
		}
	}
	l.turn(l.turned, func(int32) bool { return on })
}

// Move implements Problem.
func (l *circuitSearch) Move(rng *rand.Rand) bool {
	i := rng.IntN(len(l.able))
	k := l.able[i]
	if rng.Float64() < l.s.opt.Uniform {
		l.setAll(l.group[l.of[i][rng.IntN(kindsOfGroup)]], !l.on[k])
		return true
	}
	l.setAll(l.able[i:i+1], !l.on[k])
	return true
}

// Undo implements Problem.
func (l *circuitSearch) Undo() {
	l.turn(l.turned, func(k int32) bool { return !l.on[k] })
	l.turned = l.turned[:0]
}

// Utility implements Problem.
func (l *circuitSearch) Utility() int64 { return l.s.net.value() }

// Save implements Problem.
func (l *circuitSearch) Save() { l.saved = append(l.saved[:0], l.on...) }

// Restore implements Problem.
func (l *circuitSearch) Restore() {
	l.turn(l.able, func(k int32) bool { return l.saved[k] })
}

// Spent implements Problem.
func (l *circuitSearch) Spent() bool { return l.s.spent() }

// localSearch turns groups and single demands while that gains.
func (l *circuitSearch) localSearch() Count {
	var count Count
	for range l.s.opt.Passes {
		gained := false
		for g := range l.group {
			for _, on := range [2]bool{true, false} {
				gained = l.try(l.group[g], on, &count) || gained
			}
		}
		for i, k := range l.able {
			gained = l.try(l.able[i:i+1], !l.on[k], &count) || gained
		}
		if !gained {
			break
		}
	}
	return count
}

// try turns demands on or off if that gains.
func (l *circuitSearch) try(demands []int32, on bool, count *Count) bool {
	if l.Spent() {
		return false
	}
	before := l.Utility()
	if l.setAll(demands, on); len(l.turned) == 0 {
		return false
	}
	count.Evaluated++
	if l.Utility() <= before {
		l.Undo()
		return false
	}
	count.Accepted++
	return true
}

// idle assigns circuits to flows that gain by them alone and cost no other flow: a receiver's utility is that of its
// slowest sender, but the other senders' bytes leave the packet network sooner.
func (l *circuitSearch) idle() {
	for _, k := range l.able {
		if l.on[k] || l.Spent() {
			continue
		}
		before, own := l.Utility(), l.own(k)
		if l.set(k, true); l.Utility() < before || l.own(k) <= own {
			l.set(k, false)
		}
	}
}

// own is the sum of what a demand's flows have.
func (l *circuitSearch) own(k int32) int64 {
	sum := int64(0)
	for _, f := range l.demands[k].Flows {
		sum += l.s.net.flows[f].each * int64(l.s.net.flows[f].pairs)
	}
	return sum
}
