package anneal

import (
	"math/rand/v2"
	"slices"

	"lightloom/pathmap"
)

// Lamp is what a coflow has left between two racks, and may be given a circuit.
type Lamp struct {
	Coflow  int // lamps of one coflow follow each other
	In, Out int32
	Rows    []Bundle
	Flows   []int32         // by row: as Run and Lay number them; on packets now
	Bytes   []pathmap.Bytes // by row: payload left
}

// Lay puts the bundles of a coflow on the widest paths, one after the other, and returns the flows by row.
func (s *Scene) Lay(c Coflow) []int32 {
	r := s.take([]Coflow{c})
	flows := make([]int32, len(r.all))
	for k := range r.all {
		ch := &r.all[k]
		ch.at = s.widest(ch.flow, ch.ways)
		s.layOut(ch)
		flows[k] = ch.flow
	}
	return flows
}

// lightParts is which part of a decision's work lighting may do: circuits are decided far more often than places.
const lightParts = 10

// Light says which lamps are worth their circuits, everything else standing still; flows go on where they are. The scene
// has optics. A lamp whose racks cannot be joined stays out.
func (s *Scene) Light(lamps []Lamp, rng *rand.Rand) ([]bool, Count) {
	s.begin(lightParts)
	l := newLighting(s, lamps)
	if len(l.able) == 0 {
		return l.on, Count{}
	}
	o := s.opt
	count := Walk(l, Schedule{Restarts: o.Restarts, Steps: min(4*o.RouteSteps, 16*len(l.able)), Start: o.Start, End: o.End}, rng)
	count.Add(l.settle())
	l.idle()
	return l.on, count
}

// lighting is the state of that decision: which lamps are on. A neighbour differs in one of them, or in all of one
// coflow, since a receiver is as slow as the slowest of its senders.
type lighting struct {
	s      *Scene
	lamps  []Lamp
	path   [][][]pathmap.LinkID // by lamp and flow: its packet path
	light  [][]pathmap.LinkID   // by lamp: its circuit
	on     []bool
	able   []int32 // lamps that can be on
	group  [][2]int
	of     []int32 // by able lamp: its group, a range of able
	turned []int32
	saved  []bool
}

func newLighting(s *Scene, lamps []Lamp) *lighting {
	l := &lighting{s: s, lamps: lamps, path: make([][][]pathmap.LinkID, len(lamps)), light: make([][]pathmap.LinkID, len(lamps)),
		on: make([]bool, len(lamps))}
	for k := range lamps {
		w, ok := s.net.dark.way(lamps[k].In, lamps[k].Out)
		if !ok {
			continue
		}
		l.light[k] = w.Links
		for i, f := range lamps[k].Flows {
			fl := &s.net.flows[f]
			fl.bits = 8 * s.net.dark.Wire * float64(lamps[k].Bytes[i]) / float64(fl.pairs)
			l.path[k] = append(l.path[k], s.loosen(f, lamps[k].Rows[i]))
		}
		if n := len(l.able); n == 0 || lamps[l.able[n-1]].Coflow != lamps[k].Coflow {
			l.group = append(l.group, [2]int{n, n})
		}
		l.able = append(l.able, int32(k))
		last := len(l.group) - 1
		l.group[last][1] = len(l.able)
		l.of = append(l.of, int32(last))
	}
	return l
}

// loosen puts a flow's host links first, where they stay when its way changes, and returns the others.
func (s *Scene) loosen(f int32, b Bundle) []pathmap.LinkID {
	ends := []pathmap.LinkID{s.ground.up[b.Src], s.ground.dn[b.Dst]}
	var path []pathmap.LinkID
	for _, h := range s.net.way(f) {
		if !slices.Contains(ends, h.link) {
			path = append(path, h.link)
		}
	}
	s.net.lift(f, 0)
	s.net.lay(f, ends)
	s.net.lay(f, path)
	return path
}

func (l *lighting) set(k int32, on bool) {
	if l.on[k] == on {
		return
	}
	l.on[k] = on
	net, flows := l.s.net, l.lamps[k].Flows
	if on {
		for _, f := range flows {
			net.lift(f, 2)
		}
		net.layAll(flows, l.light[k])
		return
	}
	net.liftAll(flows, 2)
	for i, f := range flows {
		net.lay(f, l.path[k][i])
	}
}

// Reset implements Problem: all off, all on, then coflow by coflow at random.
func (l *lighting) Reset(restart int, rng *rand.Rand) {
	for g := range l.group {
		on := restart == 1 || restart > 1 && rng.IntN(2) == 0
		l.setGroup(g, on)
	}
	l.turned = l.turned[:0]
}

func (l *lighting) setGroup(g int, on bool) {
	for _, k := range l.able[l.group[g][0]:l.group[g][1]] {
		if l.on[k] != on {
			l.turned = append(l.turned, k)
			l.set(k, on)
		}
	}
}

// Move implements Problem.
func (l *lighting) Move(rng *rand.Rand) bool {
	l.turned = l.turned[:0]
	i := rng.IntN(len(l.able))
	k := l.able[i]
	if rng.Float64() < l.s.opt.Uniform {
		l.setGroup(int(l.of[i]), !l.on[k])
		return true
	}
	l.turned = append(l.turned, k)
	l.set(k, !l.on[k])
	return true
}

// Undo implements Problem.
func (l *lighting) Undo() {
	for _, k := range l.turned {
		l.set(k, !l.on[k])
	}
	l.turned = l.turned[:0]
}

// Utility implements Problem.
func (l *lighting) Utility() int64 { return l.s.net.value() }

// Save implements Problem.
func (l *lighting) Save() { l.saved = append(l.saved[:0], l.on...) }

// Restore implements Problem.
func (l *lighting) Restore() {
	for _, k := range l.able {
		l.set(k, l.saved[k])
	}
}

// Spent implements Problem.
func (l *lighting) Spent() bool { return l.s.spent() }

// settle turns single lamps and whole coflows while that gains.
func (l *lighting) settle() Count {
	var count Count
	try := func(turn func()) bool {
		before := l.Utility()
		l.turned = l.turned[:0]
		turn()
		count.Evaluated++
		if l.Utility() <= before {
			l.Undo()
			return false
		}
		count.Accepted++
		return true
	}
	for range l.s.opt.Passes {
		gained := false
		for _, k := range l.able {
			if l.Spent() {
				return count
			}
			gained = try(func() { l.turned = append(l.turned, k); l.set(k, !l.on[k]) }) || gained
		}
		for g := range l.group {
			if l.Spent() {
				return count
			}
			for _, on := range [2]bool{true, false} {
				gained = try(func() { l.setGroup(g, on) }) || gained
			}
		}
		if !gained {
			return count
		}
	}
	return count
}

// idle turns on what gains by it itself and costs nobody: a receiver's utility is that of its slowest sender, but the
// others' bytes are off the packet network sooner.
func (l *lighting) idle() {
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

// own is the sum of what a lamp's flows have.
func (l *lighting) own(k int32) int64 {
	sum := int64(0)
	for _, f := range l.lamps[k].Flows {
		sum += l.s.net.flows[f].each * int64(l.s.net.flows[f].pairs)
	}
	return sum
}
