package sunflowsim

import (
	"math"
	"slices"
	"time"

	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// slotted plays matchings, each for a time that begins when all its circuits are lit: a slot takes its
// duration plus a delay. Circuits of the slot before carry on during the delay. A circuit serves all
// host flows that have bytes for it, in equal shares.
type slotted struct {
	make   func(p *problem, left map[link]int64) []slot
	onEnds bool          // plans when a coflow ends, too
	calm   bool          // what comes in a delay waits for the end of the slot
	lit    time.Duration // when the delay of the last slot is over
	end    time.Duration // of the last slot
}

type slot struct {
	links []link
	long  time.Duration
}

func (*slotted) alone() bool { return true }

func (s *slotted) due(now time.Duration, came, went int) bool {
	switch {
	case s.end == now && now > 0:
		return true
	case s.calm && now < s.lit:
		return false
	}
	return came > 0 || s.onEnds && went > 0
}

func (s *slotted) plan(p *problem) ([]order, time.Duration) {
	left := map[link]int64{}
	for _, c := range p.coflows {
		for _, d := range c.links {
			left[d.link] += d.bits
		}
	}
	if s.lit, s.end = 0, 0; len(left) == 0 {
		return nil, 0
	}
	at := p.now
	var all []order
	for _, x := range s.make(p, left) {
		all = append(all, order{at, x.links})
		s.lit = at + p.delta
		at = s.lit + x.long
	}
	s.end = at
	return all, at
}

// NewEdmonds returns Edmonds: the matching of the most bytes left, for the given time, and then the
// next. It plans when a slot ends, and when a coflow comes outside of a delay. That simulator's slots
// are EdmondsSlot.
func NewEdmonds(long time.Duration) *Part {
	return &Part{algorithm: &slotted{calm: true, make: func(p *problem, left map[link]int64) []slot {
		return []slot{{heaviest(p.racks, left), long}}
	}}}
}

// EdmondsSlot is what a slot of Edmonds lasts in that simulator, delay not counted.
const EdmondsSlot = 20 * time.Millisecond

// heaviest returns the matching of the most bits. Where the largest demand is above 10⁸ bits that
// simulator scales all down to it.
func heaviest(racks int, left map[link]int64) []link {
	most := int64(0)
	for _, bits := range left {
		most = max(most, bits)
	}
	m := schedule.New(racks)
	for l, bits := range left {
		if most > heaviestWeight {
			bits = int64(float64(bits) * heaviestWeight / float64(most))
		}
		m[l.in][l.out] = time.Duration(bits)
	}
	var links []link
	for in, out := range schedule.Edmonds(m, nil, 0, 1, 1).Slots[0].Out {
		if out != southbound.NoPort {
			links = append(links, link{southbound.Port(in), out})
		}
	}
	return links
}

const heaviestWeight = 1e8

// NewSolstice returns Solstice. It plans whenever a coflow comes or ends. The demand of all coflows is
// stuffed; then matchings are taken from it that have only pairs of more than a threshold, a power of
// two of bits that is halved where there is no such matching of all ports. A slot lasts the smallest
// entry of its matching, until nothing is left.
func NewSolstice() *Part {
	draws := newGlibcRandom(13)
	for range 600 { // seeds of what it does to sizes, which is switched off
		draws.next()
	}
	return &Part{algorithm: &slotted{onEnds: true, make: func(p *problem, left map[link]int64) []slot {
		m := stuff(p.racks, left, draws)
		return m.slices(p)
	}}}
}

// stuffed is a demand whose rows and columns, of the ports that have any, have the same sum.
type stuffed struct {
	in, out []southbound.Port // as many
	bits    [][]int64         // [input][output]
}

// stuff fills up what is below the largest sum, first where there is demand. Where there are fewer
// inputs than outputs with demand, or the other way round, ports are drawn to go along.
func stuff(racks int, left map[link]int64, draws *glibcRandom) *stuffed {
	m := &stuffed{bits: make([][]int64, racks)}
	rows, cols := make([]int64, racks), make([]int64, racks)
	for i := range m.bits {
		m.bits[i] = make([]int64, racks)
	}
	for l, bits := range left {
		m.bits[l.in][l.out] = bits
		rows[l.in] += bits
		cols[l.out] += bits
	}
	budget := max(slices.Max(rows), slices.Max(cols))
	m.in, m.out = above(rows), above(cols)
	m.in = fill(m.in, len(m.out), racks, draws)
	m.out = fill(m.out, len(m.in), racks, draws)
	add := func(i, j southbound.Port) {
		more := min(budget-rows[i], budget-cols[j])
		m.bits[i][j] += more
		rows[i] += more
		cols[j] += more
	}
	for _, filled := range [2]bool{true, false} {
		for _, i := range m.in {
			for _, j := range m.out {
				if (left[link{i, j}] > 0) == filled {
					add(i, j)
				}
			}
		}
	}
	return m
}

// above returns the ports whose sum is above zero.
func above(sums []int64) []southbound.Port {
	var all []southbound.Port
	for p, sum := range sums {
		if sum > 0 {
			all = append(all, southbound.Port(p))
		}
	}
	return all
}

// fill draws ports until there are as many as wanted.
func fill(ports []southbound.Port, wanted, racks int, draws *glibcRandom) []southbound.Port {
	for len(ports) < wanted {
		p := southbound.Port(int(draws.next()) % racks)
		if at, known := slices.BinarySearch(ports, p); !known {
			ports = slices.Insert(ports, at, p)
		}
	}
	return ports
}

// slices takes the matrix apart.
func (m *stuffed) slices(p *problem) []slot {
	most := int64(0)
	for _, row := range m.bits {
		most = max(most, slices.Max(row))
	}
	var all []slot
	for threshold := int64(1) << int(math.Log2(float64(most))); ; {
		match := m.match(threshold)
		if match == nil {
			if threshold == 0 {
				return all
			}
			threshold /= 2
			continue
		}
		least := int64(math.MaxInt64)
		for _, l := range match {
			least = min(least, m.bits[l.in][l.out])
		}
		for _, l := range match {
			m.bits[l.in][l.out] -= least
		}
		all = append(all, slot{match, p.over(least)})
	}
}
