package hostagent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"lightloom/southbound"
)

// A connection begins with a header. The receiver says nothing until it has the last byte, unless it is
// asked where to go on, or refuses.
const (
	headerMagic = "LLB1"
	macBytes    = 16
	headerBytes = len(headerMagic) + 4 + 4 + 8 + 4 + 4 + 1 + macBytes
	replyMagic  = "LLR1"
	replyBytes  = len(replyMagic) + 1 + 8
)

// header identifies the host flow that a connection carries.
type header struct {
	key      southbound.HostFlowKey
	size     int64
	src, dst southbound.HostID
	ask      bool // not the first connection of the host flow: wait for the offset to resume at
}

var errHeader = errors.New("wrong header")

// appendTo appends h, authenticated with key.
func (h header) appendTo(b, key []byte) []byte {
	first := len(b)
	b = append(b, headerMagic...)
	b = binary.BigEndian.AppendUint32(b, uint32(h.key.Coflow))
	b = binary.BigEndian.AppendUint32(b, uint32(h.key.Row))
	b = binary.BigEndian.AppendUint64(b, uint64(h.size))
	b = binary.BigEndian.AppendUint32(b, uint32(h.src))
	b = binary.BigEndian.AppendUint32(b, uint32(h.dst))
	if h.ask {
		b = append(b, 1)
	} else {
		b = append(b, 0)
	}
	return append(b, mac(b[first:], key)...)
}

func mac(b, key []byte) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(b)
	return m.Sum(nil)[:macBytes]
}

// readHeader reads exactly one header.
func readHeader(b, key []byte) (header, error) {
	if len(b) != headerBytes || string(b[:4]) != headerMagic {
		return header{}, fmt.Errorf("%w: no host flow begins so", errHeader)
	}
	signed := b[:headerBytes-macBytes]
	if !hmac.Equal(b[len(signed):], mac(signed, key)) {
		return header{}, fmt.Errorf("%w: of another run, or forged", errHeader)
	}
	h := header{
		key: southbound.HostFlowKey{Coflow: southbound.CoflowID(binary.BigEndian.Uint32(b[4:])),
			Row: int32(binary.BigEndian.Uint32(b[8:]))},
		size: int64(binary.BigEndian.Uint64(b[12:])),
		src:  southbound.HostID(binary.BigEndian.Uint32(b[20:])),
		dst:  southbound.HostID(binary.BigEndian.Uint32(b[24:])),
		ask:  b[28] == 1,
	}
	if h.size <= 0 || b[28] > 1 {
		return header{}, fmt.Errorf("%w: size %d, flag %d", errHeader, h.size, b[28])
	}
	return h, nil
}

// verdict is what a receiver says.
type verdict byte

// The verdicts.
const (
	goOn    verdict = 'g' // send from the offset on
	done    verdict = 'd' // every byte has been received
	refused verdict = 'x' // not this host flow, not here, not now
)

type reply struct {
	verdict verdict
	offset  int64
}

func (r reply) append(b []byte) []byte {
	b = append(b, replyMagic...)
	b = append(b, byte(r.verdict))
	return binary.BigEndian.AppendUint64(b, uint64(r.offset))
}

// readReply reads exactly one reply to the sender of a host flow of that size.
func readReply(b []byte, size int64) (reply, error) {
	if len(b) != replyBytes || string(b[:4]) != replyMagic {
		return reply{}, errors.New("read reply: not one")
	}
	r := reply{verdict: verdict(b[4]), offset: int64(binary.BigEndian.Uint64(b[5:]))}
	switch {
	case r.verdict != goOn && r.verdict != done && r.verdict != refused:
		return reply{}, fmt.Errorf("read reply: verdict %q is unknown", b[4])
	case r.offset < 0 || r.offset > size:
		return reply{}, fmt.Errorf("read reply: offset %d of %d", r.offset, size)
	}
	return r, nil
}
