package southbound

import (
	"fmt"
	"net/netip"
	"time"

	"lightloom/pathmap"
)

type (
	// DeviceID names a switch: the node's id in the fabric's topology.
	DeviceID = pathmap.NodeID
	// Port is a port of one switch, counted from 0. On an OCS it is an input or an output, by context.
	Port int32
	// HostID names a host (an end point of host flows), dense from 0, rack by rack.
	HostID int32
	// RackID names a rack, dense from 0.
	RackID int32
	// CoflowID is given when an edge of a job is accepted, before its tasks are placed.
	CoflowID int32
	// TaskID is given when a job is accepted; a job's tasks are contiguous.
	TaskID int32
	// Tag is the path a packet takes, carried in the low three bits of its DSCP.
	Tag uint8
)

// The tags. 1 to 6 are the paths 0 to 5 of the path map between two racks, and 8 to 253 the paths 6 to
// 251, which only a simulated fabric knows: packets carry three bits. A tag without a rule takes the
// destination's default.
const (
	TagDefault Tag = 0
	TagCircuit Tag = 7
	Tags           = 8
	// TagHold is no tag on the wire: a host flow steered to it sends nothing until it is steered elsewhere.
	TagHold Tag = 255
)

// MaxPaths is how many paths besides the default and the circuit a tag on the wire can name;
// MaxNamedPaths is how many any tag can.
const (
	MaxPaths      = 6
	MaxNamedPaths = MaxPaths + int(AnyTag) - Tags
)

// PathTag returns the tag of path i (0 to MaxNamedPaths-1) of the path map; from MaxPaths on, only
// simulated fabrics take it.
func PathTag(i int) Tag {
	if i < MaxPaths {
		return Tag(i + 1)
	}
	return Tag(i + 2) // not the circuit's
}

// Path returns the index in the path map that a tag stands for, 0 for the default; false for what is no
// packet path.
func (t Tag) Path() (int, bool) {
	switch {
	case t == TagDefault:
		return 0, true
	case t < TagCircuit:
		return int(t) - 1, true
	case t >= Tags && t < AnyTag:
		return int(t) - 2, true
	}
	return 0, false
}

// OnWire reports whether packets can carry a tag.
func (t Tag) OnWire() bool { return t < Tags }

// HostFlowKey is a host flow on every wire: a coflow and a row within it. In process, rows of one coflow are
// contiguous.
type HostFlowKey struct {
	Coflow CoflowID
	Row    int32
}

// MaxRacks and MaxHostsPerRack bound the address plan.
const (
	MaxRacks        = 1 << 16
	MaxHostsPerRack = 253
)

// Addr returns the address of host i of rack r: 10.(r>>8).(r&255).(i+1). Switches forward on the rack's /24.
func Addr(r RackID, i int) netip.Addr {
	if r < 0 || r >= MaxRacks || i < 0 || i >= MaxHostsPerRack {
		panic(fmt.Sprintf("southbound: no address for host %d of rack %d", i, r))
	}
	return netip.AddrFrom4([4]byte{10, byte(r >> 8), byte(r), byte(i + 1)})
}

// RackPrefix returns the /24 of rack r.
func RackPrefix(r RackID) netip.Prefix {
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(r >> 8), byte(r), 0}), 24)
}

// RackOfPrefix is the inverse of RackPrefix; false for any other prefix.
func RackOfPrefix(p netip.Prefix) (RackID, bool) {
	if !p.IsValid() || !p.Addr().Is4() || p.Bits() != 24 {
		return 0, false
	}
	b := p.Addr().As4()
	return RackID(b[1])<<8 | RackID(b[2]), b[0] == 10 && b[3] == 0
}

// DSCP returns what packets of a tag carry at a priority, 0 (lowest) to 7.
func (t Tag) DSCP(priority uint8) uint8 { return priority<<3 | uint8(t) }

// TOS returns the IP type-of-service byte of a tag at a priority, 0 (lowest) to 7: the DSCP, and two
// bits for ECN.
func TOS(priority uint8, t Tag) uint8 { return t.DSCP(priority) << 2 }

// Never is an instant after every other one.
const Never = time.Duration(1<<63 - 1)
