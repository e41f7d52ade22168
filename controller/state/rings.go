package state

import (
	"errors"
	"fmt"
	"slices"

	"lightloom/controller"
	"lightloom/controller/torus"
	"lightloom/pathmap/topo"
	"lightloom/southbound"
)

// MaxRing bounds the racks of a ring.
const MaxRing = torus.MaxRing

// ErrNoRings marks requests for slices of racks of a fabric that gives none.
var ErrNoRings = errors.New("slices of racks take a fabric of racks under optical switches, such as " +
	"hybrid:racks=8,hosts=2,ocses=4")

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
	if controller.RacksOf(f) == nil {
		return ErrNoRings
	}
	return nil
}

// checkRing returns why a slice of a fabric that is no pod cannot be there so, or nil.
func checkRing(f *topo.Fabric, x *Slice) error {
	switch {
	case !x.OfRacks():
		return ErrNoPod
	case CanRing(f) != nil:
		return CanRing(f)
	case !sliceName.MatchString(x.Name):
		return fmt.Errorf("slice %q: %w", x.Name, ErrSliceName)
	case !slices.Contains(torus.States(), x.State):
		return fmt.Errorf("slice %q: state %q is none of %q", x.Name, x.State, torus.States())
	case x.Place != nil || x.Cubes != nil && x.Shape.Racks == 0:
		return fmt.Errorf("slice %q: it is a ring, and has cubes", x.Name)
	case len(x.Hosts) > f.Hosts():
		return fmt.Errorf("slice %q: %d hosts, and the fabric has %d", x.Name, len(x.Hosts), f.Hosts())
	}
	for _, h := range x.Hosts {
		if h < 0 || int(h) >= f.Hosts() {
			return fmt.Errorf("slice %q: there is no host %d", x.Name, h)
		}
	}
	if x.Shape.Racks > 0 {
		return checkRacks(f, x)
	}
	return checkPlainRing(f, x)
}

// checkRacks is checkRing of a slice that was asked for by a shape of racks.
func checkRacks(f *topo.Fabric, x *Slice) error {
	switch {
	case len(x.Cubes) > MaxRing || len(x.Ring) > MaxRing:
		return fmt.Errorf("slice %q: %d racks: take 1 to %d", x.Name, max(len(x.Cubes), len(x.Ring)), MaxRing)
	case x.Ring != nil != (x.State != torus.Pending && x.State != torus.Failed):
		return fmt.Errorf("slice %q is %s: it has racks, or has none, though it should", x.Name, x.State)
	case x.State == torus.Failed:
		return nil // it says in words why it cannot be
	}
	k := controller.RacksOf(f)
	err := k.CheckWaits(&x.Slice)
	if err == nil && x.Ring != nil {
		err = k.CheckRing(&x.Slice)
	}
	if err != nil {
		return fmt.Errorf("slice %q: %w", x.Name, err)
	}
	return nil
}

// checkPlainRing is checkRing of a slice that was asked for by hosts on a single switch.
func checkPlainRing(f *topo.Fabric, x *Slice) error {
	if len(x.Ring) == 0 || len(x.Ring) > MaxRing || x.Planes != nil {
		return fmt.Errorf("slice %q: a ring of %d racks: take 1 to %d", x.Name, len(x.Ring), MaxRing)
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
	return nil
}

// ringPorts calls do with the ports of each circuit of a slice of racks that holds them, and reports whether the slice
// is one.
func ringPorts(f *topo.Fabric, s *torus.Slice, do func(in, out southbound.Port)) bool {
	if !s.OfRacks() {
		return false
	}
	for _, c := range s.RackCircuits() {
		do(southbound.Port(c.From+c.Plane*int32(f.Racks)), southbound.Port(c.To+c.Plane*int32(f.Racks)))
	}
	return true
}

// takeSlice gives a slice what it holds, in exchange for what it held. On an error nothing has changed.
func (s *State) takeSlice(x, old *torus.Slice) error {
	if s.slicing.pod != nil {
		return s.takePlace(x, old.Place)
	}
	other := ""
	ringPorts(s.fabric, x, func(in, out southbound.Port) {
		for _, of := range [3]string{s.slicing.owner[in], s.slicing.into[out], s.joiner(s.rack(in), s.rack(out))} {
			if of != "" && of != x.Name {
				other = of
			}
		}
	})
	if other != "" {
		return fmt.Errorf("slice %q: slice %q holds a port of it, or joins racks of it: %w", x.Name, other, ErrConflict)
	}
	s.wire(old, false)
	s.wire(x, true)
	return nil
}

// RackRule is how slices of racks are placed.
func RackRule() torus.RackRule { return torus.RackRules()[1] }

// RacksNow returns the racks of a fabric that is no pod as they are now, of which slices have nothing. away are those
// that slices cannot use; gone says which switches have failed.
func (s *State) RacksNow(away []int, gone func(southbound.DeviceID) bool) *torus.Racks {
	k, n := controller.RacksOf(s.fabric), s.fabric.Racks
	for _, r := range away {
		k.SetAway(int32(r))
	}
	s.ocsPorts(s.d.Down, k.SetDark)
	s.ocsPorts(s.DrainedPorts(), k.SetDrained)
	for p := range int32(s.fabric.OCSPorts()) {
		rack, plane := s.fabric.OCSRack(p), p/int32(n)
		if d, _ := s.fabric.OCSAt(p); gone(d) {
			k.SetDark(rack, int(plane))
		}
		if c := s.d.Circuits[p]; c.Phase == controller.InService {
			k.SetLit(torus.RackCircuit{From: rack, To: s.fabric.OCSRack(int32(c.Out)), Plane: plane})
		}
	}
	return k
}

// ocsPorts calls do with rack and plane of those ports that are of optical switches.
func (s *State) ocsPorts(ports []PortRef, do func(rack int32, plane int)) {
	for _, at := range ports {
		if !s.fabric.IsOCS(at.Device) {
			continue
		}
		if p := s.fabric.OCSPort(at.Device, int32(at.Port)); p >= 0 && int(p) < s.fabric.OCSPorts() {
			do(s.fabric.OCSRack(p), int(p)/s.fabric.Racks)
		}
	}
}

// SliceOwner returns the slice that has a circuit from an OCS input, or to an OCS output; empty for none.
func (s *State) SliceOwner(in, out southbound.Port) string {
	if int(in) >= len(s.slicing.want) || int(out) >= len(s.slicing.want) {
		return ""
	}
	if s.slicing.owner[in] == "" {
		return s.slicing.into[out]
	}
	return s.slicing.owner[in]
}

// SliceJoins reports whether a slice has a circuit from one rack to another.
func (s *State) SliceJoins(from, to southbound.RackID) bool { return s.joiner(from, to) != "" }

func (s *State) joiner(from, to southbound.RackID) string {
	for in := int(from); in < len(s.slicing.want); in += s.fabric.Racks {
		if out := s.slicing.want[in]; out != southbound.NoPort && s.rack(out) == to {
			return s.slicing.owner[in]
		}
	}
	return ""
}

// Reserver returns the first other input than in that has a reservation for an output, NoPort if there is none.
func (s *State) Reserver(in, out southbound.Port) southbound.Port {
	other := southbound.NoPort
	for _, b := range s.ledger.byOut[out].Live() {
		if b.in != in && (other == southbound.NoPort || b.in < other) {
			other = b.in
		}
	}
	return other
}
