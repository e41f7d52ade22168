package fefi

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// etherType is one for local experiments (IEEE 802). Our packet switches pass such frames to listeners
// at the port, and forward them nowhere.
const etherType = 0x88b5

// Signal is what one frame says.
type Signal struct {
	Lit bool // what is sent into this port arrives at a locked receiver
}

// A frame is the Ethernet header, magic, version, and the bit; padded to the shortest frame there is.
const (
	header    = 14
	frameSize = 60
	version   = 1
	magic     = "LLFE"
)

// destination is a locally administered group: no host takes it for its own.
var destination = [6]byte{0x03, 0x4c, 0x4c, 0x46, 0x45, 0x01}

// source is locally administered.
var source = [6]byte{0x02, 0x4c, 0x4c, 0x46, 0x45, 0x01}

// Marshal returns the frame.
func (s Signal) Marshal() []byte {
	b := make([]byte, frameSize)
	copy(b, destination[:])
	copy(b[6:], source[:])
	binary.BigEndian.PutUint16(b[12:], etherType)
	copy(b[header:], magic)
	b[header+4] = version
	if s.Lit {
		b[header+5] = 1
	}
	return b
}

// errForeign means that the frame is not a signal of this protocol.
var errForeign = errors.New("no far-end signal")

// Unmarshal reads a frame. Anything that Marshal does not write is an error.
func Unmarshal(b []byte) (Signal, error) {
	switch {
	case len(b) < header+6 || binary.BigEndian.Uint16(b[12:]) != etherType || string(b[header:header+4]) != magic:
		return Signal{}, fmt.Errorf("read signal of %d bytes: %w", len(b), errForeign)
	case b[header+4] != version:
		return Signal{}, fmt.Errorf("read signal: version %d: %d is known", b[header+4], version)
	case b[header+5] > 1:
		return Signal{}, fmt.Errorf("read signal: light %d: it is 0 or 1", b[header+5])
	}
	return Signal{Lit: b[header+5] == 1}, nil
}
