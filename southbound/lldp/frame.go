package lldp

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// EtherType is the protocol's.
const EtherType = 0x88cc

// Group is the address that no bridge passes on (nearest bridge). An optical switch does, for it looks at nothing.
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

// The identifiers of openconfig-lldp-types for subtypes (IEEE 802.1AB, tables 8-2 and 8-3).
func chassisKinds() map[layers.LLDPChassisIDSubType]string {
	return map[layers.LLDPChassisIDSubType]string{
		layers.LLDPChassisIDSubTypeChassisComp: "CHASSIS_COMPONENT", layers.LLDPChassisIDSubtypeIfaceAlias: "INTERFACE_ALIAS",
		layers.LLDPChassisIDSubTypePortComp: "PORT_COMPONENT", layers.LLDPChassisIDSubTypeMACAddr: "MAC_ADDRESS",
		layers.LLDPChassisIDSubTypeNetworkAddr: "NETWORK_ADDRESS", layers.LLDPChassisIDSubtypeIfaceName: "INTERFACE_NAME",
		layers.LLDPChassisIDSubTypeLocal: Local,
	}
}

func portKinds() map[layers.LLDPPortIDSubType]string {
	return map[layers.LLDPPortIDSubType]string{
		layers.LLDPPortIDSubtypeIfaceAlias: "INTERFACE_ALIAS", layers.LLDPPortIDSubtypePortComp: "PORT_COMPONENT",
		layers.LLDPPortIDSubtypeMACAddr: "MAC_ADDRESS", layers.LLDPPortIDSubtypeNetworkAddr: "NETWORK_ADDRESS",
		layers.LLDPPortIDSubtypeIfaceName: InterfaceName, layers.LLDPPortIDSubtypeAgentCircuitID: "AGENT_CIRCUIT_ID",
		layers.LLDPPortIDSubtypeLocal: Local,
	}
}

// The kinds that our own switches use.
const (
	Local         = "LOCAL"
	InterfaceName = "INTERFACE_NAME"
)

// Marshal returns the whole Ethernet frame. Chassis is sent as LOCAL and Port as INTERFACE_NAME, whatever their kinds
// say.
func (a Announcement) Marshal(from net.HardwareAddr) ([]byte, error) {
	for _, n := range []struct{ what, name string }{{"chassis", a.Chassis}, {"port", a.Port}} {
		if n.name == "" || len(n.name) > maxName {
			return nil, fmt.Errorf("write LLDP frame: %s %q: take 1 to %d bytes", n.what, n.name, maxName)
		}
	}
	secs := a.TTL / time.Second
	if a.TTL < 0 || secs > 65535 || len(a.System) > maxName || len(a.Description) > maxName {
		return nil, fmt.Errorf("write LLDP frame: time to live %v, names of %d and %d bytes: too much", a.TTL, len(a.System),
			len(a.Description))
	}
	eth := &layers.Ethernet{SrcMAC: from, DstMAC: Group(), EthernetType: layers.EthernetTypeLinkLayerDiscovery}
	l := &layers.LinkLayerDiscovery{
		ChassisID: layers.LLDPChassisID{Subtype: layers.LLDPChassisIDSubTypeLocal, ID: []byte(a.Chassis)},
		PortID:    layers.LLDPPortID{Subtype: layers.LLDPPortIDSubtypeIfaceName, ID: []byte(a.Port)},
		TTL:       uint16(secs),
	}
	for _, v := range []struct {
		kind layers.LLDPTLVType
		text string
	}{{layers.LLDPTLVPortDescription, a.Description}, {layers.LLDPTLVSysName, a.System}} {
		if v.text != "" {
			l.Values = append(l.Values, layers.LinkLayerDiscoveryValue{Type: v.kind, Length: uint16(len(v.text)),
				Value: []byte(v.text)})
		}
	}
	b := gopacket.NewSerializeBuffer()
	if err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{}, eth, l); err != nil {
		return nil, fmt.Errorf("write LLDP frame: %w", err)
	}
	frame := b.Bytes()
	for len(frame) < 60 { // the shortest there is
		frame = append(frame, 0)
	}
	return frame, nil
}

// errForeign: the frame is of another protocol.
var errForeign = errors.New("no LLDP frame")

// Unmarshal reads a whole Ethernet frame. Identifiers that are no text come back in hexadecimal digits.
func Unmarshal(frame []byte) (Announcement, error) {
	p := gopacket.NewPacket(frame, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
	l, ok := p.Layer(layers.LayerTypeLinkLayerDiscovery).(*layers.LinkLayerDiscovery)
	if e := p.ErrorLayer(); e != nil {
		return Announcement{}, fmt.Errorf("read LLDP frame of %d bytes: %w", len(frame), e.Error())
	}
	if !ok {
		return Announcement{}, fmt.Errorf("read LLDP frame of %d bytes: %w", len(frame), errForeign)
	}
	a := Announcement{TTL: time.Duration(l.TTL) * time.Second, ChassisKind: chassisKinds()[l.ChassisID.Subtype],
		PortKind: portKinds()[l.PortID.Subtype]}
	if a.ChassisKind == "" || a.PortKind == "" {
		return Announcement{}, fmt.Errorf("read LLDP frame: identifiers of kinds %d and %d, which are reserved",
			l.ChassisID.Subtype, l.PortID.Subtype)
	}
	var err error
	if a.Chassis, err = name("chassis", l.ChassisID.ID, a.ChassisKind == "MAC_ADDRESS"); err != nil {
		return Announcement{}, err
	}
	if a.Port, err = name("port", l.PortID.ID, a.PortKind == "MAC_ADDRESS"); err != nil {
		return Announcement{}, err
	}
	if info, ok := p.Layer(layers.LayerTypeLinkLayerDiscoveryInfo).(*layers.LinkLayerDiscoveryInfo); ok {
		a.System, a.Description = text(info.SysName), text(info.PortDescription)
	}
	return a, nil
}

// name makes an identifier of bytes.
func name(what string, b []byte, mac bool) (string, error) {
	switch {
	case len(b) == 0 || len(b) > maxName:
		return "", fmt.Errorf("read LLDP frame: %s of %d bytes: 1 to %d are taken", what, len(b), maxName)
	case mac && len(b) == 6:
		return net.HardwareAddr(b).String(), nil
	case printable(string(b)):
		return string(b), nil
	}
	return hex.EncodeToString(b), nil
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
