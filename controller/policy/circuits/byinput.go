package circuits

import (
	"cmp"
	"slices"

	"lightloom/controller"
)

// byInput sorts reservations by (input, beginning). Those of one coflow come in the order of their
// beginning, so that most of the work is to part the inputs, which takes no comparing.
type byInput struct {
	ends   []int
	parted []controller.CircuitReservation
}

// sort sorts reservations whose inputs are all below ports.
func (x *byInput) sort(all []controller.CircuitReservation, ports int) {
	x.ends = slices.Grow(x.ends[:0], ports)[:ports]
	clear(x.ends)
	for i := range all {
		x.ends[all[i].In]++
	}
	sum := 0
	for in, n := range x.ends {
		x.ends[in] = sum // where the next of this input goes
		sum += n
	}
	x.parted = slices.Grow(x.parted[:0], len(all))[:len(all)]
	for i := range all {
		in := all[i].In
		x.parted[x.ends[in]] = all[i]
		x.ends[in]++
	}
	first := 0
	for _, end := range x.ends {
		slices.SortFunc(x.parted[first:end], func(a, b controller.CircuitReservation) int {
			return cmp.Compare(a.NotBefore, b.NotBefore)
		})
		first = end
	}
	copy(all, x.parted)
}
