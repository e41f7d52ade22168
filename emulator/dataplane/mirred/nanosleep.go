package mirred

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

func rawNanosleep(ts *unix.Timespec) {
	// An interrupted sleep is only shorter: the caller looks at the clock again.
	_, _, _ = unix.RawSyscall(unix.SYS_NANOSLEEP, uintptr(unsafe.Pointer(ts)), 0, 0)
}
