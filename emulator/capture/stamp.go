package capture

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"
)

// timeOf reads a message of SO_TIMESTAMPNS: a timespec of two 64-bit words.
func timeOf(m unix.SocketControlMessage) (time.Time, bool) {
	if m.Header.Level != unix.SOL_SOCKET || m.Header.Type != unix.SCM_TIMESTAMPNS || len(m.Data) < 16 {
		return time.Time{}, false
	}
	sec, nsec := binary.NativeEndian.Uint64(m.Data), binary.NativeEndian.Uint64(m.Data[8:])
	return time.Unix(int64(sec), int64(nsec)), true
}
