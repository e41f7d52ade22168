package lldp

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kinds of TLVs (IEEE 802.1AB, table 8-1).
const (
	tlvEnd         = 0
	tlvChassis     = 1
	tlvPort        = 2
	tlvTTL         = 3
	tlvDescription = 4
	tlvSystem      = 5
)

// tlv is a type, a length and a value: seven bits, nine bits and so many bytes.
type tlv struct {
	kind  byte
	value []byte
}

// longest is the largest length that nine bits hold.
const longest = 511

func appendTLV(b []byte, kind byte, value []byte) []byte {
	return append(binary.BigEndian.AppendUint16(b, uint16(kind)<<9|uint16(len(value))), value...)
}

// header is of an Ethernet frame without a VLAN tag: two addresses and the type of what follows.
const header = 14

// tlvs returns what a frame holds up to its end mark. Whatever follows the mark is padding.
func tlvs(frame []byte) ([]tlv, error) {
	if len(frame) < header || binary.BigEndian.Uint16(frame[header-2:]) != EtherType {
		return nil, errForeign
	}
	var all []tlv
	for b := frame[header:]; ; {
		if len(b) < 2 {
			return nil, errors.New("no end of LLDP data")
		}
		v := binary.BigEndian.Uint16(b)
		kind, n := byte(v>>9), int(v&longest)
		if b = b[2:]; n > len(b) {
			return nil, fmt.Errorf("LLDP data of kind %d has %d bytes of %d", kind, len(b), n)
		}
		if kind == tlvEnd {
			return all, nil
		}
		all, b = append(all, tlv{kind, b[:n]}), b[n:]
	}
}
