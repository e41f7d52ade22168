package circuits

import (
	"cmp"
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
	planes *wavelengthAssignment           // of pairs of racks; nil: there is one plane
	dealt  []dealt                         // the undo log of planes
	sums   sums                            // memory of Pairs
	last   time.Duration                   // the end of what is laid, at most
	whole  []pair                          // memory of Lay
	ranks  []ranked                        // memory of rank
	at     []int32                         // memory of Lay: by rack and rack, the pair that is laid
	racks  southbound.Port
	n      int
	delta  time.Duration // of the slowest OCS
}

// dealt is a pair of racks that a coflow has loaded its plane with.
type dealt struct {
	pair
	fresh bool // it had no plane before
}

// NewScratch returns the schedule of a view, with nothing but what has begun.
func NewScratch(v *controller.View) *Scratch {
	m := new(memory)
	m.remember(v, ports(v))
	x := &Scratch{memory: m, sched: m.scheduler(v), planes: newWavelengthAssignment(v), last: v.Now,
		racks: southbound.Port(v.Fabric.Racks), n: v.Fabric.OCSPorts(), delta: v.Delta,
		at: make([]int32, v.Fabric.Racks*v.Fabric.Racks)}
	for _, d := range v.Deltas {
		x.delta = max(x.delta, d)
	}
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
	rank    int32         // among those that are laid with it
}

// Alike reports whether two pairs are given the same circuit if all before them are alike, too, and the same schedule
// stands before these.
func (p Pair) Alike(o Pair) bool { return p.In == o.In && p.Out == o.Out && p.Need == o.Need }

// Pairs sums what a coflow has left by pair of racks that circuits can join, by (in, out), and returns
// T(C) of that. Rows are sorted as Expand sorts them.
func (x *Scratch) Pairs(src, dst []southbound.HostID, left []pathmap.Bytes) ([]Pair, time.Duration) {
	r := rows{0, src, dst, left, func(row int) pathmap.Bytes { return left[row] }}
	g := &x.memory.gather
	g.fill(&r)
	of := g.sorted(1)
	out, s := make([]Pair, 0, len(of)), &x.sums
	s.clear(x.n)
	for _, i := range of {
		b := &g.buckets[i]
		p := Pair{In: b.in, Out: b.out, Bytes: b.size, Need: g.over(&r, b, b.size, r.left)}
		s.add(int(p.In), int(p.Out), p.Need)
		out = append(out, p)
	}
	x.rank(out)
	return out, s.bound(x.sched.delta) / time.Duration(x.count())
}

// ranked is a pair where it is sorted: what scheduler.sort compares, and where it is.
type ranked struct {
	need time.Duration
	near int64 // from input to output, then the input
	at   int32
}

// rank notes in which order the scheduler will go through pairs, which it then need not sort at each Lay. With planes,
// it is sorted once they are dealt; only those that need nothing come last here.
func (x *Scratch) rank(pairs []Pair) {
	if x.planes != nil {
		first, last := int32(0), int32(len(pairs))-1
		for i := range pairs {
			if p := &pairs[i]; p.Need > 0 {
				p.rank = first
				first++
			} else {
				p.rank = last
				last--
			}
		}
		return
	}
	x.ranks = x.ranks[:0]
	n := int64(x.racks)
	for i := range pairs {
		p := &pairs[i]
		x.ranks = append(x.ranks, ranked{p.Need, (int64(p.Out)-int64(p.In)+n)%n*n + int64(p.In), int32(i)})
	}
	slices.SortFunc(x.ranks, func(a, b ranked) int {
		if a.need != b.need {
			return cmp.Compare(b.need, a.need)
		}
		return cmp.Compare(a.near, b.near)
	})
	for k := range x.ranks {
		pairs[x.ranks[k].at].rank = int32(k)
	}
}

// count returns how many planes there are.
func (x *Scratch) count() int {
	return x.memory.fabric.Spec.CircuitsARack()
}

// Lay gives a coflow's pairs, which are from Pairs, their circuits, none before an instant.
func (x *Scratch) Lay(pairs []Pair, from time.Duration) {
	x.whole = slices.Grow(x.whole[:0], len(pairs))[:len(pairs)]
	long, some := 2*x.delta*time.Duration(len(pairs)), len(pairs)
	for i := range pairs {
		p := &pairs[i]
		p.Begin, p.End = southbound.Never, from
		x.at[int(p.In)*int(x.racks)+int(p.Out)] = int32(i)
		x.whole[p.rank] = pair{in: southbound.Port(p.In), out: southbound.Port(p.Out), need: p.Need}
		if p.Need == 0 {
			some-- // these have the last ranks
		}
		long += 2 * p.Need
	}
	x.whole = x.whole[:some]
	s := x.sched
	if now := s.start; from > now { // what is lit now will not be then
		lit := s.lit
		s.start, s.lit = from, nil
		defer func() { s.start, s.lit = now, lit }()
	}
	s.horizon = max(x.last, from) + long + 1
	s.likely = max(x.last, from) + long/time.Duration(2*len(pairs)+1) // most begin in the gaps that others leave
	s.sorted = x.planes == nil
	for _, r := range s.layOut(0, x.deal(x.whole)) {
		x.laid = append(x.laid, r)
		x.last = max(x.last, r.NotAfter)
		k := x.at[r.In%x.racks*x.racks+r.Out%x.racks]
		pairs[k].Begin, pairs[k].End = min(pairs[k].Begin,
			r.NotBefore+x.sched.deltaAt(int(r.In))), max(pairs[k].End, r.NotAfter)
	}
}

// deal gives the pairs of a coflow planes, those that take longest first, and returns them with the ports
// of these. A pair without a plane that is lit at both racks is left out.
func (x *Scratch) deal(pairs []pair) []pair {
	c := x.planes
	if c == nil {
		return pairs
	}
	slices.SortFunc(pairs, longestFirst)
	kept := pairs[:0]
	for _, p := range pairs {
		of := dealt{p, !c.has(&p)}
		if of.fresh && !c.choosePlane(&p) {
			continue
		}
		p.in, p.out = c.ports(&p)
		c.carry(p.in, p.out, p.need)
		x.dealt = append(x.dealt, of)
		if c.ends[p.in].ok && c.ends[p.out].ok {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, byPorts)
	return kept
}

// Mark is where the undo log is.
type Mark struct{ laid, dealt int }

// Mark returns where the undo log is.
func (x *Scratch) Mark() Mark { return Mark{len(x.laid), len(x.dealt)} }

// Undo takes out all that was laid since a mark.
func (x *Scratch) Undo(to Mark) {
	for i := len(x.laid) - 1; i >= to.laid; i-- {
		r := &x.laid[i]
		x.sched.table.drop(r.In, r.Out, r.NotBefore)
	}
	x.laid = x.laid[:to.laid]
	for i := len(x.dealt) - 1; i >= to.dealt; i-- {
		p := &x.dealt[i]
		in, out := x.planes.ports(&p.pair)
		x.planes.uncarry(in, out, p.need)
		if p.fresh {
			x.planes.forget(&p.pair)
		}
	}
	x.dealt = x.dealt[:to.dealt]
}

// Busy returns for how long from now on a rack's ports are taken into the switch, and out of it: the mean of
// its planes.
func (x *Scratch) Busy(rack southbound.RackID) (in, out time.Duration) {
	for p := southbound.Port(rack); int(p) < x.n; p += x.racks {
		in, out = in+long(x.sched.table.in(p)), out+long(x.sched.table.out(p))
	}
	return in / time.Duration(x.count()), out / time.Duration(x.count())
}

// long is how long spans are together.
func long(spans []span) (sum time.Duration) {
	for _, s := range spans {
		sum += s.end - s.start
	}
	return sum
}
