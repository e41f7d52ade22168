package circuits

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"lightloom/controller"
	"lightloom/southbound"
)

// byCoflow sorts reservations by (coflow, beginning, input). They come sorted by (input, beginning), so
// that one number can encode the order, if the instants are not too far apart: the beginning, and the
// index in the input. Numbers sort several times as fast as reservations, and are then split by coflow
// without comparisons.
type byCoflow struct {
	keys   []uint64
	first  []int32 // by stretch of time, of the keys
	ends   []int32 // by coflow, from the least id on
	parted []controller.CircuitReservation
}

const (
	places    = 20      // bits of a key for the place
	farCoflow = 1 << 16 // ids this far apart are compared instead
)

// sort sorts reservations that come sorted by (input, beginning).
func (x *byCoflow) sort(all []controller.CircuitReservation) {
	if len(all) == 0 {
		return
	}
	least, most := all[0], all[0] // of ids and instants
	for i := range all {
		r := &all[i]
		least.Coflow, most.Coflow = min(least.Coflow, r.Coflow), max(most.Coflow, r.Coflow)
		least.NotBefore, most.NotBefore = min(least.NotBefore, r.NotBefore), max(most.NotBefore, r.NotBefore)
	}
	if len(all) > 1<<places || most.NotBefore-least.NotBefore >= 1<<(63-places) ||
		int64(most.Coflow)-int64(least.Coflow) >= farCoflow {
		slices.SortFunc(all, func(a, b controller.CircuitReservation) int {
			return cmp.Or(cmp.Compare(a.Coflow, b.Coflow), cmp.Compare(a.NotBefore, b.NotBefore),
				cmp.Compare(a.In, b.In))
		})
		return
	}
	x.order(all, least.NotBefore, most.NotBefore)
	x.part(all, least.Coflow, int(most.Coflow-least.Coflow)+1)
}

// order lists where the reservations are in the order of (beginning, place). It deals them out by
// stretches of time first, so that what is left to sort is short.
func (x *byCoflow) order(all []controller.CircuitReservation, first, last time.Duration) {
	n := len(all)
	shift := bits.Len64(uint64(last-first) / uint64(n))
	x.first = slices.Grow(x.first[:0], n+1)[:n+1]
	clear(x.first)
	for i := range all {
		x.first[(all[i].NotBefore-first)>>shift]++
	}
	sum := int32(0)
	for k, of := range x.first {
		x.first[k] = sum // where the next of this stretch goes
		sum += of
	}
	x.keys = slices.Grow(x.keys[:0], n)[:n]
	for i := range all {
		after := all[i].NotBefore - first
		k := &x.first[after>>shift]
		x.keys[*k] = uint64(after)<<places | uint64(i)
		*k++
	}
	from := int32(0)
	for _, end := range x.first {
		if end-from > 1 {
			slices.Sort(x.keys[from:end])
		}
		from = end
	}
}

// part gathers each coflow's in that order. ids is the number of ids from least on.
func (x *byCoflow) part(all []controller.CircuitReservation, least southbound.CoflowID, ids int) {
	x.ends = slices.Grow(x.ends[:0], ids)[:ids]
	clear(x.ends)
	for i := range all {
		x.ends[all[i].Coflow-least]++
	}
	sum := int32(0)
	for id, n := range x.ends {
		x.ends[id] = sum // where the next of this coflow goes
		sum += n
	}
	x.parted = slices.Grow(x.parted[:0], len(all))[:len(all)]
	for _, key := range x.keys {
		r := &all[key&(1<<places-1)]
		x.parted[x.ends[r.Coflow-least]] = *r
		x.ends[r.Coflow-least]++
	}
	copy(all, x.parted)
}
