// Package circuits holds the parts of a policy that decide which circuits are set up, when and for
// which flows.
//
// It returns reservations and touches no switch: the controller begins and ends them, and rollout moves mirrors.
package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// Sunflow reserves circuits for the elephants of coflows, shortest T(C) first, on a switch where a move
// darkens only the ports that it names (Huang, Sun, Ng: Sunflow: efficient optical circuit scheduling
// for coflows, CoNEXT 2016). Host flows go on over packets until their circuit is in service.
//
// The policy is called at many instants and returns what changes. A coflow's reservations stay as long
// as no higher-ranked coflow wants their ports and no earlier time has become free; otherwise the
// unbegun ones are withdrawn and made again. Begun ones run to their end, whatever arrives: keeping
// them costs about 1 % of completion time and saves a dark time each; Preempt turns that around.
//
// With several wavelengths a rack, each pair of racks is given one of them before ports are reserved: see
// wavelengthAssignment.
type Sunflow struct {
	// Horizon bounds how far ahead a reservation can begin; 0 is DefaultHorizon. Beyond it plans are
	// likely to be overtaken, and all that is planned goes through the log. It is reached at its multiples
	// and halfway between them; from one of these instants to the next no plan reaches further.
	Horizon time.Duration
	// Preempt lets a coflow take the ports of begun reservations of coflows that rank below it.
	Preempt bool
	// Fallback is what host flows do until their circuit is in service.
	Fallback controller.Fallback
	// Order is the order of one coflow's pairs.
	Order Order
	// Every gives each pair of racks of a coflow a circuit, whatever it has to send: there is no elephant
	// threshold.
	Every bool

	// Only, if not nil, returns which pairs of ports a coflow may have reservations for; existing ones for
	// other pairs are withdrawn unless they have begun.
	Only func(c southbound.CoflowID, in, out southbound.Port) bool
	// Weight, if not nil, has coflows ranked by T(C) over their weight. Experiments alone set it.
	Weight func(c southbound.CoflowID) float64
	// Afresh plans each circuit as if its ports had led elsewhere before: none that is lit is preferred,
	// or costs less. Experiments alone set it.
	Afresh bool

	memory *memory // nil: everything is read at each decision
}

// Remembering returns s with a memory of what it has read of coflows. It decides as without, and sooner.
func (s Sunflow) Remembering() Sunflow {
	s.memory = new(memory)
	return s
}

// Order is the order in which Sunflow looks at the pairs of one coflow. Each keeps the bound of 2·T(C).
type Order uint8

// The orders. The published simulator schedules by port and preempts, and a crossbar is there for
// comparison with it. A turning order ends a shuffle of equal parts at T(C), as the figures of
// co-scheduler do, and is shorter on the Facebook trace too.
const (
	ByFabric Order = iota // on a crossbar ByPort, with Preempt; Turning elsewhere
	ByPort                // by input, then output
	Turning               // the longest first, equal ones by the distance from input to output
)

// DefaultHorizon is the horizon with which the whole FB2010 trace was planned in seconds.
const DefaultHorizon = 10 * time.Second

// Wants implements the part's list of events.
func (Sunflow) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.CoflowEnded,
		controller.PortsFreed, controller.FabricChanged, controller.WakeReached, controller.TrafficRead)
}

// Fill reserves circuits.
func (s Sunflow) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || worthless(v) {
		return
	}
	if s.Every && v.Traffic == nil {
		every := *v
		every.ElephantThreshold = 1
		v = &every
	}
	horizon := cmp.Or(s.Horizon, DefaultHorizon)
	only := controller.CircuitsOnly(v.Fabric)
	if only && s.Order == ByFabric {
		s.Order, s.Preempt = ByPort, true
	}
	m := s.memory
	if m == nil {
		m = new(memory)
	}
	l := m.ledger(v)
	l.preempt, l.only, l.fallback = s.Preempt, only, s.Fallback
	all := s.ranked(s.allowed(m.demands(v, p, l.ends)))
	newWavelengthAssignment(v).paint(all)
	l.sched = m.scheduler(v)
	// Between two of these instants nothing is planned further ahead: what is planned anew meanwhile ends
	// with the rest.
	step := max(horizon/2, 1)
	turn := v.Now/step + 1
	l.sched.horizon, l.sched.byPort = min(turn+1, southbound.Never/step)*step, s.Order == ByPort
	l.sched.afresh = s.Afresh
	l.sort(all)
	for i := range all {
		l.plan(&all[i], p)
	}
	l.finish(p)
	if l.sched.cut {
		// Plan on before what is planned has run out.
		p.Wake = min(p.Wake, turn*step)
	}
}

// allowed leaves out the pairs that Only does not want. Coflows keep their rank.
func (s Sunflow) allowed(all []coflowDemand) []coflowDemand {
	if s.Only == nil {
		return all
	}
	out := all[:0]
	for _, d := range all {
		var pairs []pair // the memory's own stay as they are
		for _, x := range d.pairs {
			if s.Only(d.id, x.in, x.out) {
				pairs = append(pairs, x)
			}
		}
		if d.pairs, d.book = pairs, nil; len(pairs) > 0 {
			out = append(out, d)
		}
	}
	return out
}

// ranked has weights heeded.
func (s Sunflow) ranked(all []coflowDemand) []coflowDemand {
	if s.Weight != nil {
		slices.SortStableFunc(all, func(a, b coflowDemand) int {
			return cmp.Compare(float64(a.bound)/s.Weight(a.id), float64(b.bound)/s.Weight(b.id))
		})
	}
	return all
}

// reservationPlan is what is reserved at one decision, and what becomes of it.
type reservationPlan struct {
	v       *controller.View
	memory  *memory
	preempt bool
	ends    []port
	sched   *scheduler

	begun   []controller.CircuitReservation // of coflows in demand, where they can be preempted
	unbegun []controller.CircuitReservation // sorted by (Coflow, NotBefore, In)
	held    []controller.CircuitReservation // begun ones that stay
	planned map[southbound.CoflowID]bool
	only    bool // nothing goes over packets, not even residuals

	fallback controller.Fallback // of what is reserved
}

// reservationPlan returns an empty plan for a view, with the memory of the one before.
func (m *memory) ledger(v *controller.View) *reservationPlan {
	if m.planned == nil {
		m.planned = map[southbound.CoflowID]bool{}
	}
	clear(m.planned)
	if n := v.Fabric.OCSPorts(); len(m.covered) != n*n {
		m.covered, m.meant = make([]time.Duration, n*n), make([]bool, n*n)
	}
	return &reservationPlan{v: v, memory: m, ends: ports(v), begun: m.begun[:0],
		unbegun: m.unbegun[:0], held: m.held[:0],
		planned: m.planned}
}

// sort takes the view's reservations apart. Begun ones take their ports at once unless they can be
// preempted. Unbegun ones of coflows that are not in demand any more would only be in the way: finish
// withdraws them.
func (l *reservationPlan) sort(all []coflowDemand) {
	for i := range all {
		l.planned[all[i].id] = false
	}
	for i := range l.v.Reserved {
		r := &l.v.Reserved[i]
		switch {
		case r.NotAfter <= l.v.Now:
		case !begun(l.v, r) && r.Coflow != controller.AnyCoflow:
			l.unbegun = append(l.unbegun, *r)
		case l.preempt && r.Coflow != controller.AnyCoflow && l.demands(r.Coflow):
			l.begun = append(l.begun, *r)
		default:
			l.hold(*r)
		}
	}
	l.memory.byCoflow.sort(l.unbegun)
}

// demands reports whether a coflow is in demand.
func (l *reservationPlan) demands(c southbound.CoflowID) bool {
	_, ok := l.planned[c]
	return ok
}

// begun reports whether a reservation holds its circuit. A due one can still be waiting for the end of
// another.
func begun(v *controller.View, r *controller.CircuitReservation) bool {
	if r.NotBefore > v.Now || int(r.In) >= len(v.Circuits) {
		return false
	}
	c := &v.Circuits[r.In]
	return c.Held && c.Coflow == r.Coflow && c.Until == r.NotAfter
}

// hold keeps a reservation that has begun, or one that no coflow owns.
func (l *reservationPlan) hold(r controller.CircuitReservation) {
	from := max(r.NotBefore, l.v.Now)
	if l.sched.table.fits(r.In, r.Out, from, r.NotAfter) {
		l.sched.table.take(r.In, r.Out, from, r.NotAfter)
	}
	l.held = append(l.held, r)
}

// lit returns where each input's circuit leads, if it is in service.
func lit(v *controller.View) []southbound.Port {
	all := make([]southbound.Port, len(v.Circuits))
	for in, c := range v.Circuits {
		if all[in] = southbound.NoPort; c.Phase == controller.InService {
			all[in] = c.Out
		}
	}
	return all
}

// plan decides for one coflow: what it has stays if it can, and what that does not carry is reserved.
func (l *reservationPlan) plan(d *coflowDemand, p *controller.Plan) {
	for _, r := range l.begun {
		if r.Coflow != d.id {
			continue
		}
		if l.sched.table.fits(r.In, r.Out, l.v.Now, r.NotAfter) {
			l.hold(r)
		} else {
			p.Preempt = append(p.Preempt, r.In)
		}
	}
	l.planned[d.id] = true
	own := l.ownOf(d.id)
	if l.keep(d, own) {
		p.Reserve = append(p.Reserve, l.lay(d, own, nil)...)
		return
	}
	made := l.lay(d, nil, own)
	if l.sameTimes(own, made) {
		return // what looked like an earlier time was none
	}
	p.Withdraw = append(p.Withdraw, d.id)
	p.Reserve = append(p.Reserve, made...)
}

// lay reserves what the reservations that are held and own do not carry of a coflow; lost are those
// that it has just had. Borrowed until the next call.
func (l *reservationPlan) lay(d *coflowDemand,
	own, lost []controller.CircuitReservation) []controller.CircuitReservation {
	made := l.layOut(d, own, lost)
	for i := range made {
		made[i].Fallback = l.fallback
	}
	return made
}

func (l *reservationPlan) layOut(d *coflowDemand,
	own, lost []controller.CircuitReservation) []controller.CircuitReservation {
	if d.book == nil || !l.only || !l.sched.byPort {
		return l.sched.layOut(d.id, l.uncovered(d, own, lost))
	}
	// Where all bytes wait for a circuit nothing is left to packets, and what is to be laid is known
	// without looking at each pair.
	n, covered := southbound.Port(l.v.Fabric.OCSPorts()), l.memory.covered
	l.cover(d, own)
	made := l.sched.layPairs(d.id, d.book, covered, l.held, own)
	for _, all := range [3][]controller.CircuitReservation{l.held, own, made} {
		for i := range all {
			covered[all[i].In*n+all[i].Out] = 0
		}
	}
	return made
}

// cover adds up for how long reservations that are held, and own, carry bytes of a coflow, by pair of ports.
func (l *reservationPlan) cover(d *coflowDemand, own []controller.CircuitReservation) {
	n, covered := southbound.Port(l.v.Fabric.OCSPorts()), l.memory.covered
	for _, r := range l.held {
		if r.Coflow == d.id || r.Coflow == controller.AnyCoflow {
			covered[r.In*n+r.Out] += l.carries(r)
		}
	}
	for _, r := range own {
		covered[r.In*n+r.Out] += max(r.NotAfter-r.NotBefore-l.sched.setup(r.In, r.Out, r.NotBefore), 0)
	}
}

// sameTimes reports whether made holds the same circuits at the same times as own, which is sorted by
// (NotBefore, In).
func (l *reservationPlan) sameTimes(own, made []controller.CircuitReservation) bool {
	if len(own) != len(made) {
		return false
	}
	b := append(l.memory.sameAs[:0], made...)
	l.memory.sameAs = b
	slices.SortFunc(b, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.NotBefore, b.NotBefore), cmp.Compare(a.In, b.In))
	})
	return slices.EqualFunc(own, b, func(a, b controller.CircuitReservation) bool {
		return a.In == b.In && a.Out == b.Out && a.NotBefore == b.NotBefore && a.NotAfter == b.NotAfter &&
			a.Fallback == b.Fallback
	})
}

func (l *reservationPlan) ownOf(c southbound.CoflowID) []controller.CircuitReservation {
	first, _ := slices.BinarySearchFunc(l.unbegun, c,
		func(r controller.CircuitReservation, c southbound.CoflowID) int {
			return cmp.Compare(r.Coflow, c)
		})
	end := first
	for end < len(l.unbegun) && l.unbegun[end].Coflow == c {
		end++
	}
	return l.unbegun[first:end]
}

// keep takes the ports of a coflow's unbegun reservations, in the order of their beginning, if each
// still fits, is for bytes that are left, and could not begin earlier by more than the reconfiguration
// delay of a move. All of them stay, or none.
func (l *reservationPlan) keep(d *coflowDemand, own []controller.CircuitReservation) bool {
	if len(own) == 0 {
		return true
	}
	k := &l.memory.keeper
	k.open(l.sched.table, l.v.Now)
	for i := range own {
		if r := &own[i]; !l.wanted(d, r) || !k.keep(r, l.v.DeltaAt(r.In)) {
			k.drop(own[:i])
			return false
		}
	}
	return true
}

// wanted reports whether a reservation is for bytes that are left.
func (l *reservationPlan) wanted(d *coflowDemand, r *controller.CircuitReservation) bool {
	if d.book != nil {
		return d.book.wanted(r.In, r.Out)
	}
	i, ok := slices.BinarySearchFunc(d.pairs, r, func(p pair, r *controller.CircuitReservation) int {
		if p.in != r.In {
			return int(p.in - r.In)
		}
		return int(p.out - r.Out)
	})
	return ok && d.pairs[i].left > 0
}

// uncovered returns the pairs of a coflow whose bytes no reservation carries, with what is left to
// carry. A remainder that is small beside the reconfiguration delay of a move, or beside what is
// covered, stays on packets, for rates are never met exactly; not that of a pair which has just lost
// reservations: all of it was meant to go.
func (l *reservationPlan) uncovered(d *coflowDemand, own, lost []controller.CircuitReservation) []pair {
	n := southbound.Port(l.v.Fabric.OCSPorts())
	covered, meant := l.memory.covered, l.memory.meant
	l.cover(d, own)
	for _, r := range lost {
		meant[r.In*n+r.Out] = true
	}
	todo := l.memory.todo[:0]
	for i := range d.pairs {
		p := &d.pairs[i]
		if p.need == 0 {
			continue
		}
		at := p.in*n + p.out
		residual := time.Duration(0)
		switch {
		case meant[at] || l.only:
		case covered[at] > 0:
			residual = max(l.v.DeltaAt(p.in), p.need/20)
		case p.left < l.v.ElephantThreshold:
			residual = l.v.DeltaAt(p.in)
		}
		if need := p.need - covered[at]; need > residual {
			todo = append(todo, *p)
			todo[len(todo)-1].need = need
		}
	}
	l.memory.todo = todo
	for _, all := range [3][]controller.CircuitReservation{l.held, own, lost} {
		for _, r := range all {
			covered[r.In*n+r.Out], meant[r.In*n+r.Out] = 0, false
		}
	}
	return todo
}

// carries returns for how long from now on a begun reservation will carry bytes.
func (l *reservationPlan) carries(r controller.CircuitReservation) time.Duration {
	from := max(r.NotBefore+l.v.DeltaAt(r.In), l.v.Now)
	if int(r.In) < len(l.v.Circuits) {
		if c := l.v.Circuits[r.In]; c.Out == r.Out && c.Phase == controller.InService {
			from = l.v.Now
		}
	}
	return max(r.NotAfter-from, 0)
}

// finish withdraws what no coflow in demand owns and sorts the plan's reservations.
func (l *reservationPlan) finish(p *controller.Plan) {
	for _, r := range l.unbegun {
		if !l.planned[r.Coflow] {
			p.Withdraw = append(p.Withdraw, r.Coflow)
		}
	}
	l.memory.begun, l.memory.unbegun, l.memory.held = l.begun, l.unbegun, l.held
	slices.Sort(p.Withdraw)
	p.Withdraw = slices.Compact(p.Withdraw)
	slices.Sort(p.Preempt)
	l.memory.byInput.sort(p.Reserve, l.v.Fabric.OCSPorts())
}
