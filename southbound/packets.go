package southbound

import (
	"fmt"

	"lightloom/pathmap/topo"
	"lightloom/southbound/hint"
)

// CheckPackets refuses a fabric that is impossible with real packets: one that keeps more paths than
// three bits can number, or one with several wavelengths, since a ToR has only one interface to an
// optical switch there, with one queue, one counter and one light.
func CheckPackets(s topo.Spec) error {
	if w := s.Wavelengths(); w > 1 {
		return hint.New(fmt.Sprintf("a rack has %d wavelengths: with real packets a ToR has one interface to the "+
			"optical switch, and so one", w),
			"leave wavelengths away, or add --on flowsim")
	}
	if kept := s.PathsKept(); kept > MaxPaths {
		return hint.New(fmt.Sprintf("%s keeps %d paths between two racks: packets carry a tag of three bits, which "+
			"names %d", s.Kind, kept, MaxPaths),
			fmt.Sprintf("write paths=%d or fewer, or --on flowsim", MaxPaths))
	}
	return nil
}
