package frameprobe

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// Processors returns two processors that this process can use, the same twice if there is one.
func Processors() (a, b int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return 0, 0, fmt.Errorf("ask for processors: %w", err)
	}
	var own []int
	for cpu := 0; len(own) < min(2, set.Count()); cpu++ {
		if set.IsSet(cpu) {
			own = append(own, cpu)
		}
	}
	return own[0], own[len(own)-1], nil
}

// Pinned runs f on a thread that stays on one processor and ends with f.
func Pinned(cpu int, f func() error) <-chan error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: nothing else is to run on a thread that is bound
		var set unix.CPUSet
		set.Set(cpu)
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			done <- fmt.Errorf("stay on processor %d: %w", cpu, err)
			return
		}
		done <- f()
	}()
	return done
}
