package state

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// MaxRing bounds the racks of a ring.
const MaxRing = 1 << 10

// ErrNoRings marks requests for slices of hosts of a fabric that gives none.
var ErrNoRings = errors.New("slices of hosts take a fabric of racks with one port each on one optical switch, such " +
	"as hybrid:racks=8,hosts=2")

// RingOf returns the racks of hosts, ascending: the ring that joins them.
func RingOf(f *topo.Fabric, hosts []int32) []int32 {
	ring := []int32{}
	for _, h := range hosts {
		ring = append(ring, f.RackOf(h))
	}
	slices.Sort(ring)
	return slices.Compact(ring)
}

// CanRing returns why a fabric has no slices that are rings, or nil.
func CanRing(f *topo.Fabric) error {
	if !f.HasOCS() || f.OCSPorts() != f.Racks || f.Spec.Pod() || f.Spec.Kind == topo.Crossbar {
		return ErrNoRings
	}
	return nil
}

// checkRing returns why a slice of a fabric that is no pod cannot be there so, or nil.
func checkRing(f *topo.Fabric, x *Slice) error {
	switch {
	case x.Ring == nil:
		return ErrNoPod
	case CanRing(f) != nil:
		return CanRing(f)
	case !sliceName.MatchString(x.Name):
		return fmt.Errorf("slice %q: %w", x.Name, ErrSliceName)
	case !slices.Contains(torus.States(), x.State):
		return fmt.Errorf("slice %q: state %q is none of %q", x.Name, x.State, torus.States())
	case x.Place != nil || x.Cubes != nil:
		return fmt.Errorf("slice %q: it is a ring, and has cubes", x.Name)
	case len(x.Ring) == 0 || len(x.Ring) > MaxRing:
		return fmt.Errorf("slice %q: a ring of %d racks: take 1 to %d", x.Name, len(x.Ring), MaxRing)
	case len(x.Hosts) > f.Hosts():
		return fmt.Errorf("slice %q: %d hosts, and the fabric has %d", x.Name, len(x.Hosts), f.Hosts())
	}
	for i, r := range x.Ring {
		switch {
		case r < 0 || int(r) >= f.Racks:
			return fmt.Errorf("slice %q: there is no rack %d", x.Name, r)
		case slices.Contains(x.Ring[:i], r):
			return fmt.Errorf("slice %q: rack %d is there twice", x.Name, r)
		case len(x.Ring) > 1 && f.OCSUplink[r] < 0:
			return fmt.Errorf("slice %q: %s has no port on the optical switch", x.Name, f.Topology.Node(f.ToRNode[r]).Name)
		}
	}
	for _, h := range x.Hosts {
		if h < 0 || int(h) >= f.Hosts() {
			return fmt.Errorf("slice %q: there is no host %d", x.Name, h)
		}
	}
	return nil
}

// holds reports whether a ring holds the ports of its racks.
func holds(s *torus.Slice) bool { return s.State != torus.Pending && s.State != torus.Failed }

// ringPorts calls do with the ports of each circuit of a ring that holds them, and reports whether the slice is one.
func ringPorts(s *torus.Slice, do func(in, out southbound.Port)) bool {
	if s.Ring == nil {
		return false
	}
	if holds(s) && len(s.Ring) > 1 {
		for i, r := range s.Ring {
			do(southbound.Port(r), southbound.Port(s.Ring[(i+1)%len(s.Ring)]))
		}
	}
	return true
}

// ringsMeet reports whether two rings hold ports of one rack.
func ringsMeet(a, b *torus.Slice) bool {
	if len(a.Ring) < 2 || len(b.Ring) < 2 || !holds(a) || !holds(b) {
		return false
	}
	return slices.ContainsFunc(a.Ring, func(r int32) bool { return slices.Contains(b.Ring, r) })
}

// takeSlice gives a slice what it holds, in exchange for what it held. On an error nothing has changed.
func (s *State) takeSlice(x, old *torus.Slice) error {
	if s.slicing.pod != nil {
		return s.takePlace(x, old.Place)
	}
	for i := range s.d.Slices {
		if o := &s.d.Slices[i].Slice; o.Name != x.Name && ringsMeet(o, x) {
			return fmt.Errorf("slice %q: slice %q holds a port of it: %w", x.Name, o.Name, ErrConflict)
		}
	}
	s.wire(old, false)
	s.wire(x, true)
	return nil
}

// SliceOwner returns the slice that has a circuit from an OCS input, or to an OCS output; empty for none.
func (s *State) SliceOwner(in, out southbound.Port) string {
	if int(in) >= len(s.slicing.want) || int(out) >= len(s.slicing.want) {
		return ""
	}
	if at := slices.Index(s.slicing.want, out); s.slicing.owner[in] == "" && at >= 0 {
		return s.slicing.owner[at]
	}
	return s.slicing.owner[in]
}

// Reserver returns another input than in that has a reservation for an output, NoPort if there is none.
func (s *State) Reserver(in, out southbound.Port) southbound.Port {
	for k := range s.ledger.byIn {
		if southbound.Port(k) != in && slices.ContainsFunc(s.ledger.byIn[k].Live(),
			func(r CircuitReservation) bool { return r.Out == out }) {
			return southbound.Port(k)
		}
	}
	return southbound.NoPort
}

// whyRing says what a ring waits for.
func (s *State) whyRing(x *Slice) string {
	for i := range s.d.Slices {
		o := &s.d.Slices[i]
		if o.Name == x.Name {
			break
		}
		if slices.ContainsFunc(x.Ring, func(r int32) bool { return len(o.Ring) > 1 && slices.Contains(o.Ring, r) }) {
			return fmt.Sprintf("it waits for ports that slice %s has or waits for", o.Name)
		}
	}
	return "there is room"
}
