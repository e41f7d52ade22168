package circuits

import (
	"time"

	"lightloom/controller"
	"lightloom/controller/demand"
	"lightloom/controller/policy/circuits/schedule"
	"lightloom/southbound"
)

// Epochs plays port schedules: it sums what all elephants have left, makes a schedule for it, reserves
// the circuits for any flow between the racks, and repeats when the schedule is over. New flows wait
// meanwhile, or use the packet network if there is one: algorithms that plan matchings require this.
//
// Where a rack has several planes of circuits, pairs of racks are dealt out to them first, and each has
// a schedule of its own; the next epoch begins when the longest of them is over.
type Epochs struct {
	make func(m schedule.Matrix, lit []southbound.Port, e epoch) schedule.Schedule
	// Delays is how many reconfiguration delays long an epoch is at most.
	Delays int
	// Slot is the duration of an epoch without the delay, in place of Delays; 0: use Delays.
	Slot time.Duration
	// unit is what demands are rounded up to multiples of, so that a schedule does not end in slivers;
	// nil: δ/8.
	unit func(v *controller.View, delta time.Duration) time.Duration
	// Known is the known demand; nil: all that started coflows have left by the trace.
	Known func(v *controller.View) demand.Matrix
}

// FromBacklog has an algorithm know what waits in hosts' sockets and nothing else, as c-Through does,
// at the instant at which it is asked. (View.Traffic is for all algorithms, and read once a period.)
func (e Epochs) FromBacklog() Epochs {
	e.Known = func(v *controller.View) demand.Matrix { return demand.Backlog(v, demand.SocketBuffer) }
	return e
}

// epoch is what an algorithm can look at besides the demand.
type epoch struct {
	delta, window time.Duration
	packets       float64 // rate of a rack's packet uplinks ÷ rate of its circuit
}

// epochDelays is the length of an epoch in reconfiguration delays: Eclipse's evaluation has 100 (20 µs
// of 2 ms, and 3 ms).
const epochDelays = 100

// slotDelays is the length of a slot in reconfiguration delays where an algorithm leaves it open: a
// duty cycle of 0.9, as RotorNet's.
const slotDelays = 10

// shortest is a reconfiguration delay that stands in for none at all, so that an epoch has a length.
const shortest = 100 * time.Microsecond

// BvN is Birkhoff and von Neumann's decomposition, Inukai's clearance (IEEE Trans. Commun. 27(10), 1979).
func BvN() Epochs {
	return Epochs{make: func(m schedule.Matrix, lit []southbound.Port, e epoch) schedule.Schedule {
		return schedule.BvN(m, lit, e.delta)
	}, Delays: epochDelays}
}

// Solstice (CoNEXT 2015) leaves to packets what they carry anyway. Beside a packet network no slot of
// it is shorter than a reconfiguration delay: demands are rounded up to multiples of one. Where
// circuits carry all, they are exact.
func Solstice() Epochs {
	return Epochs{make: func(m schedule.Matrix, lit []southbound.Port, e epoch) schedule.Schedule {
		return schedule.Solstice(m, lit, e.delta, e.packets)
	}, Delays: epochDelays, unit: func(v *controller.View, delta time.Duration) time.Duration {
		if controller.CircuitsOnly(v.Fabric) {
			return 1
		}
		return delta
	}}
}

// Eclipse carries the most that fits the epoch (Costly circuits, submodular schedules, SIGMETRICS 2016).
func Eclipse() Epochs {
	return Epochs{make: func(m schedule.Matrix, lit []southbound.Port, e epoch) schedule.Schedule {
		return schedule.Eclipse(m, lit, e.delta, e.window)
	}, Delays: epochDelays}
}

// Edmonds reads the demand again before every slot, as c-Through and Helios (both SIGCOMM 2010) do.
// They leave the duration of a slot open: it is ten reconfiguration delays, or Slot.
func Edmonds() Epochs {
	return Epochs{make: func(m schedule.Matrix, lit []southbound.Port, e epoch) schedule.Schedule {
		return schedule.Edmonds(m, lit, e.delta, e.window, 1)
	}, Delays: slotDelays}
}

// Wants implements the part's list of events. The end of an epoch wakes it.
func (Epochs) Wants() controller.KindSet {
	return controller.Kinds(controller.JobArrived, controller.CoflowStarted, controller.FabricChanged,
		controller.WakeReached, controller.TrafficRead)
}

// Fill reserves the next epoch when the one before is over. Reservations of slices never are: it plans beside them.
func (e Epochs) Fill(v *controller.View, _ []controller.Event, p *controller.Plan) {
	if !v.Fabric.HasOCS() || worthless(v) {
		return
	}
	own, ends := withoutSlices(v)
	if end := reservedTime(own); end > v.Now {
		p.Wake = min(p.Wake, end)
		return
	}
	long := time.Duration(0)
	for _, t := range deal(v, ends, e.sum(v, p)) {
		if !t.matrix.Empty() {
			long = max(long, e.plan(v, p, &t))
		}
	}
	if long > 0 {
		p.Wake = min(p.Wake, v.Now+long)
	}
}

// plan reserves the next epoch of one plane, and returns how long it lasts.
func (e Epochs) plan(v *controller.View, p *controller.Plan, t *total) time.Duration {
	delta := v.DeltaAt(t.port[0])
	unit := delta / 8
	if e.unit != nil {
		unit = e.unit(v, delta)
	}
	t.matrix.RoundUp(max(unit, 1))
	x := epoch{delta: delta, window: e.window(v, delta), packets: packets(v)}
	s := e.make(t.matrix, t.lit(v), x)
	s.Cut(x.window, x.delta)
	for _, c := range s.Circuits(x.delta) {
		p.Reserve = append(p.Reserve, controller.CircuitReservation{NotBefore: v.Now + c.From,
			NotAfter: v.Now + c.To,
			In:       t.port[c.In], Out: t.port[c.Out], Coflow: controller.AnyCoflow})
	}
	return s.Long()
}

// window is the longest duration of an epoch. An epoch planned from waiting bytes lasts at least until
// the next reading, as c-Through's do: before it there is no newer estimate.
func (e Epochs) window(v *controller.View, delta time.Duration) time.Duration {
	long := time.Duration(e.Delays) * max(delta, shortest)
	if e.Slot > 0 {
		long = delta + e.Slot
	}
	if v.Traffic != nil && v.Traffic.Ahead == 0 {
		long = max(long, v.Traffic.Next-v.Now)
	}
	return long
}

// sum is what is known to be left, by racks.
func (e Epochs) sum(v *controller.View, p *controller.Plan) schedule.Matrix {
	if e.Known == nil || v.Traffic != nil {
		return sum(v, p)
	}
	ends, m := ports(v), schedule.New(v.Fabric.Racks)
	for i, row := range e.Known(v) {
		for j, b := range row {
			if b > 0 && ends[i].ok && ends[j].ok {
				m[i][j] = min(v.Wire(b).Over(min(ends[i].up, ends[j].down)), longest)
			}
		}
	}
	leaveResiduals(v, m)
	return m
}

// packets returns what part of a circuit's rate the packet network gives a rack: of several planes each has
// its share.
func packets(v *controller.View) float64 {
	s := v.Fabric.Spec
	if controller.CircuitsOnly(v.Fabric) || s.OCS <= 0 {
		return 0
	}
	return float64(s.EPS) * float64(s.Spines) / float64(s.OCS) / float64(s.CircuitsARack())
}
