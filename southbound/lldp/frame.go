package lldp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"
)

// EtherType is the protocol's.
const EtherType = 0x88cc

// Group is the address that no bridge passes on (nearest bridge). An optical switch does, for it looks
// at nothing.
func Group() net.HardwareAddr { return net.HardwareAddr{0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e} }

// maxName bounds what is taken as a name, in bytes: an identifier's own bound (IEEE 802.1AB, clause 8.5.2).
const maxName = 255

// Announcement is what one end of a cable says of itself.
type Announcement struct {
	Chassis     string
	ChassisKind string // how Chassis is meant, in the words of openconfig-lldp-types: LOCAL, MAC_ADDRESS, …
	Port        string
	PortKind    string
	System      string        // its name, perhaps empty
	Description string        // of the port, perhaps empty
	TTL         time.Duration // how long this holds; 0: it goes now. Whole seconds, at most 65535
}

// chassisKinds are the identifiers of openconfig-lldp-types by subtype (IEEE 802.1AB, table 8-2).
func chassisKinds() []string {
	return []string{"", "CHASSIS_COMPONENT", "INTERFACE_ALIAS", "PORT_COMPONENT", "MAC_ADDRESS",
		"NETWORK_ADDRESS",
		InterfaceName, Local}
}

// portKinds are those of ports (table 8-3).
func portKinds() []string {
	return []string{"", "INTERFACE_ALIAS", "PORT_COMPONENT", "MAC_ADDRESS", "NETWORK_ADDRESS", InterfaceName,
		"AGENT_CIRCUIT_ID", Local}
}

// The kinds that our own switches use.
const (
	Local         = "LOCAL"
	InterfaceName = "INTERFACE_NAME"
)

// Marshal returns the whole Ethernet frame. Chassis is sent as LOCAL and Port as INTERFACE_NAME,
// whatever their kinds say.
func (a Announcement) Marshal(from net.HardwareAddr) ([]byte, error) {
	for _, n := range []struct{ what, name string }{{"chassis", a.Chassis}, {"port", a.Port}} {
		if n.name == "" || len(n.name) > maxName {
			return nil, fmt.Errorf("write LLDP frame: %s %q: take 1 to %d bytes", n.what, n.name, maxName)
		}
	}
	secs := a.TTL / time.Second
	if a.TTL < 0 || secs > 65535 || len(a.System) > maxName || len(a.Description) > maxName {
		return nil, fmt.Errorf("write LLDP frame: time to live %v, names of %d and %d bytes: too much",
			a.TTL, len(a.System),
			len(a.Description))
	}
	id := func(all []string, kind, name string) []byte {
		return append([]byte{byte(slices.Index(all, kind))}, name...)
	}
	frame := slices.Concat(Group(), from)
	frame = binary.BigEndian.AppendUint16(frame, EtherType)
	frame = appendTLV(frame, tlvChassis, id(chassisKinds(), Local, a.Chassis))
	frame = appendTLV(frame, tlvPort, id(portKinds(), InterfaceName, a.Port))
	frame = appendTLV(frame, tlvTTL, binary.BigEndian.AppendUint16(nil, uint16(secs)))
	if a.Description != "" {
		frame = appendTLV(frame, tlvDescription, []byte(a.Description))
	}
	if a.System != "" {
		frame = appendTLV(frame, tlvSystem, []byte(a.System))
	}
	frame = appendTLV(frame, tlvEnd, nil)
	for len(frame) < 60 { // the shortest there is
		frame = append(frame, 0)
	}
	return frame, nil
}

// errForeign: the frame is of another protocol.
var errForeign = errors.New("no LLDP frame")

// Unmarshal reads a whole Ethernet frame. Identifiers that are no text come back in hexadecimal digits.
func Unmarshal(frame []byte) (Announcement, error) {
	all, err := tlvs(frame)
	if err != nil {
		return Announcement{}, fmt.Errorf("read LLDP frame of %d bytes: %w", len(frame), err)
	}
	var a Announcement
	held := map[byte]bool{}
	for _, v := range all {
		if err := a.take(v); err != nil {
			return Announcement{}, fmt.Errorf("read LLDP frame: %w", err)
		}
		held[v.kind] = true
	}
	if !held[tlvChassis] || !held[tlvPort] || !held[tlvTTL] {
		return Announcement{}, errors.New("read LLDP frame: chassis, port or time to live is missing, which are mandatory")
	}
	return a, nil
}

// take reads one TLV. Those of other kinds are passed over.
func (a *Announcement) take(v tlv) (err error) {
	switch v.kind {
	case tlvChassis:
		a.ChassisKind, a.Chassis, err = identifier("chassis", chassisKinds(), v.value)
	case tlvPort:
		a.PortKind, a.Port, err = identifier("port", portKinds(), v.value)
	case tlvTTL:
		if len(v.value) < 2 {
			return fmt.Errorf("time to live of %d bytes: 2 are mandatory", len(v.value))
		}
		a.TTL = time.Duration(binary.BigEndian.Uint16(v.value)) * time.Second
	case tlvDescription:
		a.Description = text(string(v.value))
	case tlvSystem:
		a.System = text(string(v.value))
	}
	return err
}

// identifier reads a subtype and a name.
func identifier(what string, kinds []string, b []byte) (kind, id string, err error) {
	if len(b) < 2 || len(b)-1 > maxName {
		return "", "", fmt.Errorf("%s of %d bytes: 1 to %d and their kind are mandatory", what, len(b), maxName)
	}
	if int(b[0]) >= len(kinds) || kinds[b[0]] == "" {
		return "", "", fmt.Errorf("%s of kind %d, which is reserved", what, b[0])
	}
	return kinds[b[0]], name(b[1:], kinds[b[0]] == "MAC_ADDRESS"), nil
}

// name makes an identifier of bytes.
func name(b []byte, mac bool) string {
	switch {
	case mac && len(b) == 6:
		return net.HardwareAddr(b).String()
	case printable(string(b)):
		return string(b)
	}
	return hex.EncodeToString(b)
}

// text is a free text, or nothing if it is none or too long.
func text(s string) string {
	if len(s) > maxName || !printable(s) {
		return ""
	}
	return s
}

func printable(s string) bool {
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return false
		}
	}
	return true
}
