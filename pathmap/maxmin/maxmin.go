// Package maxmin shares links among classes of flows so that no flow can get more without taking from
// one that has no more: max-min fairness, by water-filling (Bertsekas and Gallager, Data Networks,
// section 6.5.2).
//
// It knows no time and no bytes: what is left of a flow, and when to solve again, is the caller's.
package maxmin

import (
	"fmt"
	"math"

	"lightloom/pathmap"
)

// Class is flows that use the same links and so have the same rate.
type Class struct {
	Links []pathmap.LinkID // borrowed for the call; a link named twice is used twice
	Flows float64          // how many flows; none or fewer get a rate of 0 and take nothing
	Max   float64          // bound of the rate of one flow, in the unit of the capacities; 0 or below: none
}

// Solver keeps the memory of its calls: after the first of a size, Solve allocates nothing. Its zero
// value is ready. It is not for use by several goroutines at once.
type Solver struct {
	links  []link  // by LinkID; valid where epoch is the call's
	used   []int32 // the links of this call, in the order met
	member []int32 // classes by link, one link's after the other's
	done   []bool  // by class
	heap   heap[float64]
	epoch  uint64
}

// link is what the water has come to on a link.
type link struct {
	epoch uint64
	left  float64 // capacity that settled classes do not use
	flows float64 // of classes not settled
	total float64 // of all classes
	open  int32   // classes not settled, one for each time they name the link
	first int32   // where its classes begin in member
	next  int32   // where its next class goes while member is filled, then the end
}

// share is the rate that an unsettled flow gets if the link is what bounds it.
func (l *link) share() float64 { return max(l.left, 0) / l.flows }

// Solve sets rate[i] to the rate of one flow of classes[i]: all rates together are the max-min fair
// ones on links with those capacities (by LinkID; zero or below: the link carries nothing). A class
// without links and without Max gets
// +Inf. The work is proportional to the links that the classes name, not to all that there are, times a logarithm.
//
// No link is given more than its capacity but for rounding, a few units in the last place a class. It
// panics if rate is not as long as classes, or a link is outside capacity.
func (s *Solver) Solve(capacity []float64, classes []Class, rate []float64) {
	if len(rate) != len(classes) {
		panic(fmt.Sprintf("maxmin: %d rates for %d classes", len(rate), len(classes)))
	}
	open := s.meet(capacity, classes, rate)
	s.fill(classes)
	s.heap.build()
	for open > 0 {
		top := s.heap.items[0]
		if top.id < int32(len(classes)) {
			s.heap.pop()
			if !s.done[top.id] {
				s.settle(classes, rate, top.id, top.key)
				open--
			}
			continue
		}
		l := &s.links[s.used[top.id-int32(len(classes))]]
		if l.open == 0 {
			s.heap.pop()
			continue
		}
		if l.flows < l.total*cancelled {
			s.recount(l, classes)
		}
		if now := l.share(); now > top.key {
			s.heap.raise(now) // the key was from before others settled below it
			continue
		}
		s.heap.pop()
		for _, c := range s.member[l.first:l.next] {
			if !s.done[c] {
				s.settle(classes, rate, c, top.key)
				open--
			}
		}
	}
}

// meet sums up what uses each link, and returns how many classes are to be settled.
func (s *Solver) meet(capacity []float64, classes []Class, rate []float64) int {
	s.epoch++
	s.used = s.used[:0]
	s.links = grow(s.links, len(capacity))
	s.done = grow(s.done, len(classes))
	open := 0
	for i := range classes {
		c := &classes[i]
		rate[i] = 0
		s.done[i] = true
		switch {
		case !(c.Flows > 0):
			continue
		case len(c.Links) == 0:
			if rate[i] = math.Inf(1); c.Max > 0 {
				rate[i] = c.Max
			}
			continue
		}
		s.done[i] = false
		open++
		for _, id := range c.Links {
			l := &s.links[:len(capacity)][id]
			if l.epoch != s.epoch {
				*l = link{epoch: s.epoch, left: capacity[id]}
				s.used = append(s.used, int32(id))
			}
			l.flows += c.Flows
			l.total += c.Flows
			l.open++
		}
	}
	return open
}

// fill lists each link's classes, and what the water meets: links, and the bounds of classes.
func (s *Solver) fill(classes []Class) {
	at := int32(0)
	for _, id := range s.used {
		l := &s.links[id]
		l.first, l.next = at, at
		at += l.open
	}
	s.member = grow(s.member, int(at))
	s.heap.items = s.heap.items[:0]
	for i := range classes {
		if s.done[i] {
			continue
		}
		if classes[i].Max > 0 {
			s.heap.items = append(s.heap.items, item[float64]{classes[i].Max, int32(i)})
		}
		for _, id := range classes[i].Links {
			l := &s.links[id]
			s.member[l.next] = int32(i)
			l.next++
		}
	}
	for u, id := range s.used {
		s.heap.items = append(s.heap.items, item[float64]{s.links[id].share(), int32(len(classes) + u)})
	}
}

// settle gives class i its rate and takes it from its links.
func (s *Solver) settle(classes []Class, rate []float64, i int32, r float64) {
	rate[i] = r
	s.done[i] = true
	c := &classes[i]
	for _, id := range c.Links {
		l := &s.links[id]
		l.open--
		l.flows -= c.Flows
		l.left -= r * c.Flows
	}
}

// cancelled is the part of a link's flows below which what is left of the sum, after taking others
// away, is no longer trusted: a double holds it to about 10⁻⁷.
const cancelled = 1e-9

// recount sums up the unsettled flows of l again.
func (s *Solver) recount(l *link, classes []Class) {
	l.flows = 0
	for _, c := range s.member[l.first:l.next] {
		if !s.done[c] {
			l.flows += classes[c].Flows
		}
	}
	l.total = l.flows
}

// grow returns a slice of n elements that keeps s's memory where it can; the elements are arbitrary.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return append(s[:cap(s)], make([]T, n-cap(s))...)
	}
	return s[:n]
}
