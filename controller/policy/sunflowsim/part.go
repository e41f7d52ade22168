package sunflowsim

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Part is one of the algorithms that schedule circuits. It must not be copied after its first call.
type Part struct {
	roster
	algorithm algorithm
	windows   []window
	wake      time.Duration
}

// algorithm is what the algorithms differ in.
type algorithm interface {
	// due reports whether to plan now, knowing how many coflows have come and gone since the last plan.
	due(now time.Duration, came, went int) bool
	// plan returns the orders from now on, by instant, and when to plan again at the latest.
	plan(p *problem) ([]order, time.Duration)
	// alone says that an order takes away all circuits that it does not name, and that a circuit carries
	// every coflow.
	alone() bool
}

// problem is an algorithm's input.
type problem struct {
	now, delta time.Duration
	rate       pathmap.BitsPerSecond
	racks      int
	coflows    []*coflow // in order
}

// longest bounds how long a transfer is planned, so that sums cannot overflow: about 104 days.
const longest = time.Duration(1 << 53)

// over returns how long bits take on a circuit, in whole nanoseconds, rounded up.
func (p *problem) over(amount int64) time.Duration {
	ns, rest := mulDiv(amount, 1e9, int64(p.rate))
	if rest > 0 {
		ns++
	}
	return min(time.Duration(ns), longest)
}

// in returns how many whole bits a circuit carries in a time.
func (p *problem) in(d time.Duration) int64 {
	n, _ := mulDiv(int64(d), int64(p.rate), 1e9)
	return n
}

// mulDiv returns a·b ÷ c and what is left, where none is below zero: doubles would lose bits. What is
// too large is as large as can be.
func mulDiv(a, b, c int64) (q, rest int64) {
	hi, lo := bits.Mul64(uint64(a), uint64(b))
	if hi >= uint64(c)/2 {
		return math.MaxInt64, 0
	}
	n, r := bits.Div64(hi, lo, uint64(c))
	return int64(n), int64(r)
}

// Wants implements the part's list of events.
func (*Part) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.HostFlowEnded,
		controller.CoflowEnded, controller.WakeReached)
}

// Fill plans when the algorithm would, and hands circuits on to the next coflow that has bytes for
// them. Where circuits do not carry all it asks for nothing.
func (p *Part) Fill(v *controller.View, _ []controller.Event, plan *controller.Plan) {
	if !controller.CircuitsOnly(v.Fabric) {
		return
	}
	p.read(v)
	came, went, soon := p.arrange(v, p.sort)
	switch {
	case soon: // a coflow starts at this very instant: plan once, when it has
	case p.algorithm.due(v.Now, came, went):
		p.schedule(v)
		p.reserve(v, plan)
	case p.handOn(v.Now):
		p.reserve(v, plan)
	}
	if p.wake > v.Now {
		plan.Wake = min(plan.Wake, p.wake)
	}
}

// schedule makes a new plan.
func (p *Part) schedule(v *controller.View) {
	x := &problem{now: v.Now, delta: v.Delta, rate: min(v.Fabric.Spec.OCS, v.Fabric.Spec.NIC),
		racks: v.Fabric.Racks}
	for _, id := range p.order {
		x.coflows = append(x.coflows, p.coflows[id])
	}
	orders, wake := p.algorithm.plan(x)
	p.wake = wake
	if len(orders) > 0 {
		p.windows = lay(active(p.windows, v.Now), orders, v.Delta, p.algorithm.alone())
	}
}

// owner returns whom a circuit carries: the first coflow that has bytes for it.
func (p *Part) owner(l link) southbound.CoflowID {
	if p.algorithm.alone() {
		return controller.AnyCoflow
	}
	for _, id := range p.order {
		if p.coflows[id].find(l) > 0 {
			return id
		}
	}
	return none
}

// handOn reports whether a circuit is to carry another coflow than it was reserved for.
func (p *Part) handOn(now time.Duration) bool {
	return slices.ContainsFunc(p.windows, func(w window) bool {
		if w.until <= now || w.coflow == controller.AnyCoflow {
			return false
		}
		c := p.owner(w.link)
		return c != none && c != w.coflow
	})
}

// reserve requests the circuits of all windows, in place of the current ones.
func (p *Part) reserve(v *controller.View, plan *controller.Plan) {
	wanted := p.wanted(v)
	for i := range v.Reserved {
		r := &v.Reserved[i]
		if !begun(v, r) {
			plan.Withdraw = append(plan.Withdraw, r.Coflow)
			continue
		}
		k := slices.IndexFunc(wanted, func(w controller.CircuitReservation) bool {
			return w.In == r.In && w.Out == r.Out && w.Coflow == r.Coflow && w.NotBefore <= v.Now &&
				w.NotAfter == r.NotAfter
		})
		if k < 0 {
			plan.Preempt = append(plan.Preempt, r.In)
			continue
		}
		wanted = slices.Delete(wanted, k, k+1)
	}
	slices.Sort(plan.Withdraw)
	plan.Withdraw = slices.Compact(plan.Withdraw)
	slices.Sort(plan.Preempt)
	plan.Reserve = append(plan.Reserve, wanted...)
	slices.SortFunc(plan.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
}

// begun reports whether a reservation holds its circuit.
func begun(v *controller.View, r *controller.CircuitReservation) bool {
	c := &v.Circuits[r.In]
	return r.NotBefore <= v.Now && c.Held && c.Coflow == r.Coflow && c.Until == r.NotAfter
}

// wanted returns the reservations for all windows. One of a circuit that is dark begins with its order,
// for mirrors to move; one of a circuit that leads where it should already, though that simulator has
// it dark still, when its delay is over.
func (p *Part) wanted(v *controller.View) []controller.CircuitReservation {
	leads := make([]southbound.Port, len(v.Circuits))
	for in := range v.Circuits {
		leads[in] = v.Circuits[in].Out
	}
	var all []controller.CircuitReservation
	for i := range p.windows {
		w := &p.windows[i]
		if w.coflow = p.owner(w.link); w.coflow == none || w.until <= v.Now || w.in == w.out {
			continue
		}
		from := max(w.from, v.Now)
		if leads[w.in] == w.out {
			from = max(w.lit, v.Now)
		}
		if from >= w.until {
			continue
		}
		for in := range leads {
			if leads[in] == w.out {
				leads[in] = southbound.NoPort
			}
		}
		leads[w.in] = w.out
		all = append(all, controller.CircuitReservation{NotBefore: from, NotAfter: w.until, In: w.in, Out: w.out,
			Coflow: w.coflow})
	}
	return all
}
