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

// ringAsked is a slice of hosts that is asked for.
func (l *Loop) ringAsked(a *SliceRequest, now time.Duration) (*state.Slice, error) {
	if err := state.CanRing(l.fabric); err != nil {
		return nil, fmt.Errorf("create slice %q: %w", a.Name, err)
	}
	if err := l.namedOnce(a); err != nil {
		return nil, err
	}
	ring := state.RingOf(l.fabric, a.Hosts)
	return &state.Slice{Slice: torus.Slice{Name: a.Name, Shape: torus.Box(len(ring), 1, 1), State: torus.Pending,
		Reason: torus.JustAsked, Ring: ring}, Owner: a.Owner, Request: a.Request, Asked: now, Since: now,
		Readied: state.Unset, Hosts: slices.Clone(a.Hosts)}, nil
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
	if !l.fabric.HasOCS() || len(s.Slices()) == 0 && !l.slicing.rings {
		return
	}
	l.slicing.rings = true
	waiting := map[int32]bool{} // racks for which slices wait that were asked for before
	lacks := s.SliceLacks(l.switchAway)
	for i, x := range s.Slices() {
		if next := settleRing(s, x.Slice, lacks[i], waiting); next.State != x.State || next.Reason != x.Reason {
			l.changeSlice(s, now, next)
			return // what it holds counts for the next
		}
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

// settleRing returns what a slice becomes.
func settleRing(s *state.State, x torus.Slice, lack torus.Lack, waiting map[int32]bool) torus.Slice {
	blocked := func(r int32) bool {
		p := southbound.Port(r)
		return len(x.Ring) > 1 && (waiting[r] || s.SliceOwner(p, p) != "")
	}
	switch {
	case x.State == torus.Failed:
	case x.State == torus.Pending && slices.ContainsFunc(x.Ring, blocked):
		x.Reason = torus.NoRoom
		for _, r := range x.Ring {
			waiting[r] = true
		}
	case x.State == torus.Pending:
		x.State, x.Reason = torus.Activating, torus.SettingCircuits
	case lack.Dark == 0:
		x.State, x.Reason = torus.Ready, torus.CircuitsLit
	case x.State == torus.Activating:
	case lack.Switch:
		x.State, x.Reason = torus.Incomplete, torus.SwitchAway
	default:
		x.State, x.Reason = torus.Incomplete, torus.CircuitDark
	}
	return x
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
	switch other := s.Reserver(in, want); {
	case standing(has) && has.Out == want:
	case has != nil:
		l.endReservation(s, now, has, state.Preempted)
	case other != southbound.NoPort:
		l.endReservation(s, now, s.First(other), state.Preempted)
	case l.canLight(s, in, want):
		r := &controller.CircuitReservation{In: in, Out: want, NotBefore: now, NotAfter: southbound.Never,
			Coflow: controller.AnyCoflow}
		if s.CheckCircuitReservation(r) == nil {
			l.pass.put(state.CircuitReserved, now).CircuitReservation = r
			l.noteMade(s, now, r)
		}
	}
}

// ofSlice reports whether a slice that is a ring has a port of a reservation: it is not the policy's then.
func (l *Loop) ofSlice(s *state.State, in, out southbound.Port) bool {
	return !l.fabric.Spec.Pod() && len(s.Slices()) > 0 && s.SliceOwner(in, out) != ""
}
