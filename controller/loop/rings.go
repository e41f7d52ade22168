package loop

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lightloom/controller"
	"lightloom/controller/state"
	"lightloom/controller/torus"
	"lightloom/southbound"
)

// ringAsked is a slice of racks that is asked for by hosts. Of a single switch, where no shape is given, it is a ring
// of one circuit a rack.
func (l *Loop) ringAsked(a *SliceRequest, now time.Duration) (*state.Slice, error) {
	if err := state.CanRing(l.fabric); err != nil {
		return nil, fmt.Errorf("create slice %q: %w", a.Name, err)
	}
	if err := l.namedOnce(a); err != nil {
		return nil, err
	}
	ring := state.RingOf(l.fabric, a.Hosts)
	if a.Shape.Racks == 0 && l.fabric.OCSPorts() == l.fabric.Racks {
		return &state.Slice{Slice: torus.Slice{Name: a.Name, Shape: torus.Box(len(ring), 1, 1), State: torus.Pending,
			Reason: torus.JustAsked, Ring: ring}, Owner: a.Owner, Request: a.Request, Asked: now, Since: now,
			Readied: state.Unset, Hosts: slices.Clone(a.Hosts)}, nil
	}
	by := *a
	by.Cubes = nil
	for _, r := range ring {
		by.Cubes = append(by.Cubes, int(r))
	}
	if by.Shape.Racks == 0 {
		by.Shape = torus.RackShape(len(ring), min(1, len(ring)-1))
	}
	x := l.racksAsked(&by, now)
	x.Hosts = slices.Clone(a.Hosts)
	return x, nil
}

// racksAsked is a slice of racks that is asked for by its shape, and perhaps by racks.
func (l *Loop) racksAsked(a *SliceRequest, now time.Duration) *state.Slice {
	return &state.Slice{Slice: controller.RacksOf(l.fabric).Asked(a.Name, a.Shape, a.Cubes), Owner: a.Owner,
		Request: a.Request, Asked: now, Since: now, Readied: state.Unset}
}

// namedOnce returns an error where a host is named twice.
func (l *Loop) namedOnce(a *SliceRequest) error {
	seen := map[int32]bool{}
	var once []string
	twice := ""
	for _, h := range a.Hosts {
		name := l.fabric.Topology.Node(l.fabric.HostNode[h]).Name
		if seen[h] {
			twice = name
			continue
		}
		seen[h] = true
		once = append(once, name)
	}
	if twice == "" {
		return nil
	}
	return fmt.Errorf("create slice %q: host %s is named twice; nearest: %s: %w", a.Name, twice, strings.Join(once, ","),
		ErrSliceShape)
}

// settleRings decides what becomes of slices of a fabric that is no pod, and then has the ledger hold a reservation for
// each of their circuits. All other ports are the policy's.
func (l *Loop) settleRings(s *state.State, now time.Duration) {
	if !l.fabric.HasOCS() || len(s.Slices()) == 0 && !l.slicing.rings && len(s.SliceWaiters()) == 0 {
		return
	}
	l.slicing.rings = true
	if l.settleJobSlices(s, now); len(l.pass.entries) > 0 {
		return
	}
	known := &l.slicing
	lacks := s.SliceLacks(l.switchAway)
	away := awayRacks(s, l.silentCubes(now)...)
	if known.away == nil || !slices.Equal(known.away, away) {
		known.away = append([]int{}, away...)
	}
	l.noteGone()
	racks := s.RacksNow(away, l.switchAway)
	if !known.settled || known.version != s.SlicesVersion() || !slices.Equal(known.lacks, lacks) ||
		!racks.SameState(known.racks) {
		for _, x := range torus.SettleRacks(racks, state.RackRule(), s.BareSlices(), lacks) {
			l.changeSlice(s, now, x)
		}
	}
	known.settled, known.version, known.lacks, known.racks = true, s.SlicesVersion(), lacks, racks
	if len(l.pass.entries) > 0 {
		return // what they hold counts for their circuits
	}
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		l.reserveRing(s, now, in)
	}
	l.slicing.rings = len(s.Slices()) > 0 || len(l.pass.entries) > 0
}

// leftStanding reports whether an input has a reservation as rings have them: the previous leader may have died after
// the last ring and before it gave back its ports.
func (l *Loop) leftStanding(s *state.State) bool {
	for in := range southbound.Port(l.fabric.OCSPorts()) {
		if standing(s.First(in)) {
			return !l.fabric.Spec.Pod()
		}
	}
	return false
}

// standing reports whether a reservation is as rings have them.
func standing(r *state.CircuitReservation) bool {
	return r != nil && r.Coflow == controller.AnyCoflow && r.NotAfter == southbound.Never
}

// reserveRing brings the reservations of an input in line with the slice that has it. What a policy has reserved on
// ports of a slice ends.
func (l *Loop) reserveRing(s *state.State, now time.Duration, in southbound.Port) {
	want, has := s.SliceCircuit(in), s.First(in)
	if want == southbound.NoPort {
		if standing(has) {
			l.endReservation(s, now, has, state.Preempted)
			l.pending.changed(now) // the policy has the port again
		}
		return
	}
	if has != nil {
		if !standing(has) || has.Out != want {
			l.endReservation(s, now, has, state.Preempted)
		}
		return
	}
	switch other := s.Reserver(in, want); {
	case other != southbound.NoPort:
		l.endReservation(s, now, s.First(other), state.Preempted)
	case l.joinedElsewhere(s, now, in, want):
	case l.canLight(s, in, want):
		r := &controller.CircuitReservation{In: in, Out: want, NotBefore: now, NotAfter: southbound.Never,
			Coflow: controller.AnyCoflow}
		if s.CheckCircuitReservation(r) == nil {
			l.pass.put(state.CircuitReserved, now).CircuitReservation = r
			l.noteMade(s, now, r)
		}
	}
}

// silentEnd reports whether the switch that steers to a circuit is away. A slice's circuit that takes its place does
// not wait for it: its rules have a backup, and it is read once it is back.
func (l *Loop) silentEnd(c southbound.CrossConnect) bool {
	return l.devices.away[l.fabric.ToRNode[l.fabric.OCSRack(int32(c.In))]]
}

// joinedElsewhere has what joins the racks of a slice's circuit at another plane end, and reports whether there is any:
// packets from one rack to another carry one tag, and so take one circuit.
func (l *Loop) joinedElsewhere(s *state.State, now time.Duration, in, out southbound.Port) bool {
	other, found := s.Elsewhere(in, out)
	if !found {
		return false
	}
	has, c := s.First(other), s.Circuit(other)
	switch joins := l.fabric.OCSRack(int32(out)); {
	case has != nil && (l.fabric.OCSRack(int32(has.Out)) == joins || !standing(has)):
		l.endReservation(s, now, has, state.Preempted)
	case has == nil && c.Phase == controller.InService && l.circuits.steered[other]:
		l.unused(now, other, c.Out)
	}
	return true // else the circuit is on its way, or another one of a slice takes its place
}

// ofSlice reports whether a slice of racks has a port of a reservation, or joins its racks: it is not the policy's
// then.
func (l *Loop) ofSlice(s *state.State, in, out southbound.Port) bool {
	if l.fabric.Spec.Pod() || len(s.Slices()) == 0 {
		return false
	}
	from, to := l.fabric.OCSRack(int32(in)), l.fabric.OCSRack(int32(out))
	return s.SliceOwner(in, out) != "" || s.SliceJoins(southbound.RackID(from), southbound.RackID(to))
}
