// Package propfair shares links among classes of flows so that the sum of the logarithms of all rates
// is largest: proportional fairness (Kelly, Maulloo and Tan, Rate control for communication networks,
// 1998). It is what loss-based TCP comes to where round trips are queues: a flow that crosses several
// full links waits in all of their queues, and gets less than max-min fairness would give it.
package propfair

import (
	"fmt"
	"math"

	"lightloom/pathmap"
	"lightloom/pathmap/maxmin"
)

// Sweeps over the links end when no price has moved by more than precise, or after mostSweeps: prices
// of links in a chain approach each other slowly, and rates are within capacities after any number.
const (
	precise    = 1e-7
	mostSweeps = 400
)

// Solver keeps the memory of its calls, and begins each at the prices that the last one found. Its zero
// value is ready. It is not for use by several goroutines at once.
type Solver struct {
	links  []link // by LinkID; valid where epoch is the call's
	used   []pathmap.LinkID
	member []int32   // classes by link, one link's after the other's
	sum    []float64 // by class: the prices of its links
	epoch  uint64
}

// link is one that a class of the call uses.
type link struct {
	epoch       uint64
	price       float64 // kept from call to call: the first guess of the next
	flows       float64
	load        float64
	first, next int32 // its classes in member
}

// Solve sets rate[i] to the rate of one flow of classes[i] on links with those capacities (by LinkID;
// zero or below: the link carries nothing): all rates together are the proportionally fair ones, each
// flow having the same weight. A class names a link once; one without links gets its bound, +Inf where
// it has none. No link is given more than its capacity but for rounding. It panics if rate is not as
// long as classes, or a link is outside capacity.
//
// It is dual coordinate descent: link by link, the price is set at which the link is full, or to zero.
// A flow's rate is one over the sum of the prices on its path.
func (s *Solver) Solve(capacity []float64, classes []maxmin.Class, rate []float64) {
	if len(rate) != len(classes) {
		panic(fmt.Sprintf("propfair: %d rates for %d classes", len(rate), len(classes)))
	}
	s.meet(capacity, classes, rate)
	for range mostSweeps {
		moved := 0.0
		for _, id := range s.used {
			moved = max(moved, s.reprice(id, capacity[id], classes))
		}
		if moved <= precise {
			break
		}
	}
	s.take(capacity, classes, rate)
}

// meet lists the links that classes use, with their classes, and sets the rates of those that no price
// decides: rate is NaN where one does.
func (s *Solver) meet(capacity []float64, classes []maxmin.Class, rate []float64) {
	s.epoch++
	s.used = s.used[:0]
	if n := len(capacity) - len(s.links); n > 0 {
		s.links = append(s.links, make([]link, n)...)
	}
	seats := int32(0)
	for i := range classes {
		c := &classes[i]
		if rate[i] = fixed(c, capacity); !math.IsNaN(rate[i]) {
			continue
		}
		for _, id := range c.Links {
			l := &s.links[id]
			if l.epoch != s.epoch {
				*l = link{epoch: s.epoch, price: l.price}
				s.used = append(s.used, id)
			}
			l.flows += c.Flows
			l.next++
			seats++
		}
	}
	s.listClasses(classes, rate, seats)
	for _, id := range s.used {
		if l := &s.links[id]; !(l.price > 0) {
			l.price = l.flows / capacity[id]
		}
	}
	s.sum = append(s.sum[:0], make([]float64, len(classes))...)
	for i := range classes {
		if math.IsNaN(rate[i]) {
			for _, id := range classes[i].Links {
				s.sum[i] += s.links[id].price
			}
		}
	}
}

// fixed returns the rate of a flow that no price decides, NaN of the others.
func fixed(c *maxmin.Class, capacity []float64) float64 {
	if !(c.Flows > 0) {
		return 0
	}
	for _, id := range c.Links {
		if !(capacity[id] > 0) {
			return 0
		}
	}
	switch {
	case len(c.Links) > 0:
		return math.NaN()
	case c.Max > 0:
		return c.Max
	}
	return math.Inf(1)
}

// listClasses lists each link's classes.
func (s *Solver) listClasses(classes []maxmin.Class, rate []float64, seats int32) {
	at := int32(0)
	for _, id := range s.used {
		l := &s.links[id]
		l.first, at = at, at+l.next
		l.next = l.first
	}
	if int(seats) > cap(s.member) {
		s.member = make([]int32, 2*seats)
	}
	s.member = s.member[:seats]
	for i := range classes {
		if math.IsNaN(rate[i]) {
			for _, id := range classes[i].Links {
				l := &s.links[id]
				s.member[l.next] = int32(i)
				l.next++
			}
		}
	}
}

// reprice sets a link's price to the one at which it is full, or to zero where it is not full at that.
// It returns by how much the price has moved, as a share of what one flow alone would pay there.
func (s *Solver) reprice(id pathmap.LinkID, capacity float64, classes []maxmin.Class) float64 {
	l := &s.links[id]
	was, high := l.price, l.flows/capacity // nobody pays less than this price, so that it fills the link at most
	low, price := 0.0, min(was, high)
	for range 60 {
		load, slope := s.at(l, classes, price-was)
		switch {
		case load > capacity:
			low = price
		case price == 0:
			low, high = 0, 0 // it is not full, though it costs nothing
		default:
			high = price
		}
		if high-low <= precise*high/8 || math.Abs(load-capacity) <= precise*capacity/8 {
			break
		}
		next := price + (load-capacity)/slope
		if next <= 0 && low == 0 {
			next = 0
		} else if !(next > low && next < high) {
			next = (low + high) / 2
		}
		price = next
	}
	for _, i := range s.member[l.first:l.next] {
		s.sum[i] = max(s.sum[i]+price-was, 0)
	}
	l.price = price
	return math.Abs(price-was) * capacity / l.flows
}

// at returns a link's load if its price moved by more, and by how much the load falls as that grows.
func (s *Solver) at(l *link, classes []maxmin.Class, more float64) (load, slope float64) {
	for _, i := range s.member[l.first:l.next] {
		c := &classes[i]
		x := 1 / max(s.sum[i]+more, 0)
		if c.Max > 0 && x > c.Max {
			load += c.Flows * c.Max
			continue
		}
		load += c.Flows * x
		slope += c.Flows * x * x
	}
	return load, slope
}

// take sets the rates that prices decide, each cut by what the fullest of its links is given too much.
func (s *Solver) take(capacity []float64, classes []maxmin.Class, rate []float64) {
	for i := range classes {
		c := &classes[i]
		if !math.IsNaN(rate[i]) {
			continue
		}
		if rate[i] = 1 / s.sum[i]; c.Max > 0 {
			rate[i] = min(rate[i], c.Max)
		}
		for _, id := range c.Links {
			rate[i] = min(rate[i], capacity[id]/c.Flows)
		}
		for _, id := range c.Links {
			s.links[id].load += rate[i] * c.Flows
		}
	}
	for i := range classes {
		c, over := &classes[i], 1.0
		if len(c.Links) == 0 || !(rate[i] > 0) {
			continue
		}
		for _, id := range c.Links {
			over = max(over, s.links[id].load/capacity[id])
		}
		rate[i] /= over
	}
}
