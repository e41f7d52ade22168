package ebpf

import "encoding/binary"

// networkOrder16 returns v as a load of its network form gives it on this machine.
func networkOrder16(v uint16) uint16 {
	var b [2]byte
	binary.BigEndian.PutUint16(b[:], v)
	return binary.NativeEndian.Uint16(b[:])
}
