package circuits

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// replay plays a part's reservations on a model of the switch: a rack has one host, whose link is as
// fast as its circuit. What is on no circuit goes over packets at a rate of its own, or not at all.
type replay struct {
	t      testing.TB
	part   Sunflow
	v      *controller.View
	arrive []arrival // by time
	lit    []time.Duration
	begun  map[[2]southbound.Port]bool
	wake   time.Duration
	ended  map[southbound.CoflowID]time.Duration
	eps    pathmap.BitsPerSecond // rate of every host flow while it is not on a circuit
}

type arrival struct {
	at     time.Duration
	coflow controller.CoflowView
}

const rate = pathmap.Gbps

func newReplay(t testing.TB, racks int, delta time.Duration) *replay {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: racks, Hosts: 1, Spines: 1, NIC: rate,
		EPS: pathmap.Mbps,
		OCS: rate, Dark: time.Millisecond, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{t: t, v: &controller.View{Fabric: f, Delta: delta}, lit: make([]time.Duration, racks),
		wake:  southbound.Never,
		begun: map[[2]southbound.Port]bool{}, ended: map[southbound.CoflowID]time.Duration{}}
	for range racks {
		r.v.Circuits = append(r.v.Circuits, controller.CircuitView{Out: southbound.NoPort})
	}
	return r
}

// add lets a coflow of a matrix of transfer times arrive.
func (r *replay) add(at time.Duration, id southbound.CoflowID, matrix [][]time.Duration) {
	c := controller.CoflowView{ID: id, Generation: 1, Arrival: at, Start: at, Started: true, Routed: true,
		Remaining: southbound.Remaining{F: 1}}
	for dst := range matrix {
		for src := range matrix {
			if matrix[src][dst] == 0 || src == dst {
				continue
			}
			size := rate.In(matrix[src][dst]) * controller.FramePayload / controller.FrameBytes
			c.Src, c.Dst = append(c.Src, southbound.HostID(src)), append(c.Dst, southbound.HostID(dst))
			c.Size, c.Remaining.Base = append(c.Size, size), append(c.Remaining.Base, float64(size))
			c.Ended, c.Tag = append(c.Ended, false), append(c.Tag, southbound.TagDefault)
		}
	}
	r.arrive = append(r.arrive, arrival{at, c})
}

// run plays until every coflow has ended.
func (r *replay) run() {
	r.t.Helper()
	slices.SortStableFunc(r.arrive, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	total := len(r.arrive)
	for steps := 0; len(r.ended) < total; steps++ {
		if steps > 100_000 {
			r.t.Fatalf("no end: at %v %d of %d coflows have ended", r.v.Now, len(r.ended), total)
		}
		r.advance(r.next())
		r.boundaries()
		for len(r.arrive) > 0 && r.arrive[0].at <= r.v.Now {
			r.v.Coflows = append(r.v.Coflows, r.arrive[0].coflow)
			r.arrive = r.arrive[1:]
		}
		slices.SortFunc(r.v.Coflows, func(a, b controller.CoflowView) int { return cmp.Compare(a.ID, b.ID) })
		r.settle()
	}
}

// settle calls the part until nothing changes. One call is mostly enough; now and then a coflow that
// was planned is planned again, because its reservations have begun by then. This must end.
func (r *replay) settle() {
	r.t.Helper()
	for try := 0; r.decide() > 0; try++ {
		if try == 3 {
			r.t.Fatalf("at %v the plan changes though nothing has happened", r.v.Now)
		}
		r.boundaries()
	}
}

// next returns the next instant at which something happens.
func (r *replay) next() time.Duration {
	at := r.wake
	if len(r.arrive) > 0 {
		at = min(at, r.arrive[0].at)
	}
	for _, x := range r.v.Reserved {
		if !r.isBegun(x) {
			at = min(at, x.NotBefore)
			continue
		}
		at = min(at, x.NotAfter)
		if r.lit[x.In] > r.v.Now {
			at = min(at, r.lit[x.In])
		}
	}
	for i := range r.v.Coflows {
		c := &r.v.Coflows[i]
		for row := range c.Src {
			if speed := r.speed(c, row); speed > 0 && !c.Ended[row] {
				at = min(at, r.v.Now+controller.Wire(c.LeftBytes(row)).Over(speed))
			}
		}
	}
	if at == southbound.Never {
		r.t.Fatalf("at %v nothing is to happen, and %d coflows have bytes left", r.v.Now, len(r.v.Coflows))
	}
	return max(at, r.v.Now)
}

func (r *replay) isBegun(x controller.CircuitReservation) bool {
	return x.NotBefore <= r.v.Now && r.begun[[2]southbound.Port{x.In, x.Out}]
}

func (r *replay) carries(x controller.CircuitReservation, c *controller.CoflowView, row int) bool {
	return x.Coflow == c.ID && !c.Ended[row] && southbound.Port(c.Src[row]) == x.In &&
		southbound.Port(c.Dst[row]) == x.Out
}

// speed is how fast a row sends from now on, until something happens.
func (r *replay) speed(c *controller.CoflowView, row int) pathmap.BitsPerSecond {
	for _, x := range r.v.Reserved {
		if r.isBegun(x) && r.carries(x, c, row) && r.lit[x.In] <= r.v.Now {
			return rate
		}
	}
	return r.eps
}

// advance carries bytes up to an instant.
func (r *replay) advance(to time.Duration) {
	for i := range r.v.Coflows {
		c := &r.v.Coflows[i]
		for row := range c.Src {
			speed := r.speed(c, row)
			if c.Ended[row] || speed == 0 {
				continue
			}
			if r.v.Now+controller.Wire(c.LeftBytes(row)).Over(speed) <= to {
				c.Remaining.Base[row], c.Ended[row] = 0, true
			} else {
				c.Remaining.Base[row] -= float64(speed.In(to-r.v.Now)) * controller.FramePayload / controller.FrameBytes
				c.Ended[row] = c.Remaining.Base[row] < 0.5
			}
		}
	}
	r.v.Now = to
	r.retire()
}

// retire takes out the coflows that have ended.
func (r *replay) retire() {
	r.v.Coflows = slices.DeleteFunc(r.v.Coflows, func(c controller.CoflowView) bool {
		if slices.Contains(c.Ended, false) {
			return false
		}
		r.ended[c.ID] = r.v.Now
		return true
	})
}

// boundaries ends and begins what is due, as the ledger does: a reservation whose host flows have ended
// is skipped.
func (r *replay) boundaries() {
	r.v.Reserved = slices.DeleteFunc(r.v.Reserved, func(x controller.CircuitReservation) bool {
		idle := !slices.ContainsFunc(r.v.Coflows, func(c controller.CoflowView) bool {
			for row := range c.Src {
				if r.carries(x, &c, row) {
					return true
				}
			}
			return false
		})
		if over := x.NotAfter <= r.v.Now; !over && !idle {
			return false
		}
		if r.isBegun(x) {
			r.release(x)
		}
		return true
	})
	for _, x := range r.v.Reserved {
		if x.NotBefore > r.v.Now || r.isBegun(x) {
			continue
		}
		for _, o := range r.v.Reserved {
			if o != x && r.isBegun(o) && (o.In == x.In || o.Out == x.Out) {
				r.t.Fatalf("at %v %+v begins while %+v holds a port", r.v.Now, x, o)
			}
		}
		r.begin(x)
	}
}

func (r *replay) release(x controller.CircuitReservation) {
	delete(r.begun, [2]southbound.Port{x.In, x.Out})
	r.v.Circuits[x.In].Held = false
}

func (r *replay) begin(x controller.CircuitReservation) {
	r.begun[[2]southbound.Port{x.In, x.Out}] = true
	if r.v.Circuits[x.In].Out != x.Out {
		for in := range r.v.Circuits {
			if r.v.Circuits[in].Out == x.Out {
				r.v.Circuits[in] = controller.CircuitView{Out: southbound.NoPort}
			}
		}
		r.lit[x.In] = r.v.Now + r.v.Delta
	}
	r.v.Circuits[x.In] = controller.CircuitView{Out: x.Out, Phase: controller.InService, Held: true,
		Coflow: x.Coflow,
		Until:  x.NotAfter}
}

// decide calls the part and carries its plan out, checking every reservation against the ledger. It
// returns the number of changes.
func (r *replay) decide() int {
	r.t.Helper()
	for in := range r.v.Circuits {
		if c := &r.v.Circuits[in]; c.Out != southbound.NoPort {
			c.Phase = controller.InService
			if r.lit[in] > r.v.Now {
				c.Phase = controller.Reconfiguring
			}
		}
	}
	var p controller.Plan
	p.Reset()
	r.part.Fill(r.v, nil, &p)
	r.wake = p.Wake
	r.v.Reserved = slices.DeleteFunc(r.v.Reserved, func(x controller.CircuitReservation) bool {
		if r.isBegun(x) {
			if slices.Contains(p.Preempt, x.In) {
				r.release(x)
				return true
			}
			return false
		}
		return slices.Contains(p.Withdraw, x.Coflow)
	})
	for _, x := range p.Reserve {
		for _, o := range r.v.Reserved {
			if (o.In == x.In || o.Out == x.Out) && o.NotBefore < x.NotAfter && x.NotBefore < o.NotAfter {
				r.t.Fatalf("at %v reserves %+v: %+v holds a port", r.v.Now, x, o)
			}
		}
		r.v.Reserved = append(r.v.Reserved, x)
	}
	if r.eps == 0 {
		r.packets()
	}
	slices.SortFunc(r.v.Reserved, func(a, b controller.CircuitReservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
	return len(p.Reserve) + len(p.Withdraw) + len(p.Preempt)
}

// packets carries what the part leaves to them: less than an elephant, and less than a circuit carries in a
// reconfiguration delay.
func (r *replay) packets() {
	for i := range r.v.Coflows {
		c := &r.v.Coflows[i]
		for row := range c.Src {
			left := c.LeftBytes(row)
			residual := left < r.v.ElephantThreshold && controller.Wire(left).Over(rate) <= r.v.Delta
			if residual && !slices.ContainsFunc(r.v.Reserved, func(x controller.CircuitReservation) bool {
				return r.carries(x, c, row)
			}) {
				c.Remaining.Base[row], c.Ended[row] = 0, true
			}
		}
	}
	r.retire()
}
