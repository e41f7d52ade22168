package noise

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// others is the CPU time that the machine has spent so far on whatever is not this process nor a child
// of it that has ended, with what the machine's host kept from it (steal); 0 where the kernel does not
// say. A child that still runs counts among others.
func others() time.Duration {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	used := busy(string(stat))
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var r unix.Rusage
		if unix.Getrusage(who, &r) == nil {
			used -= time.Duration(r.Utime.Nano() + r.Stime.Nano())
		}
	}
	return used
}

// busy sums user, nice, system and steal of the first line of /proc/stat, in hundredths of a second
// (proc(5)). What interrupts take is left out: packets of the test's own are among it.
func busy(stat string) (sum time.Duration) {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0
	}
	for _, i := range []int{1, 2, 3, 8} {
		n, err := strconv.ParseInt(f[i], 10, 64)
		if err != nil {
			return 0
		}
		sum += time.Duration(n) * 10 * time.Millisecond
	}
	return sum
}
