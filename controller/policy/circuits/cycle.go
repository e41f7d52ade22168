package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// Cycle repeats one schedule, whatever the demand: at every instant it is known which circuits are due.
// It skips a circuit that no elephant waits for, since no flow would use it.
type Cycle struct {
	// of returns when a pair of ports is joined in one cycle, by beginning, and how long a cycle is. It
	// begins at instant
	// 0.
	of func(v *controller.View, in, out southbound.Port) (turns []schedule.Circuit, long time.Duration)
}

// Rotor turns through all matchings of schedule.Rotor, ten reconfiguration delays each (RotorNet,
// SIGCOMM 2017, without its detours: those are RotorVLB's).
func Rotor() Cycle {
	return Cycle{func(v *controller.View, in, out southbound.Port) ([]schedule.Circuit, time.Duration) {
		n, slot := southbound.Port(v.Fabric.Racks), rotorSlot(v.Delta)
		from := time.Duration((out-in+n)%n-1) * slot
		return []schedule.Circuit{{In: in, Out: out, From: from, To: from + slot,
			Carry: slot}}, time.Duration(n-1) * slot
	}}
}

// FromFile repeats a schedule that schedule.Parse has read, from the beginning of the run. It ignores
// circuits of ports that the fabric does not have.
func FromFile(s *schedule.Schedule) Cycle {
	turns := map[[2]southbound.Port][]schedule.Circuit{}
	for _, c := range s.Circuits(0) {
		key := [2]southbound.Port{c.In, c.Out}
		turns[key] = append(turns[key], c)
	}
	long := s.Long()
	return Cycle{func(_ *controller.View, in, out southbound.Port) ([]schedule.Circuit, time.Duration) {
		return turns[[2]southbound.Port{in, out}], long
	}}
}

// Wants implements the part's list of events.
func (Cycle) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.PortsFreed,
		controller.FabricChanged, controller.WakeReached, controller.TrafficRead)
}

// Fill reserves, for every pair of racks with elephants left, its next turns, until they carry what is
// left or for one cycle and the horizon.
func (c Cycle) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || worthless(v) {
		return
	}
	t := sum(v, p)
	if t.matrix.Empty() {
		return
	}
	l := turns{v: v, p: p, sched: scheduler{table: newTable(v.Fabric.Racks), delta: v.Delta,
		start: v.Now, lit: lit(v)}}
	l.stand()
	for i, in := range t.port {
		for j, out := range t.port {
			if need := t.matrix[i][j]; need > 0 {
				of, long := c.of(v, in, out)
				l.reserve(of, long, need)
			}
		}
	}
	if l.cut {
		p.Wake = min(p.Wake, v.Now+DefaultHorizon/2)
	}
	slices.SortFunc(p.Reserve, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
}

// turns lays the turns of pairs of racks into the table.
type turns struct {
	v     *controller.View
	p     *controller.Plan
	sched scheduler
	cut   bool // the horizon left something undone
}

// stand takes the ports of what is reserved already.
func (l *turns) stand() {
	for _, r := range l.v.Reserved {
		if from := max(r.NotBefore, l.v.Now); r.NotAfter > from &&
			l.sched.table.fits(r.In, r.Out, from, r.NotAfter) {
			l.sched.table.take(r.In, r.Out, from, r.NotAfter)
		}
	}
}

// reserve reserves the next turns of one pair until they carry for that long. Turns that stand already
// count.
func (l *turns) reserve(of []schedule.Circuit, long, need time.Duration) {
	if len(of) == 0 {
		return
	}
	in, out := of[0].In, of[0].Out
	for _, r := range l.v.Reserved {
		if r.In == in && r.Out == out && r.Coflow == controller.AnyCoflow {
			from := max(r.NotBefore, l.v.Now)
			need -= max(r.NotAfter-from-l.sched.setup(in, out, from), 0)
		}
	}
	for turn := l.v.Now / long; need > 0; turn++ {
		for _, c := range of {
			from, to := max(turn*long+c.From, l.v.Now), turn*long+c.To
			if from > l.v.Now+long+DefaultHorizon {
				l.cut = true
				return
			}
			if to <= from || need <= 0 || !l.sched.table.fits(in, out, from, to) {
				continue
			}
			carry := to - from - l.sched.setup(in, out, from)
			if carry <= 0 {
				continue
			}
			l.sched.table.take(in, out, from, to)
			l.p.Reserve = append(l.p.Reserve, controller.CircuitReservation{NotBefore: from, NotAfter: to,
				In: in, Out: out,
				Coflow: controller.AnyCoflow})
			need -= carry
		}
	}
}
