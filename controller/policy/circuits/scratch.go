package circuits

import (
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// Scratch is a copy of the circuit schedule on which coflows are tried: it lays them out as Sunflow
// would, and takes them out again. Reservations that have begun hold their ports; those that have not
// are left out, since Sunflow lays them anew whenever that is sooner.
type Scratch struct {
	memory *memory
	sched  *scheduler
	laid   []controller.CircuitReservation // in the order of laying: the undo log
	last   time.Duration                   // the end of what is laid, at most
	whole  []pair                          // memory of Lay
	n      int
}

// NewScratch returns the schedule of a view with one wavelength, with nothing but what has begun.
func NewScratch(v *controller.View) *Scratch {
	m := new(memory)
	m.remember(v, ports(v))
	x := &Scratch{memory: m, sched: m.scheduler(v), last: v.Now, n: v.Fabric.OCSPorts()}
	for i := range v.Reserved {
		if r := &v.Reserved[i]; r.NotAfter > v.Now && (begun(v, r) || r.Coflow == controller.AnyCoflow) {
			from := max(r.NotBefore, v.Now)
			if x.sched.table.fits(r.In, r.Out, from, r.NotAfter) {
				x.sched.table.take(r.In, r.Out, from, r.NotAfter)
				x.last = max(x.last, r.NotAfter)
			}
		}
	}
	return x
}

// Pair is what a coflow has for one pair of racks, and what becomes of it.
type Pair struct {
	In, Out southbound.RackID
	Bytes   pathmap.Bytes // left
	Need    time.Duration // that they take on a circuit
	Begin   time.Duration // set by Lay: when the circuit carries the first of them, and
	End     time.Duration // the last
}

// Pairs sums what a coflow has left by pair of racks that circuits can join, by (in, out), and returns
// T(C) of that. Rows are sorted as Expand sorts them.
func (x *Scratch) Pairs(src, dst []southbound.HostID, left []pathmap.Bytes) ([]Pair, time.Duration) {
	r := rows{0, src, dst, left, func(row int) pathmap.Bytes { return left[row] }}
	g := &x.memory.gather
	g.fill(&r)
	of := g.sorted(1)
	out, all := make([]Pair, 0, len(of)), make([]pair, 0, len(of))
	for _, i := range of {
		p := g.pair(&r, &g.buckets[i])
		all = append(all, p)
		out = append(out, Pair{In: southbound.RackID(p.in), Out: southbound.RackID(p.out),
			Bytes: p.size, Need: p.whole})
	}
	return out, bound(all, x.sched.delta, x.n)
}

// Lay gives a coflow's pairs their circuits, none before an instant.
func (x *Scratch) Lay(pairs []Pair, from time.Duration) {
	x.whole = x.whole[:0]
	long := 2 * x.sched.delta * time.Duration(len(pairs))
	for i := range pairs {
		p := &pairs[i]
		p.Begin, p.End = southbound.Never, from
		if p.Need > 0 {
			x.whole = append(x.whole, pair{in: southbound.Port(p.In), out: southbound.Port(p.Out), need: p.Need})
		}
		long += 2 * p.Need
	}
	s := x.sched
	if now := s.start; from > now { // what is lit now will not be then
		lit := s.lit
		s.start, s.lit = from, nil
		defer func() { s.start, s.lit = now, lit }()
	}
	s.horizon = max(x.last, from) + long + 1
	for _, r := range s.layOut(0, x.whole) {
		x.laid = append(x.laid, r)
		x.last = max(x.last, r.NotAfter)
		k, _ := slices.BinarySearchFunc(pairs, r, func(p Pair, r controller.CircuitReservation) int {
			if p.In != southbound.RackID(r.In) {
				return int(p.In) - int(r.In)
			}
			return int(p.Out) - int(r.Out)
		})
		pairs[k].Begin, pairs[k].End = min(pairs[k].Begin,
			r.NotBefore+x.sched.delta), max(pairs[k].End, r.NotAfter)
	}
}

// Mark returns where the undo log is.
func (x *Scratch) Mark() int { return len(x.laid) }

// Undo takes out all that was laid since a mark.
func (x *Scratch) Undo(mark int) {
	for _, r := range x.laid[mark:] {
		x.sched.table.drop(r.In, r.Out, r.NotBefore)
	}
	x.laid = x.laid[:mark]
}

// Busy returns for how long from now on a port is taken into the switch, and out of it.
func (x *Scratch) Busy(rack southbound.RackID) (in, out time.Duration) {
	for side, spans := range [2][]span{x.sched.table.in(southbound.Port(rack)),
		x.sched.table.out(southbound.Port(rack))} {
		sum := time.Duration(0)
		for _, s := range spans {
			sum += s.end - s.start
		}
		if side == 0 {
			in = sum
		} else {
			out = sum
		}
	}
	return in, out
}
