package voq

import (
	"encoding/binary"

	"lightloom/southbound"
)

// Frame is a packet as a packet socket with PACKET_VNET_HDR reads and writes it: the header of
// virtio-net, which says how a large segment is to be cut and that its checksum is not complete, then
// Ethernet.
type Frame []byte

// Where things are in a Frame. Lengths of the virtio header are in the machine's order (virtio 1.2,
// 5.1.6, legacy).
const (
	vnetLen    = 10
	vnetGSO    = 1 // type; 0: the packet is whole
	vnetHdrLen = 2
	vnetSize   = 4
	ethernet   = 14
	ipv4       = vnetLen + ethernet
	minFrame   = ipv4 + 20
)

// Bytes returns the length at layer 2; a large segment counts as one packet.
func (f Frame) Bytes() int { return max(0, len(f)-vnetLen) }

// Route returns the racks and the tag that rules match, or false for what is no packet of the address plan.
func (f Frame) Route() (dst, src southbound.RackID, tag southbound.Tag, ok bool) {
	if len(f) < minFrame || f[vnetLen+12] != 8 || f[vnetLen+13] != 0 || f[ipv4]>>4 != 4 || f[ipv4+12] != 10 ||
		f[ipv4+16] != 10 {
		return 0, 0, 0, false
	}
	rack := func(at int) southbound.RackID { return southbound.RackID(binary.BigEndian.Uint16(f[at+1:])) }
	return rack(ipv4 + 16), rack(ipv4 + 12), southbound.Tag(f[ipv4+1] >> 2 & (southbound.Tags - 1)), true
}

// Segments returns how many packets the frame is on a cable.
func (f Frame) Segments() int {
	if len(f) < vnetLen || f[vnetGSO] == 0 {
		return 1
	}
	size, head := int(binary.NativeEndian.Uint16(f[vnetSize:])), int(binary.NativeEndian.Uint16(f[vnetHdrLen:]))
	if payload := f.Bytes() - head; size > 0 && payload > size {
		return (payload + size - 1) / size
	}
	return 1
}
