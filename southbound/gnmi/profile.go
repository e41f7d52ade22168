package gnmi

import (
	"fmt"
	"strings"

	gpb "github.com/openconfig/gnmi/proto/gnmi"

	"lightloom/southbound"
	"lightloom/southbound/gnmi/schema"
)

// Profile speaks one kind of device. Its methods are pure.
type Profile interface {
	// Name is what a flag calls it.
	Name() string
	// Model returns the table of paths that payloads are held against.
	Model() *schema.Model
	// Check says from a device's Capabilities whether the profile fits it.
	Check(c *gpb.CapabilityResponse) error
	// ConfigPaths are what a Writer must know of the device's configuration before it writes.
	ConfigPaths() []schema.Path
	// NewWriter returns the encoder of changes to a device that holds this configuration.
	NewWriter(config []schema.Leaf) Writer
	// StatePaths are the paths that a read-back requests; Seen decodes the answer.
	StatePaths() []schema.Path
	Seen(state []schema.Leaf) (southbound.Seen, error)
	// WatchPaths are subscribed to ON_CHANGE, and NewDecoder returns the decoder of one such stream.
	WatchPaths() []schema.Path
	NewDecoder() Decoder
}

// ReadsFirst is an optional interface of a Profile: its requests name whole tables, so that what others
// have written meanwhile would go. The session then reads the configuration before every Set.
type ReadsFirst interface{ ReadsFirst() }

// Identifying is an optional interface of a Profile that has the same models in Capabilities as another: a
// device that holds something at this path is of this one.
type Identifying interface{ IdentifyingPath() schema.Path }

// All returns the profiles there are, made for a switch of that many ports in a fabric of that many
// racks, in the order in which a device is tried for them.
func All(ports, racks int32) []Profile {
	return []Profile{
		OpenConfig{Ports: ports, Racks: racks}, OpenConfigPlain{Ports: ports, Racks: racks},
		SRLinux{Ports: ports, Racks: racks},
		OCP{Ports: ports}, SONiCOCS{Ports: ports}, SONiCOCS{Ports: ports, Tables: schema.HLDOCSTables()},
		SONiC{Ports: ports, Racks: racks}, Polatis{Ports: ports},
	}
}

// Named returns one of All. An unknown name lists the known ones.
func Named(name string, ports, racks int32) (Profile, error) {
	var known []string
	for _, p := range All(ports, racks) {
		if p.Name() == name {
			return p, nil
		}
		known = append(known, p.Name())
	}
	return nil, fmt.Errorf("profile %q is unknown: write one of %s", name, strings.Join(known, ", "))
}

// Writer encodes changes for one device, in the order in which they are sent.
type Writer interface {
	// Encode returns the request for a change. An error wraps southbound.ErrRefused or ErrUnsupported.
	Encode(c *southbound.Change) (*gpb.SetRequest, error)
	// Accepted says that the request of the last Encode has been accepted.
	Accepted()
}

// Rereader is an optional interface of a Writer that relies on what it has sent before.
type Rereader interface {
	// Reread tells the writer that a caller in doubt has read the device back. It returns false if a new
	// writer must take over.
	Reread() bool
}

// Decoder turns the notifications of one stream into events, in their order. At and Device are left to
// the caller.
type Decoder interface {
	// Decode takes one notification: first the deleted paths, then the new leaves. At the beginning of a
	// stream it omits events of a normal state (a port that is up).
	Decode(gone []schema.Path, leaves []schema.Leaf) ([]southbound.DeviceEvent, error)
}

// Completer is an optional interface of a Decoder that knows what a device must report before its
// sync_response.
type Completer interface {
	// Complete returns what follows from what has not come, once. An error says that the device is not the
	// one it should be.
	Complete() ([]southbound.DeviceEvent, error)
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %w", fmt.Errorf(format, args...), southbound.ErrRefused)
}

// entry encodes the leaves of one list entry as an update of that entry.
func entry(m *schema.Model, at schema.Path, leaves []schema.Leaf) (*gpb.Update, error) {
	v, err := m.Nest(at, leaves)
	if err != nil {
		return nil, err
	}
	tv, err := schema.JSON(v, gpb.Encoding_JSON_IETF)
	if err != nil {
		return nil, err
	}
	return &gpb.Update{Path: m.Proto(at), Val: tv}, nil
}
