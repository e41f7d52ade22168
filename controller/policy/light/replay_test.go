package light

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"lightloom/controller"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// replay plays a part's reservations on a model of the switch that carries bytes over circuits and nothing else: a rack
// has one host, whose link is as fast as its circuit.
type replay struct {
	t       testing.TB
	part    Sunflow
	v       *controller.View
	arrive  []arrival // by time
	lit     []time.Duration
	begun   map[[2]southbound.Port]bool
	wake    time.Duration
	ended   map[southbound.CoflowID]time.Duration
	asked   int
	changes int // reservations made and withdrawn
	crumbs  int // bundles left to packets at the end
}

type arrival struct {
	at     time.Duration
	coflow controller.CoflowView
}

const rate = pathmap.Gbps

func newReplay(t testing.TB, racks int, delta time.Duration) *replay {
	t.Helper()
	f, err := topo.New(topo.Spec{Kind: topo.Hybrid, Racks: racks, Hosts: 1, Spines: 1, NIC: rate, EPS: pathmap.Mbps,
		OCS: rate, Dark: time.Millisecond, Slots: 1})
	if err != nil {
		t.Fatal(err)
	}
	r := &replay{t: t, v: &controller.View{Fabric: f, Delta: delta}, lit: make([]time.Duration, racks), wake: southbound.Never,
		begun: map[[2]southbound.Port]bool{}, ended: map[southbound.CoflowID]time.Duration{}}
	for range racks {
		r.v.Circuits = append(r.v.Circuits, controller.CircuitView{Out: southbound.NoPort})
	}
	return r
}

// add lets a coflow of a matrix of transfer times arrive.
func (r *replay) add(at time.Duration, id southbound.CoflowID, matrix [][]time.Duration) {
	c := controller.CoflowView{ID: id, Arrival: at, Start: at, Started: true, Routed: true, Left: southbound.Left{F: 1}}
	for dst := range matrix {
		for src := range matrix {
			if matrix[src][dst] == 0 || src == dst {
				continue
			}
			size := rate.In(matrix[src][dst]) * controller.FramePayload / controller.FrameBytes
			c.Src, c.Dst = append(c.Src, southbound.HostID(src)), append(c.Dst, southbound.HostID(dst))
			c.Size, c.Left.Base = append(c.Size, size), append(c.Left.Base, float64(size))
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
		r.decide()
		r.boundaries()
		r.settled()
	}
}

// settled asks once more at the same instant: nothing has happened, so nothing is to change.
func (r *replay) settled() {
	r.t.Helper()
	var p controller.Plan
	p.Reset()
	r.part.Fill(r.v, nil, &p)
	if len(p.Reserve)+len(p.Withdraw)+len(p.Preempt) > 0 {
		r.t.Fatalf("at %v, asked again: reserve %+v, withdraw %v, preempt %v", r.v.Now, p.Reserve, p.Withdraw, p.Preempt)
	}
}

// next returns the next instant at which something happens.
func (r *replay) next() time.Duration {
	at := r.wake
	if len(r.arrive) > 0 {
		at = min(at, r.arrive[0].at)
	}
	for _, x := range r.v.Reserved {
		if r.isBegun(x) {
			at = min(at, x.NotAfter)
			for i := range r.v.Coflows {
				if c := &r.v.Coflows[i]; c.ID == x.Coflow {
					for row := range c.Src {
						if r.carries(x, c, row) {
							at = min(at, max(r.lit[x.In], r.v.Now)+controller.Wire(c.LeftBytes(row)).Over(rate))
						}
					}
				}
			}
		} else {
			at = min(at, x.NotBefore)
		}
	}
	if at == southbound.Never {
		r.t.Fatalf("at %v nothing is to happen, and %d coflows have bytes left", r.v.Now, len(r.v.Coflows))
	}
	return max(at, r.v.Now)
}

func (r *replay) isBegun(x controller.Reservation) bool {
	return x.NotBefore <= r.v.Now && r.begun[[2]southbound.Port{x.In, x.Out}]
}

func (r *replay) carries(x controller.Reservation, c *controller.CoflowView, row int) bool {
	return x.Coflow == c.ID && !c.Ended[row] && southbound.Port(c.Src[row]) == x.In && southbound.Port(c.Dst[row]) == x.Out
}

// advance carries bytes over lit circuits up to an instant.
func (r *replay) advance(to time.Duration) {
	for _, x := range r.v.Reserved {
		if !r.isBegun(x) {
			continue
		}
		for i := range r.v.Coflows {
			c := &r.v.Coflows[i]
			for row := range c.Src {
				if !r.carries(x, c, row) {
					continue
				}
				from := max(r.lit[x.In], r.v.Now)
				if need := controller.Wire(c.LeftBytes(row)).Over(rate); from+need <= to {
					c.Left.Base[row], c.Ended[row] = 0, true
				} else if to > from {
					c.Left.Base[row] -= float64(rate.In(to-from)) * controller.FramePayload / controller.FrameBytes
					c.Ended[row] = c.Left.Base[row] < 0.5
				}
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

// boundaries ends and begins what is due, as the ledger does: a reservation whose bundles have ended is skipped.
func (r *replay) boundaries() {
	r.v.Reserved = slices.DeleteFunc(r.v.Reserved, func(x controller.Reservation) bool {
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

func (r *replay) release(x controller.Reservation) {
	delete(r.begun, [2]southbound.Port{x.In, x.Out})
	r.v.Circuits[x.In].Held = false
}

func (r *replay) begin(x controller.Reservation) {
	r.begun[[2]southbound.Port{x.In, x.Out}] = true
	if r.v.Circuits[x.In].Out != x.Out {
		for in := range r.v.Circuits {
			if r.v.Circuits[in].Out == x.Out {
				r.v.Circuits[in] = controller.CircuitView{Out: southbound.NoPort}
			}
		}
		r.lit[x.In] = r.v.Now + r.v.Delta
	}
	r.v.Circuits[x.In] = controller.CircuitView{Out: x.Out, Phase: controller.Usable, Held: true, Coflow: x.Coflow, Until: x.NotAfter}
}

// decide asks the part and carries its plan out, checking every reservation against the ledger.
func (r *replay) decide() {
	r.t.Helper()
	for in := range r.v.Circuits {
		if c := &r.v.Circuits[in]; c.Out != southbound.NoPort {
			c.Phase = controller.Usable
			if r.lit[in] > r.v.Now {
				c.Phase = controller.Moving
			}
		}
	}
	var p controller.Plan
	p.Reset()
	r.part.Fill(r.v, nil, &p)
	r.asked++
	r.wake = p.Wake
	r.v.Reserved = slices.DeleteFunc(r.v.Reserved, func(x controller.Reservation) bool {
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
	r.packets()
	r.changes += len(p.Reserve) + len(p.Withdraw)
	slices.SortFunc(r.v.Reserved, func(a, b controller.Reservation) int {
		return cmp.Or(cmp.Compare(a.In, b.In), cmp.Compare(a.NotBefore, b.NotBefore))
	})
}

// packets carries what the part leaves to them: less than an elephant, and less than a circuit carries in an outage.
func (r *replay) packets() {
	for i := range r.v.Coflows {
		c := &r.v.Coflows[i]
		for row := range c.Src {
			left := c.LeftBytes(row)
			crumb := left < r.v.Elephants && controller.Wire(left).Over(rate) <= r.v.Delta
			if crumb && !slices.ContainsFunc(r.v.Reserved, func(x controller.Reservation) bool { return r.carries(x, c, row) }) {
				c.Left.Base[row], c.Ended[row] = 0, true
				r.crumbs++
			}
		}
	}
	r.retire()
}

// uniform is a matrix with one transfer time everywhere but on the diagonal.
func uniform(racks int, each time.Duration) [][]time.Duration {
	m := make([][]time.Duration, racks)
	for i := range m {
		m[i] = make([]time.Duration, racks)
		for j := range m[i] {
			if i != j {
				m[i][j] = each
			}
		}
	}
	return m
}

func random(rng *rand.Rand, racks int, fill float64, most time.Duration) [][]time.Duration {
	m := uniform(racks, 0)
	n := 0
	for i := range m {
		for j := range m[i] {
			if i != j && rng.Float64() < fill {
				m[i][j] = time.Millisecond + time.Duration(rng.Int64N(int64(most)))
				n++
			}
		}
	}
	if n == 0 {
		m[0][1] = most
	}
	return m
}

func boundOf(m [][]time.Duration, delta time.Duration) time.Duration {
	var t time.Duration
	for i := range m {
		var in, out time.Duration
		for j := range m {
			if m[i][j] > 0 {
				out += delta + m[i][j]
			}
			if m[j][i] > 0 {
				in += delta + m[j][i]
			}
		}
		t = max(t, in, out)
	}
	return t
}

// TestCoSchedulerCase2 is Figure 2(b) of co-scheduler: one unit a second, jobs of (3,3,3)→(1,1,1) and (5,5,5)→(1,1,1)
// maps and reduces by rack end after 6+2δ and 16+3δ: the second job's first circuits are the first one's last.
func TestCoSchedulerCase2(t *testing.T) {
	const delta = 10 * time.Millisecond
	r := newReplay(t, 3, delta)
	r.add(0, 1, uniform(3, 3*time.Second))
	r.add(0, 2, uniform(3, 5*time.Second))
	r.part.Horizon = time.Hour
	r.run()
	for id, want := range map[southbound.CoflowID]time.Duration{1: 6*time.Second + 2*delta, 2: 16*time.Second + 3*delta} {
		// Sizes are whole bytes: a transfer may end up to two bytes' time early.
		if got := r.ended[id]; got > want || got < want-10*32*time.Nanosecond {
			t.Errorf("coflow %d ends at %v, want %v", id, got, want)
		}
	}
}

// TestWithinTwiceBound: alone on the switch, a coflow takes at most twice T(C), whatever its matrix, with and without a
// horizon that cuts its plan.
func TestWithinTwiceBound(t *testing.T) {
	sum, n := 0.0, 0
	for seed := range uint64(1000) {
		rng := rand.New(rand.NewPCG(seed, 3))
		racks := 2 + rng.IntN(7)
		r := newReplay(t, racks, time.Duration(1+rng.IntN(20))*time.Millisecond)
		if seed%3 == 0 {
			r.part.Horizon = time.Duration(1+rng.IntN(2000)) * time.Millisecond
		}
		m := random(rng, racks, rng.Float64(), time.Second)
		r.add(0, 0, m)
		r.run()
		bound := boundOf(m, r.v.Delta)
		if r.ended[0] > 2*bound {
			t.Errorf("seed %d: ended at %v, 2·T(C) is %v", seed, r.ended[0], 2*bound)
		}
		sum += float64(r.ended[0]) / float64(bound)
		n++
	}
	t.Logf("CCT ÷ T(C): mean of %d is %.3f", n, sum/float64(n))
}

// TestManyCoflows plays arrivals over time. The replay itself checks that no port is reserved or held twice and that
// every coflow ends; here, that the shortest does not wait for longer ones.
func TestManyCoflows(t *testing.T) {
	for seed := range uint64(150) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			racks := 3 + rng.IntN(4)
			r := newReplay(t, racks, 10*time.Millisecond)
			r.part = Sunflow{Preempt: seed%2 == 0, Horizon: time.Duration(rng.IntN(3)) * time.Second}
			r.v.Elephants = pathmap.Bytes(rng.IntN(2)) * 1e5
			matrices := map[southbound.CoflowID][][]time.Duration{}
			for id := range southbound.CoflowID(12) {
				matrices[id] = random(rng, racks, 0.3, 500*time.Millisecond)
				r.add(time.Duration(rng.IntN(2000))*time.Millisecond, id, matrices[id])
			}
			small := uniform(racks, 0)
			small[0][1] = 2 * time.Millisecond // the shortest: it waits for begun circuits at most
			at := time.Second
			r.add(at, 99, small)
			r.run()
			wait := r.ended[99] - at
			if most := 500*time.Millisecond + 2*10*time.Millisecond + 5*time.Millisecond; r.part.Preempt && wait > 15*time.Millisecond || wait > 2*most {
				t.Errorf("the shortest coflow took %v", wait)
			}
		})
	}
}
