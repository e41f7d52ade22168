package circuits

import (
	"cmp"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Cycle repeats one schedule, whatever the demand: at every instant it is known which circuits are due.
// It skips a circuit that no elephant waits for, since no flow would use it.
type Cycle struct {
	// of returns when a pair of racks is joined in one cycle, and by which ports, by beginning, and how long
	// a cycle is. The first one begins at instant 0. All turns of a pair are of one plane.
	of func(v *controller.View, in, out southbound.Port) (turns []schedule.Circuit, long time.Duration)
}

// Rotor turns through all matchings of schedule.Rotor, ten reconfiguration delays each (RotorNet,
// SIGCOMM 2017, without its detours: those are RotorVLB's). With several planes the matchings are dealt
// out to them, and each turns through its own, as the switches of RotorNet do; their turns are shifted
// against each other by equal parts of a slot, so that a rack is never dark in all of them at once.
func Rotor() Cycle {
	return Cycle{func(v *controller.View, in, out southbound.Port) ([]schedule.Circuit, time.Duration) {
		if !v.Fabric.Spec.CircuitMayJoin(int(in), int(out)) {
			return nil, 0
		}
		n, planes := southbound.Port(v.Fabric.Racks), southbound.Port(v.Fabric.Spec.Planes())
		plane, turn, own := rotorTurn(v.Fabric, in, out)
		slot := rotorSlot(v.DeltaAt(plane * n))
		from := time.Duration(turn)*slot + time.Duration(plane)*slot/time.Duration(planes)
		return []schedule.Circuit{{In: in + plane*n, Out: out + plane*n, From: from, To: from + slot,
			Carry: slot}}, time.Duration(own) * slot
	}}
}

// rotorTurn returns the plane of a pair's matching, its turn there, and how many turns that plane has. On
// rails each OCS turns through the matchings of its own racks.
func rotorTurn(f *topo.Fabric, in, out southbound.Port) (plane, turn, own southbound.Port) {
	n, planes := southbound.Port(f.Racks), southbound.Port(f.Spec.Planes())
	if rails := southbound.Port(f.Spec.Rails); rails > 0 {
		units := n / rails
		return in % rails, ((out-in)/rails+units)%units - 1, units - 1
	}
	matching := (out-in+n)%n - 1
	plane = matching % planes
	return plane, matching / planes, (n - 1 - plane + planes - 1) / planes
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
	return Cycle{func(v *controller.View, in, out southbound.Port) ([]schedule.Circuit, time.Duration) {
		racks := southbound.Port(v.Fabric.Racks)
		for ; int(in) < v.Fabric.OCSPorts(); in, out = in+racks, out+racks {
			n, a := v.Fabric.OCSAt(int32(in))
			_, b := v.Fabric.OCSAt(int32(out))
			if a < 0 || b < 0 {
				continue // it is of another rail
			}
			ocs := int(n - v.Fabric.OCSNode)
			if of := turns[[2]southbound.Port{s.PortOf(ocs, a), s.PortOf(ocs, b)}]; len(of) > 0 {
				return numbered(of, in, out), long
			}
		}
		return nil, long
	}}
}

// numbered returns turns with other numbers of their ports.
func numbered(of []schedule.Circuit, in, out southbound.Port) []schedule.Circuit {
	if of[0].In == in && of[0].Out == out {
		return of
	}
	all := slices.Clone(of)
	for i := range all {
		all[i].In, all[i].Out = in, out
	}
	return all
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
	t := compact(sum(v, p), 0)
	if t.matrix.Empty() {
		return
	}
	l := turns{v: v, p: p, sched: scheduler{table: newTable(v.Fabric.OCSPorts()), delta: v.Delta, deltas: v.Deltas,
		start: v.Now, lit: lit(v)}}
	l.stand()
	ends, planes := opticalPorts(v), newWavelengthAssignment(v)
	for i, in := range t.port {
		for j, out := range t.port {
			need := t.matrix[i][j]
			if need == 0 {
				continue
			}
			of, long := c.of(v, in, out)
			if len(of) > 0 && ends[of[0].In].ok && ends[of[0].Out].ok && planes.may(of[0].In, of[0].Out) {
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
	in, out := of[0].In, of[0].Out
	for _, r := range l.v.Reserved {
		if r.In == in && r.Out == out && r.Coflow == controller.AnyCoflow {
			from := max(r.NotBefore, l.v.Now)
			need -= max(r.NotAfter-from-l.sched.setup(in, out, from), 0)
		}
	}
	for turn := l.v.Now/long - 1; need > 0; turn++ { // a turn can reach into the next cycle
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
