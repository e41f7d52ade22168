package topo

import (
	"fmt"
	"strings"

	"lightloom/pathmap"
)

// A fabric of rails is a hybrid whose racks come in units of as many as there are rails. Rack r is the switch of rail
// r%Rails of unit r/Rails, and has a port on the OCS of that rail alone. A server of a unit has one NIC a rail: each of
// these is a host, so that host i of the racks of a unit are the NICs of server i. Packets between two NICs of a server
// take the spines, since what joins them within it is not part of the network.

// checkRails checks what only a fabric of rails has. s has its defaults.
func (s Spec) checkRails() error {
	switch {
	case s.Rails == 0:
		return nil
	case s.Kind != Hybrid:
		return wrong("kind", "a %s has no rails: write hybrid, or leave rails out", s.Kind)
	case s.Rails < 2 || s.Rails > MaxOCSes:
		return wrong("rails", "%d is out of range: write 2 to %d", s.Rails, MaxOCSes)
	case s.Racks%s.Rails != 0:
		return wrong("rails", "%d racks are no whole units of %d rails: write racks=%d", s.Racks, s.Rails,
			(s.Racks+s.Rails-1)/s.Rails*s.Rails)
	case s.OCSes != 0 || s.Waves != 0:
		return wrong("rails", "each rail has one OCS, and a rack one circuit on it: leave ocses and wavelengths out")
	case s.Ports != s.Racks || s.ownPorts():
		return wrong("rails", "the OCS of a rail has a port for each of its racks: leave ports out")
	}
	return nil
}

// railPort is the number that the OCS of a rail gives a rack's port; pathmap.None where the rack is of another rail.
func (s Spec) railPort(rail, rack int32) int32 {
	if rack%int32(s.Rails) != rail {
		return pathmap.None
	}
	return rack / int32(s.Rails)
}

// railFabricPort is the inverse of railPort, in numbers of the fabric.
func (f *Fabric) railFabricPort(ocs pathmap.NodeID, port int32) int32 {
	rails := int32(f.Spec.Rails)
	if port < 0 || port >= int32(f.Racks)/rails {
		return pathmap.None
	}
	rail := int32(ocs - f.OCSNode)
	return rail*int32(f.Racks) + port*rails + rail
}

// CircuitMayJoin reports whether some OCS has ports for both racks.
func (s Spec) CircuitMayJoin(a, b int) bool { return s.Rails == 0 || a%s.Rails == b%s.Rails }

// railPicture draws which rack is on which OCS.
func (s Spec) railPicture() string {
	var b strings.Builder
	units := s.Racks / s.Rails
	fmt.Fprintf(&b, "%d units of %d servers, each with %d NICs, one a rail: NIC k of server i of unit u is host hR-i, "+
		"R = %d·u + k.\n%d OCSes, one a rail, of %d ports. Rack R has port u on ocsk.\n\n  %-9s", units, s.Hosts, s.Rails,
		s.Rails, s.Rails, units, "")
	for k := range s.Rails {
		fmt.Fprintf(&b, "%-9s", fmt.Sprintf("ocs%d", k))
	}
	for u := range min(units, mostUnits) {
		fmt.Fprintf(&b, "\n  %-9s", fmt.Sprintf("unit %d", u))
		for k := range s.Rails {
			fmt.Fprintf(&b, "%-9s", fmt.Sprintf("%s%d", s.torName(), u*s.Rails+k))
		}
	}
	if units > mostUnits {
		fmt.Fprintf(&b, "\n  and %d more", units-mostUnits)
	}
	b.WriteByte('\n')
	return trimmed(b.String())
}

// mostUnits is how many units a picture has.
const mostUnits = 16
