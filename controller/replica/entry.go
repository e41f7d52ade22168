package replica

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

// A record of the log is a length, a checksum and an entry. The checksum covers the one of the record
// before, so what an earlier write left behind the end is never taken for what came after.
const (
	recordHead = 4 + 4
	entryHead  = 8 + 8 + 1 + 8 + 4 // index, term, type, time, length of the extensions
)

// appendRecord appends l behind a record with checksum seed, and returns its own checksum.
func appendRecord(b []byte, l *raft.Log, seed uint32) ([]byte, uint32) {
	begin := len(b)
	n := entryHead + len(l.Extensions) + len(l.Data)
	b = binary.BigEndian.AppendUint32(b, uint32(n))
	b = append(b, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint64(b, l.Index)
	b = binary.BigEndian.AppendUint64(b, l.Term)
	b = append(b, byte(l.Type))
	at := int64(0)
	if !l.AppendedAt.IsZero() {
		at = l.AppendedAt.UnixNano()
	}
	b = binary.BigEndian.AppendUint64(b, uint64(at))
	b = binary.BigEndian.AppendUint32(b, uint32(len(l.Extensions)))
	b = append(b, l.Extensions...)
	b = append(b, l.Data...)
	sum := recordSum(b[begin:begin+4], b[begin+recordHead:], seed)
	binary.BigEndian.PutUint32(b[begin+4:], sum)
	return b, sum
}

// recordSum is the CRC-32C (Castagnoli) of seed, length and entry.
func recordSum(size, entry []byte, seed uint32) uint32 {
	sum := crc32.Update(0, castagnoli, binary.BigEndian.AppendUint32(nil, seed))
	return crc32.Update(crc32.Update(sum, castagnoli, size), castagnoli, entry)
}

// decodeEntry reads a record's body. The entry keeps parts of b.
func decodeEntry(b []byte, l *raft.Log) error {
	if len(b) < entryHead {
		return errors.New("it is too short for an entry")
	}
	ext := binary.BigEndian.Uint32(b[entryHead-4:])
	if uint64(ext) > uint64(len(b)-entryHead) {
		return errors.New("its extensions are longer than the entry")
	}
	*l = raft.Log{Index: binary.BigEndian.Uint64(b), Term: binary.BigEndian.Uint64(b[8:]),
		Type: raft.LogType(b[16])}
	if at := int64(binary.BigEndian.Uint64(b[17:])); at != 0 {
		l.AppendedAt = time.Unix(0, at)
	}
	if l.Type > raft.LogConfiguration {
		return errors.New("its type is unknown")
	}
	if b = b[entryHead:]; ext > 0 {
		l.Extensions = b[:ext:ext]
	}
	l.Data = b[ext:]
	return nil
}
