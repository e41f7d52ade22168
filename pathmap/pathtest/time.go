package pathtest

import (
	"syscall"
	"testing"
)

// ProcessorTime returns the time in nanoseconds that this process has had.
func ProcessorTime(b *testing.B) int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
