package policy

import (
	"fmt"

	"lightloom/controller"
	"lightloom/controller/multihop"
	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// checkMultihop refuses paths over several circuits beside parts that know nothing of them.
func (s *Spec) checkMultihop() error {
	can := s.Capabilities()
	if !can.Multihop {
		return nil
	}
	route := s.by[Route].Name
	if share := s.by[Share].Name; share != defaults()[Share] {
		return hint.New(fmt.Sprintf("%s leaves rates to hosts, and %s sets them without knowing of paths over several "+
			"circuits", route, share), "leave "+share+" away, or take ecmp")
	}
	if can.Relays {
		return hint.New(fmt.Sprintf("%s and %s both have racks pass on what is not theirs", route, s.by[Circuits].Name),
			"take ecmp, or rotor")
	}
	return nil
}

// CheckMultihop refuses a policy with paths over several circuits on a fabric that has none, or where untagged packets
// take circuits, as they do where traffic is estimated.
func CheckMultihop(can controller.Capabilities, f *topo.Fabric, oracle bool) error {
	if !can.Multihop {
		return nil
	}
	if err := multihop.Supported(f); err != nil {
		return hint.New(fmt.Sprintf("paths over several circuits: %v", err),
			"take ecmp, or a fabric of racks, spines and optical switches, such as hybrid:racks=8,hosts=2,spines=2,ocses=2")
	}
	if !oracle {
		return hint.New("paths over several circuits: where traffic is estimated, packets without a tag follow circuits",
			"write --demand oracle, or take ecmp")
	}
	return nil
}
