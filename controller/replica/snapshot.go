package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// header precedes the machine's bytes in a snapshot: what it is, which entry it holds last, how many
// bytes follow, and the digest that the restored machine must show.
type header struct {
	index, term uint64
	digest      [32]byte
	size        uint64
}

// magic names the format; its last byte is the version.
const magic = "LLSNAP\x00\x02"

const headerSize = len(magic) + 3*8 + 32

func (h header) encode() []byte {
	b := make([]byte, 0, headerSize)
	b = append(b, magic...)
	b = binary.BigEndian.AppendUint64(b, h.index)
	b = binary.BigEndian.AppendUint64(b, h.term)
	b = binary.BigEndian.AppendUint64(b, h.size)
	return append(b, h.digest[:]...)
}

func decodeHeader(b []byte) (h header, err error) {
	if len(b) != headerSize || string(b[:len(magic)]) != magic {
		return h, fmt.Errorf("read header: is not a snapshot of this version")
	}
	b = b[len(magic):]
	h.index, h.term, h.size = binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
	copy(h.digest[:], b[24:])
	return h, nil
}

// readSnapshot reads a header and the state that it announces, at most limit bytes in all. What a
// header claims is never allocated before it has arrived.
func readSnapshot(r io.Reader, limit int64) (header, []byte, error) {
	head := make([]byte, headerSize)
	if _, err := io.ReadFull(r, head); err != nil {
		return header{}, nil, fmt.Errorf("read header: %w", err)
	}
	h, err := decodeHeader(head)
	if err != nil {
		return h, nil, err
	}
	if room := limit - int64(headerSize); room < 0 || h.size > uint64(room) {
		return h, nil, fmt.Errorf("announces %d bytes of state, at most %d are taken", h.size, max(room, 0))
	}
	var buf bytes.Buffer
	n, err := io.Copy(&buf, io.LimitReader(r, int64(h.size)))
	switch {
	case err != nil:
		return h, nil, fmt.Errorf("read state: %w", err)
	case uint64(n) < h.size:
		return h, nil, fmt.Errorf("read state: %d of %d bytes: %w", n, h.size, io.ErrUnexpectedEOF)
	}
	return h, buf.Bytes(), nil
}
