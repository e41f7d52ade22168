package replay

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"lightloom/emulator/netns"
)

// machine is what a demo has measured of this machine before it runs.
type machine struct {
	cores    int
	busy     float64       // cores that others use
	late     time.Duration // p99 of how late a thread wakes, in the class in which a run would be
	realtime bool          // a run goes before other programs
}

// free is the share of its cores that a run can have.
func (m machine) free() float64 {
	if m.realtime {
		return 1
	}
	return max(float64(m.cores)-m.busy, 0.5) / float64(m.cores)
}

// String says what was measured.
func (m machine) String() string {
	text := fmt.Sprintf("%d cores, of which others use %.1f; a thread wakes %.2f ms late (p99)",
		m.cores, m.busy,
		1e3*m.late.Seconds())
	if m.realtime {
		return text + " as it goes before other programs"
	}
	return text
}

const (
	measuredFor  = time.Second
	measureEvery = 2 * time.Millisecond
)

// measureMachine watches the machine for a second. Meanwhile this program does nothing else.
func measureMachine(ctx context.Context) (machine, error) {
	before := readProcessors()
	ended := make(chan machine, 1)
	go func() { ended <- wakeUps(measuredFor, measureEvery) }()
	select {
	case <-ctx.Done():
		return machine{}, context.Cause(ctx) // the thread ends by itself, within a second
	case m := <-ended:
		m.cores = runtime.NumCPU()
		_, m.busy, _, _ = before.since()
		return m, nil
	}
}

// wakeUps sleeps again and again on a thread of its own, which ends with the goroutine: no other can get
// its priority.
func wakeUps(all, each time.Duration) (m machine) {
	runtime.LockOSThread()
	m.realtime = netns.BecomeRealtime() == nil
	var late []time.Duration
	for range int(all / each) {
		due := time.Now().Add(each)
		t := unix.NsecToTimespec(int64(each))
		for unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &t, &t) == unix.EINTR { // goes on with the rest
		}
		late = append(late, max(0, time.Since(due)))
	}
	slices.Sort(late)
	m.late = late[(len(late)*99+99)/100-1]
	return m
}
