package flowsim

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"lightloom/emulator/cabling"
	"lightloom/emulator/des"
	"lightloom/pathmap"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// Sim is a simulated fabric with its hosts. Its interfaces (Device, Host) act at Now; nothing else
// moves until Advance. It is safe for several goroutines, but only a single caller can rely on state
// not changing between its calls.
type Sim struct {
	mu      sync.Mutex
	fabric  *topo.Fabric
	tags    southbound.Tag // of the fabric
	opt     Options
	clock   des.Clock[event]
	fluid   *fluid
	linkOut [][]pathmap.LinkID // by node and port: the link that leaves there, or pathmap.None
	cut     []bool             // by link: its cable is cut

	changed  []uint64 // by node, then by OCS input: generation of the tables that last changed it
	recabled uint64   // generation of the last cut

	switches []*switchboard // by DeviceID; nil for hosts
	devices  []southbound.DeviceID
	circuit  []bool // by OCS port: the circuit that its rack sends into carries light
	dark     darkTimes
	panel    *cabling.Panel // between the only optical switch and its fibres; nil: they sit where they belong

	tasks map[southbound.TaskID]tried
	lost  []bool // by host; nil while none has ever failed

	running   []southbound.Task // by index in events
	idle      []int32           // indexes of running that are free
	calls     []func()
	callsIdle []int32

	emitted []southbound.DeviceEvent
}

// event is a planned transition.
type event struct {
	kind  eventKind
	index int32
}

type eventKind uint8

const (
	classEnds      eventKind = iota + 1 // the first host flows of a class end
	heldEnds                            // a host flow ends that was withheld after its last byte
	groupEnds                           // the first host flows of a group end
	paceEnds                            // a coflow's finish instant
	individualEnds                      // the first host flows with rates of their own end
	spreadEnds                          // the first host flows of large coflows that are spread
	backfilledEnds                      // the first host flows of paced coflows with extras
	taskEnds
	deviceDue  // a device has a transition or events to emit
	lightComes // the dark time of circuits that moved together is over
	callDue    // of At
	relayDue   // a circuit has carried what it must: its rack can fill the rest of the slot
	relaySlot  // a slot has begun, and the circuit may be unchanged
)

// New makes the simulator of a fabric: tables are empty and there are no circuits, so no ToR has light
// from an OCS.
func New(f *topo.Fabric, opt Options) (*Sim, error) {
	if err := opt.check(f); err != nil {
		return nil, fmt.Errorf("simulate fabric: %w", err)
	}
	s := &Sim{fabric: f, tags: tagsOf(f), opt: opt, tasks: map[southbound.TaskID]tried{},
		circuit: make([]bool, f.OCSPorts())}
	t := f.Topology
	s.fluid = newFluid(&s.clock, f.Hosts(), t.Links(), opt.payloadShare()/8e9, s)
	s.fluid.rankedDemand.Proportional = opt.Proportional
	s.fluid.quantum = opt.Quantum
	for _, tag := range southbound.CircuitTags(f) {
		s.fluid.overCircuit[tag] = true
	}
	s.fluid.recycles = f.Hosts() > denseHosts && !f.HasOCS()
	s.widen()
	circuits := 0
	if f.HasOCS() {
		circuits = max(int(t.Ports(f.OCSNode)), f.OCSPorts())
	}
	s.changed = make([]uint64, len(t.Nodes())+circuits)
	s.fluid.watch = make([][]int32, len(s.changed))
	s.cut = make([]bool, len(t.Links()))
	s.linkOut = make([][]pathmap.LinkID, len(t.Nodes()))
	for n := range s.linkOut {
		s.linkOut[n] = slices.Repeat([]pathmap.LinkID{pathmap.None}, int(t.Ports(pathmap.NodeID(n))))
		for _, l := range t.Out(pathmap.NodeID(n)) {
			s.linkOut[n][t.Link(l).FromPort] = l
		}
	}
	s.fluid.up = make([]pathmap.LinkID, f.Hosts())
	for h := range s.fluid.up {
		s.fluid.up[h] = s.linkBy(f.HostNode[h], 0)
	}
	s.addDevices()
	return s, nil
}

// Now returns the instant of the simulation.
func (s *Sim) Now() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.Now()
}

// Next returns the instant of the next thing that will happen without further calls: an end, a
// transition, a call planned by At. It can be one without an event.
func (s *Sim) Next() (time.Duration, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fluid.settle()
	return s.clock.Next()
}

// At plans a call of f at an instant of the simulation; a past instant means now. Advance calls f in
// the order of (instant, order planned). f can use the Sim and its doors, but must not call Advance.
func (s *Sim) At(t time.Duration, f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.At(t, event{callDue, keep(&s.calls, &s.callsIdle, f)})
}

// keep stores v at a free index and returns the index.
func keep[T any](all *[]T, idle *[]int32, v T) int32 {
	if n := len(*idle); n > 0 {
		i := (*idle)[n-1]
		*idle = (*idle)[:n-1]
		(*all)[i] = v
		return i
	}
	*all = append(*all, v)
	return int32(len(*all) - 1)
}

// release removes and returns the value at an index.
func release[T any](all []T, idle *[]int32, i int32) T {
	v := all[i]
	var zero T
	all[i] = zero
	*idle = append(*idle, i)
	return v
}

// Advance runs the simulation to an instant, and appends the events since the last call: host events
// sorted by (At, Kind, Coflow, Row, Task), device events by instant, those of one device in its order.
//
// The error reports what the tables should never hold, such as a loop: its host flows stand still, the
// rest goes on, and the error is returned once. An instant in the past is refused and changes nothing.
func (s *Sim) Advance(to time.Duration, hosts []southbound.Event,
	devices []southbound.DeviceEvent) ([]southbound.Event,
	[]southbound.DeviceEvent, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if now := s.clock.Now(); to < now {
		return hosts, devices, fmt.Errorf("advance to %v: the run is at %v", to, now)
	}
	for {
		if at, due := s.clock.Next(); to == s.clock.Now() && s.fluid.relay == nil && (!due || at > to) {
			break // what was done at this instant counts from when time passes on
		}
		s.fluid.settle()
		at, ok := s.clock.Next()
		if !ok || at > to {
			break
		}
		if at > s.clock.Now() {
			s.fluid.pass()
		}
		for {
			ev, ok := s.clock.Take(at)
			if !ok {
				break
			}
			s.happen(ev)
		}
	}
	f := s.fluid
	if to > s.clock.Now() {
		f.pass()
	}
	s.clock.Set(to)
	if len(f.events) > 1 {
		slices.SortFunc(f.events, compareEvents)
	}
	hosts, devices = append(hosts, f.events...), append(devices, s.emitted...)
	f.events, s.emitted = f.events[:0], s.emitted[:0]
	err := errors.Join(f.errs...)
	f.errs = nil
	return hosts, devices, err
}

func compareEvents(a, b southbound.Event) int {
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Coflow, b.Coflow),
		cmp.Compare(a.Row, b.Row), cmp.Compare(a.Task, b.Task))
}

func (s *Sim) happen(ev event) {
	switch ev.kind {
	case classEnds:
		s.fluid.classes.end(ev.index)
	case heldEnds:
		s.fluid.endHeld(ev.index)
	case groupEnds:
		s.fluid.levels.groupEnd(ev.index)
	case paceEnds:
		s.fluid.paces.end(ev.index)
	case individualEnds:
		s.fluid.individual.end()
	case spreadEnds:
		s.fluid.spreads.end()
	case backfilledEnds:
		s.fluid.backfilled.end()
	case taskEnds:
		t := release(s.running, &s.idle, ev.index)
		if t.Task == voidTask {
			return
		}
		s.tasks[t.Task] = tried{t.Host, t.Try, none}
		s.fluid.events = append(s.fluid.events, southbound.Event{At: s.clock.Now(),
			Kind: southbound.TaskEnded, Task: t.Task,
			Try: t.Try, Host: t.Host})
	case deviceDue:
		s.switches[ev.index].advance()
	case lightComes:
		s.lightNow(ev.index)
	case relayDue:
		s.fluid.relay.uneasy = append(s.fluid.relay.uneasy, ev.index)
	case relaySlot:
		s.fluid.relay.racks[ev.index].anew = true
		s.fluid.relay.uneasy = append(s.fluid.relay.uneasy, ev.index)
	case callDue:
		f := release(s.calls, &s.callsIdle, ev.index)
		s.mu.Unlock()
		defer s.mu.Lock()
		f()
	}
}

// widen marks the links between switches that limit no host flow: those at a ToR with at least the
// capacity of all of its hosts' links together. This holds if no ToR forwards traffic that is neither
// from nor for its hosts. With one spine and no OCS, a packet at the wrong ToR goes back to the spine
// and loops, whatever the tables hold.
func (s *Sim) widen() {
	if s.fabric.HasOCS() || s.fabric.Spec.Spines != 1 {
		s.fluid.narrow = true
		return
	}
	t := s.fabric.Topology
	hosts := make([]pathmap.BitsPerSecond, len(t.Nodes())) // by ToR, of the links from its hosts, and as much to them
	for _, l := range t.Links() {
		if t.Node(l.From).Role == pathmap.Host {
			hosts[l.To] += l.Capacity
		}
	}
	s.fluid.flat = true
	for i, l := range t.Links() {
		from, to := t.Node(l.From).Role, t.Node(l.To).Role
		s.fluid.wide[i] = from != pathmap.Host && to == pathmap.ToR && l.Capacity >= hosts[l.To] ||
			to != pathmap.Host && from == pathmap.ToR && l.Capacity >= hosts[l.From]
		s.fluid.flat = s.fluid.flat && (s.fluid.wide[i] || from == pathmap.Host || to == pathmap.Host)
	}
}
