package controller

import (
	"time"

	"lightloom/pathmap"
	"lightloom/southbound"
)

// PledgeID is given when bandwidth is pledged, ascending.
type PledgeID int64

// Pledge is bandwidth on one path between two hosts that an outside scheduler holds for traffic of its own, until it
// gives it back or the time is over. Jobs are placed, routed and paced beside it.
type Pledge struct {
	ID    PledgeID              `json:"id"`
	Owner string                `json:"owner,omitempty"`
	Src   southbound.HostID     `json:"src"`
	Dst   southbound.HostID     `json:"dst"`
	Rate  pathmap.BitsPerSecond `json:"rate"`     // layer 2
	Tag   southbound.Tag        `json:"tag"`      // what the sender is to mark its packets with; a rack's own need none
	Links []pathmap.LinkID      `json:"links"`    // from Src to Dst, the hosts' own included
	From  time.Duration         `json:"from_ns"`  // when it was pledged
	Until time.Duration         `json:"until_ns"` // southbound.Never: until it is given back
}

// MaxPledges bounds the pledges that stand at once.
const MaxPledges = 1 << 16

// Pledgeable is how much of a link may be pledged: a tenth stays with everybody else, who would stand still for ever.
func Pledgeable(capacity pathmap.BitsPerSecond) pathmap.BitsPerSecond { return capacity - capacity/10 }

// Room returns a link's capacity without what is pledged on it.
func (v *View) Room(l pathmap.LinkID) pathmap.BitsPerSecond {
	c := v.Fabric.Topology.Link(l).Capacity
	if v.Pledged != nil {
		c -= v.Pledged[l]
	}
	return c
}
