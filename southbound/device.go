package southbound

import (
	"context"
	"errors"
	"time"
)

// Match selects packets at a packet switch: those for a rack, with a tag, and perhaps from one rack only.
type Match struct {
	Dst RackID
	Tag Tag    // AnyTag matches every tag that has no rule of its own
	Src RackID // AnyRack matches every source; a rule with a source wins over one without
}

// Key returns a number unique to the match, for racks below MaxRacks: a compact key for tables.
func (m Match) Key() uint64 {
	return uint64(uint32(m.Dst))<<32 | uint64(uint32(m.Src+1)&0xffffff)<<8 | uint64(m.Tag)
}

// AnyTag and AnyRack are Match's wildcards.
const (
	AnyTag  Tag    = 254
	AnyRack RackID = -1
)

// NoPort is the absence of a port: a rule without backup, an input without circuit.
const NoPort Port = -1

// Rule sends what it matches out of Primary, and out of Backup while Primary has no light. Delivery to
// a rack's own hosts is not a rule: every ToR knows its hosts' ports.
type Rule struct {
	Match
	Primary, Backup Port
}

// CrossConnect is a directed circuit from input In to output Out of an OCS. Making one displaces
// circuits that hold either port; making an existing one has no effect and loses no light. Off removes
// the circuit of In.
type CrossConnect struct {
	In, Out Port
	Off     bool
}

// Change is one transaction to one device: all of it is accepted, or nothing. Packet switches take
// rules, an OCS takes cross-connects; the other kind is refused.
type Change struct {
	Replace bool // Rules or Connects are the whole table: all else is removed
	Rules   []Rule
	Drop    []Match // rules to remove; absent ones are ignored
	Connect []CrossConnect
}

// Empty reports whether c requests nothing.
func (c *Change) Empty() bool {
	return !c.Replace && len(c.Rules) == 0 && len(c.Drop) == 0 && len(c.Connect) == 0
}

// Status is the state of a cross-connect as its device reports it (in the terms of the Open Compute model).
type Status uint8

// The statuses. Only Connected admits traffic.
const (
	Disconnected Status = iota
	PendingConnection
	Connected
	PendingDeletion
	Failed
	Invalid
)

var statusNames = [...]string{"DISCONNECTED", "PENDING_CONNECTION", "CONNECTED",
	"PENDING_DELETION", "FAILED",
	"INVALID"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return "UNKNOWN"
}

// Connection is a cross-connect with its status.
type Connection struct {
	In, Out Port
	Status  Status
}

// Seen is the state that a device reports. Slices are sorted (rules by match, connections by input).
type Seen struct {
	Rules       []Rule
	Connections []Connection
	Down        []Port // ports without light or link
}

// DeviceEvent is one notification of a device.
type DeviceEvent struct {
	At     time.Duration // the device's own clock, on the fabric's scale; 0 if it has none
	Device DeviceID
	Kind   DeviceEventKind
	In     Port // the port (PortUp, PortDown) or the input (ConnectionStatus)
	Out    Port
	Status Status
}

// DeviceEventKind is the kind of a DeviceEvent.
type DeviceEventKind uint8

// The kinds. Synced comes once a stream has delivered the state from its beginning; Lost comes when the
// stream ends.
const (
	ConnectionStatus DeviceEventKind = iota + 1
	PortUp
	PortDown
	Synced
	Lost
)

// Device is one switch of any fabric. All methods can be called by several goroutines; a driver keeps
// one queue of Sets for each device, in the order of the calls.
type Device interface {
	// Set requests c as one transaction. nil means accepted; Watch reports what becomes effective. A
	// refused change changes nothing. The same change again is harmless.
	Set(ctx context.Context, c *Change) error
	// Read returns the whole state as the device reports it now.
	Read(ctx context.Context) (Seen, error)
	// Watch calls sink with every existing connection and down port, then Synced, then each change as it
	// happens, in the device's order, until ctx ends (nil) or the stream breaks (the error). sink must not
	// block for long.
	Watch(ctx context.Context, sink func(DeviceEvent)) error
}

// Claiming is an optional interface of a Device that arbitrates between callers by their election ids.
// A Device without it accepts Sets from any caller.
type Claiming interface {
	// Claim makes the caller's election id known to the device and changes nothing else. nil means that
	// the device has answered and refuses every Set of a smaller id from then on. The error wraps
	// ErrNotLeader if the device knows a larger id, and ErrUnfenced if it takes Sets of any. After any
	// other error the device's state is unknown: claim again.
	Claim(ctx context.Context) error
}

// Slow is an optional interface of a Device whose Sets take longer than most.
type Slow interface {
	// SetWithin returns how long a Set may take.
	SetWithin() time.Duration
}

// SetWithin returns how long a Set of a device may take: as long as it says, and usual at least.
func SetWithin(d Device, usual time.Duration) time.Duration {
	if s, ok := d.(Slow); ok {
		return max(usual, s.SetWithin())
	}
	return usual
}

// Configured is an optional interface of a Device that tells which circuits it is configured with apart from those that
// it shows. ErrUnsupported means that its model has no such difference.
type Configured interface {
	Configured(ctx context.Context) ([]CrossConnect, error)
}

// Side is an input or an output of an optical switch, as the switch shows it.
type Side struct {
	Port  Port
	Input bool
	Peer  Port // that it is joined to; NoPort: to none
	Tuned bool // it passes light
	// Loss is the insertion loss of an output's circuit in dB, where Measured.
	Loss     float64
	Measured bool
}

// Sided is an optional interface of a Device that tells of each port what it is joined to, apart from its list of
// circuits. ErrUnsupported means that its model has no ports.
type Sided interface {
	Sides(ctx context.Context) ([]Side, error)
}

// Loss is an insertion loss in dB, and how far from it the truth can be.
type Loss struct{ DB, Accuracy float64 }

// FactoryMeasured is an optional interface of a Device that tells what its circuits lost when it was made.
// ErrUnsupported means that it has no such table.
type FactoryMeasured interface {
	FactoryLosses(ctx context.Context) (map[CrossConnect]Loss, error)
}

// Claim claims a device (see Claiming).
func Claim(ctx context.Context, d Device) error {
	if c, ok := d.(Claiming); ok {
		return c.Claim(ctx)
	}
	return ErrUnfenced
}

// Errors that drivers wrap, so that callers know what to do next.
var (
	// ErrUnfenced means that the device does not arbitrate between callers, so that a former leader can
	// still write to it.
	ErrUnfenced = errors.New("the device takes Sets of any election id")
	// ErrNotLeader means that the device knows a larger election id. The caller steps down for this device.
	ErrNotLeader = errors.New("a larger election id is known")
	// ErrRefused means that the request is wrong; a retry would fail again.
	ErrRefused = errors.New("refused by the device")
	// ErrUnsupported means that this device or dataplane cannot do that.
	ErrUnsupported = errors.New("not supported")
)
