package schedule

import (
	"time"

	"lightloom/southbound"
)

// Edmonds makes slots of one length, each with the matching of the most demand left: what c-Through
// (Wang, Andersen, Kaminsky, Papagiannaki, Ng, Kozuch, Ryan: c-Through: part-time optics in data
// centers, SIGCOMM 2010) and Helios (Farrington et al.: Helios: a hybrid electrical/optical switch
// architecture, SIGCOMM 2010) do at every epoch, named for Edmonds' matching, which finds it on any
// graph; between inputs and outputs it is an assignment. slot is the whole length, reconfiguration
// delay included, and longer than the reconfiguration delay. It ends after the given number of slots;
// with 0, once all is carried.
func Edmonds(m Matrix, lit []southbound.Port, delta, slot time.Duration, slots int) Schedule {
	s := Schedule{Lit: lit}
	left := m.Clone()
	slot = max(slot, delta+1)
	for !left.Empty() && (slots == 0 || len(s.Slots) < slots) {
		out, _ := heaviest(left, func(d time.Duration) time.Duration { return d })
		k := len(s.Slots)
		s.Slots = append(s.Slots, Slot{slot, out})
		for i, j := range out {
			if j == southbound.NoPort {
				continue
			}
			carry := slot
			if s.before(k, i) != j {
				carry -= delta
			}
			left[i][j] = max(left[i][j]-carry, 0)
		}
	}
	return s
}
