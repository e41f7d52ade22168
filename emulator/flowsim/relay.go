package flowsim

import (
	"fmt"
	"slices"
	"time"

	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/southbound"
)

// relay is racks that keep bytes for each other, as those of RotorNet do by themselves (Mellette,
// McGuinness, Roy, Forencich, Papen, Snoeren, Porter: RotorNet, SIGCOMM 2017, section 4): the
// controller sets the rotation, and what a ToR does with a slot it decides from what waits at itself
// and at the rack that its circuit leads to. A circuit carries first what is kept for its end, then its
// rack's own bytes for it, and the rest of the slot bytes that are kept there.
//
// A piece of a host flow that goes that way is a leg: it leaves the host flow, and travels twice over
// circuits.
type relay struct {
	sim    *Sim
	fluid  *fluid
	by     southbound.Relay
	racks  []relayRack
	legs   []leg
	idle   []int32 // legs that are over
	owed   []int32 // by host flow: legs of it that have not come
	landed []int32 // legs whose hop has ended at this instant
	uneasy []int32 // racks that have something to decide
	routes map[hopOf]int32
	tmp    relayScratch
}

type relayScratch struct {
	racks       []int32
	own, theirs []float64
	later       []float64
	spare       []pathmap.Bytes
	space, give []pathmap.Bytes
	open        []int32
}

// relayRack is one rack.
type relayRack struct {
	told  int32         // where the ToR's circuit leads, by the last report to it; none
	to    int32         // where it led when legs were last put on it
	anew  bool          // a slot has begun, and the circuit stands as it did
	since time.Duration // when to became what it is
	next  des.Event
	asked int      // how often in a row it was not yet time to fill the slot
	own   []ownRow // its host flows to other racks, in the order in which they were started
	out   []int32  // legs on their way from here to where they are kept
	kept  []int32  // legs that are kept here, or are on their way here
}

// ownRow is a host flow. Its place may be another's once its coflow is over.
type ownRow struct {
	hostFlow, coflow, to int32
}

// hop is the part of a packet's path that a route is.
type hop uint8

const (
	whole    hop = iota
	firstHop     // from the source host to a rack that keeps it
	lastHop      // from there to the destination host
)

// hopOf is what decides a leg's route: the pair of hosts that it would be if racks were hosts.
type hopOf struct {
	pair
	hop hop
}

// leg is a piece of a host flow that goes over a third rack.
type leg struct {
	parent   int32 // host flow
	coflow   int32 // of its own, with one row
	size     pathmap.Bytes
	from     int32 // racks
	over, to int32
	src, dst southbound.HostID
	hop      hop // whole: it is over
}

var _ southbound.Relayer = hosts{}

// Relay implements southbound.Relayer.
func (h hosts) Relay(by southbound.Relay) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch f := h.fluid; {
	case !h.fabric.HasOCS():
		return fmt.Errorf("relay: %w: this fabric has no circuits", southbound.ErrUnsupported)
	case h.fabric.OCSPorts() > h.fabric.Racks:
		return fmt.Errorf("relay: %w: racks with several wavelengths or optical switches have no turn",
			southbound.ErrUnsupported)
	case by.ReconfigurationDelay < 0 || by.Slot <= by.ReconfigurationDelay:
		return fmt.Errorf("relay: slots of %v with %v of darkness: take slots that are longer than that", by.Slot,
			by.ReconfigurationDelay)
	case f.relay != nil && f.relay.by != by:
		return fmt.Errorf("relay: slots of %v with %v of darkness, and they are %v with %v", by.Slot,
			by.ReconfigurationDelay,
			f.relay.by.Slot, f.relay.by.ReconfigurationDelay)
	case f.relay == nil:
		f.relay = newRelay(h.Sim, by)
	}
	return nil
}

func newRelay(s *Sim, by southbound.Relay) *relay {
	x := &relay{sim: s, fluid: s.fluid, by: by, racks: make([]relayRack, s.fabric.Racks),
		routes: map[hopOf]int32{}}
	n := int32(len(x.racks))
	for i := range n {
		r := &x.racks[i]
		r.told, r.to = none, none
		for j := range n {
			port, ok := s.switches[s.fabric.ToRNode[i]].plane.mem.Lookup(southbound.RackID(j),
				southbound.RackID(i),
				southbound.TagCircuit)
			if j != i && ok && int32(port) == s.fabric.OCSUplink[i] {
				x.hear(i, j)
			}
		}
	}
	for _, i := range s.fluid.live {
		x.started(i)
	}
	x.tmp.own, x.tmp.theirs, x.tmp.later = make([]float64, n), make([]float64, n), make([]float64, n)
	x.tmp.spare, x.tmp.space, x.tmp.give = make([]pathmap.Bytes, n), make([]pathmap.Bytes,
		n), make([]pathmap.Bytes, n)
	return x
}

// started takes in a coflow. Sources that make no more than so much a second are not to be hurried.
func (x *relay) started(index int32) {
	co := &x.fluid.coflows[index]
	for b := co.first; b < co.end; b++ {
		r := &x.fluid.routes[x.fluid.hostFlows[b].route]
		from, to := x.sim.fabric.RackOf(int32(r.src)), x.sim.fabric.RackOf(int32(r.dst))
		if from != to && !r.capped && x.fluid.hostFlows[b].class != gone {
			x.racks[from].own = append(x.racks[from].own, ownRow{b, index, to})
		}
	}
}

// told handles a report of circuits to a ToR.
func (x *relay) told(n pathmap.NodeID, set []southbound.Rule, drop []southbound.Match, replace bool) {
	node := x.sim.fabric.Topology.Node(n)
	if node.Role != pathmap.ToR {
		return
	}
	i := node.Rack
	to := x.racks[i].told
	if replace {
		to = none
	}
	for _, m := range drop {
		if m.Tag == southbound.TagCircuit && int32(m.Dst) == to {
			to = none
		}
	}
	for _, r := range set {
		if r.Tag == southbound.TagCircuit && int32(r.Primary) == x.sim.fabric.OCSUplink[i] {
			to = int32(r.Dst)
		}
	}
	x.hear(i, to)
}

func (x *relay) hear(i, to int32) {
	if x.racks[i].told != to {
		x.racks[i].told = to
		x.uneasy = append(x.uneasy, i)
	}
}

// step does what is to be done at this instant: legs land, racks put those on circuits that their
// circuits carry, and then fill what is left of their slots.
func (x *relay) step() {
	for len(x.landed)+len(x.uneasy) > 0 {
		for _, l := range x.landed {
			x.land(l)
		}
		x.landed = x.landed[:0]
		slices.Sort(x.uneasy)
		racks := append(x.tmp.racks[:0], slices.Compact(x.uneasy)...)
		x.tmp.racks, x.uneasy = racks, x.uneasy[:0]
		for _, i := range racks {
			x.turn(i)
		}
		for _, i := range racks {
			x.plan(i)
		}
	}
}

// turn holds the legs of a circuit that is gone, and sends those of the one that has come.
func (x *relay) turn(i int32) {
	r := &x.racks[i]
	if r.to == r.told && !r.anew {
		return
	}
	old := r.to
	if r.to != r.told {
		r.since = x.fluid.clock.Now()
	}
	r.to, r.anew, r.asked = r.told, false, 0
	for _, list := range [2][]int32{r.out, r.kept} {
		for _, l := range list {
			switch end := x.legs[l].end(i); {
			case end == none:
			case end == r.to:
				x.fluid.steer(x.row(l), southbound.TagCircuit)
			case end == old:
				x.fluid.steer(x.row(l), southbound.TagHold)
			}
		}
	}
}

// end returns where a leg that waits at a rack is to go next; none where it does not wait there.
func (l *leg) end(at int32) int32 {
	switch {
	case l.hop == firstHop && l.from == at:
		return l.over
	case l.hop == lastHop && l.over == at:
		return l.to
	}
	return none
}

// row returns the host flow that a leg is.
func (x *relay) row(l int32) int32 { return x.fluid.coflows[x.legs[l].coflow].first }

// plan fills what is left of a rack's slot, once its circuit has carried what must go over it.
func (x *relay) plan(i int32) {
	r := &x.racks[i]
	if r.to == none {
		return
	}
	r.own = slices.DeleteFunc(r.own, func(o ownRow) bool { return !x.lives(o) })
	now, end := x.fluid.clock.Now(), x.slotEnd()
	if now%x.by.Slot == 0 && r.since < now { // it can be about to go, without a report yet
		x.fluid.schedule(&r.next, now+max(x.by.ReconfigurationDelay, 1), event{kind: relayDue, index: i})
		return
	}
	rate := x.rate(i, r.to)
	if rest := x.rest(i, r.to); rest >= 1 {
		d, ok := until(rest, rate)
		if r.asked++; r.asked > 1 {
			d = max(d, x.by.Slot>>8) // something else than the circuit holds it back
		}
		if ok && now+d < end {
			x.fluid.schedule(&r.next, now+d, event{kind: relayDue, index: i})
		}
		return
	}
	r.asked = 0
	x.offer(i, r.to, end-now)
}

// slotEnd is when the slot ends that is on.
func (x *relay) slotEnd() time.Duration { return (x.fluid.clock.Now()/x.by.Slot + 1) * x.by.Slot }

// rest is what a circuit has to carry before it carries anything for others, in bytes.
func (x *relay) rest(i, j int32) (sum float64) {
	f, r := x.fluid, &x.racks[i]
	for _, o := range r.own {
		if o.to == j && x.lives(o) {
			sum += f.leftOf(o.hostFlow)
		}
	}
	for _, list := range [2][]int32{r.out, r.kept} {
		for _, l := range list {
			if x.legs[l].end(i) == j && !x.waits(l) {
				sum += f.leftOf(x.row(l))
			}
		}
	}
	return sum
}

// waits reports whether a leg has no circuit now. A leg that came in the same slot cannot use one yet.
func (x *relay) waits(l int32) bool {
	f := x.fluid
	return f.hostFlows[x.row(l)].holds()
}

func (x *relay) lives(o ownRow) bool {
	b := &x.fluid.hostFlows[o.hostFlow]
	return b.coflow == o.coflow && b.class != gone && x.fluid.coflows[o.coflow].live > 0
}

// rate is what the circuit from one rack to another carries, in payload bytes a nanosecond.
func (x *relay) rate(i, j int32) float64 {
	f := x.sim.fabric
	up := x.sim.linkBy(f.ToRNode[i], southbound.Port(f.OCSUplink[i]))
	down := pathmap.Reverse(x.sim.linkBy(f.ToRNode[j], southbound.Port(f.OCSUplink[j])))
	return min(x.fluid.capacity[up], x.fluid.capacity[down]) * x.fluid.perBit
}

// carry is what it carries in a whole slot, in bytes.
func (x *relay) carry(i, j int32) float64 {
	return x.rate(i, j) * float64(x.by.Slot-x.by.ReconfigurationDelay)
}

// ownOf sums up what a rack has of its own, by destination.
func (x *relay) ownOf(i int32, sum []float64) {
	clear(sum)
	for _, o := range x.racks[i].own {
		if x.lives(o) {
			sum[o.to] += x.fluid.leftOf(o.hostFlow)
		}
	}
}
