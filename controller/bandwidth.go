package controller

import (
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// BandwidthReservationID is given when bandwidth is reserved, ascending.
type BandwidthReservationID int64

// BandwidthReservation is bandwidth on one path between two hosts that an outside scheduler holds for
// traffic of its own, until it gives it back or the time is over. Jobs are placed, routed and paced
// beside it.
type BandwidthReservation struct {
	ID    BandwidthReservationID `json:"id"`
	Owner string                 `json:"owner,omitempty"`
	Src   southbound.HostID      `json:"src"`
	Dst   southbound.HostID      `json:"dst"`
	Rate  pathmap.BitsPerSecond  `json:"rate"`     // layer 2
	Tag   southbound.Tag         `json:"tag"`      // what the sender is to mark its packets with; a rack's own need none
	Links []pathmap.LinkID       `json:"links"`    // from Src to Dst, the hosts' own included
	From  time.Duration          `json:"from_ns"`  // when it was reserved
	Until time.Duration          `json:"until_ns"` // southbound.Never: until it is given back
}

// MaxBandwidthReservations bounds the active bandwidth reservations at once.
const MaxBandwidthReservations = 1 << 16

// ReservableBandwidth is how much of a link can be reserved: a tenth remains for all other traffic,
// which would otherwise starve.
func ReservableBandwidth(capacity pathmap.BitsPerSecond) pathmap.BitsPerSecond {
	return capacity - capacity/10
}

// Room returns a link's capacity without what is reserved on it.
func (v *View) Room(l pathmap.LinkID) pathmap.BitsPerSecond {
	c := v.Fabric.Topology.Link(l).Capacity
	if v.ReservedBandwidth != nil {
		c -= v.ReservedBandwidth[l]
	}
	return c
}
